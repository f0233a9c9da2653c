"""SchemaBuilder beyond the recorded cases."""

from __future__ import annotations

import pickle
from datetime import date

import pytest

from connect_core.api.data import INT32_SCHEMA, Date, Instant, SchemaBuilder, SchemaType, Struct
from connect_core.errors import SchemaBuilderError


def test_builder_takes_builders_as_parts() -> None:
    schema = SchemaBuilder.struct().field("a", SchemaBuilder.array(SchemaBuilder.int32())).build()
    field = schema.field("a")
    assert field is not None
    assert field.schema.value_schema == INT32_SCHEMA


def test_builder_may_build_twice() -> None:
    builder = SchemaBuilder.int32()
    first = builder.build()
    assert builder.optional().build() != first


def test_default_date_becomes_an_instant() -> None:
    assert Date.builder().default_value(date(1970, 1, 3)).build().default == Instant(172_800_000)


def test_struct_default_is_made_of_the_draft() -> None:
    builder = SchemaBuilder.struct().field("a", INT32_SCHEMA)
    schema = builder.default_value(Struct(builder.draft).put("a", 1)).build()
    assert schema.default["a"] == 1
    assert schema == pickle.loads(pickle.dumps((schema, schema)))[0] or schema.default.schema != schema
    assert pickle.loads(pickle.dumps(schema)).default["a"] == 1


def test_struct_default_of_the_built_schema_is_refused() -> None:
    builder = SchemaBuilder.struct().field("a", INT32_SCHEMA)
    with pytest.raises(SchemaBuilderError, match="Invalid default value"):
        builder.default_value(Struct(builder.build()).put("a", 1))


def test_parts_may_be_of_unknown_schema() -> None:
    schema = SchemaBuilder.map_of(INT32_SCHEMA, None).build()
    assert schema.type is SchemaType.MAP
    assert schema.value_schema is None
