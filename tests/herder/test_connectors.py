"""Connectors through the herder: accepted or refused as a whole, secrets never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from connect_core.configs import ConfigProviders
from connect_core.errors import AlreadyExistsError, BadRequestError, NotFoundError
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.herder.connectors import NewConnector
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.store import audit
from connect_core.store import connectors as stored
from tests.herder.worlds import SINK, SOURCE, World

pytestmark = pytest.mark.slow

SECRET = "hunter2-canary"
WITH_SECRET = {**SINK, "consumer.override.fetch.min.bytes": "1", "my.password": SECRET}


@pytest.fixture
def sealing(world: World, tmp_path: Path) -> Herder:
    file = tmp_path / "key"
    file.write_bytes(Fernet.generate_key())
    providers = ConfigProviders(key_file=file)
    return Herder(world.database, world.herder.worker, world.scheduler, world.herder.rewrite_offsets, providers, "jo")


def raw_config(world: World, name: str = "a") -> dict[str, str]:
    with world.database.read() as connection:
        return dict(stored.get(connection, name).config)


@pytest.mark.parametrize(
    ("initial", "target"),
    [
        (None, TargetState.STARTED),
        ("running", TargetState.STARTED),
        ("PAUSED", TargetState.PAUSED),
        ("Stopped", TargetState.STOPPED),
    ],
)
def test_initial_state_ignores_case(world: World, initial: str | None, target: TargetState) -> None:
    world.create(initial_state=initial)
    with world.database.read() as connection:
        assert stored.get(connection, "a").target_state is target
    paused = [("pause", "a")] if target is not TargetState.STARTED else []
    assert world.scheduler.calls == [("deploy", "a"), *paused]


def test_created_connector_knows_its_plugin(world: World) -> None:
    info = connectors.create(world.herder, NewConnector(" a ", dict(SINK)))
    assert (info.name, info.tasks, info.type, info.config["name"]) == ("a", [], "sink", "a")
    with world.database.read() as connection:
        state = stored.get(connection, "a")
        (act,) = audit.history(connection)
    assert state.type is ConnectorType.SINK
    assert (act.act.actor, act.act.action, act.act.connector) == ("jo", "create", "a")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewConnector("a", {**SOURCE, "name": "b"}), r"\(b\) doesn't match connector name in the URL \(a\)"),
        (NewConnector("a", {"tasks.max": "1"}), r"Connector config \{name=a, tasks.max=1\} contains no connector type"),
        (NewConnector("a", {**SOURCE, "topic": ""}), "contains the following 1 error"),
        (NewConnector(None, dict(SOURCE)), "configuration name: String may not be empty"),
        (NewConnector("a", {**SOURCE, "connector.class": "os.system"}), "Failed to find any class"),
        (NewConnector("x" * 2001, dict(SOURCE)), "longer than 2000 bytes"),
        (NewConnector("a", dict(SOURCE), "BOGUS"), "initial_state BOGUS"),
        (NewConnector("a", {**SOURCE, "x.password": "[hidden]"}), "no stored value for x.password"),
    ],
)
def test_bad_connector_is_refused_whole(world: World, new: NewConnector, message: str) -> None:
    with pytest.raises(BadRequestError, match=message):
        connectors.create(world.herder, new)
    assert connectors.list_names(world.herder) == []
    assert world.scheduler.calls == []


def test_duplicate_is_refused_after_validation(world: World) -> None:
    world.create()
    with pytest.raises(AlreadyExistsError, match=r"^Connector a already exists$"):
        world.create()
    with pytest.raises(BadRequestError):
        world.create(config={**SOURCE, "topic": ""})


def test_put_creates_then_replaces(world: World) -> None:
    is_new, _ = connectors.put_config(world.herder, "a", {**SOURCE, "name": None})
    assert is_new
    world.driver().plan()
    is_new, info = connectors.put_config(world.herder, "a", {**SOURCE, "batch.size": "5"})
    assert not is_new
    assert (info.tasks, info.config["batch.size"]) == ([connectors.TaskId("a", 0)], "5")
    assert world.scheduler.calls == [("deploy", "a")]


def test_new_schedule_is_deployed(world: World) -> None:
    world.create()
    connectors.put_config(world.herder, "a", {**SOURCE, "schedule": "@hourly"})
    assert world.scheduler.calls == [("deploy", "a"), ("deploy", "a")]


def test_new_type_is_deployed(world: World) -> None:
    world.create()
    _, info = connectors.put_config(world.herder, "a", dict(SINK))
    assert info.type == "sink"
    assert world.scheduler.calls == [("deploy", "a"), ("deploy", "a")]


def test_new_config_retries_a_failed_connector(world: World) -> None:
    world.create()
    world.driver().plan()
    with world.database.write() as connection:
        stored.record_failure(connection, "a", "driver", {"trace": "T", "is_retriable": False})
    connectors.patch_config(world.herder, "a", {"batch.size": "7"})
    assert world.scheduler.calls[-1] == ("retry", "a")


def test_patch_replaces_and_removes(world: World) -> None:
    world.create(config={**SOURCE, "batch.size": "5"})
    info = connectors.patch_config(world.herder, "a", {"batch.size": None, "topic": "other"})
    assert info.config == {**SOURCE, "topic": "other", "name": "a"}
    with pytest.raises(NotFoundError, match=r"^Connector x not found$"):
        connectors.patch_config(world.herder, "x", {})


def test_secrets_are_sealed_and_hidden(world: World, sealing: Herder) -> None:
    info = connectors.create(sealing, NewConnector("a", WITH_SECRET))
    connectors.put_config(sealing, "a", {**WITH_SECRET, "my.password": "[hidden]", "file": "/tmp/c.txt"})
    connectors.patch_config(sealing, "a", {"file": "/tmp/d.txt"})
    kept = raw_config(world)
    assert kept["my.password"].startswith("${sealed:")
    assert sealing.providers.resolve(kept, "a")["my.password"] == SECRET
    shown = [info.config, connectors.get_config(sealing, "a"), connectors.get_info(sealing, "a").config]
    assert [config["my.password"] for config in shown] == ["[hidden]"] * 3
    world.driver().plan()
    assert connectors.get_tasks(sealing, "a")[0].config["my.password"] == "[hidden]"


def test_secret_is_nowhere_in_the_database(world: World, sealing: Herder) -> None:
    connectors.create(sealing, NewConnector("a", WITH_SECRET))
    connectors.put_config(sealing, "a", {**WITH_SECRET, "file": "/tmp/c.txt"})
    connectors.delete(sealing, "a")
    file = Path(world.database.address.removeprefix("sqlite:///"))
    world.database.close()
    for part in file.parent.glob("connect.db*"):
        assert SECRET.encode() not in part.read_bytes()


def test_tasks_name_their_class(world: World) -> None:
    world.create()
    assert connectors.get_tasks(world.herder, "a") == []
    world.driver().plan()
    (task,) = connectors.get_tasks(world.herder, "a")
    assert task.id == connectors.TaskId("a", 0)
    assert task.config["task.class"] == "org.apache.kafka.connect.file.FileStreamSourceTask"


def test_expand_shows_what_is_wanted(world: World) -> None:
    world.create()
    assert connectors.expand(world.herder, ["bogus"]) == {"a": {}}
    both = connectors.expand(world.herder, ["info", "status"])
    assert list(both["a"]) == ["status", "info"]
    assert both["a"]["status"]["connector"]["state"] == "UNASSIGNED"
    assert both["a"]["info"] == connectors.get_info(world.herder, "a")


def test_unknown_connectors_are_not_found(world: World) -> None:
    for read in (connectors.get_info, connectors.get_config, connectors.get_tasks, connectors.delete):
        with pytest.raises(NotFoundError, match=r"^Connector x not found$"):
            read(world.herder, "x")


def test_deleted_connector_leaves_its_offsets(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.commit(driver.begin(), source_offsets={'{"filename":"/tmp/a.txt"}': {"position": 14}})
    connectors.delete(world.herder, "a")
    assert connectors.list_names(world.herder) == []
    assert world.scheduler.calls[-1] == ("remove", "a")
    world.create()
    assert offsets.get(world.herder, "a") == [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 14}}]


def test_offsets_are_forgotten_when_asked(world: World) -> None:
    world.create()
    driver = world.driver()
    driver.commit(driver.begin(), source_offsets={'{"filename":"/tmp/a.txt"}': {"position": 14}})
    connectors.delete(world.herder, "a", forget_offsets=True)
    world.create()
    assert offsets.get(world.herder, "a") == []
    with world.database.read() as connection:
        deleted = next(one.act for one in audit.history(connection, "a") if one.act.action == "delete")
    assert deleted.after == {"offsets": "forgotten"}


def test_stopped_connector_shows_no_task(world: World) -> None:
    world.create()
    world.driver().plan()
    lifecycle.stop(world.herder, "a")
    assert connectors.get_info(world.herder, "a").tasks == []
    assert connectors.get_tasks(world.herder, "a") == []
