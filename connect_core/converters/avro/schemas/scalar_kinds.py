"""Connect's types for the kinds of Avro without parts."""

from __future__ import annotations

from collections.abc import Callable

from connect_core.api.data import Date, Decimal, SchemaBuilder, SchemaType, Time, Timestamp
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas import names
from connect_core.converters.avro.schemas.model import AvroKind, AvroType, Json
from connect_core.errors import DataError

__all__ = ["scalar_builder"]

_PLAIN = {
    AvroKind.BOOLEAN: SchemaType.BOOLEAN,
    AvroKind.FLOAT: SchemaType.FLOAT32,
    AvroKind.DOUBLE: SchemaType.FLOAT64,
    AvroKind.STRING: SchemaType.STRING,
}


def scalar_builder(avro: AvroType, settings: AvroSettings) -> SchemaBuilder | None:
    """Return a builder of the type, ``None`` for a kind that has parts. Raise DataError."""
    plain = _PLAIN.get(avro.kind)
    if plain is not None:
        return SchemaBuilder(plain)
    build = _BUILDERS.get(avro.kind)
    return None if build is None else build(avro, settings)


def _integer(avro: AvroType, settings: AvroSettings) -> SchemaBuilder:
    logical = avro.props.get("logicalType")
    if logical is not None:
        known = {"date": Date.builder, "time-millis": Time.builder}.get(str(logical).lower(), SchemaBuilder.int32)
        return known()
    kind = avro.props.get(names.CONNECT_TYPE)
    if kind is None:
        return SchemaBuilder.int32()
    if kind not in names.SMALL_INTEGERS:
        raise DataError(f"Connect type annotation for Avro int field is {kind}, which it cannot be")
    return SchemaBuilder.type(SchemaType(kind))


def _long(avro: AvroType, settings: AvroSettings) -> SchemaBuilder:
    is_time = str(avro.props.get("logicalType")).lower() == "timestamp-millis"
    return Timestamp.builder() if is_time else SchemaBuilder.int64()


def _bytes(avro: AvroType, settings: AvroSettings) -> SchemaBuilder:
    builder = SchemaBuilder.bytes()
    if str(avro.props.get("logicalType")).lower() == "decimal":
        builder = _decimal(avro.props.get("scale"), avro.props.get("precision"))
    return builder.parameter(names.FIXED_SIZE, str(avro.size)) if avro.kind is AvroKind.FIXED else builder


def _enum(avro: AvroType, settings: AvroSettings) -> SchemaBuilder:
    builder, simple = SchemaBuilder.string(), names.split_name(avro.name or "")[1]
    if avro.doc is not None and settings.metadata:
        builder.parameter(names.ENUM_DOC + simple, avro.doc)
    if avro.default_symbol is not None and settings.metadata:
        builder.parameter(names.ENUM_DEFAULT + simple, avro.default_symbol)
    parameter = names.enum_parameter(settings)
    builder.parameter(parameter, avro.name or "")
    for place, symbol in enumerate(avro.symbols):
        builder.parameter(f"{parameter}.{symbol}", str(place) if settings.generalized else symbol)
    return builder


def _decimal(scale: Json, precision: Json) -> SchemaBuilder:
    builder = Decimal.builder(scale if isinstance(scale, int) else 0)
    if precision is None or precision == names.DEFAULT_PRECISION:
        return builder
    if not isinstance(precision, int):
        raise DataError(
            "precision property must be a JSON Integer. https://avro.apache.org/docs/1.9.1/spec.html#Decimal"
        )
    return builder.parameter(names.DECIMAL_PRECISION, str(precision))


_BUILDERS: dict[AvroKind, Callable[[AvroType, AvroSettings], SchemaBuilder]] = {
    AvroKind.INT: _integer,
    AvroKind.LONG: _long,
    AvroKind.BYTES: _bytes,
    AvroKind.FIXED: _bytes,
    AvroKind.ENUM: _enum,
}
