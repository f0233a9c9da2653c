"""A schema registry for development: Apicurio Registry, which offers Confluent's REST API."""

from __future__ import annotations

import http.client
from types import MappingProxyType

from connect_core.dev.apicurio import apicurio_jar
from connect_core.dev.home import Home
from connect_core.dev.java import find_java
from connect_core.dev.ports import port_of
from connect_core.dev.service import Environment, Launch, Service

__all__ = ["REGISTRY"]

_API = "/apis/ccompat/v7"
# With C2 and the parallel collector a start takes 50 % more CPU time.
_JVM = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def _launch(home: Home, environment: Environment) -> Launch:
    folder, java = home.folder("registry"), find_java()
    settings = {
        "quarkus.http.host": environment.get("CONNECT_BIND", "127.0.0.1"),
        "quarkus.http.port": str(port_of(home, "registry")),
        "quarkus.http.access-log.enabled": "false",
        # In a file, so that schemas survive a restart, as do the topics that refer to them.
        "apicurio.datasource.url": f"jdbc:h2:file:{folder / 'data' / 'registry'}",
        "apicurio.datasource.jdbc.initial-size": "2",
        "apicurio.datasource.jdbc.min-size": "2",
        # The default, 5 s, is too short for a busy machine: it would not start.
        "quarkus.datasource.h2.jdbc.acquisition-timeout": "60",
        # The default of Confluent's registry; Apicurio's own is NONE.
        "apicurio.rules.global.compatibility": "BACKWARD",
    }
    options = [f"-D{name}={value}" for name, value in settings.items()]
    return Launch((str(java), *_JVM, *options, "-jar", str(apicurio_jar(print))), environment)


def _exports(home: Home) -> Environment:
    return {"CONNECT_SCHEMA_REGISTRY_URL": f"http://127.0.0.1:{port_of(home, 'registry')}{_API}"}


def _is_healthy(home: Home, environment: Environment) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(home, "registry"), timeout=5)
    try:
        connection.request("GET", f"{_API}/subjects")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


REGISTRY = Service(
    name="registry",
    launch=_launch,
    is_healthy=_is_healthy,
    exports=_exports,
    ports=MappingProxyType({"port": 8081}),
    stop_seconds=15.0,
)
