"""The REST API over a fresh SQLite database, served for real; its scheduler plans when told to."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from connect_core.herder.context import Herder
from connect_core.rest import Authorizer, LoopbackAuthorizer, RestOptions, RestServer, create_app, serve_in_thread
from connect_core.settings import Listener
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import Harness

if TYPE_CHECKING:
    from tests.rest.rogue import Rogue

__all__ = ["harness", "sqlite_template"]

JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Client:
    """Sends requests as they are: nothing is added, nothing is encoded."""

    port: int

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __call__(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            connection.request(
                method, path, data, dict(JSON if headers is None and data is not None else headers or {})
            )
            answer = connection.getresponse()
            text = answer.read().decode()
            return Answer(answer.status, {key.lower(): value for key, value in answer.getheaders()}, text)
        finally:
            connection.close()


def app_of(harness: Harness, authorizer: Authorizer, **options: Any) -> FastAPI:
    def herder(actor: str) -> Herder:
        return replace(harness.herder, actor=actor)

    return create_app(herder, authorizer, RestOptions(lambda: "cluster-1", **options))


@dataclass(slots=True)
class Stage:
    """A running server whose application is that of the test on now: to start and end one a test takes 0.3 s."""

    app: ASGIApp | None = None
    server: RestServer | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "a request after its test"
        await self.app(scope, receive, send)

    @property
    def port(self) -> int:
        if self.server is None:
            self.server = serve_in_thread(self, Listener("http", "127.0.0.1", 0))
        return self.server.port


@pytest.fixture(scope="session")
def stages() -> Iterator[list[Stage]]:
    """The servers of this session, as many as one test ever served applications at once."""
    free: list[Stage] = []
    yield free
    for stage in free:
        if stage.server is not None:
            stage.server.stop()


@pytest.fixture
def rogue() -> Iterator[Rogue]:
    """A server that answers what its test tells it to, and keeps what it was asked."""
    # It imports this module.
    from tests.rest.rogue import rogue_running

    with rogue_running() as rogue:
        yield rogue


@pytest.fixture
def no_wait_for_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are no brokers: what a sink's topics allow is not waited for."""
    monkeypatch.setattr("connect_core.herder.preflight._BROKER_SECONDS", 0.1)


@pytest.fixture
def serve_any(stages: list[Stage]) -> Iterator[Callable[[ASGIApp], Client]]:
    """Serve any applications until the test is over."""
    taken: list[Stage] = []

    def start(app: ASGIApp) -> Client:
        stage = stages.pop() if stages else Stage()
        taken.append(stage)
        stage.app = app
        return Client(stage.port)

    yield start
    for stage in taken:
        stage.app = None
    stages.extend(taken)


@pytest.fixture
def serve(harness: Harness, serve_any: Callable[[ASGIApp], Client]) -> Callable[[FastAPI], Client]:
    """Serve applications over a harness, which outlives them."""
    return serve_any


@pytest.fixture
def call(harness: Harness, serve: Callable[[FastAPI], Client]) -> Client:
    """The API as ``connect rest`` serves it."""
    return serve(app_of(harness, LoopbackAuthorizer()))
