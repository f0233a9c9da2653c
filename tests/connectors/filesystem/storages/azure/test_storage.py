"""Azure Blob Storage, by the emulator Azurite: the protocol is real, Microsoft's own service was not reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connect_core.api import SchemaBuilder, Struct, WorkerLimits
from connect_core.api.data import INT32_SCHEMA, Int32
from connect_core.connectors.filesystem.storages import AzureStorage
from connect_core.errors import ConfigError, RetriableError
from tests.connectors.filesystem.export import json_of, numbered
from tests.connectors.filesystem.storages.azure.server import AzureServer, azure_running
from tests.connectors.filesystem.storages.contracts import ExportContract, StoreContract, StoreExport
from tests.connectors.filesystem.storages.stores import FileStore, azure_store

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureServer]:
    with azure_running(tmp_path_factory.mktemp("azure")) as running:
        yield running


@pytest.fixture
def store(server: AzureServer) -> FileStore:
    return azure_store(server)


class TestAzure(StoreContract):
    pass


@pytest.mark.matrix
class TestExports(ExportContract):
    pass


def test_blocks_are_uploaded_once_under_the_final_name(server: AzureServer, tmp_path: Path) -> None:
    """Nobody sees them before; nothing is copied then; another execution's blocks do not get in between."""
    export = StoreExport(azure_store(server), tmp_path)
    schema = SchemaBuilder.struct().field("a", INT32_SCHEMA).build()
    first, second = (numbered([Struct(schema).put("a", Int32(n))], value_schema=schema) for n in (1, 2))
    interval = export.interval(first)
    staged = json_of(export.stage(interval, first))
    (held,) = [part["held"] for file in staged[0].detail["files"] for part in file["parts"]]
    blob = server.client().get_blob_client(held["final"])
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


def test_what_validate_finds(server: AzureServer) -> None:
    missing, config = server.url("lake", "no-such-container"), server.config("lake")
    with pytest.raises(ConfigError, match=r"path: .*ContainerNotFound.*create the container"):
        AzureStorage.open(missing, config, LIMITS)
    with pytest.raises(RetriableError, match="create the container"):
        AzureStorage.open(missing, config, LIMITS, is_at_work=True)
    with pytest.raises(ConfigError, match=r"correct azure\.account\.key"):
        AzureStorage.open(config["path"], {**config, "azure.account.key": "d3Jvbmc="}, LIMITS)
    with pytest.raises(ConfigError, match="write abfss://container@account"):
        AzureStorage.open("abfss://container/folder", {}, LIMITS)
    with pytest.raises(ConfigError, match=r"hosts\.allowed"):
        AzureStorage.open(config["path"], config, WorkerLimits(values={"hosts.allowed": "x.y"}))


def test_readers_are_told_urls(server: AzureServer) -> None:
    assert azure_store(server).open("lake").address("t/f") == f"{server.url('lake')}/t/f"


def test_a_file_that_another_writes_while_it_is_published_stays(server: AzureServer, tmp_path: Path) -> None:
    """The driver sleeps with the bytes of a hidden blob in hand, and wakes up when a later file stands."""
    config = server.config(tmp_path.name)
    storage = AzureStorage.open(config["path"], config, LIMITS, is_at_work=True)
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
        assert server.content(tmp_path.name, "t/f") == b"later"
        patch.undo()
    staging.publish(held, "t/f")
    assert server.content(tmp_path.name, "t/f") == b"earlier"


@pytest.mark.parametrize("final", ["t/f", ""])
def test_a_file_is_staged_though_a_response_is_lost(
    server: AzureServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, final: str
) -> None:
    """Azure's client sends the request again, and the store has what the first one wrote."""
    from azure.core.exceptions import ServiceResponseError
    from azure.core.pipeline.transport import RequestsTransport

    config, straight, lost = server.config(tmp_path.name), RequestsTransport.send, set[str]()
    storage = AzureStorage.open(config["path"], config, LIMITS, is_at_work=True)
    output = storage.staging(storage.root / "_connect/+tmp/copy/1-1").create("1-a/0", "t/f")
    output.write(b"data")

    def losing(self: Any, request: Any, **more: Any) -> Any:
        answer = straight(self, request, **more)
        if request.method == "PUT" and request.url not in lost:
            lost.add(request.url)
            raise ServiceResponseError("the connection was reset")
        return answer

    with monkeypatch.context() as patch:
        patch.setattr("azure.storage.blob._shared.policies.StorageRetryPolicy.sleep", lambda *_: None)
        patch.setattr(RequestsTransport, "send", losing)
        held = output.finish(final)
        storage.staging(storage.root / "_connect/+tmp/copy/1-1").publish(held, "t/f")
    assert len(lost) >= 3
    assert server.content(tmp_path.name, "t/f") == b"data"
