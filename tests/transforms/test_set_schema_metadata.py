from __future__ import annotations

import pytest

from connect_core.api.data import STRING_SCHEMA
from connect_core.errors import DataError
from connect_core.transforms.set_schema_metadata import SetSchemaMetadataValue
from tests.transforms.rows import SCHEMA, row
from tests.transforms.single import applied, configured, in_columns, sink


def test_schema_gets_name_and_version() -> None:
    (named,) = applied(configured(SetSchemaMetadataValue, schema_name="new", schema_version="2"), sink(row(1), SCHEMA))
    assert (named.value_schema.name, named.value_schema.version) == ("new", 2)
    assert named.value.schema is named.value_schema


def test_non_struct_is_refused() -> None:
    transform = configured(SetSchemaMetadataValue, schema_name="new")
    with pytest.raises(DataError, match="non-struct"):
        transform.apply(sink("x", STRING_SCHEMA))
    assert in_columns(transform, sink("x", STRING_SCHEMA)) is None
