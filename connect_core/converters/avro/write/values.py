"""Writers of one value's body, compiled for its Connect schema and the Avro schema to write it with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect_core.api.data import Field, Float32, Schema, SchemaType, Struct
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.defaults import default_from_json
from connect_core.converters.avro.schemas.logical import to_plain
from connect_core.converters.avro.schemas.model import ABSENT, AvroField, AvroKind, AvroType
from connect_core.converters.avro.schemas.names import is_union
from connect_core.converters.avro.schemas.to_connect import connect_schema
from connect_core.converters.avro.write.anything import write_anything
from connect_core.converters.avro.write.matching import branch_of, fits, source_fields, union_branches
from connect_core.converters.avro.write.parts import (
    checked_writer,
    enum_writer,
    fixed_writer,
    items_writer,
    optional_writer,
    pairs_writer,
    required_writer,
    write_key,
)
from connect_core.converters.avro.write.scalars import (
    Writer,
    write_boolean,
    write_bytes,
    write_double,
    write_float,
    write_long,
    write_string,
)
from connect_core.errors import DataError

__all__ = ["body_writer", "default_body"]

_SCALARS: dict[AvroKind, Writer] = {
    AvroKind.BOOLEAN: write_boolean,
    AvroKind.INT: write_long,
    AvroKind.LONG: write_long,
    AvroKind.FLOAT: lambda out, value: write_float(out, Float32(value)),
    AvroKind.DOUBLE: lambda out, value: write_double(out, float(value)),
    AvroKind.BYTES: write_bytes,
    AvroKind.STRING: write_string,
}


def body_writer(schema: Schema | None, avro: AvroType, settings: AvroSettings) -> Callable[[Any], bytes]:
    """Return a function that writes a value as a body; it raises DataError for a value that does not fit.

    Raise DataError if no value of the schema can be written.
    """
    try:
        write = _Compiler(settings).writer(schema, avro)
    except RecursionError as error:
        raise DataError(f"{schema} is nested too deep") from error

    def write_body(value: Any) -> bytes:
        out = bytearray()
        try:
            write(out, value)
        except RecursionError as error:
            raise DataError("the value is nested too deep") from error
        return bytes(out)

    return write_body


def default_body(field: AvroField, settings: AvroSettings) -> bytes:
    """Return the bytes of a field's default. Raise DataError if it has none."""
    if field.default is ABSENT:
        raise DataError(f"the registered schema requires the field {field.name}, which has no value and no default")
    schema = connect_schema(field.type, settings)
    value = None if schema is None else default_from_json(schema, field.type, field.default, settings)
    return body_writer(schema, field.type, settings)(value)


class _Compiler:
    """Compiles writers; a schema that occurs again gets the same writer."""

    def __init__(self, settings: AvroSettings) -> None:
        self._settings = settings
        self._known: dict[tuple[int, AvroType], tuple[Schema | None, Writer]] = {}

    def writer(self, schema: Schema | None, avro: AvroType) -> Writer:
        known = self._known.get((id(schema), avro))
        if known is None:
            known = self._known[id(schema), avro] = (schema, self._writer(schema, avro))
        return known[1]

    def _writer(self, schema: Schema | None, avro: AvroType) -> Writer:
        if schema is None or avro.kind is AvroKind.ANYTHING:
            if (schema is None) != (avro.kind is AvroKind.ANYTHING):
                raise DataError("schemaless values can only be written with Connect's own record schema for them")
            return write_anything
        if schema.type is SchemaType.STRUCT and is_union(schema):
            return self._union(schema, avro)
        if avro.kind is not AvroKind.UNION:
            return required_writer(self._value(schema, avro))
        nulls = [place for place, one in enumerate(avro.branches) if one.kind is AvroKind.NULL]
        place = branch_of(schema, avro)
        write = self._value(schema, avro.branches[place])
        return optional_writer(write, place, nulls[0] if nulls and schema.optional else None)

    def _union(self, schema: Schema, avro: AvroType) -> Writer:
        union = avro if avro.kind is AvroKind.UNION else AvroType(AvroKind.UNION, branches=(avro,))
        places = union_branches(schema, union, self._settings)
        kinds = [self._value(field.schema, union.branches[places[field.index]]) for field in schema.fields]
        nulls = [place for place, one in enumerate(union.branches) if one.kind is AvroKind.NULL]
        is_plain = union is not avro

        def write(out: bytearray, value: Any) -> None:
            chosen = None if value is None else _chosen(schema, value)
            place = places[chosen] if chosen is not None else nulls[0] if nulls and schema.optional else None
            if place is None:
                raise DataError("Found null value for non-optional schema")
            if not is_plain:
                write_long(out, place)
            if chosen is not None:
                kinds[chosen](out, value.values[chosen])

        return write

    def _value(self, schema: Schema, avro: AvroType) -> Writer:
        if not fits(schema, avro):
            raise DataError(f"{schema} cannot be written as {avro.kind.value}, which the registered schema requires")
        plain = to_plain(schema)
        write = self._plain(schema, avro)
        if plain is None:
            return checked_writer(schema, write)
        return lambda out, value: write(out, plain(value))

    def _plain(self, schema: Schema, avro: AvroType) -> Writer:
        if avro.kind is AvroKind.RECORD:
            return self._record(schema, avro)
        if avro.kind is AvroKind.ENUM:
            return enum_writer(avro)
        if avro.kind is AvroKind.FIXED:
            return fixed_writer(avro, schema)
        if avro.kind is AvroKind.MAP:
            return pairs_writer(write_key, self.writer(schema.value_schema, avro.part()))
        if avro.kind is not AvroKind.ARRAY:
            return _SCALARS[avro.kind]
        if schema.type is SchemaType.ARRAY:
            return items_writer(self.writer(schema.value_schema, avro.part()))
        parts = {field.name: field.type for field in avro.part().fields}
        if parts.keys() != {"key", "value"}:
            raise DataError(f"{schema} cannot be written as an array of other items than map entries")
        return pairs_writer(
            self.writer(schema.key_schema, parts["key"]), self.writer(schema.value_schema, parts["value"])
        )

    def _record(self, schema: Schema, avro: AvroType) -> Writer:
        sources = source_fields(schema, avro, self._settings.scrub)
        fields = [self._field(one, field) for one, field in zip(sources, avro.fields, strict=True)]

        def write(out: bytearray, value: Struct) -> None:
            if value.schema is not schema and value.schema != schema:
                raise DataError("Mismatching struct schema")
            values = value.values
            for index, default, one in fields:
                found = None if index is None else values[index]
                one(out, default if found is None else found)

        return write

    def _field(self, source: Field | None, field: AvroField) -> tuple[int | None, Any, Writer]:
        if source is not None:
            default = None if self._settings.ignore_default else source.schema.default
            return source.index, default, self.writer(source.schema, field.type)
        body = default_body(field, self._settings)
        return None, None, lambda out, value: out.extend(body)


def _chosen(schema: Schema, value: Any) -> int | None:
    """Return the index of the field that is set in a union's struct."""
    if not isinstance(value, Struct):
        raise DataError(f"Invalid type for {schema.type}: class {type(value).__name__}")
    if value.schema is not schema and value.schema != schema:
        raise DataError("Mismatching struct schema")
    return next((index for index, one in enumerate(value.values) if one is not None), None)
