"""Azure Blob Storage, by the emulator Azurite: the protocol is real, Microsoft's own service was not reached."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connect_core.api import SchemaBuilder, Struct, WorkerLimits
from connect_core.api.data import INT32_SCHEMA, Int32
from connect_core.connectors.filesystem.storages import AzureStorage, SourceFiles
from connect_core.errors import ConfigError, RetriableError
from connect_core.testing import StorageContract
from tests.connectors.filesystem.azure_server import (
    azure_running,
    client_of,
    config_of,
    content,
    listed,
    url_of,
)
from tests.connectors.filesystem.export import Crash, CrashingCommitter, Export, json_of, numbered

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with azure_running(tmp_path_factory.mktemp("azure")) as url:
        yield url


class TestAzure(StorageContract):
    @pytest.fixture(autouse=True)
    def _endpoint(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def storage(self, folder: Path) -> AzureStorage:
        return AzureStorage.open(url_of(folder), config_of(self.endpoint), LIMITS, is_at_work=True)

    def source(self, folder: Path) -> SourceFiles:
        return AzureStorage.open_source(url_of(folder), config_of(self.endpoint), LIMITS)

    def listed(self, folder: Path) -> list[str]:
        return listed(self.endpoint, folder)

    def content(self, folder: Path, name: str) -> bytes:
        return content(self.endpoint, folder, name)


class AzureExport(Export):
    """As ``Export``, in a container."""

    def __init__(self, endpoint: str, folder: Path, name: str = "copy", **config: str) -> None:
        super().__init__(folder, name, **{"path": url_of(folder), **config_of(endpoint), **config})
        self.endpoint = endpoint

    def files(self) -> list[str]:
        return [name for name in listed(self.endpoint, self.folder) if not name.endswith("_SUCCESS")]

    def rows(self, topic: str = "t") -> list[dict[str, Any]]:
        names = [name for name in self.files() if name.startswith(f"{topic}/")]
        tables = [pq.read_table(pa.BufferReader(content(self.endpoint, self.folder, name))) for name in names]
        return [row for table in tables for row in table.to_pylist()]

    def staged(self) -> list[str]:
        prefix = f"{str(self.folder).strip('/')}/_connect/+tmp/"
        return [blob.name for blob in client_of(self.endpoint).list_blobs(name_starts_with=prefix)]


@pytest.fixture
def export(endpoint: str, tmp_path: Path) -> AzureExport:
    return AzureExport(endpoint, tmp_path)


@pytest.mark.parametrize("steps", range(5))
def test_recovery_after_a_crash_while_publishing(export: AzureExport, steps: int) -> None:
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


def test_sweep_leaves_no_object(export: AzureExport) -> None:
    records = numbered([{"a": 2}])
    unfinished = export.interval(records)
    export.stage(unfinished, records)
    committer = export.committer()
    committer.sweep([])
    assert len(export.staged()) == 1
    committer.abandon(unfinished.key, None)
    committer.sweep([])
    assert export.staged() == []


@pytest.mark.parametrize("topic", ["../../etc", "_connect", "a/b", "x" * 249, "%2e%2e", "é\n", "a:b"])
def test_hostile_topics_stay_within_the_prefix(export: AzureExport, topic: str) -> None:
    export.run(numbered([{"a": 1}], topic))
    (name,) = export.files()
    assert not name.startswith((".", "_"))


@pytest.mark.parametrize("value", ["../../x", "a=b", "%2F", "Österreich", "", "x" * 1000, "*?[{#", "a b\\c"])
def test_hostile_values_read_back_equal(endpoint: str, tmp_path: Path, value: str) -> None:
    export = AzureExport(endpoint, tmp_path, **{"partitioner": "field", "partition.field.name": "v"})
    export.run(numbered([{"v": value}]))
    assert export.rows() == [{"v": value}]


def test_many_drivers_at_once_make_one_proof(endpoint: str, tmp_path: Path) -> None:
    place = Path(str(tmp_path).strip("/")) / "_connect" / "proof.json"
    made: list[Mapping[str, Any]] = []

    def create(number: int) -> None:
        storage = AzureStorage.open(url_of(tmp_path), config_of(endpoint), LIMITS, is_at_work=True)
        made.append(storage.control.create(place, {"n": number}))

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(made) == 8
    assert all(one == made[0] for one in made)


def test_blocks_are_uploaded_once_under_the_final_name(export: AzureExport) -> None:
    """Nobody sees them before; nothing is copied then; another execution's blocks do not get in between."""
    schema = SchemaBuilder.struct().field("a", INT32_SCHEMA).build()
    first, second = (numbered([Struct(schema).put("a", Int32(n))], value_schema=schema) for n in (1, 2))
    interval = export.interval(first)
    staged = json_of(export.stage(interval, first))
    (held,) = [part["held"] for file in staged[0].detail["files"] for part in file["parts"]]
    blob = client_of(export.endpoint).get_blob_client(held["final"])
    assert not blob.exists()
    export.stage(export.interval(first, attempt="1-twice"), second)
    committed, uncommitted = blob.get_block_list("all")
    assert (len(committed), len(uncommitted)) == (0, 2)
    committer = export.committer()
    marker = committer.commit(interval.key, staged)
    committer.publish(interval.key, marker)
    assert export.rows() == [{"a": 1}]
    assert [one.id for one in blob.get_block_list("committed")[0]] == held["blocks"]
    # The twin's blocks went with the publication.
    assert blob.get_block_list("uncommitted")[1] == []


