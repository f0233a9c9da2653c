"""A stand-in for the probe: looks at the counters of the stand-in's world."""

import time
from collections.abc import Collection, Mapping, Sequence

from stub_world import facts

from connect_core.interval.waits import Check, Standing


class StubProbe:
    """Finds work in the facts a test has written."""

    def standings(self, connectors: Sequence[str]) -> Mapping[str, Standing]:
        """A failed connector must not run; others are asked as sinks unless said otherwise."""
        return {name: _standing(name) for name in connectors}

    def sinks_with_data(self, connectors: Sequence[str]) -> Collection[str]:
        """Those with records."""
        return [name for name in connectors if facts(name).get("records")]

    def source_has_data(self, connector: str) -> bool:
        """Whether there are records."""
        return bool(facts(connector).get("records"))


def _standing(name: str) -> Standing:
    now = facts(name)
    if now.get("failed") or now.get("waits_until", 0) > time.time():
        return Standing(Check.NEVER)
    return Standing(Check(now.get("check", "sink")), float(now.get("poll_seconds", 10)))


def open_probe(settings: object, database: object) -> StubProbe:
    """Open the stand-in."""
    return StubProbe()
