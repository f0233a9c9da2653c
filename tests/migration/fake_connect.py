"""A Connect cluster in memory, as far as its REST API shows it; calls may fail, or end the command that makes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from connect_core.api.offsets import canonical, parse
from connect_core.migration.connect_api import ConnectApi

__all__ = ["Died", "FakeConnect", "FakeConnector"]

URL = "http://there:8083"


class Died(BaseException):
    """The command is killed: nothing of it may run after this."""


@dataclass
class FakeConnector:
    config: dict[str, str]
    type: str = "source"
    state: str = "RUNNING"
    offsets: dict[str, Any] = field(default_factory=dict)
    ending: int = 0
    """How many looks its tasks are still there for, after a stop."""
    has_leftover: bool = False
    """Whether its task's status stays there for ever, although it has no task: its worker was killed."""
    moving: int = 0
    """How many looks it is UNASSIGNED for, once its offsets were altered: its worker changes."""
    moves_left: int = 0
    """How many more looks it is UNASSIGNED for."""

    @property
    def tasks(self) -> list[dict[str, Any]]:
        if self.state == "STOPPED" and self.ending <= 0 and not self.has_leftover:
            return []
        return [{"id": 0, "state": "PAUSED" if self.state == "PAUSED" else "RUNNING"}]


@dataclass
class FakeConnect:
    connectors: dict[str, FakeConnector] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    answers: list[httpx.Response | Exception] = field(default_factory=list)
    has_offsets: bool = True
    """Whether its REST API knows offsets, as since Kafka 3.5."""
    """Given in place of the next answers."""
    watch: Callable[[str], None] = lambda call: None
    """Called after each call that changed something."""
    dies_before: int | None = None
    dies_after: int | None = None

    @contextmanager
    def api(self, retry_seconds: float = 5.0) -> Iterator[ConnectApi]:
        with httpx.Client(base_url=URL, transport=httpx.MockTransport(self._handle)) as client:
            yield ConnectApi(client, URL, retry_seconds, sleep=lambda seconds: None)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        call = f"{request.method} {request.url.raw_path.decode()}"
        number = len(self.calls)
        self.calls.append(call)
        if self.dies_before == number:
            raise Died(call)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        found = self._answer(request.method, request.url.path, request.content)
        self.watch(call)
        if self.dies_after == number:
            raise Died(call)
        return found

    def _answer(self, method: str, path: str, content: bytes) -> httpx.Response:
        if path == "/connectors":
            shown = {name: {"info": self._info(name), "status": self._status(name)} for name in self.connectors}
            return httpx.Response(200, json=shown)
        if path.startswith("/connector-plugins"):
            return httpx.Response(200, json=[])
        _, _, name, *rest = path.split("/")
        if name not in self.connectors:
            return httpx.Response(404, json={"error_code": 404, "message": f"Connector {name} not found"})
        if rest == ["offsets"] and not self.has_offsets:
            return httpx.Response(404, json={"error_code": 404, "message": "HTTP 404 Not Found"})
        return self._act(method, name, rest[0] if rest else "", content)

    def _act(self, method: str, name: str, what: str, content: bytes) -> httpx.Response:
        one = self.connectors[name]
        if method == "PUT":
            one.state = {"stop": "STOPPED", "pause": "PAUSED", "resume": "RUNNING"}[what]
            return httpx.Response(202)
        if method == "PATCH":
            if one.state != "STOPPED" or one.ending > 0:
                return httpx.Response(400, json={"message": "must be in the STOPPED state"})
            for entry in json.loads(content)["offsets"]:
                key = canonical(entry["partition"])
                if entry["offset"] is None:
                    one.offsets.pop(key, None)
                else:
                    one.offsets[key] = entry["offset"]
            one.moves_left = one.moving
            return httpx.Response(200, json={"message": "altered"})
        if what == "offsets":
            entries = [{"partition": parse(key), "offset": offset} for key, offset in one.offsets.items()]
            return httpx.Response(200, json={"offsets": entries})
        if what == "topics":
            return httpx.Response(200, json={name: {"topics": ["lines"]}})
        return httpx.Response(200, json=self._status(name) if what == "status" else self._info(name))

    def _info(self, name: str) -> dict[str, Any]:
        one = self.connectors[name]
        tasks = [] if one.state == "STOPPED" else [{"connector": name, "task": 0}]
        return {"name": name, "config": {"name": name, **one.config}, "tasks": tasks, "type": one.type}

    def _status(self, name: str) -> dict[str, Any]:
        one = self.connectors[name]
        if one.state == "STOPPED":
            one.ending -= 1
        state = "UNASSIGNED" if one.moves_left > 0 else one.state
        one.moves_left -= 1
        return {"name": name, "connector": {"state": state}, "tasks": one.tasks, "type": one.type}
