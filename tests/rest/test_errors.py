"""Exceptions as answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi import FastAPI

from connect_core import errors
from connect_core.errors import ConnectError
from connect_core.rest.auth import LoopbackAuthorizer
from connect_core.rest.errors import ForbiddenError, status_of
from tests.herder.harness import Harness
from tests.rest.conftest import Client, app_of


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.BadRequestError(""), 400),
        (ForbiddenError(""), 403),
        (errors.NotFoundError(""), 404),
        (errors.AlreadyExistsError(""), 409),
        (errors.IllegalWorkerStateError(""), 409),
        (errors.ConfigError(""), 500),
        (errors.DataError(""), 500),
        (errors.ConnectError(""), 500),
        (errors.RetriableError(""), 503),
        (errors.UnclearOutcomeError(""), 503),
    ],
)
def test_status_is_that_of_the_nearest_class(error: ConnectError, status: int) -> None:
    assert status_of(error) == status


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("GET", "/nope", 404, "HTTP 404 Not Found"),
        ("PUT", "/connectors", 405, "HTTP 405 Method Not Allowed"),
    ],
)
def test_what_no_route_answers_has_no_content_type(
    call: Client, method: str, path: str, status: int, message: str
) -> None:
    answer = call(method, path)
    assert (answer.status, answer.json) == (status, {"error_code": status, "message": message})
    assert "content-type" not in answer.headers


def test_unforeseen_error_is_logged_and_tells_nothing(
    harness: Harness, serve: Callable[[FastAPI], Client], caplog: pytest.LogCaptureFixture
) -> None:
    app = app_of(harness, LoopbackAuthorizer())

    def broken() -> str:
        raise LookupError("secret")

    app.state.cluster_id = broken
    answer = serve(app)("GET", "/")
    assert answer.status == 500
    assert "secret" not in answer.text
    assert "secret" in caplog.text


def test_database_that_is_down_is_503_and_unhealthy(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    call = serve(app_of(harness, LoopbackAuthorizer()))
    with harness.database.write() as connection:
        connection.exec_driver_sql("DROP TABLE connectors")
    assert call("GET", "/connectors").status == 500
    assert call("GET", "/health").status == 500
    assert call("GET", "/health").json["status"] == "unhealthy"
