"""A worker's settings with references, and what plans carry of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import load_worker, providers_of, task_worker, task_worker_properties
from connect_core.errors import ConfigError
from connect_core.java.properties import format_properties
from connect_core.settings import WorkerMode
from tests.configs.workers import WORKER

PROVIDERS = {"config.providers": "env", "config.providers.env.param.allowlist.pattern": "APP_.*"}


def write(folder: Path, more: dict[str, str]) -> Path:
    file = folder / "worker.properties"
    file.write_text(format_properties(WORKER | more))
    return file


@pytest.fixture
def key(tmp_path: Path) -> dict[str, str]:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    return {"CONNECT_SECRET_KEY_FILE": str(file)}


def test_load_resolves_references(tmp_path: Path) -> None:
    file = write(tmp_path, PROVIDERS | {"database.url": "postgresql://u:${env:APP_PW}@h/d"})
    worker = load_worker(file, {"APP_PW": "s3cret"})
    assert worker.database_url == "postgresql://u:s3cret@h/d"
    assert worker.raw["database.url"] == "postgresql://u:${env:APP_PW}@h/d"
    assert providers_of(worker, {"APP_X": "1"}).resolve({"a": "${env:APP_X}"}) == {"a": "1"}


def test_plans_carry_no_literal_secret(tmp_path: Path, key: dict[str, str]) -> None:
    file = write(
        tmp_path,
        PROVIDERS
        | {
            "producer.sasl.password": "s3cret",
            "consumer.sasl.password": "${env:APP_PW}",
            "spark.remote": "sc://h;token=t",
        },
    )
    environment = key | {"APP_PW": "other"}
    carried = task_worker_properties(load_worker(file, environment), environment)
    assert "s3cret" not in str(carried)
    assert "spark.remote" not in carried
    rebuilt = task_worker(carried, environment)
    assert rebuilt.with_prefix("producer.")["sasl.password"] == "s3cret"
    assert rebuilt.with_prefix("consumer.")["sasl.password"] == "other"


def test_key_file_of_the_worker_file_reaches_tasks(tmp_path: Path, key: dict[str, str]) -> None:
    given = {"producer.sasl.password": "s3cret", "secret.key.file": key["CONNECT_SECRET_KEY_FILE"]}
    carried = task_worker_properties(load_worker(write(tmp_path, given), {}), {})
    assert task_worker(carried, {}).with_prefix("producer.")["sasl.password"] == "s3cret"


def test_literal_secret_without_key_is_refused(tmp_path: Path) -> None:
    secret = {"producer.sasl.password": "s3cret", "offset.storage.file.filename": "/data/offsets"}
    file = write(tmp_path, secret)
    with pytest.raises(ConfigError, match=r"producer\.sasl\.password\. Set CONNECT_SECRET_KEY_FILE"):
        task_worker_properties(load_worker(file, {}), {})
    standalone = load_worker(file, {}, WorkerMode.STANDALONE)
    assert task_worker_properties(standalone, {})["producer.sasl.password"] == "s3cret"


def test_environment_of_a_task_changes_nothing_else(tmp_path: Path) -> None:
    worker = load_worker(write(tmp_path, {"file.roots": "/data"}), {})
    carried = task_worker_properties(worker, {})
    rebuilt = task_worker(carried, {"CONNECT_GROUP_ID": "other", "CONNECT_FILE_ROOTS": "/"})
    assert rebuilt.deployment == "connect-cluster"
    assert rebuilt.limits().file_roots == (Path("/data"),)
