"""Rights in the mounted application: Airflow's own tokens, an auth manager with rights per DAG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest
from airflow import settings as settings_of_airflow
from airflow.api_fastapi.app import create_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.models.asset import AssetModel
from airflow.utils.session import create_session
from fastapi import FastAPI

from connect_core.dag.access import AirflowAccess
from connect_core.dag.naming import dag_id_of
from connect_core.migration import cluster
from connect_core.rest.server import serve_in_thread
from connect_core.settings import Listener
from tests.dag.dag_rights import GRANTS
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SOURCE, Harness
from tests.rest.conftest import Client, app_of

pytestmark = pytest.mark.slow

__all__ = ["harness", "sqlite_template"]

VALUES = {"connector": "a", "task": "0", "plugin": "FileStreamSource", "logger": "x", "sequence": "1"}
OWN = ",".join(f"{method}:{dag_id_of('b')}" for method in ("GET", "POST", "PUT", "DELETE"))


@pytest.fixture(scope="module")
def manager() -> Iterator[Any]:
    settings = {
        "AIRFLOW__CORE__AUTH_MANAGER": "tests.dag.dag_rights.RightsPerDag",
        "AIRFLOW__API_AUTH__JWT_SECRET": "a secret of sixty-four characters, or so, for the tests of rights",
        GRANTS: f"ann={OWN},PUT:pool:own,POST:asset:None,GET:asset:None;reader=GET:{dag_id_of('a')}",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        engine = (
            vars(settings_of_airflow)["get_engine"]()
            if hasattr(settings_of_airflow, "get_engine")
            else settings_of_airflow.engine
        )
        if find_spec("airflow.models.revoked_token") is not None:
            # The one table that is asked for with every token; Airflow 3.1 has none.
            revoked = import_module("airflow.models.revoked_token").RevokedToken
            revoked.__table__.create(engine, checkfirst=True)
        AssetModel.__table__.create(engine, checkfirst=True)
        with create_session() as session:
            session.merge(AssetModel(id=7, uri="file:///theirs", name="theirs"))
        yield create_auth_manager()


@pytest.fixture
def mounted(harness: Harness) -> FastAPI:
    return app_of(harness, AirflowAccess(), deployment="airflow")


@pytest.fixture
def call(mounted: FastAPI, manager: Any) -> Iterator[Client]:
    airflow = FastAPI()
    airflow.mount("/connect", mounted)
    server = serve_in_thread(airflow, Listener("http", "127.0.0.1", 0))
    yield Client(server.port)
    server.stop()


@pytest.fixture
def login(manager: Any) -> Callable[[str], Mapping[str, str]]:
    def headers(name: str) -> Mapping[str, str]:
        token = manager.generate_jwt(SimpleAuthManagerUser(username=name, role="viewer"))
        return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    return headers


def routes(app: FastAPI) -> list[tuple[str, str]]:
    return [
        (method, "/connect" + route.path.format(**VALUES))  # type: ignore[attr-defined]
        for route in app.routes
        for method in getattr(route, "methods", None) or ()
    ]


def test_without_a_login_every_route_answers_401(mounted: FastAPI, call: Client) -> None:
    found = {(method, path): call(method, path).status for method, path in routes(mounted)}
    assert len(found) > 45
    assert {key for key, status in found.items() if status != 401} == {("GET", "/connect/health")}
    for path in ("/connect/docs", "/connect/openapi.json", "/connect/ui/", "/connect/nope", "/connect/metrics"):
        assert call("GET", path).status == 401


@pytest.mark.parametrize("token", ["", "x", "Bearer", "Bearer x.y.z", "Basic YWRtaW46YWRtaW4="])
def test_other_credentials_are_no_login(call: Client, token: str) -> None:
    assert call("GET", "/connect/connectors", headers={"Authorization": token}).status == 401
    assert call("GET", "/connect/connectors", headers={"Cookie": f"_token={token}"}).status == 401


def test_connector_of_another_is_out_of_reach(
    mounted: FastAPI, call: Client, login: Callable[[str], Mapping[str, str]], harness: Harness
) -> None:
    harness.create("a")
    trick = f"dag_id={dag_id_of('b')}&connector=b"
    wrong = {}
    for method, path in routes(mounted):
        if path.startswith(("/connect/connectors/", "/connect/v1/connectors/")):
            for body in (b"{}", b"{"):
                status = call(method, f"{path}?{trick}", body, login("ann")).status
                if status not in (403, 404):
                    wrong[method, path, body] = status
    assert wrong == {}
    assert call("GET", "/connect/connectors", headers=login("ann")).json == []
    assert harness.scheduler.calls == [("deploy", "a")]


def test_reader_may_see_and_nothing_else(
    call: Client, login: Callable[[str], Mapping[str, str]], harness: Harness
) -> None:
    harness.create("a")
    reader = login("reader")
    assert call("GET", "/connect/connectors", headers=reader).json == ["a"]
    assert call("GET", "/connect/v1/connectors", headers=reader).json["connectors"][0]["name"] == "a"
    assert call("GET", "/connect/connectors/a/config", headers=reader).status == 200
    for method, path in (("PUT", "pause"), ("POST", "restart"), ("DELETE", ""), ("DELETE", "offsets")):
        assert call(method, f"/connect/connectors/a/{path}", headers=reader).status == 403
    assert call("PUT", "/connect/connectors/a/config", SOURCE, reader).status == 403


def test_configuration_is_tried_by_who_may_change_the_connector_it_names(
    call: Client, login: Callable[[str], Mapping[str, str]]
) -> None:
    path = "/connect/connector-plugins/FileStreamSource/config/validate"
    found = {
        (user, name): call("PUT", path, {**SOURCE, "name": name}, login(user)).status
        for user, name in (("ann", "b"), ("ann", "a"), ("ann", ""), ("reader", "a"))
    }
    assert found == {("ann", "b"): 200, ("ann", "a"): 403, ("ann", ""): 403, ("reader", "a"): 403}
    assert call("PUT", path, SOURCE, login("ann")).status == 403


def test_cookie_writes_of_other_sites_are_refused(
    call: Client, login: Callable[[str], Mapping[str, str]], harness: Harness
) -> None:
    cookie = {"Cookie": f"_token={login('ann')['Authorization'].removeprefix('Bearer ')}"}
    own = {"Origin": call.base, "Content-Type": "application/json"}
    assert call("POST", "/connect/connectors", {"name": "b", "config": SOURCE}, {**cookie, **own}).status == 201
    for foreign in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}):
        assert call("PUT", "/connect/connectors/b/pause", headers={**cookie, **foreign}).status == 403
        assert call("DELETE", "/connect/connectors/b", headers={**cookie, **foreign}).status == 403
    plain = {**cookie, "Content-Type": "text/plain"}
    assert call("PUT", "/connect/connectors/b/config", SOURCE, plain).status == 415
    assert call("GET", "/connect/connectors/b/status", headers=cookie).status == 200


@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"schedule.pool": "own"}, 201),
        ({"schedule.pool": "theirs"}, 403),
        ({"schedule.outlets": "kafka://c/new"}, 201),
        ({"schedule.outlets": "kafka://c/new,file:///theirs"}, 403),
        ({"schedule": "asset:kafka://c/new"}, 201),
        ({"schedule": "asset:theirs"}, 403),
        ({"schedule": "asset:kafka://c/new | file:///theirs"}, 403),
        ({"schedule": "PT5M"}, 201),
    ],
)
def test_pools_and_assets_of_others_are_asked_for(
    call: Client, login: Callable[[str], Mapping[str, str]], settings: dict[str, str], status: int
) -> None:
    new = {"name": "b", "config": {**SOURCE, **settings}}
    assert call("POST", "/connect/connectors", new, login("ann")).status == status


def test_loggers_of_airflows_server_need_the_right_to_its_configuration(
    call: Client, login: Callable[[str], Mapping[str, str]]
) -> None:
    for logger in ("root", "airflow", "connect_core"):
        answer = call("PUT", f"/connect/admin/loggers/{logger}", {"level": "OFF"}, login("ann"))
        assert answer.status == 403


def test_another_cluster_is_read_as_a_whole_by_who_may_change_the_configuration(
    call: Client, login: Callable[[str], Mapping[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_RETRY_SECONDS", 0.5)
    body = {"url": "http://127.0.0.1:1"}
    assert call("POST", "/connect/v1/import/report", body, login("ann")).status == 403
    assert call("POST", "/connect/v1/connectors/a/import", body, login("ann")).status == 403
    # Her own connector: she is let through, to where nobody answers.
    assert call("POST", "/connect/v1/connectors/b/import", body, login("ann")).status == 503
