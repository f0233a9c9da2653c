"""The API tried by its own description: no answer that nobody foresaw."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import booleans

from connect_core.rest import LoopbackAuthorizer
from tests.full_run import examples
from tests.herder.harness import SINK, Harness
from tests.rest.conftest import Client, app_of
from tests.rest.described import DESCRIBED, undescribed

pytestmark = pytest.mark.slow


CHECKS = settings(
    max_examples=examples(8, 100),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    database=None,
)
SURPRISE = "see the log of the REST API"
"""What only an exception that nobody foresaw is answered with."""


@pytest.fixture
def app(harness: Harness) -> FastAPI:
    return app_of(harness, LoopbackAuthorizer())


@pytest.fixture
def base(app: FastAPI, serve: Callable[[FastAPI], Client], harness: Harness) -> str:
    harness.create("a", SINK)
    return serve(app).base


OPERATIONS = [(method, path) for path, methods in DESCRIBED["paths"].items() for method in methods]


@cache
def described() -> Any:
    """Return the description as the library reads it, which takes long."""
    return schemathesis.openapi.from_dict(DESCRIBED)


@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=[" ".join(one) for one in OPERATIONS])
def test_nothing_is_unforeseen(method: str, path: str, base: str) -> None:
    operation = described()[path][method.upper()]

    @given(case=operation.as_strategy(), is_known=booleans())
    @CHECKS
    def try_it(case: schemathesis.Case[Any], is_known: bool) -> None:
        if is_known and "connector" in case.path_parameters:
            case.path_parameters["connector"] = "a"
        answer = case.call(base_url=base)
        # Connect answers bad bodies and unknown classes with 500, too: those are foreseen.
        assert SURPRISE not in answer.text
        assert answer.status_code in (500, 503) or answer.status_code < 500
        if answer.status_code < 300 and "json" in answer.headers.get("content-type", [""])[0]:
            assert list(undescribed(method, path, answer.status_code, answer.text)) == []

    try_it()


def test_every_route_is_described(app: FastAPI) -> None:
    paths = app.openapi()["paths"]
    internal = {"/metrics", "/docs", "/openapi.json", "/connectors/{connector}/fence"}
    known = {route.path for route in app.routes if hasattr(route, "path")}
    assert known - internal == set(paths)
    bodies = {
        f"{method} {path}"
        for path, methods in paths.items()
        for method, operation in methods.items()
        if "requestBody" in operation
    }
    assert len(bodies) == 12


def test_docs_are_readable_without_scripts(call: Client) -> None:
    page = call("GET", "/docs")
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<script" not in page.text
    assert "PUT /connectors/{connector}/pause" in page.text
    assert call("GET", "/openapi.json").json["info"]["title"] == "Kafka Connect"
