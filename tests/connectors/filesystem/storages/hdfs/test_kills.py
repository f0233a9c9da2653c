"""HDFS whose servers die or freeze while files are written: nothing lost, nothing half visible, no endless wait."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import HdfsStorage
from connect_core.errors import RetriableError
from tests.connectors.filesystem.export import json_of, numbered
from tests.connectors.filesystem.storages.contracts import StoreExport
from tests.connectors.filesystem.storages.hdfs.cluster import HdfsCluster, hdfs_cluster
from tests.connectors.filesystem.storages.hdfs.test_storage import opened
from tests.connectors.filesystem.storages.stores import hdfs_store

pytestmark = [pytest.mark.servers, pytest.mark.faults]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsCluster]:
    with hdfs_cluster(tmp_path_factory.mktemp("hdfs")) as running:
        yield running


def test_servers_killed_in_mid_write_lose_nothing_and_show_nothing_half(cluster: HdfsCluster, tmp_path: Path) -> None:
    """The NameNode and the DataNode die while a task writes, again after the manifest; readers list all the while."""
    export = StoreExport(hdfs_store(cluster), tmp_path)
    export.config["hdfs.timeout.ms"] = "5000"
    export.run(numbered([{"a": 0}]))
    records = [*numbered([{"a": 1}] * 3), *numbered([{"a": 2}] * 2, partition=1)]
    interval = export.interval(records, 2)
    storage = HdfsStorage.open(export.config["path"], export.config, WorkerLimits(), is_at_work=True)
    output = storage.staging(storage.root / "_connect" / "+tmp" / "copy" / "1-2").create("1-a/big", "t/big")
    for _ in range(60):
        output.write(b"x" * 9_000_000)
    died = threading.Timer(1, cluster.kill)
    died.start()
    with pytest.raises(RetriableError):
        output.finish()
    died.join()
    with pytest.raises(RetriableError, match="HDFS at"):
        export.stage(interval, records)
    cluster.start()
    assert len(export.files()) == 1
    assert output.finish()["size"] == 540_000_000
    staged = json_of(export.stage(export.interval(records, 2, "1-b"), records))
    committer = export.committer()
    marker = committer.commit(interval.key, staged)
    cluster.kill()
    with pytest.raises(RetriableError):
        committer.publish(interval.key, marker)
    cluster.start()
    later = export.committer(2)
    found = later.read_marker(interval.key)
    assert found == marker
    later.publish(interval.key, found)
    # The first interval's range of partition 0 ended at 1, so that it stays beside the new files.
    assert sorted(row["a"] for row in export.rows()) == [0, 1, 1, 1, 2, 2]
    later.sweep([])
    assert export.staged() == []


@pytest.mark.parametrize("name", ["namenode", "datanode"])
def test_a_frozen_server_fails_the_call_in_time(cluster: HdfsCluster, tmp_path: Path, name: str) -> None:
    storage = opened(cluster, tmp_path, **{"hdfs.timeout.ms": "2000"})
    output = storage.staging(storage.root / "_connect" / "+tmp" / "copy" / "1-1").create("1-a/0", "t/f")
    cluster.send(name, signal.SIGSTOP)
    began = time.monotonic()
    try:
        output.write(b"data")
        with pytest.raises(RetriableError, match="HDFS at"):
            output.finish()
        assert time.monotonic() - began < 30
    finally:
        cluster.send(name, signal.SIGCONT)
    # A DataNode that was frozen for long has to be let in again; until then it is tried again, as the engine does.
    cluster.wait()
    proof, end = tmp_path / "lake" / "proof", time.monotonic() + 60
    while storage.control.read(proof) is None:
        assert time.monotonic() < end
        with suppress(RetriableError):
            storage.control.create(proof, {"n": 1})
    assert storage.control.read(proof) == {"n": 1}


def test_without_a_data_node_the_remedy_is_told(cluster: HdfsCluster, tmp_path: Path) -> None:
    cluster.kill("datanode")
    try:
        storage = opened(cluster, tmp_path, **{"hdfs.timeout.ms": "20000"})
        output = storage.staging(storage.root / "s").create("f", "f")
        output.write(b"data")
        with pytest.raises(RetriableError, match=r"start one|check that"):
            output.finish()
    finally:
        cluster.start("datanode")
