"""What somebody who may create connectors tries through object stores and catalogs, through the served API."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

# Imported before a check that has some seconds imports it.
from connect_core.connectors.iceberg.catalog import open_catalog
from connect_core.connectors.iceberg.config import Settings
from connect_core.errors import ConfigError
from connect_core.rest import LoopbackAuthorizer
from tests.connectors.contexts import limits_of
from tests.herder.harness import Harness, worker
from tests.rest.conftest import Client, app_of
from tests.rest.rogue import DELTA, FILES, ICEBERG, LAKE, Rogue, refused, rest, rogue_running

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_wait_for_brokers")]
Serve = Callable[[FastAPI], Client]


@pytest.fixture
def call(harness: Harness, serve: Serve, tmp_path: Path) -> Client:
    """A served worker that checks what connectors name."""
    settings = {"connect.validate.live": "true", "file.roots": str(tmp_path / "data")}
    (tmp_path / "data").mkdir()
    harness.herder = replace(harness.herder, worker=worker(**settings))
    return serve(app_of(harness, LoopbackAuthorizer()))


def test_answer_of_a_rest_catalog_runs_no_code(call: Client, rogue: Rogue, tmp_path: Path) -> None:
    """pyiceberg imports what a catalog's own configuration names, and calls it."""
    command = {"args": ["touch", str(tmp_path / "taken")]}
    for overrides in (
        {"auth": {"type": "custom", "impl": "subprocess.Popen", "custom": command}},
        {"py-io-impl": "subprocess.Popen"},
        {"s3.retry-strategy-impl": "subprocess.Popen"},
    ):
        rogue.answers = [(200, {}, {"defaults": {}, "overrides": overrides}), (200, {}, {"namespaces": []})]
        rogue.seen.clear()
        refused(call, rest(rogue), f"iceberg.catalog.{next(iter(overrides))}", "it names code to load")
        assert len(rogue.seen) == 1
        assert not (tmp_path / "taken").exists()


def test_rest_catalog_sends_the_worker_to_no_metadata_service(call: Client, rogue: Rogue) -> None:
    for overrides in (
        {"uri": "http://169.254.169.254/latest"},
        {"oauth2-server-uri": "http://169.254.169.254/token"},
        {"s3.endpoint": "http://169.254.169.254"},
        {"s3.signer.uri": "http://[fd00:ec2::254]/"},
    ):
        rogue.answers = [(200, {}, {"defaults": {}, "overrides": overrides})]
        refused(call, rest(rogue), next(iter(overrides)), "link-local, metadata")


def test_rest_catalog_redirects_the_worker_nowhere(call: Client, rogue: Rogue) -> None:
    with rogue_running() as inner:
        inner.answers = [(200, {}, {"AccessKeyId": "canary", "SecretAccessKey": "canary"})]
        rogue.answers = [(302, {"Location": f"{inner.url}/latest/meta-data/iam/"}, {})]
        assert "canary" not in refused(call, rest(rogue), "redirects")
        assert inner.seen == []


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("py-io-impl", "subprocess.Popen", "it names code to load"),
        ("write.py-location-provider.impl", "builtins.exec", "it names code to load"),
        ("s3.retry-strategy-impl", "os.abort", "it names code to load"),
        ("write.data.path", "/etc/cron.d", "outside"),
        ("write.metadata.path", "file:///etc/cron.d", "outside"),
        ("write.object-storage.path", "file:/etc/cron.d", "outside"),
        ("s3.endpoint", "http://169.254.169.254", "link-local, metadata"),
    ],
)
def test_properties_of_new_tables_load_no_code_and_leave_no_roots(
    call: Client, tmp_path: Path, key: str, value: str, text: str
) -> None:
    place = {"iceberg.catalog.uri": "sqlite:///lake.db", "iceberg.catalog.warehouse": "lake"}
    refused(call, {**ICEBERG, **place, f"iceberg.tables.auto-create-props.{key}": value}, key, text)


PLACES: dict[str, dict[str, str]] = {
    "store.url": {**FILES, "path": "s3://bucket/lake"},
    "s3.proxy.url": {**FILES, "path": "s3://bucket/lake", "store.url": "http://allowed.example"},
    "gcs.endpoint": {**FILES, "path": "gs://bucket/lake"},
    "azure.endpoint": {**FILES, "path": "abfss://c@account.dfs.core.windows.net/lake", "azure.account.key": "eA=="},
    "delta.storage.aws_endpoint": DELTA,
    "delta.storage.proxy_url": DELTA,
    "iceberg.catalog.s3.endpoint": LAKE,
    "iceberg.catalog.uri": {**ICEBERG, "iceberg.catalog.type": "rest"},
}
"""Setting → the configuration it is in."""


