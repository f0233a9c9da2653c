"""The page's files: where they are, with which headers, for whom."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.requests import Request

from connect_core.rest import LoopbackAuthorizer, ui
from tests.herder.harness import Harness
from tests.rest.conftest import Client, app_of

STATIC = Path(ui.__file__).parent / "static"
BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


class Nobody(LoopbackAuthorizer):
    """Knows no caller."""

    async def authenticate(self, request: Request) -> Any:
        return None


def test_browser_is_sent_to_the_page(call: Client) -> None:
    for path in ("/", "/ui"):
        answer = call("GET", path, headers=BROWSER)
        assert (answer.status, answer.headers["location"]) == (307, "ui/")


@pytest.mark.parametrize("headers", [{}, {"Accept": "*/*"}, {"Accept": "application/json, text/html"}])
def test_clients_get_json_at_the_root(call: Client, headers: dict[str, str]) -> None:
    answer = call("GET", "/", headers=headers)
    assert answer.status == 200
    assert answer.json["kafka_cluster_id"] == "cluster-1"


def test_page_has_a_strict_policy(call: Client) -> None:
    answer = call("GET", "/ui/")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in answer.text
    assert "style=" not in answer.text


@pytest.mark.parametrize(
    ("file", "kind"), [("app.js", "text/javascript"), ("style/views.css", "text/css"), ("icon.svg", "image/svg+xml")]
)
def test_files_have_their_types(call: Client, file: str, kind: str) -> None:
    answer = call("GET", f"/ui/{file}")
    assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, kind)


def test_all_modules_are_asked_for_at_once(call: Client) -> None:
    named = set(re.findall(r'(?:href|src)="([^"]+\.js)"', call("GET", "/ui/").text))
    assert named == {file.relative_to(STATIC).as_posix() for file in STATIC.rglob("*.js")}


@pytest.mark.parametrize("file", sorted(STATIC.rglob("*.js")), ids=lambda file: file.relative_to(STATIC).as_posix())
def test_module_parses_no_markup(file: Path) -> None:
    parsing = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function"
    assert re.findall(parsing, file.read_text()) == []


def test_unchanged_file_is_not_sent_again(call: Client) -> None:
    etag = call("GET", "/ui/app.js").headers["etag"]
    assert call("GET", "/ui/app.js", headers={"If-None-Match": etag}).status == 304


@pytest.mark.parametrize("path", ["/ui/nothing.js", "/ui/../page.py", "/ui/%2e%2e/page.py", "/ui/..%2fpage.py"])
def test_nothing_else_is_served(call: Client, path: str) -> None:
    assert call("GET", path).status in (400, 404)


def test_page_is_only_read(call: Client) -> None:
    assert call("POST", "/ui/app.js", b"{}").status in (404, 405)


def test_page_is_behind_the_login(harness: Harness, serve: Callable[[FastAPI], Client]) -> None:
    call = serve(app_of(harness, Nobody()))
    for path in ("/ui/", "/ui/app.js", "/ui", "/"):
        assert call("GET", path, headers=BROWSER).status == 401
