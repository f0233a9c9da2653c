"""The file source by both of its lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.connectors.file import source_task
from tests.connectors.file.follower import Follower


@pytest.fixture(params=["records", "batches"])
def follower(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Follower:
    """A follower whose polls do not wait long where there is no line: nobody writes meanwhile."""
    monkeypatch.setattr(source_task, "_WAIT_SECONDS", 0.001)
    return Follower(tmp_path, request.param == "batches")
