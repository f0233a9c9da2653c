"""``connect rest``: Connect's REST API beside the stack's other servers."""

from __future__ import annotations

import http.client
import sys
from types import MappingProxyType

from connect_core.dev.home import Home
from connect_core.dev.ports import port_of
from connect_core.dev.service import Environment, Launch, Service

__all__ = ["REST"]


def _launch(home: Home, environment: Environment) -> Launch:
    return Launch((sys.executable, "-m", "connect_core.cli.app", "rest"), environment)


def _exports(home: Home) -> Environment:
    return {"CONNECT_REST_URL": f"http://127.0.0.1:{port_of(home, 'rest')}"}


def _is_healthy(home: Home, environment: Environment) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(home, "rest"), timeout=5)
    try:
        connection.request("GET", "/")
        # 401: the server is up and requires a login.
        return connection.getresponse().status in (200, 401)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


REST = Service(
    name="rest",
    launch=_launch,
    is_healthy=_is_healthy,
    exports=_exports,
    ports=MappingProxyType({"port": 8083}),
    needs=("postgres", "kafka"),
)
