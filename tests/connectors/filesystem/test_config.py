"""The folder a file system sink writes to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.sink.config import open_storage
from connect_core.errors import ConfigError, RetriableError


def test_folder_that_cannot_be_written_is_refused_at_first_and_tried_again_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is read-only for a while must not leave a connector that only a person sets going again."""
    config, limits = {"path": str(tmp_path / "lake"), "topics": "t"}, WorkerLimits((tmp_path,))
    assert open_storage(config, limits, is_at_work=True).root == tmp_path / "lake"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ConfigError, match="cannot be written; make the worker's user its owner"):
        open_storage(config, limits)
    with pytest.raises(RetriableError, match="cannot be written; make the worker's user its owner"):
        open_storage(config, limits, is_at_work=True)
