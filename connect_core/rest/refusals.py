"""Records in the audit which requests of authenticated callers were refused, so that attempts can be traced."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from connect_core.errors import ConnectError
from connect_core.herder.context import Herder
from connect_core.herder.refusals import record_refusal

__all__ = ["Refusals"]

_LOG = logging.getLogger(__name__)
_AGAIN_SECONDS = 60.0
_MOST = 10_000


@dataclass(slots=True)
class Refusals:
    """Records refused requests; the same one of a caller once a minute, so that repetition cannot fill the database."""

    herder_factory: Callable[[str], Herder]
    _kept: dict[Hashable, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def keep(self, request: Request, caller: Any, connector: str | None, reason: str) -> None:
        """Write a row to the audit; if that fails, it is only logged."""
        key = (caller.name, request.method, connector, reason)
        if self._is_new(key):
            path = request.url.path
            await run_in_threadpool(self._write, caller.name, f"refused {request.method}", connector, (reason, path))

    def _write(self, actor: str, action: str, connector: str | None, what: tuple[str, str]) -> None:
        try:
            record_refusal(self.herder_factory(actor), action, connector, *what)
        except ConnectError as error:
            _LOG.warning("%s of %s could not be written to the audit log (%s): %s", action, actor, error, what[0])

    def _is_new(self, key: Hashable) -> bool:
        now = time.monotonic()
        with self._lock:
            if now - self._kept.get(key, -_AGAIN_SECONDS) < _AGAIN_SECONDS:
                return False
            if len(self._kept) >= _MOST:
                self._kept.clear()
            self._kept[key] = now
            return True
