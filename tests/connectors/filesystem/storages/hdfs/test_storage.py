"""HDFS: a real NameNode and DataNode, their deaths, and what they refuse."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import HdfsStorage
from connect_core.errors import ConfigError, RetriableError
from tests.connectors.filesystem.export import numbered
from tests.connectors.filesystem.storages.contracts import ExportContract, StoreContract, StoreExport
from tests.connectors.filesystem.storages.hdfs.cluster import HdfsCluster, hdfs_cluster
from tests.connectors.filesystem.storages.stores import FileStore, hdfs_store

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsCluster]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


@pytest.fixture
def store(cluster: HdfsCluster) -> FileStore:
    return hdfs_store(cluster)


def opened(cluster: HdfsCluster, folder: Path, is_at_work: bool = True, /, **config: str) -> HdfsStorage:
    return HdfsStorage.open(f"{cluster.url}{folder}/lake", config, LIMITS, is_at_work=is_at_work)


class TestHdfs(StoreContract):
    pass


@pytest.mark.matrix
class TestExports(ExportContract):
    pass


def test_a_hostile_topic_makes_no_folder_elsewhere(cluster: HdfsCluster, tmp_path: Path) -> None:
    export = StoreExport(hdfs_store(cluster), tmp_path)
    export.run(numbered([{"a": 1}], "../../etc"))
    assert "/etc" not in [one.path for one in cluster.client().list_status("/")]


def test_a_proof_that_many_drivers_make_is_never_read_half(cluster: HdfsCluster, tmp_path: Path) -> None:
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
    assert hdfs_store(cluster).names(f"{tmp_path}/lake".strip("/")) == ["_SUCCESS"]


def test_readers_are_told_urls(cluster: HdfsCluster, tmp_path: Path) -> None:
    assert opened(cluster, tmp_path).address("t/f") == f"{cluster.url}{tmp_path}/lake/t/f"
