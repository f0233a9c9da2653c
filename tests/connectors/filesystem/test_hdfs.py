"""HDFS: a real NameNode and DataNode, their deaths, and what they refuse."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import HdfsStorage, SourceFiles
from connect_core.errors import ConfigError, RetriableError
from connect_core.testing import StorageContract
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export, json_of, numbered
from tests.connectors.filesystem.hdfs_cluster import HdfsCluster, hdfs_cluster

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsCluster]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


def opened(cluster: HdfsCluster, folder: Path, is_at_work: bool = True, /, **config: str) -> HdfsStorage:
    return HdfsStorage.open(f"{cluster.url}{folder}/lake", config, LIMITS, is_at_work=is_at_work)


def listed(cluster: HdfsCluster, folder: Path) -> list[str]:
    """What a reader lists that skips hidden folders."""
    root = f"{folder}/lake/"
    try:
        found = [one.path for one in cluster.client().list_status(root, recursive=True) if not one.isdir]
    except FileNotFoundError:
        return []
    names = (path.removeprefix(root) for path in found)
    return sorted(name for name in names if not name.startswith("_connect/"))


def content(cluster: HdfsCluster, folder: Path, name: str) -> bytes:
    return bytes(cluster.client().read(f"{folder}/lake/{name}").read())


class TestHdfs(StorageContract):
    @pytest.fixture(autouse=True)
    def _cluster(self, cluster: HdfsCluster) -> None:
        self.cluster = cluster

    def storage(self, folder: Path) -> HdfsStorage:
        return opened(self.cluster, folder)

    def source(self, folder: Path) -> SourceFiles:
        return HdfsStorage.open_source(f"{self.cluster.url}{folder}/lake", {}, LIMITS)

    def listed(self, folder: Path) -> list[str]:
        return listed(self.cluster, folder)

    def content(self, folder: Path, name: str) -> bytes:
        return content(self.cluster, folder, name)


class HdfsExport(Export):
    """As ``Export``, on HDFS."""

    def __init__(self, cluster: HdfsCluster, folder: Path, name: str = "copy", **config: str) -> None:
        super().__init__(folder, name, path=f"{cluster.url}{folder}/lake", **config)
        self.cluster = cluster

    def files(self) -> list[str]:
        return [name for name in listed(self.cluster, self.folder) if not name.endswith("_SUCCESS")]

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        names = [name for name in self.files() if name.startswith(f"{topic}/")]
        tables = [pq.read_table(pa.BufferReader(content(self.cluster, self.folder, name))) for name in names]
        return [row for table in tables for row in table.to_pylist()]

    def staged(self) -> list[str]:
        found = self.cluster.client().list_status(f"{self.folder}/lake/_connect/+tmp", recursive=True)
        return [one.path for one in found if not one.isdir]


@pytest.fixture
def export(cluster: HdfsCluster, tmp_path: Path) -> HdfsExport:
    return HdfsExport(cluster, tmp_path)


@pytest.mark.parametrize("steps", range(5))
def test_recovery_after_a_crash_while_publishing(export: HdfsExport, steps: int) -> None:
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


def test_sweep_removes_finished_staging_only(export: HdfsExport) -> None:
    export.run(numbered([{"a": 1}]))
    records = numbered([{"a": 2}])
    unfinished = export.interval(records, 2)
    export.stage(unfinished, records)
    task = export.task(unfinished)
    task.put(records)
    committer = export.committer()
    committer.sweep([])
    assert {name.split("/")[-3] for name in export.staged()} == {"1-2"}
    committer.abandon(unfinished.key, None)
    committer.sweep([])
    assert export.staged() == []
    task.stop()


@pytest.mark.parametrize("topic", ["../../etc", "_connect", "a/b", "x" * 249, "%2e%2e", "é\n", "a:b"])
def test_hostile_topics_stay_within_the_folder(export: HdfsExport, topic: str) -> None:
    export.run(numbered([{"a": 1}], topic))
    (name,) = export.files()
    assert not name.startswith((".", "_"))
    found = [one.path for one in export.cluster.client().list_status(str(export.folder))]
    assert found == [f"{export.folder}/lake"]


@pytest.mark.parametrize("value", ["../../x", "a=b", "%2F", "Österreich", "", "x" * 1000, "a:b", "*?[{", "a b\\c"])
def test_hostile_values_read_back_equal(cluster: HdfsCluster, tmp_path: Path, value: str) -> None:
    export = HdfsExport(cluster, tmp_path, **{"partitioner": "field", "partition.field.name": "v"})
    export.run(numbered([{"v": value}]))
    assert export.rows() == [{"v": value}]


def test_many_drivers_at_once_make_one_proof(cluster: HdfsCluster, tmp_path: Path) -> None:
    place = tmp_path / "lake" / "_connect" / "proof.json"

    def create(number: int) -> Mapping[str, Any]:
        content = {"n": number, "more": "x" * 100_000}
        for _ in range(10):
            with suppress(RetriableError):  # A slow machine's DataNode may be late; a driver asks again.
                return opened(cluster, tmp_path).control.create(place, content)
            time.sleep(0.2)
        return opened(cluster, tmp_path).control.create(place, content)

    seen = []
    with ThreadPoolExecutor(6) as pool:
        creations = [pool.submit(create, number) for number in range(6)]
        while not all(one.done() for one in creations):
            with suppress(RetriableError):  # So may a reader's.
                seen.append(opened(cluster, tmp_path).control.read(place))
            time.sleep(0.02)
    made = [one.result() for one in creations]
    # Nobody ever read half a file, and all were told the one that stands.
    assert all(one == made[0] for one in [*made, *(one for one in seen if one is not None)])
    assert opened(cluster, tmp_path).control.names(place.parent) == ["proof.json"]


def test_safe_mode_and_quotas_pass(cluster: HdfsCluster, tmp_path: Path) -> None:
    storage = opened(cluster, tmp_path)
    storage.mark("t/_SUCCESS")
    cluster.admin("-safemode", "enter")
    try:
        with pytest.raises(RetriableError, match="safe mode: wait"):
            storage.mark("t/_SUCCESS")
        with pytest.raises(ConfigError, match=r"path: .*safe mode: wait"):
            opened(cluster, tmp_path, False)
    finally:
        cluster.admin("-safemode", "leave")
    cluster.admin("-setQuota", "4", f"{tmp_path}/lake")
    storage.mark("t/1")
    with pytest.raises(RetriableError, match="setQuota"):
        storage.mark("t/2")
    cluster.admin("-clrQuota", f"{tmp_path}/lake")
    storage.mark("t/9")


def test_a_folder_of_others_is_refused(cluster: HdfsCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "nobody-special")
    url = f"{cluster.url}/forbidden"
    with pytest.raises(ConfigError, match=r"path: .*Permission denied.*HADOOP_USER_NAME"):
        HdfsStorage.open(url, {}, LIMITS)
    storage = HdfsStorage.open(url, {}, LIMITS, is_at_work=True)
    with pytest.raises(RetriableError, match="Permission denied"):
        storage.mark("t/_SUCCESS")
    assert "forbidden" not in [one.path.strip("/") for one in cluster.client().list_status("/")]


def test_what_validate_finds(cluster: HdfsCluster, tmp_path: Path) -> None:
    cluster.client().create(str(tmp_path / "file").replace("/", "/", 1), None).close()
    for url, key, message in [
        (f"{cluster.url}{tmp_path}/file", "path", "is not a folder"),
        ("hdfs://127.0.0.1:1/x", "path", "that path has the right host"),
        ("hdfs:///x", "path", "does not contain a NameNode"),
        (f"{cluster.url}/a/../b", "path", "without .."),
    ]:
        with pytest.raises(ConfigError, match=f"configuration {key}: .*{message}"):
            HdfsStorage.open(url, {"hdfs.timeout.ms": "3000"}, LIMITS)
    with pytest.raises(ConfigError, match=r"hadoop\.conf\.dir: there is no such folder"):
        HdfsStorage.open("hdfs:///x", {"hadoop.conf.dir": "/nowhere"}, LIMITS)
    with pytest.raises(ConfigError, match=r"hosts\.allowed"):
        HdfsStorage.open(cluster.url, {}, WorkerLimits(values={"hosts.allowed": "10.0.0.1"}))


def test_the_default_file_system_is_taken_from_hadoops_settings(cluster: HdfsCluster, tmp_path: Path) -> None:
    config = {"hadoop.conf.dir": str(cluster.conf)}
    assert HdfsStorage.locate(f"hdfs://{tmp_path}", config, LIMITS) == f"{cluster.url}{tmp_path}"
    HdfsStorage.open(f"hdfs://{tmp_path}/lake", config, LIMITS).mark("_SUCCESS")
    assert listed(cluster, tmp_path) == ["_SUCCESS"]


def test_readers_are_told_urls(cluster: HdfsCluster, tmp_path: Path) -> None:
    assert opened(cluster, tmp_path).address("t/f") == f"{cluster.url}{tmp_path}/lake/t/f"
