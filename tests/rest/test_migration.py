"""Moving connectors over REST: a Connect cluster behind a port, its login, and what each request does."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI

from connect_core.api.offsets import canonical
from connect_core.herder import connectors, lifecycle, offsets
from connect_core.migration.importing import Imported
from connect_core.migration.rounds import ImportReport, Moved, SwitchRound
from connect_core.migration.steps import Step
from connect_core.rest import LoopbackAuthorizer
from connect_core.store import audit
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.migration.fake_connect import FakeConnect, FakeConnector
from tests.migration.served_connect import ServedConnect, served_connect
from tests.rest.conftest import Client, app_of
from tests.rest.test_auth import Guests, as_user
from tests.rest.test_v1 import fits

pytestmark = pytest.mark.slow

USER, PASSWORD = "mover", "canary-of-the-other-cluster"
LOGIN = {"user": USER, "password": PASSWORD}
PARTITION = canonical({"filename": "/tmp/a.txt"})
FORWARD = [Step.BEGIN, Step.STOP_THERE, Step.TAKE_OFFSETS, Step.START_HERE, Step.END]
BACK = [Step.BEGIN, Step.STOP_HERE, Step.GIVE_OFFSETS, Step.START_THERE, Step.END]


@pytest.fixture
def there() -> FakeConnect:
    source = FakeConnector(dict(SOURCE), "source", "RUNNING", {PARTITION: {"position": 10}})
    alien = FakeConnector({"connector.class": "com.acme.Alien", "tasks.max": "1"})
    return FakeConnect({"a": source, "b": FakeConnector(dict(SINK), "sink"), "c": alien})


@pytest.fixture
def cluster(there: FakeConnect) -> Iterator[ServedConnect]:
    """The cluster, which takes one login and nobody without."""
    with served_connect(there, f"{USER}:{PASSWORD}", is_required=True) as served:
        yield served


def reported(call: Client, cluster: ServedConnect, **more: Any) -> dict[str, Any]:
    answer = call("POST", "/v1/import/report", {"url": cluster.url, **LOGIN, **more})
    assert answer.status == 200, answer.text
    return dict(fits(ImportReport, answer.json))


def imported(call: Client, cluster: ServedConnect, name: str = "a", status: int = 201) -> dict[str, Any]:
    answer = call("POST", f"/v1/connectors/{name}/import", {"url": cluster.url, **LOGIN})
    assert answer.status == status, answer.text
    return dict(fits(Imported, answer.json))


def switched(call: Client, **more: Any) -> dict[str, Any]:
    answer = call("POST", "/v1/connectors/a/switch", {**LOGIN, **more})
    assert answer.status == 200, answer.text
    return dict(fits(SwitchRound, answer.json))


def values(steps: list[Step]) -> list[str]:
    return [step.value for step in steps]


def test_report_says_what_becomes_of_each(call: Client, cluster: ServedConnect) -> None:
    found = reported(call, cluster)
    assert (found["address"], found["total"], found["next"]) == (cluster.url, 3, None)
    assert {one["name"]: one["kind"] for one in found["connectors"]} == {
        "a": "native",
        "b": "native",
        "c": "not possible",
    }
    assert "there is no plugin com.acme.Alien here" in found["connectors"][2]["reasons"][0]
    assert call("GET", "/connectors").json == []
    assert {one.split()[0] for one in cluster.there.calls} == {"GET"}


def test_report_ends_in_time_and_goes_on_after_it(call: Client, cluster: ServedConnect) -> None:
    names, after, pages = [], None, 0
    while True:
        found = reported(call, cluster, seconds=0.0001, after=after)
        names += [one["name"] for one in found["connectors"]]
        after, pages = found["next"], pages + 1
        if after is None:
            break
    assert (names, pages) == (["a", "b", "c"], 3)
    assert [one["name"] for one in reported(call, cluster, names=["b"])["connectors"]] == ["b"]
    absent = call("POST", "/v1/import/report", {"url": cluster.url, **LOGIN, "names": ["z"]})
    assert (absent.status, "no connector z at" in absent.text) == (404, True)


def test_converters_of_their_workers_are_taken_over(harness: Harness, call: Client, cluster: ServedConnect) -> None:
    own = {f"{part}.converter": "org.apache.kafka.connect.storage.StringConverter" for part in ("key", "value")}
    (one,) = reported(call, cluster, names=["a"], converters=own)["connectors"]
    assert one["notes"] == []
    body = {"url": cluster.url, **LOGIN, "converters": own}
    assert call("POST", "/v1/connectors/a/import", body).status == 201
    assert own.items() <= connectors.get_config(harness.herder, "a").items()
    wrong = call("POST", "/v1/connectors/b/import", {**body, "converters": {"ssl.key.password": "x"}})
    assert (wrong.status, "ssl.key.password is not a setting of" in wrong.text) == (400, True)


def test_import_creates_stopped_with_offsets_once(harness: Harness, call: Client, cluster: ServedConnect) -> None:
    assert imported(call, cluster) == {"name": "a", "outcome": "created", "why": "", "offsets": 1}
    assert call("GET", "/connectors/a/status").json["connector"]["state"] == "STOPPED"
    assert offsets.get(harness.herder, "a") == [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 10}}]
    assert imported(call, cluster, status=200)["outcome"] == "unchanged"
    cluster.there.connectors["a"].config["topic"] = "others"
    other = imported(call, cluster, status=200)
    assert (other["outcome"], other["why"]) == ("left alone", "it exists here with different values of topic")
    assert "its positions will be stored when" in imported(call, cluster, "b")["why"]


@pytest.mark.parametrize(
    ("name", "status", "reason"), [("c", 500, "com.acme.Alien"), ("z", 404, "z not found"), ("%20a", 400, "spaces")]
)
def test_import_of_what_cannot_be_says_why(
    call: Client, cluster: ServedConnect, name: str, status: int, reason: str
) -> None:
    answer = call("POST", f"/v1/connectors/{name}/import", {"url": cluster.url, **LOGIN})
    assert (answer.status, reason in answer.text) == (400 if name == "c" else status, True), answer.text
    assert call("GET", "/connectors").json == []


def test_there_and_back(harness: Harness, call: Client, cluster: ServedConnect) -> None:
    imported(call, cluster)
    stored = fits(Moved, call("GET", "/v1/connectors/a/switch").json)
    assert (stored["url"], stored["newest"], stored["state"]) == (cluster.url, "there", None)
    seen = switched(call, seconds=0)
    assert (seen["steps"], seen["next"], seen["there"], seen["here"]) == (
        [],
        "recorded its state",
        "RUNNING",
        "STOPPED",
    )
    done = switched(call)
    assert (done["steps"], done["next"], done["newest"]) == (values(FORWARD), None, "here")
    assert (cluster.there.connectors["a"].state, done["there"], done["tasks_there"]) == ("STOPPED", "STOPPED", 0)
    assert switched(call)["steps"] == []
    lifecycle.stop(harness.herder, "a")
    offsets.alter(harness.herder, "a", [{"partition": {"filename": "/tmp/a.txt"}, "offset": {"position": 50}}])
    lifecycle.resume(harness.herder, "a")
    back = switched(call, back=True)
    assert (back["steps"], back["next"], back["newest"]) == (values(BACK), None, "there")
    assert cluster.there.connectors["a"].offsets == {PARTITION: {"position": 50}}
    assert (back["here"], back["there"]) == ("STOPPED", "RUNNING")
    with harness.database.read() as connection:
        found = [one.act for one in audit.history(connection)]
    acts = {act.action: act for act in reversed(found)}
    assert {"import", "begin switch", "switch"} <= acts.keys()
    assert acts["switch"].after == {"side": "there", "url": cluster.url, "state": "RUNNING"}


def test_on_the_way_back_settings_that_differ_are_named(call: Client, cluster: ServedConnect) -> None:
    imported(call, cluster)
    assert switched(call)["differing"] == []
    cluster.there.connectors["a"].config["tasks.max"] = "7"
    back = switched(call, back=True)
    assert (back["newest"], back["differing"]) == ("there", ["tasks.max"])


def test_a_wait_ends_in_time_and_is_continued(call: Client, cluster: ServedConnect) -> None:
    imported(call, cluster)
    cluster.there.connectors["a"].ending = 10**9
    first = switched(call, seconds=2)
    assert (first["steps"], first["next"]) == (["recorded its state"], "stopped there")
    assert (first["waiting_for"], first["tasks_there"]) == ("its tasks there to end", 1)
    assert call("GET", "/v1/connectors/a/switch").json["state"] == "RUNNING"
    cluster.there.connectors["a"].ending = 0
    assert switched(call)["steps"] == values(FORWARD)[2:]


def test_a_begun_switch_is_undone_by_the_other_direction(call: Client, cluster: ServedConnect) -> None:
    imported(call, cluster)
    cluster.there.connectors["a"].ending = 10**9
    switched(call, seconds=0.2)
    cluster.there.connectors["a"].ending = 0
    undone = switched(call, back=True)
    assert (undone["next"], undone["newest"], undone["there"]) == (None, "there", "RUNNING")


def test_a_connector_is_deleted_during_a_switch_only_on_request(
    call: Client, cluster: ServedConnect, there: FakeConnect
) -> None:
    imported(call, cluster)
    there.connectors["a"].ending = 10**6
    switched(call, seconds=0.1)
    answer = call("DELETE", "/connectors/a")
    assert (answer.status, "connect switch a --back" in answer.text) == (409, True)
    assert call("DELETE", "/connectors/a?switch=forget").status == 400
    assert call("DELETE", "/connectors/a?switch=abandon").status == 204


def test_two_at_once_do_not_switch_one_connector(call: Client, cluster: ServedConnect) -> None:
    imported(call, cluster)
    cluster.there.connectors["a"].ending = 10**9
    found: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: found.append(call("POST", "/v1/connectors/a/switch", {**LOGIN, "seconds": 2}).status)
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [200, 409, 409]
    cluster.there.connectors["a"].ending = 0
    assert switched(call)["next"] is None


def test_what_runs_on_both_sides_is_refused_with_the_remedy(
    harness: Harness, call: Client, cluster: ServedConnect
) -> None:
    imported(call, cluster)
    lifecycle.resume(harness.herder, "a")
    answer = call("POST", "/v1/connectors/a/switch", LOGIN)
    assert (answer.status, "Stop it here (connect stop a)" in answer.text) == (409, True)


def test_one_that_was_not_imported_has_no_origin(harness: Harness, call: Client, cluster: ServedConnect) -> None:
    harness.create("a")
    nothing = {"connector": "a", "url": None, "newest": None, "state": None, "changed_at": None}
    assert fits(Moved, call("GET", "/v1/connectors/a/switch").json) == nothing
    assert call("POST", "/v1/connectors/a/switch", LOGIN).status == 400
    answer = call("POST", "/v1/connectors/a/switch", {"url": cluster.url, **LOGIN})
    assert (answer.status, "was not imported" in answer.text) == (404, True)
    assert call("GET", "/v1/connectors/z/switch").status == 404


def test_a_login_that_is_refused_is_not_repeated(call: Client, cluster: ServedConnect) -> None:
    for body in ({"user": USER, "password": "canary-wrong"}, {}):
        answer = call("POST", "/v1/import/report", {"url": cluster.url, **body})
        assert "401" in answer.json["message"]
        assert "Use a login" in answer.json["message"]
        assert "canary" not in answer.text


class Owners(Guests):
    """Also knows who may create but not change what is there."""

    def allows(self, caller: Any, method: str, connector: str | None) -> bool:
        return super().allows(caller, method, connector) or (caller.name == "ann" and method == "POST")


def test_rights(harness: Harness, serve: Callable[[FastAPI], Client], cluster: ServedConnect) -> None:
    """The whole cluster is an administrator's; one connector takes the rights to create and to change it."""
    call = serve(app_of(harness, Guests()))
    body = {"url": cluster.url, **LOGIN}
    for user in ("jo", "ann"):
        for sent in (body, {}):
            assert call("POST", "/v1/import/report", sent, as_user(user)).status == 403
    assert call("POST", "/v1/connectors/a/import", body, as_user("ann")).status == 403
    assert call("POST", "/v1/connectors/a/switch", body, as_user("ann")).status == 403
    assert call("GET", "/v1/connectors/a/switch", headers=as_user("ann")).status == 403
    creator = serve(app_of(harness, Owners()))
    assert creator("POST", "/v1/connectors/a/import", body, as_user("ann")).status == 403
    assert cluster.headers == []
    assert call("POST", "/v1/connectors/a/import", body, as_user("jo")).status == 201
    cluster.there.connectors["a"].config["schedule.pool"] = "theirs"
    connectors.delete(harness.herder, "a")
    refused = call("POST", "/v1/connectors/a/import", body, as_user("jo"))
    assert (refused.status, refused.json["message"]) == (403, "User jo may not use that pool")
    assert connectors.list_names(harness.herder) == []


def test_hosts_that_are_not_listed_are_not_called(
    harness: Harness, serve: Callable[[FastAPI], Client], cluster: ServedConnect
) -> None:
    harness.herder = replace(harness.herder, worker=worker(**{"limits.hosts.allowed": "connect.example"}))
    call = serve(app_of(harness, LoopbackAuthorizer()))
    for path in ("/v1/import/report", "/v1/connectors/a/import"):
        answer = call("POST", path, {"url": cluster.url, **LOGIN})
        assert (answer.status, "limits.hosts.allowed" in answer.text) == (400, True)
    assert cluster.headers == []
