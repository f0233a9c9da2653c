"""A switch there and back on a cluster in memory, killed before and after each call, and at each of its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from connect_core.api.offsets import canonical
from connect_core.errors import ConnectError, IllegalWorkerStateError, NotFoundError, RetriableError
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.herder.context import Herder
from connect_core.herder.status import get_status
from connect_core.migration import steps, switching
from connect_core.migration.applying import apply_change, plan, problem_of
from connect_core.migration.connect_api import offset_map
from connect_core.migration.definitions import Definition
from connect_core.migration.importing import Outcome, definition_of, import_one, with_worker
from connect_core.migration.steps import Step
from connect_core.migration.switching import Switch
from connect_core.store import origins
from tests.full_run import IS_FULL_RUN
from tests.herder.harness import SINK, SOURCE, Harness
from tests.migration.fake_connect import Died, FakeConnect, FakeConnector

pytestmark = pytest.mark.slow

PARTITION = canonical({"filename": "/tmp/a.txt"})
SINK_PARTITION = canonical({"kafka_topic": "lines", "kafka_partition": 0})


def source_there(state: str = "RUNNING") -> FakeConnect:
    return FakeConnect({"a": FakeConnector(dict(SOURCE), "source", state, {PARTITION: {"position": 10}})})


def sink_there() -> FakeConnect:
    return FakeConnect({"a": FakeConnector(dict(SINK), "sink", "RUNNING", {SINK_PARTITION: {"kafka_offset": 10}})})


def imported(harness: Harness, there: FakeConnect) -> None:
    with there.api() as api:
        assert (
            import_one(harness.herder, definition_of(api.connector("a"), api.address), api).outcome is Outcome.CREATED
        )


def switch(harness: Harness, there: FakeConnect, *, back: bool = False, **more: Any) -> list[Step]:
    with there.api() as api:
        return Switch(harness.herder, api, "a", back, sleep=lambda seconds: None, **more).run()


def begun(harness: Harness, there: FakeConnect, last: Step, *, back: bool = False) -> None:
    """Begin a switch whose command is killed after a step."""

    def die(done: Step) -> None:
        if done is last:
            raise Died

    with there.api() as api, pytest.raises(Died):
        Switch(harness.herder, api, "a", back, sleep=lambda seconds: None).run(die)


def here(harness: Harness) -> str:
    return get_status(harness.herder, "a").connector.state.value


def positions(harness: Harness) -> dict[str, Any]:
    return offset_map(offsets.get(harness.herder, "a"))


def moved_here(harness: Harness, key: str, offset: dict[str, Any]) -> None:
    """Let the connector move offsets here, as its intervals do."""
    lifecycle.stop(harness.herder, "a")
    partition = {"filename": "/tmp/a.txt"} if key == PARTITION else {"kafka_topic": "lines", "kafka_partition": 0}
    offsets.alter(harness.herder, "a", [{"partition": partition, "offset": offset}])
    lifecycle.resume(harness.herder, "a")


@pytest.mark.parametrize(
    ("make", "key", "word"), [(source_there, PARTITION, "position"), (sink_there, SINK_PARTITION, "kafka_offset")]
)
def test_there_and_back(harness: Harness, make: Callable[[], FakeConnect], key: str, word: str) -> None:
    there = make()
    imported(harness, there)
    there.connectors["a"].ending = 3
    there.connectors["a"].offsets[key] = {word: 17}
    assert switch(harness, there) == [Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS, Step.START_HERE, Step.END]
    assert (there.connectors["a"].state, here(harness) != "STOPPED") == ("STOPPED", True)
    assert positions(harness) == {key: {word: 17}}
    moved_here(harness, key, {word: 40})
    done = switch(harness, there, back=True)
    assert done == [Step.BEGIN, Step.STOP_HERE, Step.GIVE_OFFSETS, Step.START_THERE, Step.END]
    assert (there.connectors["a"].state, here(harness)) == ("RUNNING", "STOPPED")
    assert there.connectors["a"].offsets == {key: {word: 40}}
    assert switch(harness, there, back=True) == []


def test_a_second_switch_changes_nothing(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    switch(harness, there)
    moved_here(harness, PARTITION, {"position": 99})
    lifecycle.stop(harness.herder, "a")
    assert switch(harness, there) == []
    assert positions(harness) == {PARTITION: {"position": 99}}


def committing_when_paused(there: FakeConnect, looks: int) -> Callable[..., bool]:
    """Return what tells that files are not committed there, until it has been paused for so many looks."""
    left = [looks]

    def is_ahead(*_: Any) -> bool:
        left[0] -= there.connectors["a"].state == "PAUSED"
        return left[0] > 0

    return is_ahead


def test_files_written_there_are_committed_first(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Apache's Iceberg sink does; on a real broker: ``test_iceberg_control.py``."""
    there = sink_there()
    imported(harness, there)
    monkeypatch.setattr(switching, "has_uncommitted_files", committing_when_paused(there, 3))
    assert switch(harness, there) == [Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS, Step.START_HERE, Step.END]
    assert [call.rpartition("/")[2] for call in there.calls if call.startswith("PUT")] == [
        "stop",
        "resume",
        "pause",
        "stop",
    ]
    assert there.connectors["a"].state == "STOPPED"


