"""Headers that the worker's settings add."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi import FastAPI

from connect_core.errors import ConfigError
from connect_core.rest import LoopbackAuthorizer, parse_rules
from connect_core.rest.headers import HeaderRule
from tests.herder.harness import Harness
from tests.rest.conftest import Client, app_of

PAGE = {"Origin": "http://ui.example"}
ASKS = {**PAGE, "Access-Control-Request-Method": "PUT"}


def test_rules_are_read_as_connect_writes_them() -> None:
    text = 'add Cache-Control: no-cache, set X-XSS-Protection: 1; mode=block, "add Vary: a, b", setDate Expires: 3154'
    assert parse_rules(text) == (
        HeaderRule("add", "Cache-Control", "no-cache"),
        HeaderRule("set", "X-XSS-Protection", "1; mode=block"),
        HeaderRule("add", "Vary", "a, b"),
        HeaderRule("setDate", "Expires", "3154"),
    )
    assert parse_rules(None) == ()


@pytest.mark.parametrize("text", ["put A: b", "set A", "set : b", '"set A: b', "set A: b\r\nC: d", "A: b"])
def test_unclear_rules_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"response\.http\.headers\.config"):
        parse_rules(text)


def test_headers_are_put_into_every_answer(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    rules = parse_rules("set X-Frame-Options: DENY, setDate Date-Of: 0")
    call = serve(app_of(harness, LoopbackAuthorizer(), headers=rules))
    for path in ("/connectors", "/nope"):
        answer = call("GET", path)
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["date-of"].endswith("GMT")


def test_page_of_an_allowed_origin_may_read(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    call = serve(app_of(harness, LoopbackAuthorizer(), origins=("http://ui.example",), methods=("GET", "PUT")))
    assert call("GET", "/connectors", headers=PAGE).headers["access-control-allow-origin"] == "http://ui.example"
    asked = call("OPTIONS", "/connectors/a/pause", headers=ASKS)
    assert (asked.status, asked.headers["access-control-allow-methods"]) == (200, "GET, PUT")
    other = call("GET", "/connectors", headers={"Origin": "http://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_any_origin_may_read_but_not_change(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    harness.create("a")
    call = serve(app_of(harness, LoopbackAuthorizer(), origins=("*",)))
    assert call("GET", "/connectors", headers=PAGE).headers["access-control-allow-origin"] == "http://ui.example"
    assert call("PUT", "/connectors/a/pause", headers=PAGE).status == 403


def test_admin_endpoints_can_be_off(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    call = serve(app_of(harness, LoopbackAuthorizer(), has_admin=False))
    assert call("GET", "/admin/loggers").status == 404
    assert call("GET", "/connectors").status == 200
