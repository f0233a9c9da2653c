"""Where files are, and what their names are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


def test_names_follow_their_settings(tmp_path: Path) -> None:
    naming = {"topics.dir": "lake/raw", "file.delim": "-", "filename.offset.zero.pad.width": "4"}
    export = Export(tmp_path, **naming)
    export.run(numbered([{"a": 1}]))
    assert (export.out / "lake/raw/t/partition=0/t-0-0000-0001.parquet").exists()
    assert (export.out / "lake/raw/t/_SUCCESS").exists()
