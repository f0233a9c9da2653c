"""Passwords stored in plain text by an earlier standalone worker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from connect_core.configs.providers import ConfigProviders
from connect_core.errors import ConfigError
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.standalone.sealing import seal_stored
from connect_core.standalone.session import ProcessSession
from connect_core.standalone.worker import open_standalone
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SINK, Harness, worker
from tests.kafka.cluster import Cluster
from tests.kafka.conftest import cluster

__all__ = ["cluster", "harness", "sqlite_template"]
CANARY = "canary-of-old"
PLAIN = {**SINK, "my.password": CANARY, "other.password": "${file:/x:password}", "tasks.max": "2"}


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    return file


def store(harness: Harness, name: str, *configs: dict[str, str]) -> None:
    with harness.database.write() as connection:
        first, *others = ({**config, "name": name} for config in configs)
        connectors.create(connection, name, NewConfig(ConnectorType.SINK, first), TargetState.STARTED)
        for config in others:
            connectors.replace_config(
                connection, connectors.get(connection, name), NewConfig(ConnectorType.SINK, config)
            )


def rows(database: Database, query: str) -> list[str]:
    with database.read() as connection:
        return [str(row) for row in connection.execute(sa.text(query)).fetchall()]


def holds_canary(database: Database) -> bool:
    """Return whether the file or its journals have the password anywhere, free pages included."""
    file = Path(database.address.removeprefix("sqlite:///"))
    return any(CANARY.encode() in one.read_bytes() for one in file.parent.glob(f"{file.name}*"))


def test_stored_passwords_are_sealed_wherever_they_are(harness: Harness, key: Path, tmp_path: Path) -> None:
    store(harness, "a", PLAIN, {**PLAIN, "tasks.max": "3"})
    store(harness, "gone", PLAIN)
    store(harness, "harmless", SINK)
    with harness.database.write() as connection:
        connectors.delete(connection, "gone")
        task = {"my.password": CANARY, "url": f"http://u:{CANARY}@h/", "batch": "1"}
        connection.execute(
            sa.update(sa.table("connectors", sa.column("name"), sa.column("task_configs")))
            .where(sa.column("name") == "a")
            .values(task_configs=json.dumps([task]))
        )
    assert holds_canary(harness.database)
    assert seal_stored(harness.database, key) == 2
    assert not holds_canary(harness.database)
    with harness.database.read() as connection:
        stored = connectors.get(connection, "a").config
        assigned = connectors.list_task_configs(connection, "a")
        versions = rows(harness.database, "SELECT config FROM connector_configs WHERE connector = 'a'")
    opened = ConfigProviders(key_file=key).resolve(stored, "a")
    assert opened == {**PLAIN, "tasks.max": "3", "name": "a", "other.password": "${file:/x:password}"}
    assert ConfigProviders(key_file=key).resolve(assigned[0], "a") == task
    assert len(versions) == 2
    assert all(stored["my.password"] in one for one in versions), "one text for one secret"
    assert seal_stored(harness.database, key) == 0


def test_unusable_key_is_named_and_nothing_is_changed(harness: Harness, tmp_path: Path) -> None:
    store(harness, "a", PLAIN)
    (tmp_path / "bad").write_text("no key")
    with pytest.raises(ConfigError, match="it does not hold a key"):
        seal_stored(harness.database, tmp_path / "bad")
    with harness.database.read() as connection:
        assert connectors.get(connection, "a").config["my.password"] == CANARY


@pytest.mark.servers
def test_standalone_worker_seals_before_it_begins(cluster: Cluster, tmp_path: Path) -> None:
    settings = worker(
        **{"bootstrap.servers": cluster.bootstrap, "offset.storage.file.filename": f"{tmp_path}/connect.offsets"}
    )
    migrate(settings.database_url)
    old = Harness(Database(settings.database_url), settings)
    store(old, "a", PLAIN)
    assert holds_canary(old.database)
    old.database.close()
    opened = open_standalone(settings, ProcessSession())
    try:
        assert not holds_canary(opened.database)
        with opened.database.read() as connection:
            stored = connectors.get(connection, "a").config
        assert ConfigProviders(key_file=settings.standalone_key).resolve(stored, "a")["my.password"] == CANARY
    finally:
        opened.stop()