def test_what_validate_finds(endpoint: str, tmp_path: Path) -> None:
    missing = url_of(tmp_path, "no-such-container")
    with pytest.raises(ConfigError, match=r"path: .*ContainerNotFound.*create the container"):
        AzureStorage.open(missing, config_of(endpoint), LIMITS)
    with pytest.raises(RetriableError, match="create the container"):
        AzureStorage.open(missing, config_of(endpoint), LIMITS, is_at_work=True)
    wrong = {**config_of(endpoint), "azure.account.key": "d3Jvbmc="}
    with pytest.raises(ConfigError, match=r"correct azure\.account\.key"):
        AzureStorage.open(url_of(tmp_path), wrong, LIMITS)
    with pytest.raises(ConfigError, match="write abfss://container@account"):
        AzureStorage.open("abfss://container/folder", {}, LIMITS)
    with pytest.raises(ConfigError, match=r"hosts\.allowed"):
        AzureStorage.open(url_of(tmp_path), config_of(endpoint), WorkerLimits(values={"hosts.allowed": "x.y"}))


def test_readers_are_told_urls(endpoint: str, tmp_path: Path) -> None:
    storage = AzureStorage.open(url_of(tmp_path), config_of(endpoint), LIMITS, is_at_work=True)
    assert storage.address("t/f") == f"{url_of(tmp_path)}/t/f"


def test_a_file_that_another_writes_while_it_is_published_stays(endpoint: str, tmp_path: Path) -> None:
    """The driver sleeps with the bytes of a hidden blob in hand, and wakes up when a later file stands."""
    storage = AzureStorage.open(url_of(tmp_path), config_of(endpoint), LIMITS, is_at_work=True)
    staging = storage.staging(storage.root / "_connect/+tmp/copy/1-1")
    output = staging.create("1-a/0", "t/f")
    output.write(b"earlier")
    held = output.finish()
    commit, place = staging.container.commit, f"{storage.root}/t/f"

    def late(*given: Any) -> bool:
        staging.container.put(place, b"later")
        return commit(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging.container, "commit", late)
        with pytest.raises(RetriableError, match="while it was being published"):
            staging.publish(held, "t/f")
        assert content(endpoint, tmp_path, "t/f") == b"later"
        patch.undo()
    staging.publish(held, "t/f")
    assert content(endpoint, tmp_path, "t/f") == b"earlier"
