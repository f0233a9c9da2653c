"""What the worker's own login is for: somebody who may create connectors names other places, through the served API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from connect_core.connectors.iceberg.catalog import open_catalog
from connect_core.connectors.iceberg.catalog_properties import catalog_properties
from connect_core.connectors.iceberg.config import Settings
from connect_core.errors import ConfigError
from connect_core.rest import LoopbackAuthorizer
from tests.connectors.contexts import limits_of
from tests.herder.harness import Harness, worker
from tests.rest.conftest import Client, app_of
from tests.rest.rogue import DELTA, FILES, ICEBERG, LAKE, Rogue, refused, rest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_wait_for_brokers")]
Serve = Callable[[FastAPI], Client]

PLACES_OF_LOGIN = (
    "s3://exports, S3A://lake/team-a/, gs://exports, abfss://exports@account.dfs.core.windows.net/a, az://exports"
)
OWN_KEYS = {"aws.access.key.id": "a", "aws.secret.access.key": "b", "s3.part.retries": "0"}
ICEBERG_KEYS = {"iceberg.catalog.s3.access-key-id": "a", "iceberg.catalog.s3.secret-access-key": "b"}
DELTA_KEYS = {"delta.storage.aws_access_key_id": "a", "delta.storage.AWS_SECRET_ACCESS_KEY": "b"}


@pytest.fixture
def placed(harness: Harness, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A served worker with a login of its own, which is for some places."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "canary")
    settings = {"connect.validate.live": "true", "limits.login.places": PLACES_OF_LOGIN, "file.roots": str(tmp_path)}
    harness.herder = replace(harness.herder, worker=worker(**settings))
    return serve(app_of(harness, LoopbackAuthorizer()))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        *(
            (kind, path)
            for kind in ("files", "delta")
            for path in ("s3://backups/x", "s3://exports.evil", "s3://lake", "s3://lake/team-ab", "gs://lake/team-a")
        ),
        ("delta", "s3a://lake/team-a/../team-b"),
        ("delta", "s3://lake/team-a/%2e%2e/team-b"),
        ("delta", "s3://exports@backups/x"),
        ("delta", "S3://backups"),
        ("files", "abfss://exports@account.dfs.core.windows.net/b"),
        ("files", "abfss://exports@other.dfs.core.windows.net/a"),
        ("delta", "abfss://exports@other.dfs.core.windows.net/a"),
    ],
)
def test_login_of_the_worker_is_for_listed_places(placed: Client, rogue: Rogue, kind: str, path: str) -> None:
    given = {"files": {**FILES, "store.url": rogue.url}, "delta": DELTA}[kind]
    assert "canary" not in refused(placed, {**given, "path": path}, "for configuration path")
    assert rogue.seen == []


@pytest.mark.parametrize("path", ["s3://exports.evil", "s3://lake/team-a/../team-b", "s3n://backups", "oss://exports"])
def test_warehouse_is_in_a_listed_place(path: str) -> None:
    limits = worker(**{"limits.login.places": PLACES_OF_LOGIN}).limits()
    properties = {"type": "hive", "uri": "thrift://127.0.0.1:9083", "warehouse": path}
    with pytest.raises(ConfigError, match=r"for configuration iceberg\.catalog\.warehouse"):
        catalog_properties(properties, limits)
    catalog_properties({**properties, "warehouse": "s3a://lake/team-a/x"}, limits)


def test_refused_place_is_told_with_its_remedies(placed: Client, rogue: Rogue) -> None:
    config = {**FILES, "path": "s3://backups/x", "store.url": rogue.url}
    remedy = "set aws.access.key.id and aws.secret.access.key for this one, or ask an administrator to add the place to"
    refused(placed, config, "Invalid value s3://backups/x for configuration path", "s3://exports", remedy)


@pytest.mark.parametrize(
    "config",
    [
        {**FILES, "path": "s3://exports/x", "s3.part.retries": "0"},
        {**FILES, "path": "s3://lake/team-a"},
        {**FILES, "path": "s3://backups/x", **OWN_KEYS},
    ],
    ids=["listed", "a listed folder", "with a login of its own"],
)
def test_other_places_are_called(placed: Client, rogue: Rogue, config: dict[str, str]) -> None:
    rogue.answers = [(403, {}, {})]
    placed("POST", "/connectors", {"name": "thief", "config": {**config, "store.url": rogue.url}})
    assert rogue.seen


@pytest.mark.parametrize("key", ["account_name", "azure_storage_account_name", "azure_container_name", "aws_bucket"])
def test_option_of_delta_names_no_other_place(placed: Client, key: str) -> None:
    """In az:// the account is not in the URL: by an option, a listed container would be any account's."""
    name = f"delta.storage.{key}"
    path = "az://exports/x" if "aws" not in key else "s3://exports/x"
    refused(placed, {**DELTA, "path": path, name: "other"}, name, "leave it out")


def test_half_a_login_is_the_workers(placed: Client) -> None:
    for half in (DELTA_KEYS, ICEBERG_KEYS):
        config, key = (DELTA, "path") if half is DELTA_KEYS else (LAKE, "iceberg.catalog.warehouse")
        refused(placed, {**config, **dict([next(iter(half.items()))])}, key, "login is for s3://exports")


@pytest.mark.parametrize("kind", ["glue", "dynamodb"])
def test_catalog_of_the_workers_account_is_not_a_connectors(placed: Client, kind: str) -> None:
    config = {**ICEBERG, "iceberg.catalog.type": kind, "iceberg.catalog.warehouse": "s3://exports/x"}
    refused(placed, config, "iceberg.catalog.type", f"{kind}://")


def test_catalog_of_the_attackers_has_the_worker_open_no_other_place(placed: Client, rogue: Rogue) -> None:
    """The catalog names a table's metadata, these its manifests, and these its data: each with the worker's login."""
    table = {"metadata-location": "s3://backups/db/t/metadata.json", "metadata": {}, "config": {}}
    metadata = {
        "format-version": 2,
        "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
        "location": "s3://backups/db/t",
        "last-sequence-number": 0,
        "last-updated-ms": 0,
        "last-column-id": 1,
        "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
        "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "default-spec-id": 0,
        "last-partition-id": 999,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0,
    }
    rogue.answers = [(200, {}, {"defaults": {}, "overrides": {}}), (200, {}, {**table, "metadata": metadata})]
    limits = worker(**{"limits.login.places": PLACES_OF_LOGIN}).limits()
    catalog = open_catalog(Settings.of({**rest(rogue), "topics": "t"}), limits)
    with pytest.raises(ConfigError, match=r"s3://backups/db/t/metadata\.json.*login is for s3://exports"):
        catalog.load_table("db.t")


@pytest.mark.parametrize("act", ["new_input", "new_output", "delete"])
def test_what_tables_name_is_opened_where_it_may_be(tmp_path: Path, act: str) -> None:
    place = {"iceberg.catalog.uri": "sqlite:///lake.db", "iceberg.catalog.warehouse": "lake"}
    limits = replace(limits_of(tmp_path), values={"login.places": PLACES_OF_LOGIN})
    files = open_catalog(Settings.of({**ICEBERG, **place}), limits)._load_file_io({}, "s3://exports/t/metadata.json")
    for location, text in (("s3://backups/data.parquet", "login is for"), ("file:///etc/passwd", "outside")):
        with pytest.raises(ConfigError, match=text):
            getattr(files, act)(location)
