"""Requests: each claimed by one, given back or done; with the DAG mirror and the audit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from connect_core.store import Database, audit, dag_states, requests
from connect_core.store.audit import Act
from connect_core.store.dag_states import Dag
from connect_core.store.requests import Asked
from tests.store.harness import Harness, race


def test_requests_are_claimed_in_order(database: Database) -> None:
    with database.write() as connection:
        for name in ("a", "b", "c"):
            requests.add(connection, Asked("deploy", name, {"x": 1}, "jo"))
        first = requests.claim(connection, "one", 60, requests.Kinds(are_left_out=True, limit=2))
        rest = requests.claim(connection, "two", 60)
        none = requests.claim(connection, "two", 60)
    assert [(one.asked, one.tries) for one in first] == [
        (Asked("deploy", "a", {"x": 1}, "jo"), 1),
        (Asked("deploy", "b", {"x": 1}, "jo"), 1),
    ]
    assert [one.asked.connector for one in rest] == ["c"]
    assert none == []


def test_claims_race_apart(database: Database) -> None:
    with database.write() as connection:
        numbers = {requests.add(connection, Asked("trigger", str(one))) for one in range(40)}

    def act(number: int) -> list[int]:
        taken: list[int] = []
        while True:
            with database.write() as connection:
                claimed = requests.claim(connection, str(number), 60, requests.Kinds(are_left_out=True, limit=3))
            if not claimed:
                return taken
            taken += [one.id for one in claimed]

    taken = [number for one in race(4, act) for number in one]
    assert len(taken) == len(set(taken)) == 40
    assert set(taken) == numbers


def test_given_back_request_comes_again(database: Database) -> None:
    with database.write() as connection:
        number = requests.add(connection, Asked("trigger", "a"))
        requests.claim(connection, "one", 60)
        requests.give_back(connection, number, "no DAG yet", -1)
        (again,) = requests.claim(connection, "one", 60)
        requests.finish(connection, number, "gave up")
        assert requests.claim(connection, "one", 60) == []
    assert again.tries == 2


def test_abandoned_claim_runs_out(database: Database) -> None:
    with database.write() as connection:
        requests.add(connection, Asked("trigger", "a"))
        requests.claim(connection, "one", -1)
        assert [one.tries for one in requests.claim(connection, "two", 60)] == [2]


def test_done_requests_are_forgotten(database: Database) -> None:
    with database.write() as connection:
        number = requests.add(connection, Asked("trigger", "a"))
        requests.add(connection, Asked("trigger", "b"))
        requests.finish(connection, number)
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        assert requests.forget_done(connection, tomorrow - timedelta(days=2)) == 0
        assert requests.forget_done(connection, tomorrow) == 1
        assert len(requests.claim(connection, "one", 60)) == 1


def test_dag_states_are_mirrored(harness: Harness) -> None:
    harness.create("a")
    harness.create("b")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    seen = [Dag("a", "a-1", False), Dag("b", "b-1", True, "run", "running", at), Dag("gone", "g-1", False)]
    with harness.database.write() as connection:
        dag_states.store(connection, seen)
        assert dag_states.list_dags(connection) == seen[:2]
        dag_states.store(connection, [Dag("a", "a-1", True)])
        assert dag_states.list_dags(connection) == [Dag("a", "a-1", True), seen[1]]
        dag_states.forget(connection, "b")
        assert dag_states.list_dags(connection) == [Dag("a", "a-1", True)]


def test_audit_keeps_who_did_what(database: Database) -> None:
    acts = [Act("jo", "pause", "a", {"state": "STARTED"}, {"state": "PAUSED"}), Act("li", "create", "b")]
    with database.write() as connection:
        for act in acts:
            audit.record(connection, act)
        assert [one.act for one in audit.history(connection)] == acts[::-1]
        assert [one.act for one in audit.history(connection, "a")] == acts[:1]
