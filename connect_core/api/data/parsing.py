"""The value of a text: a number, date, list, map, or the text itself. Connect: ``Values.parseString``."""

from __future__ import annotations

import decimal
import math
from typing import Any

from connect_core.api.data.aligning import align
from connect_core.api.data.builder import SchemaBuilder
from connect_core.api.data.logical import Date, Decimal, Time, Timestamp
from connect_core.api.data.merging import SchemaMerger
from connect_core.api.data.primitives import (
    BOOLEAN_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
)
from connect_core.api.data.schema_and_value import SchemaAndValue
from connect_core.api.data.tokens import Tokens
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.dates.format import SimpleDateFormat
from connect_core.java.decimals import parse_decimal
from connect_core.java.equality import as_key
from connect_core.java.narrowing import to_double
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64, nearest_float32, wrap
from connect_core.java.strings import is_blank, trim

__all__ = ["ISO_DATE", "ISO_TIME", "ISO_TIMESTAMP", "parse_string"]

ISO_DATE = SimpleDateFormat("yyyy-MM-dd")
ISO_TIME = SimpleDateFormat("HH:mm:ss.SSS'Z'")
ISO_TIMESTAMP = SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
_BY_LENGTH = {10: (ISO_DATE, Date.SCHEMA), 13: (ISO_TIME, Time.SCHEMA), 24: (ISO_TIMESTAMP, Timestamp.SCHEMA)}
_NULL = SchemaAndValue(None, None)
_LITERALS = (
    ("null", _NULL),
    ("true", SchemaAndValue(BOOLEAN_SCHEMA, True)),
    ("false", SchemaAndValue(BOOLEAN_SCHEMA, False)),
)
_WIDTHS = ((8, Int8, INT8_SCHEMA), (16, Int16, INT16_SCHEMA), (32, Int32, INT32_SCHEMA), (64, Int64, INT64_SCHEMA))
_LONG_DIGITS = 19
_TELLING = frozenset("+-[{ntf")


def parse_string(text: str | None) -> SchemaAndValue:
    """Return the value that a text represents, or the text itself.

    Whole numbers get the smallest type, others FLOAT32 if finite there; lists
    and maps without a common schema have ``None`` as the schema of their parts.
    """
    if text is None:
        return _NULL
    start = trim(text)[:1]
    if start not in _TELLING and not _is_digit(start):
        return SchemaAndValue(STRING_SCHEMA, text)
    try:
        return _parse(Tokens(text), embedded=False)
    except RecursionError as error:
        raise DataError("The text contains lists or maps that are nested too deeply") from error


def _parse(tokens: Tokens, embedded: bool) -> SchemaAndValue:
    if not tokens.has_next():
        return _NULL
    if embedded and tokens.can_consume('"'):
        return _quoted(tokens)
    for literal, meaning in _LITERALS:
        if _is_literal(tokens, literal, embedded):
            return meaning
    container = _container(tokens)
    if container is not None:
        return container
    token = tokens.next()
    if is_blank(token):
        return SchemaAndValue(STRING_SCHEMA, token)
    return _scalar(tokens, trim(token), embedded)


def _container(tokens: Tokens) -> SchemaAndValue | None:
    start = tokens.mark()
    try:
        if tokens.can_consume("["):
            return _list(tokens)
        if tokens.can_consume("{"):
            return _map(tokens)
    except DataError:
        tokens.rewind(start)
    return None


def _is_literal(tokens: Tokens, literal: str, embedded: bool) -> bool:
    start = tokens.mark()
    if tokens.can_consume(literal) and (embedded or not tokens.has_next()):
        return True
    tokens.rewind(start)
    return False


def _scalar(tokens: Tokens, token: str, embedded: bool) -> SchemaAndValue:
    is_digit = _is_digit(token[0])
    found = _dated_run(tokens, token) if is_digit else None
    if found is None and (is_digit or token[0] in "+-"):
        found = _number(token)
    if found is not None:
        return found
    if embedded:
        raise DataError("Failed to parse embedded value")
    return SchemaAndValue(STRING_SCHEMA, tokens.text)


def _is_digit(character: str) -> bool:
    """Return whether Java's Character.isDigit is true; false for a surrogate pair."""
    return character.isdecimal() and character <= "\uffff"


