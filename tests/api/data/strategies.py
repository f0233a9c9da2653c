"""Random schemas and values of them."""

from __future__ import annotations

import decimal
from typing import Any

from hypothesis import strategies as st

from connect_core.api.data import (
    Date,
    Decimal,
    Float32,
    Float64,
    Instant,
    Int8,
    Int16,
    Int32,
    Int64,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    Time,
    Timestamp,
)
from connect_core.java.decimals import of_unscaled

__all__ = ["scalar_values", "schemaless_rows", "schemas", "struct_schemas", "values_of"]

TEXT = st.text(max_size=8)
MILLIS_PER_DAY = 86_400_000
_SCALARS: dict[SchemaType, st.SearchStrategy[Any]] = {
    SchemaType.INT8: st.integers(-(1 << 7), (1 << 7) - 1).map(Int8),
    SchemaType.INT16: st.integers(-(1 << 15), (1 << 15) - 1).map(Int16),
    SchemaType.INT32: st.integers(-(1 << 31), (1 << 31) - 1).map(Int32),
    SchemaType.INT64: st.integers(-(1 << 63), (1 << 63) - 1).map(Int64),
    SchemaType.FLOAT32: st.floats(width=32).map(Float32),
    SchemaType.FLOAT64: st.floats().map(Float64),
    SchemaType.BOOLEAN: st.booleans(),
    SchemaType.STRING: TEXT,
    SchemaType.BYTES: st.binary(max_size=8),
}


def scalar_values(type: SchemaType) -> st.SearchStrategy[Any]:
    """Return values of a primitive type."""
    return _SCALARS[type]


@st.composite
def _decorated(draw: st.DrawFn, plain: st.SearchStrategy[Schema], optional: bool | None = None) -> Schema:
    schema = draw(plain)
    is_optional = draw(st.booleans()) if optional is None else optional
    schema = schema.replace(optional=is_optional, doc=draw(st.none() | TEXT))
    if schema.name is None and draw(st.booleans()):
        schema = schema.replace(name=draw(TEXT), version=draw(st.none() | st.integers(0, 9)))
        schema = schema.replace(parameters=draw(st.none() | st.dictionaries(TEXT, TEXT, min_size=1, max_size=2)))
    if schema.type is not SchemaType.STRUCT and draw(st.integers(0, 3)) == 0:
        schema = schema.replace(default=draw(values_of(schema, nulls=False)))
    return schema


_PRIMITIVES = st.sampled_from([Schema(type) for type in _SCALARS])
_LOGICAL = st.sampled_from([Date.SCHEMA, Time.SCHEMA, Timestamp.SCHEMA]) | st.integers(-5, 90).map(Decimal.schema)
_LEAVES = _decorated(_PRIMITIVES | _LOGICAL)


def _arrays(parts: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return parts.map(lambda part: SchemaBuilder.array(part).build())


def _maps(parts: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    keys = _decorated(st.sampled_from([Schema(SchemaType.STRING), Schema(SchemaType.INT32), Date.SCHEMA]))
    return st.tuples(keys, parts).map(lambda pair: SchemaBuilder.map(*pair).build())


def _structs(parts: st.SearchStrategy[Schema]) -> st.SearchStrategy[Schema]:
    return st.dictionaries(TEXT.filter(bool), parts, max_size=4).map(_struct)


def _struct(fields: dict[str, Schema]) -> Schema:
    builder = SchemaBuilder.struct()
    for name, schema in fields.items():
        builder.field(name, schema)
    return builder.build()


schemas = st.recursive(_LEAVES, lambda parts: _decorated(_arrays(parts) | _maps(parts) | _structs(parts)), max_leaves=6)
struct_schemas = _decorated(_structs(schemas), optional=False)


def values_of(schema: Schema, nulls: bool = True) -> st.SearchStrategy[Any]:
    """Return values that fit a schema and that columns can say."""
    known = _known(schema)
    return st.none() | known if nulls and (schema.optional or schema.default is not None) else known


def _known(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.name == Decimal.LOGICAL_NAME:
        scale = int((schema.parameters or {})["scale"])
        return st.integers(-(10**30), 10**30).map(lambda unscaled: of_unscaled(unscaled, scale))
    if schema.name == Date.LOGICAL_NAME:
        return st.integers(-(1 << 31), (1 << 31) - 1).map(lambda days: Instant(days * MILLIS_PER_DAY))
    if schema.name == Time.LOGICAL_NAME:
        return st.integers(0, MILLIS_PER_DAY - 1).map(Instant)
    if schema.name == Timestamp.LOGICAL_NAME:
        return st.integers(-(1 << 63), (1 << 63) - 1).map(Instant)
    if schema.type is SchemaType.ARRAY:
        assert schema.value_schema is not None
        return st.lists(_part(schema.value_schema), max_size=3)
    if schema.type is SchemaType.MAP:
        assert schema.key_schema is not None
        assert schema.value_schema is not None
        return st.dictionaries(_part(schema.key_schema), _part(schema.value_schema), max_size=3)
    return _struct_values(schema) if schema.type is SchemaType.STRUCT else _SCALARS[schema.type]


def _part(schema: Schema) -> st.SearchStrategy[Any]:
    """Return elements: a null stands for itself there, not for a default."""
    return values_of(schema, nulls=schema.optional)


def _struct_values(schema: Schema) -> st.SearchStrategy[Struct]:
    columns = [values_of(field.schema) for field in schema.fields]
    return st.tuples(*columns).map(lambda row: Struct.of_values(schema, row))


_UNTYPED = [
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(),
    *_SCALARS.values(),
    st.integers(-(1 << 63), (1 << 63) - 1).map(Instant),
    st.integers(-(10**30), 10**30).map(lambda unscaled: decimal.Decimal(unscaled).scaleb(-2)),
]
_COLUMNS = st.recursive(
    st.sampled_from(_UNTYPED).map(lambda known: st.none() | known),
    lambda columns: (
        columns.map(lambda column: st.none() | st.lists(column, max_size=3))
        | st.dictionaries(TEXT, columns, max_size=3).map(lambda shape: st.none() | st.fixed_dictionaries(shape))
    ),
    max_leaves=5,
)


@st.composite
def schemaless_rows(draw: st.DrawFn) -> list[dict[str, Any] | None]:
    """Return maps with the same keys and one type a key, and nulls."""
    shape = draw(st.dictionaries(TEXT, _COLUMNS, max_size=4))
    return draw(st.lists(st.none() | st.fixed_dictionaries(shape), max_size=5))
