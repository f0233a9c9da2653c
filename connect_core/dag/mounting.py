"""An application inside Airflow's API server, created at its first request.

Every component of Airflow loads the plugins, but only the API server needs
the application.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import import_module
from typing import Any

__all__ = ["LazyApp"]

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


class LazyApp:
    """An ASGI application; ``target`` names the function that creates it, as ``module:function``."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._app: _App | None = None
        self._lock = asyncio.Lock()

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Serve one request; if creating the application fails, the next request tries again."""
        app = self._app or await self._made()
        await app(scope, receive, send)

    async def _made(self) -> _App:
        async with self._lock:
            if self._app is None:
                self._app = await asyncio.to_thread(self._make)
            return self._app

    def _make(self) -> _App:
        module, _, function = self._target.partition(":")
        app: _App = getattr(import_module(module), function)()
        return app
