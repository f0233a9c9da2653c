"""The herder answers as a real worker did: its transcript, replayed without HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import orjson
import pytest

from connect_core.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConnectError,
    IllegalWorkerStateError,
    NotFoundError,
)
from connect_core.herder import connectors, lifecycle, offsets, plugins, status, topics
from connect_core.herder.connectors import NewConnector
from connect_core.herder.lifecycle import RestartRequest
from tests.herder.harness import Harness

pytestmark = pytest.mark.slow


TRANSCRIPT = Path(__file__).parents[1] / "rest" / "transcript.json"
SECTIONS = ("create", "read", "config", "lifecycle", "restart", "offsets", "topics", "names", "initial-state", "delete")
CODES: Mapping[type[ConnectError], int] = {
    BadRequestError: 400,
    NotFoundError: 404,
    AlreadyExistsError: 409,
    IllegalWorkerStateError: 409,
}
VOLATILE = {"worker_id", "version", "trace"}
MOVING = [
    "restart-187-task-failed",
    "restart-188-failed-task-status",
    "restart-189-restart-failed-again",
    "offsets-193-source",
    "offsets-194-sink",
    "offsets-235-source-reread",
    "topics-238-source",
    "topics-239-sink",
    "delete-312-recreated-offsets-kept",
]
"""Steps whose answer needs a task that fails, or records that move: nothing here does."""


def _steps() -> list[dict[str, Any]]:
    steps = json.loads(TRANSCRIPT.read_text("utf-8"))["steps"]
    return [step for step in steps if step["section"] in SECTIONS and _is_ours(step)]


def _is_ours(step: Mapping[str, Any]) -> bool:
    """Whether a step is the herder's: HTTP's own refusals and JVM wording are REST's."""
    if "jvm-text" in step["tags"] or ("json" not in step["expect"] and step["expect"]["status"] not in (202, 204)):
        return False
    text = json.dumps(step["expect"].get("json"))
    return "HTTP 4" not in text and "Cannot deserialize" not in text