@pytest.mark.parametrize("back", [False, True])
def test_files_that_stay_uncommitted_leave_it_paused_there(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """A stop would make its coordinator wait for a whole commit interval again."""
    there = sink_there()
    imported(harness, there)
    monkeypatch.setattr(switching, "has_uncommitted_files", committing_when_paused(there, 10**6))
    for _ in range(2):
        with pytest.raises(RetriableError, match="waiting for its paused tasks there to commit their files"):
            switch(harness, there, seconds=0.0)
    assert [call.rpartition("/")[2] for call in there.calls if call.startswith("PUT")] == ["stop", "resume", "pause"]
    assert here(harness) == "STOPPED"
    monkeypatch.undo()
    switch(harness, there, back=back)
    assert (there.connectors["a"].state, here(harness) == "STOPPED") == (
        ("RUNNING", True) if back else ("STOPPED", False)
    )


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_a_state_is_kept(harness: Harness, state: str) -> None:
    there = source_there(state)
    imported(harness, there)
    switch(harness, there)
    assert (there.connectors["a"].state, here(harness)) == ("STOPPED", state)
    switch(harness, there, back=True)
    assert (there.connectors["a"].state, here(harness)) == (state, "STOPPED")


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_a_state_is_kept_that_a_rebalance_hides(harness: Harness, state: str) -> None:
    """A worker that ends shows its connectors as UNASSIGNED until another one takes them, by default for 5 minutes."""
    there = source_there(state)
    imported(harness, there)
    there.connectors["a"].moves_left = 10**6
    with pytest.raises(RetriableError, match="waiting for a worker there to take it"):
        switch(harness, there, seconds=0.0)
    there.connectors["a"].moves_left = 3
    switch(harness, there)
    assert (there.connectors["a"].state, here(harness)) == ("STOPPED", state)


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("when", ["dies_before", "dies_after"])
def test_killed_at_each_call_and_run_again(harness: Harness, back: bool, when: str) -> None:
    """Every call of a switch, in ``make test`` each third, is the last one of a command once.

    Nothing is lost, and both sides never run.
    """
    there = source_there()
    imported(harness, there)

    def never_both(call: str) -> None:
        both = there.connectors["a"].state == "RUNNING" and here(harness) not in ("STOPPED",)
        assert not both, f"both run after {call}"

    there.watch = never_both
    rounds, step = 0, 1 if IS_FULL_RUN else 3
    for number in range(1 % step if when == "dies_after" else 0, 60, step):
        side = {"position": 100 + number}
        if back:
            switch(harness, there)
            moved_here(harness, PARTITION, side)
        else:
            switch(harness, there, back=True)
            there.connectors["a"].offsets[PARTITION] = side
        setattr(there, when, len(there.calls) + number)
        try:
            switch(harness, there, back=back)
            break
        except Died:
            rounds += 1
        finally:
            setattr(there, when, None)
        switch(harness, there, back=back)
        assert positions(harness) == there.connectors["a"].offsets == {PARTITION: side}
        assert (there.connectors["a"].state, here(harness) == "STOPPED") == (
            ("RUNNING", True) if back else ("STOPPED", False)
        )
    assert rounds * step > 10


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("step", [one for one in Step if one is not Step.DONE])
def test_killed_after_each_step_then_sent_the_other_way(harness: Harness, back: bool, step: Step) -> None:
    there = source_there()
    imported(harness, there)
    if back:
        switch(harness, there)
        moved_here(harness, PARTITION, {"position": 50})
    newest = {"position": 50 if back else 10}

    def die(done: Step) -> None:
        if done is step:
            raise Died(step.name)

    with there.api() as api:
        try:
            Switch(harness.herder, api, "a", back, sleep=lambda seconds: None).run(die)
        except Died:
            switch(harness, there, back=not back)
            assert (there.connectors["a"].state == "RUNNING") is not back
            assert (here(harness) == "STOPPED") is not back
    assert positions(harness) == {PARTITION: newest}


def test_both_running_is_refused(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    lifecycle.resume(harness.herder, "a")
    with pytest.raises(IllegalWorkerStateError, match="Stop it here"):
        switch(harness, there)
    lifecycle.stop(harness.herder, "a")
    switch(harness, there)
    there.connectors["a"].state = "RUNNING"
    with pytest.raises(IllegalWorkerStateError, match="Stop it there"):
        switch(harness, there, back=True)


def test_a_connector_that_was_changed_in_its_cluster_is_refused_before_it_is_stopped(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    there.connectors["a"].config |= {"topic": "others", "batch.size": "5"}
    with pytest.raises(IllegalWorkerStateError, match=r"changed at http://there:8083 .*: batch\.size, topic\. Nothing"):
        switch(harness, there)
    assert (there.connectors["a"].state, here(harness)) == ("RUNNING", "STOPPED")
    # Given the new values here, and then one more that only this deployment needs.
    connectors.put_config(harness.herder, "a", there.connectors["a"].config)
    connectors.put_config(harness.herder, "a", {**there.connectors["a"].config, "batch.size": "7"})
    assert switch(harness, there)[-1] is Step.END


def test_a_connector_that_is_changed_during_a_switch_is_not_started_with_former_values(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    begun(harness, there, Step.STOP_THERE)
    there.connectors["a"].config["topic"] = "others"
    with pytest.raises(IllegalWorkerStateError, match=r"topic\. Undo the switch \(connect switch a --back\)"):
        switch(harness, there)
    switch(harness, there, back=True)
    assert (there.connectors["a"].state, here(harness)) == ("RUNNING", "STOPPED")


def test_converters_of_the_workers_there_are_no_change(harness: Harness) -> None:
    there = source_there()
    there.connectors["a"].config["value.converter.schemas.enable"] = "false"
    given = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    with there.api() as api:
        definition = with_worker(definition_of(api.connector("a"), api.address), given)
        assert import_one(harness.herder, definition, api).outcome is Outcome.CREATED
    assert switch(harness, there)[-1] is Step.END


_ALTERED = [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 5}}]
_DISTURBING: dict[str, Callable[[Herder], object]] = {
    "delete": lambda herder: connectors.delete(herder, "a"),
    "configure": lambda herder: connectors.put_config(herder, "a", {**SOURCE, "topic": "others"}),
    "patch": lambda herder: connectors.patch_config(herder, "a", {"topic": "others"}),
    "resume": lambda herder: lifecycle.resume(herder, "a"),
    "pause": lambda herder: lifecycle.pause(herder, "a"),
    "alter": lambda herder: offsets.alter(herder, "a", _ALTERED),
    "reset": lambda herder: offsets.reset(herder, "a"),
}


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("act", _DISTURBING)
def test_what_would_disturb_a_switch_is_refused_until_it_ends(harness: Harness, act: str, back: bool) -> None:
    there = source_there()
    imported(harness, there)
    if back:
        switch(harness, there)
        begun(harness, there, Step.GIVE_OFFSETS, back=True)
    else:
        begun(harness, there, Step.TAKE_OFFSETS)
    with pytest.raises(IllegalWorkerStateError, match="connect switch a --back"):
        _DISTURBING[act](harness.herder)
    lifecycle.stop(harness.herder, "a")
    assert positions(harness) == {PARTITION: {"position": 10}}
    assert switch(harness, there, back=back)[-1] is Step.END
    lifecycle.stop(harness.herder, "a")
    _DISTURBING[act](harness.herder)


def test_a_connector_whose_cluster_is_gone_can_still_be_deleted(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    begun(harness, there, Step.STOP_THERE)
    connectors.delete(harness.herder, "a", abandon_switch=True)
    assert connectors.list_names(harness.herder) == []


def test_apply_changes_and_deletes_nothing_that_is_being_switched(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    begun(harness, there, Step.STOP_THERE)
    changed = Definition("a", {**SOURCE, "topic": "others"})
    for changes in (plan(harness.herder, [], is_pruned=True), plan(harness.herder, [changed])):
        assert [one.name for one in changes] == ["a"]
        assert "a switch between http://there:8083 and here" in (problem_of(harness.herder, changes[0]) or "")
        assert apply_change(harness.herder, changes[0]).error is not None
    assert switch(harness, there)[-1] is Step.END


def test_tasks_that_do_not_end_are_named(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    there.connectors["a"].ending = 10**9
    with pytest.raises(RetriableError, match="waiting for its tasks there to end"):
        switch(harness, there, seconds=0.0)
    there.connectors["a"].ending = 0
    assert Step.START_HERE in switch(harness, there)


def test_a_status_that_a_killed_worker_left_behind_delays_a_switch(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connect itself asks whether a connector is to have tasks, not whether a status of one is left."""
    there = source_there("PAUSED")
    imported(harness, there)
    there.connectors["a"].has_leftover = True
    with pytest.raises(RetriableError, match="waiting for its tasks there to end"):
        switch(harness, there, seconds=0.0)
    reached: list[Step] = []

    def die_with_offsets(step: Step) -> None:
        reached.append(step)
        if step is Step.TAKE_OFFSETS:
            raise Died

    with monkeypatch.context() as later:
        later.setattr(steps, "_LEFTOVER_SECONDS", 0.0)
        with there.api() as api, pytest.raises(Died):
            Switch(harness.herder, api, "a", sleep=lambda seconds: None).run(die_with_offsets)
    assert reached == [Step.TAKE_OFFSETS]
    # Once its offsets are taken, it has had its time to end.
    assert switch(harness, there) == [Step.START_HERE, Step.END]
    assert (there.connectors["a"].state, here(harness)) == ("STOPPED", "PAUSED")


def test_a_partition_forgotten_here_is_forgotten_there(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    switch(harness, there)
    lifecycle.stop(harness.herder, "a")
    offsets.reset(harness.herder, "a")
    switch(harness, there, back=True)
    assert there.connectors["a"].offsets == {}


def test_what_is_not_there_or_not_imported_is_named(harness: Harness) -> None:
    there = source_there()
    with pytest.raises(NotFoundError, match="connect import --from http://there:8083 --only a"):
        switch(harness, there)
    harness.create()
    with pytest.raises(NotFoundError, match="was not imported"):
        switch(harness, there)
    there.connectors.clear()
    with pytest.raises(NotFoundError, match="does not exist at http://there:8083"):
        switch(harness, there)


def test_a_deleted_connector_has_no_origin(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    connectors.delete(harness.herder, "a")
    with harness.database.read() as connection:
        assert origins.find(connection, "a") is None


def test_offsets_that_are_refused_leave_it_stopped_on_both_sides(harness: Harness) -> None:
    there = source_there()
    imported(harness, there)
    there.connectors["a"].offsets[PARTITION] = {"position": -5}
    with pytest.raises(ConnectError, match="non-negative"):
        switch(harness, there)
    assert (there.connectors["a"].state, here(harness)) == ("STOPPED", "STOPPED")
    switch(harness, there, back=True)
    assert there.connectors["a"].state == "RUNNING"


class BeforeAltering(FakeConnect):
    """A cluster of Kafka 3.5, which can stop connectors, and cannot alter offsets."""

    def _act(self, method: str, name: str, what: str, content: bytes) -> httpx.Response:
        if method == "PATCH":
            return httpx.Response(405, json={"message": "HTTP 405 Method Not Allowed"})
        return super()._act(method, name, what, content)


@pytest.mark.parametrize("is_refused", [True, False])
def test_a_switch_that_cannot_go_on_says_how_to_undo_it(harness: Harness, is_refused: bool) -> None:
    """A cluster that refuses, or tasks that do not end, leave the connector stopped on both sides."""
    there = (BeforeAltering if is_refused else FakeConnect)(source_there().connectors)
    there.connectors["a"].ending = 0 if is_refused else 10**6
    imported(harness, there)
    with pytest.raises(ConnectError, match="connect switch a --back"):
        switch(harness, there, seconds=0.0)
    assert (here(harness), there.connectors["a"].state) == ("STOPPED", "STOPPED")
    switch(harness, there, back=True)
    assert (here(harness), there.connectors["a"].state) == ("STOPPED", "RUNNING")


def test_a_stopped_connector_whose_worker_changes_is_not_taken_for_a_started_one(harness: Harness) -> None:
    there = source_there()
    there.connectors["a"].moving = 3
    imported(harness, there)
    assert switch(harness, there) == [Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS, Step.START_HERE, Step.END]


def test_a_connector_whose_worker_never_comes_back_is_tried_again_later(harness: Harness) -> None:
    there = source_there()
    there.connectors["a"].moving = 10**9
    imported(harness, there)
    with pytest.raises(RetriableError, match="waiting for it to be stopped there"):
        switch(harness, there, seconds=0.2)
    assert here(harness) == "STOPPED"
