from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="pip install 'connect-core[delta]'")

from tests.connectors.delta.lake import Lake


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)