def _quoted(tokens: Tokens) -> SchemaAndValue:
    content = ""
    while tokens.has_next() and not tokens.can_consume('"'):
        content += tokens.next()
    return _dated(content) or SchemaAndValue(STRING_SCHEMA, content)


def _list(tokens: Tokens) -> SchemaAndValue:
    values: list[Any] = []
    merger = SchemaMerger()
    while tokens.has_next():
        if tokens.can_consume("]"):
            if merger.common is None:
                return SchemaAndValue(SchemaBuilder.array_of(None).build(), values)
            aligned = [align(merger.common, value) for value in values]
            return SchemaAndValue(SchemaBuilder.array(merger.common).build(), aligned)
        if tokens.can_consume(","):
            raise DataError(f"Unable to parse an empty array element: {tokens.text}")
        element = _parse(tokens, embedded=True)
        merger.merge(element.schema)
        values.append(element.value)
        end = tokens.mark()
        if tokens.can_consume("]"):
            tokens.rewind(end)
        elif not tokens.can_consume(","):
            raise DataError("Array elements missing ',' delimiter")
    raise DataError(f"Array is missing terminating ']': {tokens.text}")


def _map(tokens: Tokens) -> SchemaAndValue:
    entries: dict[Any, Any] = {}
    keys, values = SchemaMerger(), SchemaMerger()
    while tokens.has_next():
        if tokens.can_consume("}"):
            return _aligned_map(entries, keys, values)
        if tokens.can_consume(","):
            raise DataError(f"Unable to parse a map entry with no key or value: {tokens.text}")
        key = _parse(tokens, embedded=True)
        if key.value is None:
            raise DataError(f"Map entry may not have a null key: {tokens.text}")
        if not tokens.can_consume(":"):
            raise DataError(f"Map entry is missing ':' at {tokens.mark()} in {tokens.text}")
        value = _parse(tokens, embedded=True)
        entries[as_key(key.value)] = value.value
        tokens.can_consume(",")
        keys.merge(key.schema)
        values.merge(value.schema)
    raise DataError(f"Map is missing terminating '}}': {tokens.text}")


def _aligned_map(entries: dict[Any, Any], keys: SchemaMerger, values: SchemaMerger) -> SchemaAndValue:
    key_schema, value_schema = keys.common, values.common
    if key_schema is None:
        return SchemaAndValue(SchemaBuilder.map_of(None, None).build(), entries)
    entries = {as_key(align(key_schema, key)): value for key, value in entries.items()}
    if value_schema is not None:
        entries = {key: align(value_schema, value) for key, value in entries.items()}
    return SchemaAndValue(SchemaBuilder.map_of(key_schema, value_schema).build(), entries)


def _dated_run(tokens: Tokens, token: str) -> SchemaAndValue | None:
    """Read a date or time, which its colons have split into up to five tokens."""
    start = tokens.mark()
    rest = tokens.next_run(4)
    found = None if rest is None else _dated(token + rest)
    if found is None:
        tokens.rewind(start)
        found = _dated(token)
    return found


def _dated(token: str) -> SchemaAndValue | None:
    text = token.replace("\\:", ":")
    length = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    if length not in _BY_LENGTH:
        return None
    shape, schema = _BY_LENGTH[length]
    found = shape.parse(text)
    return None if found is None else SchemaAndValue(schema, found)


def _number(token: str) -> SchemaAndValue | None:
    try:
        number = parse_decimal(token)
    except NumberFormatError:
        return None
    return _whole(number) or _fraction(number)


def _whole(number: decimal.Decimal) -> SchemaAndValue | None:
    if number.adjusted() >= _LONG_DIGITS or number != number.to_integral_value():
        return None
    value = int(number)
    fitting = ((kind, schema) for bits, kind, schema in _WIDTHS if wrap(value, bits) == value)
    kind, schema = next(fitting, (None, None))
    return None if kind is None else SchemaAndValue(schema, kind(value))


def _fraction(number: decimal.Decimal) -> SchemaAndValue:
    exponent = number.as_tuple().exponent
    single, double = nearest_float32(number), to_double(number)
    if exponent != 0 and math.isfinite(single):
        return SchemaAndValue(FLOAT32_SCHEMA, Float32(single))
    if exponent != 0 and math.isfinite(double):
        return SchemaAndValue(FLOAT64_SCHEMA, Float64(double))
    assert isinstance(exponent, int)
    return SchemaAndValue(Decimal.schema(-exponent), number)
