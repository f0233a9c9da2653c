"""Serving the application with uvicorn: in the foreground, or in a thread of a worker."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from connect_core.errors import ConfigError, ConnectError
from connect_core.rest.auth import is_loopback
from connect_core.rest.connections import BoundedProtocol, ConnectionLimits
from connect_core.settings import Listener

__all__ = ["RestServer", "check_listeners", "serve", "serve_in_thread"]

_START_SECONDS = 30.0
_IDLE_SECONDS = 30
"""As Connect's server: after uvicorn's 5 s, clients that keep connections for 5 s meet one that is being closed."""
_LIMITS = ConnectionLimits()


@dataclass(slots=True)
class RestServer:
    """A running server; ``port`` is the one it listens on, even if 0 was requested."""

    server: uvicorn.Server
    thread: threading.Thread
    port: int

    def stop(self, seconds: float = 10.0) -> None:
        """Finish running requests, then end."""
        self.server.should_exit = True
        self.thread.join(seconds)


def check_listeners(listeners: Iterable[Listener], *, has_login: bool = False) -> None:
    """Raise ConfigError for a public address without a login, and for HTTPS."""
    for listener in listeners:
        if listener.scheme == "https":
            raise ConfigError("listeners", listener, "Serve http here and put a proxy in front of it for TLS")
        if not has_login and not is_loopback(listener.host):
            raise ConfigError(
                "listeners",
                listener,
                "Without a login the REST API listens on 127.0.0.1 only: name that address, or let "
                "`connect rest` require one (rest.authentication=airflow)",
            )


def serve(app: ASGIApp, listener: Listener) -> None:
    """Serve until SIGTERM or Ctrl-C. Raise ConnectError if it cannot listen on the address."""
    server = _server(app, listener, _LIMITS)
    bound = _bind(listener)
    server.run(sockets=[bound])


def serve_in_thread(app: ASGIApp, listener: Listener, limits: ConnectionLimits = _LIMITS) -> RestServer:
    """Serve in a thread and return once it is up. Raise ConnectError if it cannot listen on the address."""
    server = _server(app, listener, limits)
    bound = _bind(listener)
    thread = threading.Thread(target=server.run, args=([bound],), name="connect-rest", daemon=True)
    thread.start()
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if time.monotonic() > deadline or not thread.is_alive():
            raise ConnectError(f"The REST API did not start on {listener}: see the log")
        time.sleep(0.01)
    return RestServer(server, thread, bound.getsockname()[1])


def _server(app: ASGIApp, listener: Listener, limits: ConnectionLimits) -> uvicorn.Server:
    # uvicorn calls this with keywords, as it would call the class.
    protocol: Any = partial(BoundedProtocol, limits=limits)
    config = uvicorn.Config(
        app,
        host=listener.host,
        port=listener.port,
        http=protocol,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=10,
        timeout_keep_alive=_IDLE_SECONDS,
    )
    return uvicorn.Server(config)


def _bind(listener: Listener) -> socket.socket:
    family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((listener.host, listener.port))
    except OSError as error:
        bound.close()
        raise ConnectError(f"The REST API cannot listen on {listener}: {error.strerror}") from error
    return bound
