"""Who gets in, and who may do what."""

from __future__ import annotations

import socket
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.requests import Request

from connect_core.errors import RetriableError
from connect_core.rest.auth import LoopbackAuthorizer, Service, is_loopback
from connect_core.store import audit
from tests.herder.harness import SOURCE, Harness
from tests.rest.conftest import Client, app_of

OWN = {"jo": {"a"}, "ann": {"b"}}


class Guests:
    """Knows two users by a header; each has rights to connectors of her own."""

    challenge: str | None = "Guest"

    async def authenticate(self, request: Request) -> Service | None:
        name = request.headers.get("x-guest", "")
        return Service(name) if name in OWN else None

    def allows(self, caller: Service, method: str, connector: str | None) -> bool:
        return connector in OWN[caller.name] if connector is not None else method == "GET"

    def visible(self, caller: Service, connectors: Collection[str]) -> Collection[str]:
        return [name for name in connectors if name in OWN[caller.name]]

    def refusal(self, caller: Service, connector: str, settings: Mapping[str, str]) -> str | None:
        return "use that pool" if settings.get("schedule.pool") == "theirs" else None


@pytest.fixture
def app(harness: Harness) -> FastAPI:
    return app_of(harness, Guests())


@pytest.fixture
def guarded(app: FastAPI, serve: Callable[[FastAPI], Client]) -> Client:
    return serve(app)


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in app.routes:
        for method in getattr(route, "methods", None) or ():
            path = route.path  # type: ignore[attr-defined]
            yield method, path.format(connector="a", task="0", plugin="FileStreamSource", logger="x", sequence="1")


def test_without_a_login_every_route_answers_401(app: FastAPI, guarded: Client) -> None:
    found = {(method, path): guarded(method, path).status for method, path in routes(app)}
    assert len(found) > 30
    assert {key for key, status in found.items() if status != 401} == {("GET", "/health")}
    assert guarded("GET", "/nope").status == guarded("GET", "/docs").status == 401
    assert guarded("GET", "/connectors").headers["www-authenticate"] == "Guest"


@pytest.mark.parametrize("path", ["/health/../connectors", "/health;x", "/health%2F", "//health", "/Health"])
def test_only_health_itself_is_open(guarded: Client, path: str) -> None:
    assert guarded("GET", path).status in (401, 404)


def test_every_route_of_a_connector_needs_the_right_to_it(app: FastAPI, guarded: Client, harness: Harness) -> None:
    harness.create("a")
    wrong = {
        (method, path): status
        for method, path in routes(app)
        if "/a" in path.replace("/admin", "") and path.startswith(("/connectors/", "/v1/connectors/"))
        if (status := guarded(method, f"{path}?dag_id=b&connector=b", b"{}", as_user("ann")).status) not in (400, 403)
    }
    assert wrong == {}


def as_user(name: str) -> dict[str, str]:
    return {"X-Guest": name, "Content-Type": "application/json"}


def test_lists_show_what_the_caller_may_see(guarded: Client, harness: Harness) -> None:
    harness.create("a")
    harness.create("b")
    assert guarded("GET", "/connectors", headers=as_user("ann")).json == ["b"]
    assert list(guarded("GET", "/connectors?expand=status", headers=as_user("jo")).json) == ["a"]


def test_connector_is_created_by_who_may_under_that_name(guarded: Client) -> None:
    new: dict[str, Any] = {"name": " a ", "config": SOURCE}
    assert guarded("POST", "/connectors", new, as_user("ann")).status == 403
    assert guarded("POST", "/connectors", new, as_user("jo")).status == 201


def test_settings_that_reach_beyond_the_connector_need_their_own_right(guarded: Client, harness: Harness) -> None:
    theirs = {**SOURCE, "schedule.pool": "theirs"}
    assert guarded("POST", "/connectors", {"name": "a", "config": theirs}, as_user("jo")).status == 403
    assert guarded("PUT", "/connectors/a/config", theirs, as_user("jo")).status == 403
    harness.create("a", {**SOURCE, "schedule.pool": "theirs"})
    assert guarded("PUT", "/connectors/a/config", theirs, as_user("jo")).status == 200
    assert guarded("PATCH", "/connectors/a/config", {"schedule.pool": "own"}, as_user("jo")).status == 200
    assert guarded("PATCH", "/connectors/a/config", {"schedule.pool": "theirs"}, as_user("jo")).status == 403


