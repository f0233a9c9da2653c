"""An import that was cut off is finished by running it again, and none disturbs what runs."""

from __future__ import annotations

import pytest

from connect_core.api.offsets import canonical
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.migration.connect_api import OffsetEntries
from connect_core.migration.definitions import Definition
from connect_core.migration.importing import Outcome, definition_of, import_all, import_one, with_worker
from connect_core.store import origins
from tests.herder.harness import SINK, SOURCE, Harness
from tests.migration.fake_connect import Died, FakeConnect, FakeConnector

SINK_PARTITION = canonical({"kafka_topic": "lines", "kafka_partition": 0})


def cluster() -> FakeConnect:
    source = FakeConnector(dict(SOURCE), offsets={canonical({"filename": "/tmp/a.txt"}): {"position": 10}})
    sink = FakeConnector(dict(SINK), "sink", offsets={SINK_PARTITION: {"kafka_offset": 4}})
    return FakeConnect({"a": source, "b": sink})


def imported(harness: Harness, there: FakeConnect, name: str = "a") -> Outcome:
    with there.api() as api:
        return import_one(harness.herder, definition_of(api.connector(name), api.address), api).outcome


def test_offsets_are_filled_in_after_a_crash(harness: Harness) -> None:
    there = cluster()
    there.dies_before = 2
    with pytest.raises(Died):
        imported(harness, there)
    assert offsets.get(harness.herder, "a") == []
    there.dies_before = None
    assert imported(harness, there) is Outcome.COMPLETED
    assert offsets.get(harness.herder, "a") == [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 10}}]
    assert imported(harness, there) is Outcome.UNCHANGED


def test_a_running_sink_keeps_its_group_to_itself(harness: Harness) -> None:
    there = cluster()
    assert imported(harness, there, "b") is Outcome.CREATED
    assert offsets.get(harness.herder, "b") == []
    there.connectors["b"].state = "STOPPED"
    assert imported(harness, there, "b") is Outcome.COMPLETED
    assert [one["offset"] for one in offsets.get(harness.herder, "b")] == [{"kafka_offset": 4}]


class Topic:
    """Stands for a cluster's offsets topic."""

    def of(self, connector: str) -> OffsetEntries:
        return [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 99}}] if connector == "a" else []


@pytest.mark.parametrize("is_cluster", [True, False])
def test_offsets_of_a_topic_are_those_of_its_sources(harness: Harness, is_cluster: bool) -> None:
    there = cluster()
    there.has_offsets = False
    with there.api() as api:
        one, other = (definition_of(api.connector(name), api.address) for name in "ab")
        given = api if is_cluster else None
        assert import_one(harness.herder, one, given, Topic()).outcome is Outcome.CREATED
        assert import_one(harness.herder, one, given, Topic()).outcome is Outcome.UNCHANGED
        assert import_one(harness.herder, other, given, Topic()).offsets == 0
    assert offsets.get(harness.herder, "a") == [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 99}}]
    assert offsets.get(harness.herder, "b") == []


@pytest.mark.parametrize("is_recreated", [False, True])
def test_older_offsets_here_are_not_taken_for_those_of_the_topic(harness: Harness, is_recreated: bool) -> None:
    """No switch follows an import of an offsets topic: the connector would read again from where it was."""
    one = Definition("a", SOURCE)
    harness.create("a", dict(SOURCE), "STOPPED")
    offsets.alter(harness.herder, "a", [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 10}}])
    if is_recreated:
        connectors.delete(harness.herder, "a")
    found = import_one(harness.herder, one, None, Topic())
    assert found.outcome is Outcome.DIFFERENT
    assert "connect delete a --forget-offsets" in found.why
    connectors.delete(harness.herder, "a", forget_offsets=True)
    assert import_one(harness.herder, one, None, Topic()).offsets == 1
    assert import_one(harness.herder, one, None, Topic()).outcome is Outcome.UNCHANGED


def test_one_that_runs_here_is_not_touched(harness: Harness) -> None:
    there = cluster()
    harness.create("a", dict(SOURCE))
    assert imported(harness, there) is Outcome.UNCHANGED
    assert offsets.get(harness.herder, "a") == []
    with harness.database.read() as connection:
        assert origins.find(connection, "a") is None
    lifecycle.stop(harness.herder, "a")
    assert imported(harness, there) is Outcome.COMPLETED


def test_one_that_fails_does_not_hold_up_the_others(harness: Harness) -> None:
    there = cluster()
    with there.api() as api:
        wanted = [definition_of(one, api.address) for one in api.connectors()]
        broken = definition_of(api.connector("a"), api.address)
        broken = type(broken)("broken", {**broken.config, "tasks.max": "0"})
        found = list(import_all(harness.herder, [broken, *wanted], api))
    assert [one.outcome for one in found] == [Outcome.FAILED, Outcome.CREATED, Outcome.CREATED]
    assert "tasks.max" in found[0].why


def test_settings_of_a_converter_that_the_connector_does_not_set_stay_without_effect() -> None:
    own = {"connector.class": "X", "value.converter.schemas.enable": "false", "key.converter.a": "1"}
    worker = {"value.converter": "J", "value.converter.x": "y", "header.converter": "S", "bootstrap.servers": "b"}
    found = with_worker(Definition("a", own, notes=("first",)), worker)
    expected = {"value.converter": "J", "value.converter.x": "y", "header.converter": "S"}
    assert found.config == {"connector.class": "X", "key.converter.a": "1", **expected}
    first, second = found.notes
    assert first == "first"
    assert second.startswith("value.converter.schemas.enable is left out: it has no effect there")
    kept = Definition("a", {**own, "value.converter": "Own"})
    assert with_worker(kept, worker).config == {**kept.config, "header.converter": "S"}


def test_two_hundred_connectors_take_few_calls(harness: Harness) -> None:
    """One for the offsets of a source, one for the state of a sink."""
    there = FakeConnect()
    for number in range(100):
        there.connectors[f"a{number}"] = FakeConnector(dict(SOURCE), offsets={'{"filename":"x"}': {"position": 1}})
        there.connectors[f"b{number}"] = FakeConnector(dict(SINK), "sink")
    with there.api() as api:
        wanted = [definition_of(one, api.address) for one in api.connectors()]
        found = [one.outcome for one in import_all(harness.herder, wanted, api)]
    assert (len(found), set(found), len(there.calls)) == (200, {Outcome.CREATED}, 201)
