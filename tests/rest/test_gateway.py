"""The API with a login of its own: credentials go to Airflow, everything else to the API mounted there."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from connect_core.rest.gateway import Gateway
from tests.rest.conftest import Client

Answer = Callable[[httpx.Request], httpx.Response]
BASIC = {"Authorization": "Basic " + base64.b64encode(b"ann:pass:word").decode()}


class Airflow:
    """Notes what it is asked; knows one user."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.logins = 0

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/auth/token":
            self.logins += 1
            is_known = json.loads(request.content) == {"username": "ann", "password": "pass:word"}
            return httpx.Response(201, json={"access_token": "t1"}) if is_known else httpx.Response(401)
        self.asked.append(request)
        host = request.headers["host"]
        location = {"Location": f"http://{host}/connect/connectors/a", "Set-Cookie": "_token=x"}
        return httpx.Response(201, json={"name": "a"}, headers=location)

    def down(self, request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    def target(self) -> str:
        found: bytes = self.asked[-1].extensions["target"]
        return found.decode()


@pytest.fixture
def airflow() -> Airflow:
    return Airflow()


@pytest.fixture
def serve_gateway(
    serve_any: Callable[[ASGIApp], Client],
) -> Callable[[Callable[[httpx.Request], httpx.Response]], Client]:
    def start(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
        return serve_any(Gateway("http://airflow:8080", httpx.AsyncClient(transport=httpx.MockTransport(answer))))

    return start


@pytest.fixture
def call(airflow: Airflow, serve_gateway: Any) -> Client:
    made: Client = serve_gateway(airflow.answer)
    return made


def test_credentials_become_airflows_token(call: Client, airflow: Airflow) -> None:
    answer = call("POST", "/connectors", {"name": "a"}, {**BASIC, "Content-Type": "application/json", "Cookie": "c=1"})
    assert (answer.status, answer.json) == (201, {"name": "a"})
    assert answer.headers["location"] == f"{call.base}/connectors/a"
    assert "set-cookie" not in answer.headers
    (asked,) = airflow.asked
    assert asked.headers["authorization"] == "Bearer t1"
    assert "cookie" not in asked.headers
    assert json.loads(asked.content) == {"name": "a"}
    call("GET", "/connectors", headers=BASIC)
    assert airflow.logins == 1


@pytest.mark.parametrize("path", ["/connectors/a%20b/status", "/connectors/x;v=1?expand=a&expand=b", "/a%2Fb"])
def test_paths_go_on_as_they_came(call: Client, airflow: Airflow, path: str) -> None:
    call("GET", path, headers=BASIC)
    assert airflow.target() == f"/connect{path}"


@pytest.mark.parametrize(
    "authorization", ["", "Basic", "Basic !!", "Basic " + base64.b64encode(b"ann:no").decode(), "Digest x", "Bearer "]
)
def test_others_are_not_let_in(call: Client, airflow: Airflow, authorization: str) -> None:
    answer = call("GET", "/connectors", headers={"Authorization": authorization} if authorization else {})
    assert (answer.status, answer.json["error_code"]) == (401, 401)
    assert answer.headers["www-authenticate"].startswith("Basic")
    assert airflow.asked == []


def test_health_is_open_and_a_token_passes(call: Client, airflow: Airflow) -> None:
    call("GET", "/health")
    assert "authorization" not in airflow.asked[-1].headers
    call("GET", "/connectors", headers={"Authorization": "Bearer t2"})
    assert airflow.asked[-1].headers["authorization"] == "Bearer t2"


def test_missing_airflow_is_said(airflow: Airflow, serve_gateway: Any) -> None:
    call = serve_gateway(airflow.down)
    assert call("GET", "/connectors", headers={"Authorization": "Bearer t"}).status == 503


def test_host_that_can_be_read_in_two_ways_goes_no_further(call: Client, airflow: Airflow) -> None:
    assert call("GET", "/connectors", headers={**BASIC, "Host": "evil.example@127.0.0.1"}).status == 400
    assert airflow.asked == []
    assert airflow.logins == 0
