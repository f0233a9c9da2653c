from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from connect_core.api import TopicPartition
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector, FileSystemSinkTask
from connect_core.errors import ConfigError, ConnectError
from tests.connectors.contexts import DriverSide, limits_of
from tests.connectors.filesystem.export import CONFIG, Export, numbered

pytestmark = pytest.mark.slow


def test_a_disk_that_refuses_fails_the_task(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    records = numbered([{"a": 1}])
    task = export.task(export.interval(records))
    task.put(records)

    def full(descriptor: int, data: memoryview) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("connect_core.connectors.staged_file._write_all", full)
    with pytest.raises(ConnectError, match="No space left"):
        task.stage({TopicPartition("t", 0): 1})
    task.stop()


# -- names and places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topic", ["../../etc", "/etc/passwd", "_connect", ".hidden", "a/b", "x" * 249, "%2e%2e", "é\n"]
)
def test_hostile_topics_stay_within_the_folder(export: Export, batches: bool, topic: str) -> None:
    export.run(numbered([{"a": 1}], topic), batches=batches)
    (name,) = export.files()
    assert not name.startswith((".", "_"))
    assert {place.name for place in export.folder.iterdir()} == {"out"}


def test_hostile_connector_names_stay_within_the_folder(tmp_path: Path) -> None:
    export = Export(tmp_path, "../../+tmp")
    export.committer()
    assert {place.name for place in tmp_path.iterdir()} == {"out"}


@pytest.mark.parametrize(
    ("path", "message"),
    [("/etc", "allows"), ("../out", "allows"), ("file", "not a folder"), ("link", "allows"), ("", "empty")],
)
def test_start_refuses_folders_it_may_not_write(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("/etc")
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    with pytest.raises(ConfigError, match=message):
        connector.start({"path": path})
    assert message in connector.validate_live({"path": path}, limits_of(tmp_path))["path"][0]


def test_tasks_share_one_configuration(tmp_path: Path) -> None:
    connector = FileSystemSinkConnector()
    connector.initialize(DriverSide(limits_of(tmp_path)))
    connector.start(CONFIG)
    assert connector.task_configs(2) == [CONFIG, CONFIG]
    assert connector.task_class() is FileSystemSinkTask
    assert connector.alter_offsets(CONFIG, {})
    assert connector.validate_live(CONFIG, limits_of(tmp_path)) == {}


@pytest.mark.parametrize("codec", ["none", "snappy", "lz4", "zstd", "gzip"])
def test_codecs_are_parquets(tmp_path: Path, codec: str) -> None:
    export = Export(tmp_path, **{"parquet.codec": codec})
    export.run(numbered([{"a": 1}]))
    (place,) = export.out.glob("t/*/*.parquet")
    found = pq.ParquetFile(place).metadata.row_group(0).column(0).compression
    assert found.lower().startswith("uncompressed" if codec == "none" else codec)
