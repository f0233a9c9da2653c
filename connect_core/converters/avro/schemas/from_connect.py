"""Avro schemas of Connect schemas. Confluent: ``AvroData.fromConnectSchema``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect_core.api.data import Date, Decimal, Field, Schema, SchemaType, Time, Timestamp
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas import names
from connect_core.converters.avro.schemas.defaults import default_to_json, is_avro_default
from connect_core.converters.avro.schemas.model import (
    ABSENT,
    ANYTHING,
    NULL,
    AvroField,
    AvroKind,
    AvroType,
    Json,
)
from connect_core.errors import DataError, NumberFormatError
from connect_core.java.numbers import parse_integer

__all__ = ["avro_schema"]

_PLAIN = {
    SchemaType.INT8: AvroKind.INT,
    SchemaType.INT16: AvroKind.INT,
    SchemaType.INT32: AvroKind.INT,
    SchemaType.INT64: AvroKind.LONG,
    SchemaType.FLOAT32: AvroKind.FLOAT,
    SchemaType.FLOAT64: AvroKind.DOUBLE,
    SchemaType.BOOLEAN: AvroKind.BOOLEAN,
}
_LOGICAL = {
    Decimal.LOGICAL_NAME: "decimal",
    Date.LOGICAL_NAME: "date",
    Time.LOGICAL_NAME: "time-millis",
    Timestamp.LOGICAL_NAME: "timestamp-millis",
}
Props = dict[str, Json]


def avro_schema(schema: Schema | None, settings: AvroSettings) -> AvroType:
    """Return the Avro schema of a Connect schema; for ``None``, that of schemaless values. Raise DataError."""
    return ANYTHING if schema is None else _Writer(settings).type(schema)


class _Writer:
    """Translates one schema; a schema that occurs again becomes the same type."""

    def __init__(self, settings: AvroSettings) -> None:
        self._settings = settings
        self._known: dict[Schema, AvroType] = {}
        self._names: set[str] = set()

    def type(self, schema: Schema | None, ignore_optional: bool = False) -> AvroType:
        if schema is None:
            return ANYTHING
        if schema.type is SchemaType.STRUCT and names.is_union(schema):
            return self._union(schema)
        base = self._base(schema.replace(optional=False) if schema.optional else schema)
        if ignore_optional or not schema.optional:
            return base
        last = schema.default is not None and schema.type is not SchemaType.STRUCT
        return AvroType(AvroKind.UNION, branches=(base, NULL) if last else (NULL, base))

    def _union(self, schema: Schema) -> AvroType:
        branches = tuple(self.type(field.schema, True) for field in schema.fields)
        known = [one.name or one.kind.value for one in branches]
        twice = next((name for place, name in enumerate(known) if name in known[:place]), None)
        if twice is not None:
            remedy = "enums stay enums with enhanced.avro.schema.support=true"
            raise DataError(f"Duplicate in union: {twice}; give the branches different types ({remedy})")
        return AvroType(AvroKind.UNION, branches=((NULL, *branches) if schema.optional else branches))

    def _base(self, schema: Schema) -> AvroType:
        known = self._known.get(schema)
        if known is None:
            known = self._known[schema] = _WRITERS[schema.type](self, schema)
        return known

    def plain(self, schema: Schema) -> AvroType:
        return AvroType(_PLAIN[schema.type], props=self._props(schema))

    def string(self, schema: Schema) -> AvroType:
        parameters, parameter = schema.parameters or {}, names.enum_parameter(self._settings)
        if parameter not in parameters or not (self._settings.enhanced or self._settings.generalized):
            return AvroType(AvroKind.STRING, props=self._props(schema))
        name = self._full_name(parameters[parameter])
        simple, prefix = names.split_name(parameters[parameter])[1], f"{parameter}."
        symbols = tuple(key.removeprefix(prefix) for key in parameters if key.startswith(prefix))
        return AvroType(
            AvroKind.ENUM,
            name,
            doc=parameters.get(names.ENUM_DOC + simple),
            props=self._props(schema),
            symbols=symbols,
            default_symbol=parameters.get(names.ENUM_DEFAULT + simple),
        )

    def bytes(self, schema: Schema) -> AvroType:
        parameters = schema.parameters or {}
        decimal: Props = {}
        if schema.name == Decimal.LOGICAL_NAME:
            precision = parameters.get(names.DECIMAL_PRECISION, str(names.DEFAULT_PRECISION))
            if not parameters:
                raise DataError("Invalid Decimal schema: scale parameter not found.")
            decimal = {"scale": Decimal.scale(schema), "precision": _number(names.DECIMAL_PRECISION, precision)}
        props = {**decimal, **self._props(schema)}
        size = parameters.get(names.FIXED_SIZE)
        if size is None:
            return AvroType(AvroKind.BYTES, props=props)
        name = self._full_name(schema.name)
        return AvroType(AvroKind.FIXED, name, props=props, size=_number(names.FIXED_SIZE, size))

    def array(self, schema: Schema) -> AvroType:
        return AvroType(AvroKind.ARRAY, items=self.type(schema.value_schema), props=self._props(schema))

    def map(self, schema: Schema) -> AvroType:
        if self._has_text_keys(schema.key_schema):
            return AvroType(AvroKind.MAP, items=self.type(schema.value_schema), props=self._props(schema))
        internal: Props = {names.CONNECT_INTERNAL_TYPE: names.MAP_ENTRY}
        name = f"{names.NAMESPACE}.{names.MAP_ENTRY}"
        if schema.name is not None or name in self._names:
            name = self._full_name(schema.name, names.MAP_ENTRY)
        else:
            internal = {}
            self._names.add(name)
        parts = (("key", schema.key_schema), ("value", schema.value_schema))
        fields = tuple(self._field(part, one) for part, one in parts)
        entry = AvroType(AvroKind.RECORD, name, props=internal, fields=fields)
        return AvroType(AvroKind.ARRAY, items=entry, props=self._props(schema))

    def _has_text_keys(self, keys: Schema | None) -> bool:
        if keys is None or keys.type is not SchemaType.STRING:
            return False
        return not keys.optional or self._settings.optional_keys

    def struct(self, schema: Schema) -> AvroType:
        name, parameters = self._full_name(schema.name), schema.parameters or {}
        fields = tuple(self._member(field, parameters) for field in schema.fields)
        twice = {field.name for field in fields}
        if len(twice) < len(fields):
            raise DataError(f"two fields of {schema} have the same name once scrubbed; rename one by ReplaceField")
        doc = parameters.get(names.RECORD_DOC)
        return AvroType(AvroKind.RECORD, name, doc=doc, props=self._props(schema), fields=fields)

    def _member(self, field: Field, parameters: Any) -> AvroField:
        name = names.field_name(field.name, self._settings.scrub)
        own = parameters.get(names.FIELD_DOC + field.name)
        return self._field(name, field.schema, field.schema.doc if self._settings.discard else own)

    def _field(self, name: str, schema: Schema | None, doc: str | None = None) -> AvroField:
        avro = self.type(schema)
        default: Json = ABSENT
        if schema is not None and schema.default is not None:
            default = default_to_json(schema, schema.default, self._settings.scrub)
            default = default if is_avro_default(avro, default) else ABSENT
        elif schema is not None and schema.optional:
            default = None
        return AvroField(name, avro, default, doc)

    def _full_name(self, name: str | None, unnamed: str = names.DEFAULT_NAME) -> str:
        """Return an unused name; a given name that is already used is an error."""
        if name is not None:
            full = names.type_name(name, self._settings.scrub)
            if full in self._names:
                remedy = "give one another name (SetSchemaMetadata), or both the same fields, docs and defaults"
                raise DataError(f"Can't redefine: {full} stands for two different schemas; {remedy}")
            self._names.add(full)
            return full
        full, number = f"{names.NAMESPACE}.{unnamed}", 1
        while full in self._names:
            number += 1
            full = f"{names.NAMESPACE}.{unnamed}{number}"
        self._names.add(full)
        return full

    def _props(self, schema: Schema) -> Props:
        props: Props = self._metadata(schema) if self._settings.metadata else {}
        logical = _LOGICAL.get(schema.name or "")
        if logical is not None:
            props["logicalType"] = logical
        props.update({key: value for key, value in (schema.parameters or {}).items() if key.startswith("avro")})
        return props

    def _metadata(self, schema: Schema) -> Props:
        parameters = schema.parameters or {}
        kept = {name: value for name, value in parameters.items() if name != names.FIELD_DEFAULT}
        flagged = names.FIELD_DEFAULT in parameters and not self._settings.discard
        default = None if flagged else default_to_json(schema, schema.default, self._settings.scrub)
        small = schema.type.value if schema.type.value in names.SMALL_INTEGERS else None
        traits = (
            (names.CONNECT_DOC, schema.doc),
            (names.CONNECT_VERSION, schema.version),
            (names.CONNECT_PARAMETERS, kept or None),
            (names.CONNECT_DEFAULT, default),
            (names.CONNECT_NAME, schema.name),
            (names.CONNECT_TYPE, small),
        )
        return {name: value for name, value in traits if value is not None}


def _number(name: str, text: str) -> int:
    try:
        return parse_integer(text, 32)
    except NumberFormatError as error:
        raise DataError(f"the parameter {name} is {text!r}, which is not a number") from error


_WRITERS: dict[SchemaType, Callable[[_Writer, Schema], AvroType]] = {
    **dict.fromkeys(_PLAIN, _Writer.plain),
    SchemaType.STRING: _Writer.string,
    SchemaType.BYTES: _Writer.bytes,
    SchemaType.ARRAY: _Writer.array,
    SchemaType.MAP: _Writer.map,
    SchemaType.STRUCT: _Writer.struct,
}
