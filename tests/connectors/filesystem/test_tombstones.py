"""Records whose value is null: written, left out, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connect_core.errors import DataError
from tests.connectors.contexts import Reporter
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("policy", "expected"), [("write", [1, None, 2]), ("ignore", [1, 2])])
def test_tombstones_are_written_or_left_out(tmp_path: Path, batches: bool, policy: str, expected: list[Any]) -> None:
    export = Export(tmp_path, **{"behavior.on.null.values": policy})
    export.run(numbered([{"a": 1}, None, {"a": 2}]), batches=batches)
    assert [row["a"] for row in export.rows()] == expected


def test_tombstones_may_fail(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, **{"behavior.on.null.values": "fail"})
    with pytest.raises(DataError, match=r"offset 1: the value is null and behavior.on.null.values is fail"):
        export.run(numbered([{"a": 1}, None]), batches=batches)
    export.reporter = Reporter()
    export.run(numbered([{"a": 1}, None, {"a": 2}]), sequence=2, batches=batches)
    assert [row["a"] for row in export.rows()] == [1, 2]
