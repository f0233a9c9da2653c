"""The plan of ``connect apply``, where the plugins of the connectors are not installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from connect_core.configs.providers import ConfigProviders
from connect_core.configs.secrets import SecretBox
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.migration.applying import plan
from connect_core.migration.definitions import Definition
from connect_core.store import connectors
from connect_core.store.connectors import NewConfig
from tests.herder.harness import Harness


def test_a_secret_of_a_plugin_that_is_not_installed_is_not_shown(harness: Harness, tmp_path: Path) -> None:
    """Operators' machines need no Java plugins; without one, only the seal says that a setting is a password."""
    SecretBox.make(tmp_path / "key")
    sealed = SecretBox.from_file(tmp_path / "key").seal("stored-4711", "a")
    stored = {"name": "a", "connector.class": "com.acme.Gone", "db.creds": sealed}
    with harness.database.write() as connection:
        connectors.create(connection, "a", NewConfig(ConnectorType.SINK, stored), TargetState.STOPPED)
    herder = replace(harness.herder, providers=ConfigProviders(key_file=tmp_path / "key"))
    wanted = {"connector.class": "com.acme.Gone", "db.creds": "new-4711", "batch.size": "5"}
    (change,) = plan(herder, [Definition("a", wanted)])
    assert [(one.key, one.before, one.after) for one in change.differences] == [
        ("batch.size", None, "5"),
        ("db.creds", "[hidden]", "[hidden]"),
    ]
    (removed,) = plan(herder, [Definition("a", {"connector.class": "com.acme.Gone"})])
    assert "4711" not in str((change.differences, removed.differences))
