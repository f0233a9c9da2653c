"""Both lanes give equal results over random chains on random records."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, note, seed, settings

from connect_core.api.data import INT32_SCHEMA, SchemaBuilder, Struct
from connect_core.api.records import ConnectRecord, SourceRecord
from connect_core.api.transform import Transformation
from connect_core.errors import DataError
from connect_core.transforms.hoist_field import HoistFieldValue
from connect_core.transforms.insert_field import InsertFieldValue
from tests.full_run import examples
from tests.seeds import SEED
from tests.transforms.lanes import by_batch, by_record, differences
from tests.transforms.strategies import chains, records

pytestmark = pytest.mark.slow

EXAMPLES = examples(100, 2500)
print(f"both lanes: CONNECT_SEED={SEED}")


@seed(SEED)
@settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(chain=chains, rows=records())
def test_lanes_are_equal(chain: list[Transformation], rows: list[ConnectRecord]) -> None:
    note(f"CONNECT_SEED={SEED}, {[type(transform).__name__ for transform in chain]}")
    expected = [by_record(chain, row) for row in rows]
    found = by_batch(chain, rows)
    for row, one, other in zip(rows, expected, found, strict=True):
        assert differences(one, other) == [], f"of {row}: by record {one}, by batch {other}"


def test_required_field_without_a_value_fails_where_the_whole_is_put_into_another() -> None:
    insert, hoist = InsertFieldValue(), HoistFieldValue()
    insert.configure({"partition.field": "p!"})
    hoist.configure({"field": "whole"})
    schema = SchemaBuilder.struct().field("n", INT32_SCHEMA).build()
    row = SourceRecord("t", value_schema=schema, value=Struct(schema).put("n", 1))
    assert by_record([insert, hoist], row) is DataError
    assert by_batch([insert, hoist], [row]) == [DataError]