class Api:
    """The routes of Connect's REST API, straight onto the herder."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.herder = harness.herder

    def call(self, method: str, path: str, query: Mapping[str, list[str]], body: Any) -> tuple[int, Any]:
        parts = [unquote(part) for part in path.strip("/").split("/")][1:]
        try:
            code, shown = self._one(method, parts, query, body) if parts else self._all(method, query, body)
            return code, orjson.loads(orjson.dumps(shown))
        except ConnectError as error:
            code = next((code for kind, code in CODES.items() if isinstance(error, kind)), 500)
            return code, {"error_code": code, "message": str(error)}

    def _all(self, method: str, query: Mapping[str, list[str]], body: Any) -> tuple[int, Any]:
        if method == "POST":
            texts = {key: _text(value) for key, value in (body.get("config") or {}).items()}
            new = NewConnector(body.get("name"), texts, body.get("initial_state"))
            return 201, connectors.create(self.herder, new)
        if "expand" in query:
            return 200, connectors.expand(self.herder, query["expand"])
        return 200, connectors.list_names(self.herder)

    def _one(self, method: str, parts: list[str], query: Mapping[str, list[str]], body: Any) -> tuple[int, Any]:
        route = method, "/".join("#" if part.isdigit() else part for part in parts[1:])
        if route == ("PUT", "config"):
            return self._put(parts[0], body)
        if route == ("POST", "restart"):
            return self._restart(parts[0], query)
        code, act = self._routes()[route]
        return code, act(parts[0], parts, query, body)

    def _routes(self) -> Mapping[tuple[str, str], tuple[int, Callable[..., Any]]]:
        herder = self.herder
        return {
            ("GET", ""): (200, lambda name, *_: connectors.get_info(herder, name)),
            ("DELETE", ""): (204, lambda name, *_: connectors.delete(herder, name)),
            ("GET", "config"): (200, lambda name, *_: connectors.get_config(herder, name)),
            ("PATCH", "config"): (200, self._patch),
            ("GET", "status"): (200, lambda name, *_: status.get_status(herder, name).to_json()),
            ("GET", "tasks"): (200, lambda name, *_: connectors.get_tasks(herder, name)),
            ("GET", "tasks/#/status"): (
                200,
                lambda name, parts, *_: status.get_task_status(herder, name, int(parts[2])).to_json(),
            ),
            ("PUT", "pause"): (202, lambda name, *_: lifecycle.pause(herder, name)),
            ("PUT", "resume"): (202, lambda name, *_: lifecycle.resume(herder, name)),
            ("PUT", "stop"): (204, lambda name, *_: lifecycle.stop(herder, name)),
            ("POST", "tasks/#/restart"): (
                204,
                lambda name, parts, *_: lifecycle.restart_task(herder, name, int(parts[2])),
            ),
            ("GET", "offsets"): (200, lambda name, *_: {"offsets": offsets.get(herder, name)}),
            ("PATCH", "offsets"): (
                200,
                lambda name, parts, query, body: {"message": offsets.alter(herder, name, body.get("offsets") or [])},
            ),
            ("DELETE", "offsets"): (200, lambda name, *_: {"message": offsets.reset(herder, name)}),
            ("GET", "topics"): (200, lambda name, *_: {name: {"topics": topics.list_active(herder, name)}}),
            ("PUT", "topics/reset"): (202, lambda name, *_: topics.reset_active(herder, name)),
        }

    def _put(self, name: str, body: Any) -> tuple[int, Any]:
        is_new, info = connectors.put_config(self.herder, name, _texts(body))
        if not is_new:
            self.harness.scheduler.plan(name)
        return (201 if is_new else 200), info

    def _patch(self, name: str, parts: list[str], query: Any, body: Any) -> Any:
        info = connectors.patch_config(self.herder, name, _texts(body))
        self.harness.scheduler.plan(name)
        return info

    def _restart(self, name: str, query: Mapping[str, list[str]]) -> tuple[int, Any]:
        flags = {key: values[0] == "true" for key, values in query.items()}
        request = RestartRequest(flags.get("onlyFailed", False), flags.get("includeTasks", False))
        planned = lifecycle.restart(self.herder, name, request)
        return (204, None) if planned is None else (202, planned.to_json())


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _texts(body: Mapping[str, Any]) -> dict[str, str | None]:
    return {key: _text(value) for key, value in body.items()}


def _plain(value: Any) -> Any:
    """Leave out what no two servers share, and the order of what has none."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return sorted((_plain(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


def _as_lines(expected: Any, actual: Any) -> tuple[Any, Any]:
    if isinstance(expected, dict) and "first" in expected and isinstance(actual, dict) and "message" in actual:
        first, *rest = actual["message"].split("\n")
        return expected, {"error_code": actual["error_code"], "first": first, "rest": sorted(filter(None, rest))}
    return expected, actual


def test_transcript_is_answered_alike(harness: Harness, tmp_path: Path) -> None:
    harness.scheduler.is_planning = True
    api, wrong, checked = Api(harness), [], 0
    for step in _steps():
        request = json.loads(json.dumps(step["request"]).replace("${DIR}", str(tmp_path)))
        expect = json.loads(json.dumps(step["expect"]).replace("${DIR}", str(tmp_path)))
        query = parse_qs(request.get("query", ""))
        code, answer = api.call(request["method"], request["path"], query, request.get("body"))
        checked += 1
        expected, actual = _as_lines(expect.get("json"), answer)
        if code != expect["status"] or _plain(expected) != _plain(actual):
            wrong.append(step["id"])
    assert wrong == MOVING
    assert checked > 150


@pytest.mark.parametrize("connectors_only", [True, False])
def test_plugins_are_listed(connectors_only: bool) -> None:
    listed = plugins.list_plugins(connectors_only=connectors_only)
    assert {
        "class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "type": "sink",
        "version": "4.3.1",
    } in listed
    types = {plugin["type"] for plugin in listed}
    assert types == ({"sink", "source"} if connectors_only else types | {"converter", "transformation", "predicate"})
