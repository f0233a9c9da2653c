"""Nested fields keep their values and nulls in every file that is written, also where it spells their names anew."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.connectors.iceberg.lake import Lake, numbered
from tests.full_run import examples

pytestmark = pytest.mark.slow

ODD = ["p-q", "r x", "1z", "p.q", "ä", "%2F", "-", "🦆", '"', "plain", "Plain", "_"]
UPSERT = {"iceberg.tables.upsert-mode-enabled": "true", "iceberg.tables.default-id-columns": "id"}
NUMBERS = st.none() | st.integers(-5, 5)
TEXTS = st.none() | st.text("aé", max_size=2)


def pairs(found: dict[str, Any]) -> list[tuple[str, Any]]:
    return [*found.items()]


@st.composite
def nested(draw: st.DrawFn) -> tuple[pa.DataType, list[Any]]:
    """Return a type of structs, lists and maps with odd names, and values of it."""
    names = draw(st.lists(st.sampled_from(ODD), min_size=4, max_size=4, unique=True))
    inner = pa.struct([(names[0], pa.int64()), (names[1], pa.string())])
    inners = st.none() | st.fixed_dictionaries({names[0]: NUMBERS, names[1]: TEXTS})
    kind = pa.struct([
        (names[0], pa.int64()), (names[1], pa.list_(inner)), (names[2], pa.map_(pa.string(), inner)), (names[3], inner),
    ])  # fmt: skip
    values = st.none() | st.fixed_dictionaries({
        names[0]: NUMBERS,
        names[1]: st.none() | st.lists(inners, max_size=3),
        names[2]: st.none() | st.dictionaries(st.text("ab", max_size=2), inners, max_size=2).map(pairs),
        names[3]: inners,
    })  # fmt: skip
    return kind, pa.array(draw(st.lists(values, min_size=6, max_size=12)), kind).to_pylist()


def complete(kind: pa.DataType) -> dict[str, Any]:
    """Return a value with all fields: one that is always null would have no column yet."""
    number, many, mapped, inner = kind.names
    part = {inner_part.name: 7 if inner_part.type == pa.int64() else "x" for inner_part in kind.field(3).type}
    return {number: 7, many: [part, None], mapped: [("k", part)], inner: part}


def rows_of(kind: pa.DataType, values: list[Any], first: int) -> pa.StructArray:
    """Return rows with ids from ``first`` on, as a slice of an array that is longer at both ends."""
    columns = [pa.array(range(first - 1, first + len(values) + 1)), pa.array([None, *values, values[0]], kind)]
    always = pa.array([0] * (len(values) + 2))
    return pa.StructArray.from_arrays([*columns, always], names=["id", "s", "p-q"]).slice(1, len(values))


def found(lake: Lake) -> dict[int, Any]:
    """Return the values by id, as they are in the files: pyiceberg's scan returns null lists of structs as empty."""
    files = [task.file.file_path.removeprefix("file://") for task in lake.table().scan().plan_files()]
    rows = [row for file in files for row in pq.read_table(file).to_pylist()]
    return {row["id"]: unnamed(row["s"]) for row in rows}


def unnamed(value: Any) -> Any:
    """Return a value without the names of its fields, which a file spells in its own way."""
    if isinstance(value, dict):
        return tuple(map(unnamed, value.values()))
    return type(value)(map(unnamed, value)) if isinstance(value, list | tuple) else value


@settings(
    max_examples=examples(6, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=nested())
def test_odd_names_keep_their_values_through_appends_updates_and_merges(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[pa.DataType, list[Any]]
) -> None:
    kind, values = data
    lake = Lake(tmp_path_factory.mktemp("lake"))
    lake.set({**UPSERT, "compaction.min.files": "2"})
    full = complete(kind)
    expected = dict(enumerate(map(unnamed, [full, *values])))
    lake.run_batch(rows_of(kind, [full, *values], 0), 0, 1)
    assert found(lake) == expected
    changed = [full, *reversed(values)][: len(values) // 2]
    lake.run_batch(rows_of(kind, changed, 2), 100, 2)
    expected |= dict(enumerate(map(unnamed, changed), start=2))
    assert found(lake) == expected
    lake.committer(2).sweep([])
    assert len([*lake.table().scan().plan_files()]) == 1
    assert found(lake) == expected


def test_odd_names_keep_their_values_beside_columns_of_the_same_name(lake: Lake, batches: bool) -> None:
    value = {"a": 1, "s": {"p-q": 1, "r x": 2, "1z": 3, "p.q": 5}, "l": [{"p-q": [{"r x": 4}]}], "p-q": 4}
    lake.run(numbered([value]), batches=batches)
    assert lake.rows() == [value]


def test_null_lists_and_maps_of_structs_stay_null_in_copies(lake: Lake) -> None:
    kind = pa.struct(
        [("l", pa.list_(pa.struct([("x", pa.int64())]))), ("m", pa.map_(pa.string(), pa.struct([("x", pa.int64())])))]
    )
    lake.set({**UPSERT, "compaction.min.files": "2"})
    values = [{"l": [{"x": 1}], "m": [("k", {"x": 1})]}, {"l": None, "m": None}, {"l": [], "m": []}, None]
    lake.run_batch(rows_of(kind, values, 0), 0, 1)
    lake.run_batch(rows_of(kind, values[:1], 0), 10, 2)
    expected = dict(enumerate(map(unnamed, values)))
    assert found(lake) == expected
    lake.committer(2).sweep([])
    assert len([*lake.table().scan().plan_files()]) == 1
    assert found(lake) == expected
