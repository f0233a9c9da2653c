"""What the file system source refuses: settings, places and offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.source.connector import FileSystemSourceConnector
from connect_core.errors import ConfigError, ConnectError
from connect_core.testing.source_engine import Position
from tests.connectors.filesystem.reading import Reading, put

pytestmark = pytest.mark.slow


def connector(tmp_path: Path, **config: str) -> tuple[FileSystemSourceConnector, dict[str, str]]:
    made = FileSystemSourceConnector()
    return made, {"name": "x", "path": "in", "topic": "t", **config}


@pytest.mark.parametrize(
    ("config", "key", "text"),
    [
        ({"topic": ""}, "topic", "name the topic, or set include.metadata=true"),
        ({"format": "orc"}, "format", "this format can be written only; those that can be read are parquet"),
        ({"format": "nothing"}, "format", "choose one"),
        ({"format": "text", "include.key": "true"}, "include.key", "have values only; set it to false"),
        ({"path": "s3://b/x", "after.commit": "move"}, "after.commit", "this storage supports delete, leave, mark"),
        ({"file.pattern": "("}, "file.pattern", "it is not a regular expression"),
        ({"format": "csv", "csv.header": "false"}, "csv.columns", "need column names"),
        ({"format": "csv", "csv.types": "a:blob"}, "csv.types", "one of string"),
        ({"format": "csv", "csv.delimiter": ";;"}, "csv.delimiter", "give one ASCII character"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path: Path, config: dict[str, str], key: str, text: str) -> None:
    made, settings = connector(tmp_path, **config)
    found = {value.name: value.error_messages for value in made.validate(settings) if value.error_messages}
    assert list(found) == [key]
    assert text in found[key][0]


@pytest.mark.parametrize("path", ["../outside", "/etc", "file.txt", "linked"])
def test_places_outside_the_roots_are_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    put(root / "file.txt", "1")
    (tmp_path / "outside").mkdir()
    (root / "linked").symlink_to(tmp_path / "outside")
    made, settings = connector(tmp_path, path=path)
    assert "path" in made.validate_live(settings, WorkerLimits((root,)))


def test_the_workers_own_files_are_not_read(tmp_path: Path) -> None:
    put(tmp_path / "in/worker.properties", "secret\n")
    put(tmp_path / "in/env/pyvenv.cfg", "x\n")
    put(tmp_path / "in/a.txt", "1\n")
    reading = Reading(tmp_path)
    limits = WorkerLimits((tmp_path,), file_excluded=(tmp_path / "in/worker.properties",))
    reading.engine = type(reading.engine)(FileSystemSourceConnector, reading.config, limits)
    assert reading.values() == ["1"]


def test_a_link_put_in_a_files_place_is_refused(tmp_path: Path) -> None:
    reading = Reading(tmp_path)
    put(tmp_path / "in/a.txt", "1\n")
    put(tmp_path / "secret", "2\n")
    bound = reading.engine.bound(Position())
    (tmp_path / "in/a.txt").unlink()
    (tmp_path / "in/a.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match="it was replaced by a link"):
        reading.engine.read(bound=bound)


def test_offsets_of_others_are_refused(tmp_path: Path) -> None:
    made, settings = connector(tmp_path)
    assert made.alter_offsets(settings, {'{"path":"in","slot":0}': None})
    with pytest.raises(ConnectError, match="not an offset of FileSystemSource"):
        made.alter_offsets(settings, {'{"path":"in","slot":0}': {"position": 3}})
    with pytest.raises(ConnectError, match='needs the keys "path" and "slot"'):
        made.alter_offsets(settings, {'{"table":"x"}': {"position": 3}})
