"""The herder is tested on SQLite: the store's own tests cover both databases."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.store import Database
from tests.herder.harness import Harness
from tests.store.databases import sqlite_template

__all__ = ["sqlite_template"]


@pytest.fixture
def harness(sqlite_template: Path, tmp_path: Path) -> Iterator[Harness]:
    shutil.copy(sqlite_template, tmp_path / "connect.db")
    database = Database(f"sqlite:///{tmp_path / 'connect.db'}")
    yield Harness(database)
    database.close()
