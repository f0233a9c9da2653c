"""ORC files hold the rows they were given, however these lie in memory."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc

from connect_core.connectors.filesystem.formats.orc.arrays import aligned

PLACE = pa.struct([("city", pa.string()), ("zip", pa.int32())])
COUNT = 9


def place(number: int) -> dict[str, Any] | None:
    return None if number in (3, 4) else {"city": f"c{number}", "zip": None if number == 6 else number}


KINDS: Mapping[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "struct": (PLACE, place),
    "struct of struct": (pa.struct([("p", PLACE), ("x", pa.int8())]), lambda n: {"p": place(n), "x": n}),
    "struct of list": (pa.struct([("l", pa.list_(PLACE))]), lambda n: {"l": None if n == 5 else [place(n)] * (n % 3)}),
    "list of struct": (pa.list_(PLACE), lambda n: [place(n), None][: n % 3]),
    "list of struct of struct": (pa.list_(pa.struct([("p", PLACE)])), lambda n: [{"p": place(n)}, None][: n % 3]),
    "map of struct": (pa.map_(pa.string(), PLACE), lambda n: [(f"k{n}", place(n)), ("b", None)][: n % 3]),
    "struct of map": (pa.struct([("m", pa.map_(pa.string(), PLACE))]), lambda n: {"m": [(f"k{n}", place(n))]}),
    "map": (pa.map_(pa.string(), pa.int32()), lambda n: [(f"k{n}", n)]),
    "text": (pa.string(), lambda n: f"t{n}"),
}
NULLS: list[tuple[int, ...]] = [(), (0,), (2,), (5,), (2, 5), (8,), (0, 1, 2)]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_that_were_given(kind: str) -> None:
    wanted, value = KINDS[kind]
    for nulls in NULLS:
        whole = pa.array([None if number in nulls else value(number) for number in range(COUNT)], wanted)
        for given in ([whole], [whole[1:]], [whole[3:7]], [whole[:4], whole[4:]], [whole[2:2]], []):
            column = pa.chunked_array(given, wanted)
            assert aligned(column).to_pylist() == column.to_pylist()
            assert written(aligned(column)) == column.to_pylist(), (nulls, column)


def written(column: pa.ChunkedArray) -> list[Any]:
    """Return what is read of a column that was written."""
    file = io.BytesIO()
    writer = orc.ORCWriter(file, compression="zstd")
    writer.write(pa.table({"column": column}))
    writer.close()
    file.seek(0)
    return list(orc.ORCFile(file).read().column("column").to_pylist())
