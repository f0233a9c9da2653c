"""A stand-in for the probe: looks at the counters of the stand-in's world."""

import fcntl
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from stub_world import events, facts, path

from connect_core.interval.waits import Check, WaitState


class StubProbe:
    """Finds work in the facts a test has written."""

    def wait_states(self, connectors: Sequence[str]) -> Mapping[str, WaitState]:
        """A failed connector must not run; others are asked as sinks unless said otherwise."""
        return {name: _wait_state(name) for name in connectors}

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Those with records."""
        return [name for name in connectors if facts(name).get("records")]

    def source_has_data(self, connector: str) -> bool:
        """Whether there are records."""
        return bool(facts(connector).get("records"))


def _wait_state(name: str) -> WaitState:
    now = facts(name)
    if now.get("failed") or now.get("waits_until", 0) > time.time():
        return WaitState(Check.NEVER, since_run=_since_run(name))
    check = Check(now.get("check", "sink"))
    return WaitState(check, float(now.get("poll_seconds", 10)), _since_run(name), _committed_at(name))


def _committed_at(name: str) -> datetime | None:
    moved = [event["at"] for event in events(name) if event["event"] == "end" and event["records"]]
    return datetime.fromtimestamp(moved[-1], UTC) if moved else None


def _since_run(name: str) -> float | None:
    """As a lease tells it: the stand-in holds a lock while it runs. A crashed run gave it back as it began."""
    runs = [event["at"] for event in events(name)]
    if not runs:
        return None
    with path(name, "lock").open("a") as lease:
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return -1.0
    return max(0.0, time.time() - float(runs[-1]))


def open_probe(settings: object, database: object) -> StubProbe:
    """Open the stand-in."""
    return StubProbe()