def test_page_of_another_origin_may_change_nothing(call: Client, harness: Harness) -> None:
    harness.create("a")
    foreign, own = {"Origin": "http://evil.example"}, {"Origin": call.base}
    assert call("POST", "/connectors/a/restart", headers=foreign).status == 403
    assert call("POST", "/connectors/a/restart", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert call("POST", "/connectors/a/restart", headers=own).status == 204
    assert call("GET", "/connectors/a", headers=foreign).status == 200


def acts(harness: Harness) -> list[tuple[str, str, str | None, Any]]:
    with harness.database.read() as connection:
        rows = [one.act for one in audit.history(connection) if one.act.action.startswith("refused")]
    return [(act.actor, act.action, act.connector, (act.after or {})["refused"]) for act in reversed(rows)]


def test_what_a_known_user_was_refused_is_in_the_audit(guarded: Client, harness: Harness) -> None:
    harness.create("a")
    for _ in range(2):
        assert guarded("DELETE", "/connectors/a", headers=as_user("ann")).status == 403
    assert guarded("GET", "/v1/connectors/a/acts", headers=as_user("ann")).status == 403
    assert guarded("PUT", "/connectors/a/config", SOURCE, as_user("ann")).status == 403
    assert guarded("POST", "/connectors", {"name": "new", "config": SOURCE}, as_user("ann")).status == 403
    foreign = {**as_user("jo"), "Origin": "http://evil.example"}
    assert guarded("POST", "/connectors/a/restart", headers=foreign).status == 403
    assert guarded("GET", "/connectors/a", headers={"X-Guest": "jo", "Host": "evil@x"}).status == 400
    pool = {**SOURCE, "schedule.pool": "theirs"}
    assert guarded("PUT", "/connectors/a/config", pool, as_user("jo")).status == 403
    assert acts(harness) == [
        ("ann", "refused DELETE", "a", "User ann may not delete connector a"),
        ("ann", "refused GET", "a", "User ann may not see connector a"),
        ("ann", "refused PUT", "a", "User ann may not change connector a"),
        ("ann", "refused POST", "new", "User ann may not create connector new"),
        ("jo", "refused POST", "a", "Pages from another origin may not change anything"),
        ("jo", "refused GET", "a", "The header Host must contain one host, as HOST or HOST:PORT"),
        ("jo", "refused PUT", "a", "User jo may not use that pool"),
    ]
    shown = guarded("GET", "/v1/connectors/a/acts", headers=as_user("jo")).json["acts"]
    assert {act["action"] for act in shown} >= {"refused DELETE", "refused POST"}


def test_put_of_a_new_connector_takes_the_right_to_create_it(
    harness: Harness, serve: Callable[[FastAPI], Client]
) -> None:
    class Editors(Guests):
        def allows(self, caller: Service, method: str, connector: str | None) -> bool:
            return method != "POST"

    call, jo = serve(app_of(harness, Editors())), as_user("jo")
    refused = call("PUT", "/connectors/new/config", SOURCE, jo)
    assert (refused.status, "may not create connector new" in refused.text) == (403, True), refused.text
    harness.create("a")
    assert call("PUT", "/connectors/a/config", SOURCE, jo).status == 200


def test_a_refusal_stays_one_while_the_audit_cannot_be_written(
    guarded: Client, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: object) -> None:
        raise RetriableError("the database is away")

    monkeypatch.setattr("connect_core.rest.refusals.record_refusal", fails)
    assert guarded("DELETE", "/connectors/a", headers=as_user("ann")).status == 403


def test_allowed_origin_may(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    harness.create("a")
    call = serve(app_of(harness, LoopbackAuthorizer(), origins=("http://ui.example",)))
    assert call("POST", "/connectors/a/restart", headers={"Origin": "http://ui.example"}).status == 204


def test_name_of_a_web_page_bound_to_this_machine_is_not_let_in(call: Client) -> None:
    assert call("GET", "/connectors", headers={"Host": "evil.example"}).status == 401
    assert call("GET", "/connectors", headers={"Host": "localhost:8083"}).status == 200


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example@127.0.0.1"],
        ["evil.example:x@localhost:8083"],
        ["127.0.0.1/evil.example"],
        ["127.0.0.1#evil.example"],
        ["localhost?evil.example"],
        ["[::1]evil.example"],
        ["[::1"],
        ["127.0.0.1:8083:8083"],
        ["127.0.0.1:"],
        ["127.0.0.1:99999"],
        ["127.0.0.1, evil.example"],
        ["localhost\\evil.example"],
        ["evil.example", "127.0.0.1"],
        ["127.0.0.1", "evil.example"],
        [""],
        [],
    ],
)
def test_host_that_can_be_read_in_two_ways_is_refused(call: Client, hosts: list[str]) -> None:
    assert raw_status(call, "1.1", hosts) == 400


def test_host_in_its_form_is_taken(call: Client) -> None:
    for host in ("127.0.0.1", f"127.0.0.1:{call.port}", "LOCALHOST:1", "[::1]", "[0:0:0:0:0:0:0:1]:8083"):
        assert raw_status(call, "1.1", [host]) == 200
    assert raw_status(call, "1.0", []) == raw_status(call, "1.1", ["evil.example"]) == 401


def raw_status(call: Client, version: str, hosts: list[str]) -> int:
    lines = [f"GET /connectors HTTP/{version}", *(f"Host: {host}" for host in hosts), "Connection: close", "", ""]
    with socket.create_connection(("127.0.0.1", call.port), timeout=30) as connection:
        connection.sendall("\r\n".join(lines).encode())
        return int(connection.makefile("rb").readline().split()[1])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost"])
def test_loopback_is_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", "evil.example", ""])
def test_other_hosts_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
