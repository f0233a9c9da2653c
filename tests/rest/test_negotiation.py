"""What is sent and what is wanted; expectations recorded from Kafka Connect 4.3.1."""

from __future__ import annotations

import pytest

from connect_core.rest.negotiation import accepts_json, is_json
from tests.rest.conftest import Client


@pytest.mark.parametrize(
    ("accept", "is_taken"),
    [
        (None, True),
        ("", True),
        ("*/*", True),
        ("*", True),
        ("application/*", True),
        ("*/json", True),
        ("application/json;q=0", True),
        ("text/html, application/xml;q=0.9, */*;q=0.8", True),
        ("APPLICATION/JSON", True),
        ("text/html", False),
        ("application/xml", False),
        ("application/vnd.x+json", False),
    ],
)
def test_json_is_taken_where_the_caller_says_so(accept: str | None, is_taken: bool) -> None:
    assert accepts_json(accept) is is_taken


def test_body_of_an_unnamed_type_may_be_json() -> None:
    assert is_json(None)
    assert is_json("application/json; charset=utf-8")
    assert not is_json("text/plain")


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status", "content_type"),
    [
        ("GET", "/connectors", {"Accept": "text/html"}, None, 406, None),
        ("GET", "/", {"Content-Type": "text/plain"}, None, 200, "application/json"),
        ("GET", "/connectors", {"Content-Type": "text/plain"}, None, 415, None),
        ("PUT", "/connectors/a/pause", {"Content-Type": "text/plain"}, b"", 415, None),
        ("POST", "/connectors", {"Content-Type": "application/x-www-form-urlencoded"}, b"a=b", 415, None),
        ("POST", "/connectors", {"X-None": "1"}, b"{}", 415, "application/json"),
        ("POST", "/connectors", {"Content-Type": "application/*"}, b"{}", 415, "application/json"),
        ("POST", "/connectors", {"X-None": "1"}, b"", 500, "application/json"),
        ("GET", "/nope", {"Accept": "text/html"}, None, 404, None),
        ("DELETE", "/connectors", {}, None, 405, None),
    ],
)
def test_refusals_are_those_of_jersey(  # noqa: PLR0913
    call: Client, method: str, path: str, headers: dict[str, str], body: bytes | None, status: int, content_type: str
) -> None:
    answer = call(method, path, body, headers)
    assert (answer.status, answer.headers.get("content-type")) == (status, content_type)


def test_options_names_the_methods(call: Client) -> None:
    answer = call("OPTIONS", "/connectors/a/config")
    assert answer.status == 200
    assert set(answer.headers["allow"].split(",")) == {"GET", "HEAD", "PUT", "PATCH", "OPTIONS"}
