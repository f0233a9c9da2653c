"""One metadata database a group.id on the same brokers: another one is refused by name."""

from __future__ import annotations

import re
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from connect_core.effects.group_owner import ensure_group_owned, own_group
from connect_core.effects.worker import ConnectorWorker
from connect_core.errors import ConfigError, RetriableError
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.settings import WorkerMode, WorkerSettings
from connect_core.store import Database, connectors, migrate
from connect_core.store.connectors import NewConfig
from tests.herder.harness import SINK
from tests.kafka.cluster import Cluster

pytestmark = pytest.mark.servers


class Deployments:
    """Metadata databases on one Kafka, all with one group.id."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.folder, self.group = folder, f"group-{uuid.uuid4().hex[:8]}"
        offsets = cluster.create(3, name=f"{self.group}-offsets", cleanup_policy="compact")
        self.properties = {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": self.group,
            "offset.storage.topic": offsets,
            "config.storage.topic": f"{self.group}-configs",
            "status.storage.topic": f"{self.group}-status",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        }

    def database(self, name: str) -> Database:
        url = f"sqlite:///{self.folder}/{name}.db"
        migrate(url)
        return Database(url)

    def settings(self, **more: str) -> WorkerSettings:
        given = {**self.properties, **{key.replace("_", "."): value for key, value in more.items()}}
        return WorkerSettings.from_properties(given, {}, WorkerMode.DISTRIBUTED)


@pytest.fixture
def deployments(cluster: Cluster, tmp_path: Path) -> Deployments:
    return Deployments(cluster, tmp_path)


def refusal(deployments: Deployments, database: Database, **more: str) -> str:
    """Return the id of the database that the refusal names."""
    with pytest.raises(ConfigError) as refused:
        ensure_group_owned(deployments.settings(**more), database)
    told = str(refused.value)
    assert f"Invalid value {deployments.group} for configuration group.id" in told
    assert "Give this deployment another group.id" in told
    found = re.search(r"set metadata\.replaces=([0-9a-f-]{36})", told)
    assert found is not None
    return found[1]


def test_a_second_database_is_refused_and_the_first_goes_on(deployments: Deployments) -> None:
    first, second = deployments.database("first"), deployments.database("second")
    ensure_group_owned(deployments.settings(), first)
    # A run is tried again: nobody restarts a connector once the worker's setting is right.
    with pytest.raises(RetriableError, match="another metadata database"):
        own_group(deployments.settings(), second)
    refusal(deployments, second)
    ensure_group_owned(deployments.settings(), first)
    own_group(deployments.settings(), first)


def test_runs_of_the_refused_deployment_plan_nothing(deployments: Deployments) -> None:
    ensure_group_owned(deployments.settings(), deployments.database("first"))
    second = deployments.database("second")
    with second.write() as connection:
        config = {**SINK, "name": "sink"}
        connectors.create(connection, "sink", NewConfig(ConnectorType.SINK, config), TargetState.STARTED)
    worker = ConnectorWorker(deployments.settings(), second, "sink")
    with pytest.raises(RetriableError, match=r"metadata\.replaces="):
        worker.handlers()[fx.LoadConnector](fx.LoadConnector("sink"))
    worker.close()


def test_a_database_that_is_gone_is_replaced_by_who_names_it(deployments: Deployments) -> None:
    ensure_group_owned(deployments.settings(), deployments.database("lost"))
    anew, third = deployments.database("anew"), deployments.database("third")
    lost = refusal(deployments, anew, metadata_replaces=str(uuid.uuid4()))
    ensure_group_owned(deployments.settings(metadata_replaces=lost), anew)
    ensure_group_owned(deployments.settings(metadata_replaces=lost), anew)
    assert refusal(deployments, third, metadata_replaces=lost) != lost
    assert refusal(deployments, deployments.database("lost")) != lost


def test_of_databases_that_begin_at_once_one_gets_the_group(deployments: Deployments) -> None:
    databases = [deployments.database(f"d{number}") for number in range(4)]
    outcomes: list[bool] = []

    def begin(database: Database) -> None:
        try:
            ensure_group_owned(deployments.settings(), database)
            outcomes.append(True)
        except Exception:
            outcomes.append(False)

    threads = [threading.Thread(target=begin, args=(one,)) for one in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(outcomes) <= 1
    owners = set()
    for database in databases:
        try:
            ensure_group_owned(deployments.settings(), database)
            owners.add(database.address)
        except ConfigError:
            continue
    assert len(owners) == 1


def test_another_group_is_another_deployment(deployments: Deployments) -> None:
    first, second = deployments.database("first"), deployments.database("second")
    ensure_group_owned(deployments.settings(), first)
    ensure_group_owned(deployments.settings(**{"group.id": f"{deployments.group}-2"}), second)


def test_drivers_that_start_at_once_on_a_new_deployment_all_own_its_group(deployments: Deployments) -> None:
    first = deployments.database("first")
    with ThreadPoolExecutor(12) as pool:
        owners = list(pool.map(lambda _: own_group(deployments.settings(), first), range(12)))
    assert len(set(owners)) == 1
