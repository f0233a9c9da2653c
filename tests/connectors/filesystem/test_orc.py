"""ORC files of which the driver makes others, because another task found further columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.api.data import Instant
from connect_core.errors import DataError
from tests.connectors.filesystem.export import Export, numbered

pytestmark = pytest.mark.slow


def test_timestamps_that_arrow_does_not_read(tmp_path: Path, batches: bool) -> None:
    export = Export(tmp_path, format="orc")
    with pytest.raises(DataError, match=r"field to a string with a transform or choose another format"):
        export.run(numbered([{"at": Instant(253_370_764_800_000)}]), numbered([{"z": 1}], partition=1), batches=batches)
