"""The driver's side of the file source: which files it takes, its tasks, its guarantees, and altered offsets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import ExactlyOnceSupport, WorkerLimits
from connect_core.api.offsets import canonical
from connect_core.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from connect_core.errors import ConfigError, ConnectError
from tests.connectors.contexts import DriverSide, limits_of
from tests.connectors.file.follower import TOPIC


def outside(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "folder").mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe")
    return {
        "/etc/passwd": "outside the folders that file.roots allows",
        "../secret": "outside the folders that file.roots allows",
        "link": "outside the folders that file.roots allows",
        "/proc/self/environ": "outside the folders that file.roots allows",
        "/dev/stdin": "outside the folders that file.roots allows",
        "pipe": "not a regular file",
        "folder": "not a regular file",
        "a\0b": "not a file path",
    }


def test_start_refuses_files_it_may_not_read(tmp_path: Path) -> None:
    for file, message in outside(tmp_path).items():
        connector = FileStreamSourceConnector()
        connector.initialize(DriverSide(limits_of(tmp_path)))
        with pytest.raises(ConfigError, match=message):
            connector.start({"file": file, "topic": TOPIC})
        errors = connector.validate_live({"file": file, "topic": TOPIC}, limits_of(tmp_path))
        assert message in errors["file"][0]


def test_start_refuses_everything_without_roots() -> None:
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(WorkerLimits()))
    with pytest.raises(ConfigError, match=r"file\.roots"):
        connector.start({"file": "a", "topic": TOPIC})


def test_task_configs_are_one(tmp_path: Path) -> None:
    connector = FileStreamSourceConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    config = {"file": "a", "topic": TOPIC}
    connector.start(config)
    assert connector.task_configs(4) == [config]
    assert connector.task_class() is FileStreamSourceTask


def test_exactly_once_needs_a_file() -> None:
    connector = FileStreamSourceConnector()
    assert connector.exactly_once_support({"file": "a", "topic": TOPIC}) is ExactlyOnceSupport.SUPPORTED
    assert connector.exactly_once_support({"topic": TOPIC}) is ExactlyOnceSupport.UNSUPPORTED


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        ({"filename": "a"}, {"other": 1}, "either be null or contain the key 'position'"),
        ({"filename": "a"}, {"position": "1"}, "expected to be a Long value"),
        ({"filename": "a"}, {"position": True}, "expected to be a Long value"),
        ({"filename": "a"}, {"position": -1}, "non-negative"),
        ({"other": "a"}, {"position": 1}, "contain the key 'filename'"),
        (None, {"position": 1}, "Partition objects cannot be null"),
    ],
)
def test_alter_offsets_refuses_bad_ones(partition: Any, offset: Any, message: str) -> None:
    config = {"file": "a", "topic": TOPIC}
    with pytest.raises(ConnectError, match=message):
        FileStreamSourceConnector().alter_offsets(config, {canonical(partition): offset})


def test_alter_offsets_accepts_positions_and_forgetting() -> None:
    offsets = {canonical({"filename": "a"}): {"position": 3}, canonical({"other": "b"}): None}
    assert FileStreamSourceConnector().alter_offsets({"file": "a", "topic": TOPIC}, offsets)
    with pytest.raises(ConnectError, match="stdin"):
        FileStreamSourceConnector().alter_offsets({"topic": TOPIC}, offsets)
