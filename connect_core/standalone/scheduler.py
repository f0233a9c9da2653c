"""The standalone worker's scheduler: one thread per connector, in place of Airflow."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from connect_core.errors import BadRequestError
from connect_core.standalone.loop import ConnectorLoop

__all__ = ["StandaloneScheduler"]


@dataclass(slots=True)
class StandaloneScheduler:
    """Keeps one loop for each connector; implements the herder's ``Scheduler``.

    ``is_stored``: returns whether there is a connector of this name now. One may be created while another request
    deletes its predecessor: which of them acts here first is not known.
    """

    make_loop: Callable[[str], ConnectorLoop]
    is_stored: Callable[[str], bool]
    _loops: dict[str, ConnectorLoop] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def deploy(self, connector: str) -> None:
        """Run the stored connector; a running one reads its configuration again."""
        with self._lock:
            loop = self._loops.get(connector)
            if loop is None:
                loop = self._loops[connector] = self.make_loop(connector)
                loop.on_gone = partial(self._end, connector, loop)
                loop.start()
        loop.wake(asked=True)

    def remove(self, connector: str) -> None:
        """End the connector's thread at its next commit point."""
        with self._lock:
            loop = self._loops.get(connector)
        if loop is not None:
            self._end(connector, loop)

    def pause(self, connector: str) -> None:
        """Do nothing: the running interval sees the target state itself."""

    def resume(self, connector: str) -> None:
        """Look for work now."""
        self._wake(connector)

    def trigger(self, connector: str) -> str:
        """Look for work now; the run has no id."""
        self._wake(connector)
        return ""

    def retry(self, connector: str) -> None:
        """Run the unfinished interval again now."""
        self._wake(connector)

    def backfill(self, connector: str, first: datetime, last: datetime) -> None:
        """Raise BadRequestError: the loop has no runs of past times."""
        raise BadRequestError(
            f"Connector {connector} cannot export {first.isoformat()} to {last.isoformat()} again: backfills are runs "
            "of Airflow, which connect standalone has none of"
        )

    def ask_to_stop(self) -> None:
        """Ask every thread to end at its next commit point."""
        for loop in self._all():
            loop.ask_to_stop()

    def join(self, seconds: float) -> bool:
        """Wait up to ``seconds`` for all threads to end → whether all have ended."""
        end = time.monotonic() + seconds
        ended = [loop.join(max(0.0, end - time.monotonic())) for loop in self._all()]
        return all(ended)

    def _end(self, connector: str, loop: ConnectorLoop) -> None:
        """End a loop, and begin another where the connector was created again since it was deleted."""
        with self._lock:
            if self._loops.get(connector) is loop:
                del self._loops[connector]
        is_stored = self.is_stored(connector)
        loop.ask_to_stop()
        if is_stored:
            self.deploy(connector)

    def _all(self) -> list[ConnectorLoop]:
        with self._lock:
            return list(self._loops.values())

    def _wake(self, connector: str) -> None:
        with self._lock:
            loop = self._loops.get(connector)
        if loop is not None:
            loop.wake(asked=True)
