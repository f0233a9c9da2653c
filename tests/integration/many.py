"""Many sinks over one empty topic, and what is done to all of them at once by Connect's REST API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

_CLIENTS = 8


@dataclass(frozen=True, slots=True)
class Act:
    """What is asked for each connector, and its status once that is done: ``None`` when there is to be none."""

    what: str
    ask: Callable[[str], httpx.Response]
    state: str | None
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class Many:
    """Connectors whose names begin with ``prefix``; their files would lie in ``folder``."""

    rest: httpx.Client
    prefix: str
    count: int
    topic: str
    folder: Path

    def acts(self) -> Iterator[Act]:
        """Yield one thing after the other."""
        rest, config = self.rest, self._config
        yield Act("created", lambda name: rest.post("/connectors", json=_new(name, config(name, 1))), "RUNNING", 1)
        yield Act(
            "reconfigured", lambda name: rest.put(f"/connectors/{name}/config", json=config(name, 2)), "RUNNING", 2
        )
        yield Act("paused", lambda name: rest.put(f"/connectors/{name}/pause"), "PAUSED", 2)
        yield Act("resumed", lambda name: rest.put(f"/connectors/{name}/resume"), "RUNNING", 2)
        yield Act("deleted", lambda name: rest.delete(f"/connectors/{name}"), None)

    def ask(self, act: Act) -> None:
        """Ask for all at once, by a few clients."""
        with ThreadPoolExecutor(_CLIENTS) as clients:
            answers = clients.map(act.ask, [f"{self.prefix}{number}" for number in range(self.count)])
            refused = [answer.text for answer in answers if not answer.is_success]
        assert not refused, refused[:3]

    def is_done(self, act: Act) -> bool:
        """Return whether all statuses are right."""
        found = self.rest.get("/connectors", params={"expand": "status"}).raise_for_status().json()
        mine = [one["status"] for name, one in found.items() if name.startswith(self.prefix)]
        if act.state is None:
            return not mine
        right = [act.state] * (1 + act.tasks)
        return [_states(status) for status in mine] == [right] * self.count

    def _config(self, name: str, tasks: int) -> dict[str, str]:
        sink = {"connector.class": "FileSystemSink", "topics": self.topic, "path": str(self.folder / name)}
        return {**sink, "tasks.max": str(tasks)}


def _new(name: str, config: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "config": config}


def _states(status: dict[str, Any]) -> list[str]:
    return [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
