from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyiceberg", reason="pip install 'connect-core[iceberg]'")

from tests.connectors.iceberg.lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)