@pytest.fixture
def listed(harness: Harness, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A served worker with a login of its own, whose connectors may call two places."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "canary")
    hosts = "allowed.example, *.amazonaws.com"
    settings = {"connect.validate.live": "true", "limits.hosts.allowed": hosts, "file.roots": str(tmp_path)}
    harness.herder = replace(harness.herder, worker=worker(**settings))
    return serve(app_of(harness, LoopbackAuthorizer()))


@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize(
    "form", [r"http://{place}\@allowed.example/", "http://{escaped}"], ids=["backslash", "escaped"]
)
def test_address_that_clients_read_differently_is_not_called(listed: Client, rogue: Rogue, key: str, form: str) -> None:
    """What a check takes for an allowed host is another one to the client: with it goes the worker's own login."""
    place = rogue.url.removeprefix("http://")
    address = form.format(place=place, escaped=place.replace("127.0.0.1", "127.0.0%2e1"))
    assert "canary" not in refused(listed, {**PLACES[key], key: address}, key)
    assert rogue.seen == []


def test_proxy_without_a_scheme_is_checked(listed: Client, rogue: Rogue) -> None:
    config = {**DELTA, "delta.storage.proxy_url": rogue.url.removeprefix("http://")}
    refused(listed, config, "delta.storage.proxy_url", "may only call allowed.example")
    assert rogue.seen == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("aws_region", "x@{place}/#"),
        ("region", "x.{place}/?"),
        ("azure_storage_account_name", "{place}/x?"),
        ("account_name", "{place}/x#"),
        ("aws_bucket_name", "{place}/"),
        ("aws_container_credentials_relative_uri", "@{place}/"),
    ],
)
def test_option_of_delta_becomes_no_other_host(call: Client, rogue: Rogue, key: str, value: str) -> None:
    place = rogue.url.removeprefix("http://")
    refused(call, {**DELTA, f"delta.storage.{key}": value.format(place=place)}, f"delta.storage.{key}")
    assert rogue.seen == []


@pytest.mark.parametrize("key", ["gcs.endpoint", "azure.endpoint", "store.url"])
def test_store_that_redirects_shows_nothing_of_another_server(call: Client, rogue: Rogue, key: str) -> None:
    """As a metadata service would answer with the credentials of the worker's machine."""
    with rogue_running() as inner:
        inner.answers = [(200, {}, {"SecretAccessKey": "canary"})]
        rogue.answers = [(307, {"Location": f"{inner.url}/latest/meta-data/iam/security-credentials/worker"}, {})]
        address = f"{rogue.url}/account" if key.startswith("azure") else rogue.url
        own = {"aws.access.key.id": "a", "aws.secret.access.key": "b", "s3.part.retries": "0"}
        answer = call("POST", "/connectors", {"name": "thief", "config": {**PLACES[key], **own, key: address}})
        assert (answer.status, "canary" in answer.text) == (400, False), answer.text
        assert rogue.seen
        assert inner.seen == []


@pytest.mark.parametrize("way", ["google_service_account_key", "google_service_account"])
def test_key_of_google_names_no_other_host(listed: Client, rogue: Rogue, tmp_path: Path, way: str) -> None:
    """delta-rs calls the host that a key names, without a login if the key says so."""
    key = {
        "gcs_base_url": rogue.url,
        "disable_oauth": True,
        "client_email": "",
        "private_key": "",
        "private_key_id": "",
    }
    file = tmp_path / "key.json"
    file.write_text(json.dumps(key))
    value = json.dumps(key) if way.endswith("key") else str(file)
    config = {**DELTA, "path": "gs://bucket/lake", f"delta.storage.{way}": value}
    refused(listed, config, "gcs_base_url", "may only call")
    assert rogue.seen == []


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (LAKE, "iceberg.catalog.client.profile-name"),
        (LAKE, "iceberg.catalog.s3.profile-name"),
        (DELTA, "delta.storage.aws_profile"),
    ],
)
def test_profile_of_the_worker_is_not_a_connectors(call: Client, config: dict[str, str], key: str) -> None:
    refused(call, {**config, key: "backups"}, key, "profiles are not a connector's")


def test_catalog_in_a_database_names_no_file_of_the_worker(tmp_path: Path) -> None:
    """A row of the attacker's own catalog has the worker read a file, and its text is in the error."""
    secret = tmp_path / "secret.json"
    secret.write_text('{"canary": "canary"}')
    (tmp_path / "data").mkdir()
    place = {"iceberg.catalog.uri": "sqlite:///lake.db", "iceberg.catalog.warehouse": "lake"}
    catalog = open_catalog(Settings.of({**ICEBERG, **place}), limits_of(tmp_path / "data"))
    with sqlite3.connect(tmp_path / "data" / "lake.db") as database:
        row = ("iceberg", "db", "t", f"file://{secret}", "TABLE")
        database.execute(
            "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type)"
            " VALUES (?, ?, ?, ?, ?)",
            row,
        )
    with pytest.raises(ConfigError, match="outside") as raised:
        catalog.load_table("db.t")
    assert "canary" not in str(raised.value)
