"""Commands are tested with the herder's test harness."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database
from tests.herder.conftest import harness
from tests.herder.harness import Harness
from tests.store.databases import sqlite_template

__all__ = ["harness", "sqlite_template"]


WORKER = {
    "bootstrap.servers": "127.0.0.1:9",
    "group.id": "test",
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "offset.storage.topic": "o",
    "status.storage.topic": "s",
    "connect.validate.live": "false",
}


@pytest.fixture(autouse=True)
def levels() -> Iterator[None]:
    """Commands quieten loggers of their process, which here is that of all tests."""
    names = (None, "connect_core", "connect_core.settings", "httpx", "httpcore")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture
def deployment(sqlite_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harness:
    """A deployment that commands find, whose broker does not answer."""
    url = f"sqlite:///{tmp_path / 'connect.db'}"
    shutil.copy(sqlite_template, tmp_path / "connect.db")
    properties = {**WORKER, "file.roots": str(tmp_path), "database.url": url}
    (tmp_path / "worker.properties").write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    monkeypatch.setenv("CONNECT_WORKER_CONFIG", str(tmp_path / "worker.properties"))
    # Nobody is there to say where topics end, and half a minute of asking tells nothing here.
    monkeypatch.setattr("connect_core.cli.deployment.TopicEnds", lambda reader: None)
    return Harness(Database(url), WorkerSettings.from_properties(properties, {}, WorkerMode.DISTRIBUTED))
