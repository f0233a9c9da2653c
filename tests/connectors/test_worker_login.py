"""The worker's own login goes to the cloud it is for, whatever address a connector names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.delta.config import Settings
from connect_core.connectors.delta.places import places_of
from connect_core.connectors.filesystem.storages import AzureStorage, GcsStorage
from connect_core.errors import ConfigError
from tests.connectors.contexts import limits_of

LIMITS = WorkerLimits()


@pytest.mark.parametrize(
    ("url", "config"),
    [
        ("abfss://c@account.dfs.example.com/lake", {}),
        ("abfss://c@account.dfs.core.windows.net.example.com/lake", {}),
        ("abfss://c@account.dfs.core.windows.net/lake", {"azure.endpoint": "https://example.com/account"}),
    ],
)
def test_azure_identity_of_the_worker_goes_to_azure_only(url: str, config: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"worker's own login.*azure\.account\.key or azure\.sas\.token"):
        AzureStorage.open(url, config, LIMITS, is_at_work=True)


@pytest.mark.parametrize("way", ["gcs.credentials.json", "gcs.credentials.path"])
def test_google_key_has_its_tokens_made_where_the_worker_may_call(tmp_path: Path, way: str) -> None:
    key = json.dumps({"type": "service_account", "token_uri": "http://169.254.169.254/token"})
    (tmp_path / "key.json").write_text(key)
    config = {way: key if way.endswith("json") else str(tmp_path / "key.json")}
    with pytest.raises(ConfigError, match=r"token_uri.*link-local"):
        GcsStorage.open("gs://bucket/lake", config, limits_of(tmp_path), is_at_work=True)


def delta(path: str, **options: str) -> Settings:
    return Settings.of({"path": path, "topics": "t", **{f"delta.storage.{key}": one for key, one in options.items()}})


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("abfss://c@a.dfs.core.windows.net/t", {"azure_storage_endpoint": "https://example.com"}, "own login"),
        ("gs://bucket/t", {"google_base_url": "https://example.com"}, "own login"),
        ("s3://bucket/t", {"aws_endpoint": "http://169.254.169.254"}, "link-local"),
        ("s3://bucket/t", {"aws_web_identity_token_file": "/etc/passwd"}, "outside"),
        ("gs://bucket/t", {"google_service_account": "/etc/passwd"}, "outside"),
        ("az://c/t", {"azure_federated_token_file": "/etc/passwd"}, "outside"),
    ],
)
def test_options_of_delta_tables_send_no_login_elsewhere(
    tmp_path: Path, path: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        places_of(delta(path, **options), limits_of(tmp_path))


def test_a_login_of_the_connectors_own_goes_where_it_says(tmp_path: Path) -> None:
    options = {"azure_storage_endpoint": "http://127.0.0.1:10000/a", "azure_storage_account_key": "eA=="}
    assert places_of(delta("az://c/t", **options), limits_of(tmp_path)).options == options
    options = {"aws_endpoint": "http://127.0.0.1:9000"}
    assert places_of(delta("s3://bucket/t", **options), limits_of(tmp_path)).options == options
