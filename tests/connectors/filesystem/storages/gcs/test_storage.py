"""Google Cloud Storage, by the emulator fake-gcs-server: the protocol is real, Google's own service was not reached."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.filesystem.storages import GcsStorage
from connect_core.errors import ConfigError, ConnectError, RetriableError
from tests.connectors.filesystem.export import json_of, numbered
from tests.connectors.filesystem.storages.contracts import ExportContract, StoreContract, StoreExport
from tests.connectors.filesystem.storages.gcs.server import BUCKET, GcsServer, gcs_running
from tests.connectors.filesystem.storages.stores import STAGED, FileStore, gcs_store

pytestmark = pytest.mark.servers
LIMITS = WorkerLimits()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsServer]:
    with gcs_running(tmp_path_factory.mktemp("gcs")) as running:
        yield running


@pytest.fixture
def store(server: GcsServer) -> FileStore:
    return gcs_store(server)


class TestGcs(StoreContract):
    pass


class TestExports(ExportContract):
    pass


def test_a_changed_staged_object_is_not_published(server: GcsServer, tmp_path: Path) -> None:
    export = StoreExport(gcs_store(server), tmp_path)
    records = numbered([{"a": 1}])
    interval = export.interval(records)
    committer = export.committer()
    marker = committer.commit(interval.key, json_of(export.stage(interval, records)))
    (name,) = export.staged()
    place = f"{tmp_path.name}/{STAGED}/{name}"
    server.client().bucket(BUCKET).blob(place).upload_from_string(b"else")
    with pytest.raises(ConnectError, match="is not what was staged"):
        committer.publish(interval.key, marker)
    assert export.files() == []


def test_what_validate_finds(server: GcsServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"path: .*NotFound.*create the bucket"):
        GcsStorage.open("gs://no-such-bucket/x", server.config("lake"), LIMITS)
    with pytest.raises(RetriableError, match="create the bucket"):
        GcsStorage.open("gs://no-such-bucket/x", server.config("lake"), LIMITS, is_at_work=True)
    with pytest.raises(ConfigError, match=r"write gs://bucket/folder"):
        GcsStorage.open("gs://b/../x", {}, LIMITS)
    with pytest.raises(ConfigError, match=r"gcs\.credentials\.json: it is not a service account's key"):
        GcsStorage.open("gs://b/x", {"gcs.credentials.json": '{"private_key": "secret"}'}, LIMITS)
    with pytest.raises(ConfigError, match=r"hosts\.allowed"):
        GcsStorage.open(server.url("lake"), server.config("lake"), WorkerLimits(values={"hosts.allowed": "x.y"}))
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


def test_readers_are_told_urls(server: GcsServer) -> None:
    assert gcs_store(server).open("lake").address("t/f") == f"{server.url('lake')}/t/f"
