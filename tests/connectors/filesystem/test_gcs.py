"""Google Cloud Storage, by the emulator fake-gcs-server: the protocol is real, Google's own service was not reached."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import GcsStorage, SourceFiles
from connect_core.errors import ConfigError, ConnectError, RetriableError
from connect_core.testing import StorageContract
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export, json_of, numbered
from tests.connectors.filesystem.gcs_server import BUCKET, client_of, content, gcs_running, listed, url_of

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gcs_running(tmp_path_factory.mktemp("gcs")) as url:
        yield url


class TestGcs(StorageContract):
    @pytest.fixture(autouse=True)
    def _endpoint(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def storage(self, folder: Path) -> GcsStorage:
        return GcsStorage.open(url_of(folder), {"gcs.endpoint": self.endpoint}, LIMITS, is_at_work=True)

    def source(self, folder: Path) -> SourceFiles:
        return GcsStorage.open_source(url_of(folder), {"gcs.endpoint": self.endpoint}, LIMITS)

    def listed(self, folder: Path) -> list[str]:
        return listed(self.endpoint, folder)

    def content(self, folder: Path, name: str) -> bytes:
        return content(self.endpoint, folder, name)


class GcsExport(Export):
    """As ``Export``, in a bucket."""

    def __init__(self, endpoint: str, folder: Path, name: str = "copy", **config: str) -> None:
        super().__init__(folder, name, **{"path": url_of(folder), "gcs.endpoint": endpoint, **config})
        self.endpoint = endpoint

    def files(self) -> list[str]:
        return [name for name in listed(self.endpoint, self.folder) if not name.endswith("_SUCCESS")]

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        names = [name for name in self.files() if name.startswith(f"{topic}/")]
        tables = [pq.read_table(pa.BufferReader(content(self.endpoint, self.folder, name))) for name in names]
        return [row for table in tables for row in table.to_pylist()]

    def staged(self) -> list[str]:
        prefix = f"{str(self.folder).strip('/')}/_connect/+tmp/"
        return [blob.name for blob in client_of(self.endpoint).list_blobs(BUCKET, prefix=prefix)]


@pytest.fixture
def export(endpoint: str, tmp_path: Path) -> GcsExport:
    return GcsExport(endpoint, tmp_path)


@pytest.mark.parametrize("steps", range(5))
def test_recovery_after_a_crash_while_publishing(export: GcsExport, steps: int) -> None:
    records = [*numbered([{"a": 1}]), *numbered([{"b": 2}], partition=1), *numbered([{"c": 3}], "u")]
    interval = export.interval(records)
    healthy = export.committer()
    dying = CrashingCommitter("copy", healthy.layout, healthy.format)
    dying.left = steps
    marker = dying.commit(interval.key, json_of(export.stage(interval, records)))
    with pytest.raises(Crash):
        dying.publish(interval.key, marker)
    assert len(export.files()) == min(steps, 3)
    committer = export.committer(2)
    found = committer.read_marker(interval.key)
    assert found == marker
    committer.publish(interval.key, found)
    assert export.rows() == [{"a": 1, "b": None}, {"a": None, "b": 2}]
    assert export.rows("u") == [{"c": 3}]
    committer.sweep([])
    assert export.staged() == []
    # Nothing is staged any more, and what is in place is known again.
    committer.publish(interval.key, found)


def test_sweep_leaves_no_object(export: GcsExport) -> None:
    records = numbered([{"a": 2}])
    unfinished = export.interval(records)
    export.stage(unfinished, records)
    committer = export.committer()
    committer.sweep([])
    assert len(export.staged()) == 1
    committer.abandon(unfinished.key, None)
    committer.sweep([])
    assert export.staged() == []


def test_a_changed_staged_object_is_not_published(export: GcsExport) -> None:
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    marker = committer.commit(interval.key, json_of(export.stage(interval, records)))
    (name,) = export.staged()
    client_of(export.endpoint).bucket(BUCKET).blob(name).upload_from_string(b"else")
    with pytest.raises(ConnectError, match="is not what was staged"):
        committer.publish(interval.key, marker)
    assert export.files() == []


@pytest.mark.parametrize("topic", ["../../etc", "_connect", "a/b", "x" * 249, "%2e%2e", "é\n", "a:b"])
def test_hostile_topics_stay_within_the_prefix(export: GcsExport, topic: str) -> None:
    export.run(numbered([{"a": 1}], topic))
    (name,) = export.files()
    assert not name.startswith((".", "_"))


@pytest.mark.parametrize("value", ["../../x", "a=b", "%2F", "Österreich", "", "x" * 1000, "*?[{#", "a b\\c"])
def test_hostile_values_read_back_equal(endpoint: str, tmp_path: Path, value: str) -> None:
    export = GcsExport(endpoint, tmp_path, **{"partitioner": "field", "partition.field.name": "v"})
    export.run(numbered([{"v": value}]))
    assert export.rows() == [{"v": value}]


def test_many_drivers_at_once_make_one_proof(endpoint: str, tmp_path: Path) -> None:
    place = Path(str(tmp_path).strip("/")) / "_connect" / "proof.json"
    made: list[Mapping[str, Any]] = []

    def create(number: int) -> None:
        storage = GcsStorage.open(url_of(tmp_path), {"gcs.endpoint": endpoint}, LIMITS, is_at_work=True)
        made.append(storage.control.create(place, {"n": number}))

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(made) == 8
    assert all(one == made[0] for one in made)


def test_what_validate_finds(endpoint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"path: .*NotFound.*create the bucket"):
        GcsStorage.open("gs://no-such-bucket/x", {"gcs.endpoint": endpoint}, LIMITS)
    with pytest.raises(RetriableError, match="create the bucket"):
        GcsStorage.open("gs://no-such-bucket/x", {"gcs.endpoint": endpoint}, LIMITS, is_at_work=True)
    with pytest.raises(ConfigError, match=r"write gs://bucket/folder"):
        GcsStorage.open("gs://b/../x", {}, LIMITS)
    with pytest.raises(ConfigError, match=r"gcs\.credentials\.json: it is not a service account's key"):
        GcsStorage.open("gs://b/x", {"gcs.credentials.json": '{"private_key": "secret"}'}, LIMITS)
    with pytest.raises(ConfigError, match=r"hosts\.allowed"):
        GcsStorage.open(url_of(tmp_path), {"gcs.endpoint": endpoint}, WorkerLimits(values={"hosts.allowed": "x.y"}))
    (tmp_path / "key.json").write_text("no JSON")
    config = {"gcs.credentials.path": str(tmp_path / "key.json")}
    with pytest.raises(ConfigError, match=r"does not let connectors access files"):
        GcsStorage.open("gs://b/x", config, LIMITS)
    with pytest.raises(ConfigError, match=r"gcs\.credentials\.path: it is not a service account's key"):
        GcsStorage.open("gs://b/x", config, WorkerLimits((tmp_path,)))


def test_without_the_wheel_its_name_is_told() -> None:
    code = (
        "import sys; sys.modules['google.cloud.storage'] = None\n"
        "from connect_core.api import WorkerLimits\n"
        "from connect_core.connectors.filesystem.storages import GcsStorage, SourceFiles\n"
        "GcsStorage.open('gs://b/x', {'gcs.endpoint': 'http://127.0.0.1:1'}, WorkerLimits())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'connect-core[gcs]'" in done.stderr


def test_readers_are_told_urls(endpoint: str, tmp_path: Path) -> None:
    storage = GcsStorage.open(url_of(tmp_path), {"gcs.endpoint": endpoint}, LIMITS, is_at_work=True)
    assert storage.address("t/f") == f"{url_of(tmp_path)}/t/f"
