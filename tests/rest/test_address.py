"""Paths as Jetty and Jersey read them; expectations recorded from Kafka Connect 4.3.1."""

from __future__ import annotations

import pytest

from connect_core.rest.address import Refused, plain_path
from tests.herder.harness import Harness
from tests.rest.conftest import Client


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("/connectors/a", "/connectors/a"),
        ("/connectors/a%20b", "/connectors/a b"),
        ("/connectors/a+b", "/connectors/a+b"),
        ("/connectors/%E6%9D%B1", "/connectors/東"),
        ("/connectors;x=1/a;v=1/status;y", "/connectors/a/status"),
        ("/connectors/a%3Bv", "/connectors/a;v"),
        ("/connectors/a%3Fb", "/connectors/a?b"),
        ("/connectors/..", "/connectors/.."),
        ("/connectors/%C2%85", "/connectors/\x85"),
    ],
)
def test_path_is_decoded_without_matrix_parameters(raw: str, path: str) -> None:
    assert plain_path(raw) == path


@pytest.mark.parametrize(
    "raw",
    [
        *("/connectors/a%2Fb", "/connectors/a%2fb", "/connectors/a%5Cb", "/connectors/a%2541", "//connectors"),
        *("/connectors//a", "/connectors/a//", "/connectors/%2e%2e/x", "/connectors/.%2E/x", "/connectors/%2e"),
        *("/connectors/..;x", "/..", "/connectors/%00", "/connectors/a%0Ab", "/connectors/%7F", "/connectors/%FF"),
        *("/connectors/%zz", "/connectors/%", "/connectors/{x}", "/connectors/a|b", "/connectors/a^b", "/a[b]"),
    ],
)
def test_ambiguous_path_is_refused(raw: str) -> None:
    with pytest.raises(Refused):
        plain_path(raw)


@pytest.mark.parametrize(("method", "content_type"), [("GET", "text/html"), ("DELETE", None), ("PUT", None)])
def test_refusal_is_a_page_only_where_jetty_has_one(call: Client, method: str, content_type: str | None) -> None:
    answer = call(method, "/connectors/a%2Fb")
    assert answer.status == 400
    assert (answer.headers.get("content-type") or "").partition(";")[0] == (content_type or "")


def test_last_slash_is_dropped(call: Client, harness: Harness) -> None:
    harness.create("a")
    assert call("GET", "/connectors/").json == ["a"]
    assert call("GET", "/connectors/a/status/").json["name"] == "a"


def test_head_is_a_get_without_body(call: Client) -> None:
    answer = call("HEAD", "/connectors")
    assert (answer.status, answer.text, answer.headers["content-type"]) == (200, "", "application/json")
    assert call("HEAD", "/connectors/nope").status == 404
