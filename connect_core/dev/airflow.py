"""Airflow's four components on the stack's PostgreSQL."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import psycopg

from connect_core.dev.environment import parse_variables
from connect_core.dev.home import Home
from connect_core.dev.ports import has_port, port_of
from connect_core.dev.postgres import database_url
from connect_core.dev.secrets import secret, secret_file, write_private
from connect_core.dev.service import Environment, Launch, Service
from connect_core.errors import ConnectError

__all__ = ["AIRFLOW", "launch_airflow"]

_USERS = "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS"
_CONNECTION = "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"
_EXECUTOR = "CONNECT_AIRFLOW_EXECUTOR"
"""The variable by which docker-compose.yaml chooses another executor than config/airflow.env does."""
_API_SERVER = "airflow-api-server"
_COMPONENTS = MappingProxyType(
    {
        _API_SERVER: ("api-server",),
        "airflow-scheduler": ("scheduler", "--skip-serve-logs"),
        "airflow-dag-processor": ("dag-processor",),
        "airflow-triggerer": ("triggerer", "--skip-serve-logs"),
    }
)
"""Name → arguments of ``airflow``. Logs are read from the shared folder, so no component serves them."""
_EXECUTOR_WORKERS = "airflow worker -- LocalExecutor"
_LOCAL_SETTINGS = """\
# Airflow forks its tasks from the scheduler: what takes them seconds to import already exists.
# Not connect_core itself, so that a task runs the code there is now.
import sys

if "scheduler" in sys.argv:
    import alembic.command, confluent_kafka.admin, cryptography.fernet, orjson, pandas, pyarrow.parquet
    from pyspark.sql.connect import session
"""


def _exports(home: Home) -> Environment:
    settings = parse_variables(home.setting("airflow.env"))
    users = settings.setdefault(_USERS, "admin:admin")
    address = f"http://127.0.0.1:{port_of(home, _API_SERVER)}"
    first = users.split(":")[0]
    computed = {
        "AIRFLOW_HOME": str(home.folder("airflow")),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home.dags),
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(home.plugins),
        "AIRFLOW__CORE__FERNET_KEY": secret(home, "airflow-fernet-key"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(_passwords(home, users)),
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__API__PORT": str(port_of(home, _API_SERVER)),
        "AIRFLOW__API__SECRET_KEY": secret(home, "airflow-secret-key"),
        "AIRFLOW__API_AUTH__JWT_SECRET": secret(home, "airflow-jwt-key"),
        "CONNECT_AIRFLOW_URL": address,
        "CONNECT_AIRFLOW_USER": first,
        "CONNECT_AIRFLOW_PASSWORD_FILE": str(secret_file(home, f"airflow-password-{first}")),
    }
    if has_port(home, "postgres"):
        computed[_CONNECTION] = database_url(home, "airflow")
    return {**settings, **computed}


def _passwords(home: Home, users: str) -> Path:
    file = home.folder("secrets") / "airflow-passwords.json"
    names = [user.split(":")[0].strip() for user in users.split(",")]
    text = json.dumps({name: secret(home, f"airflow-password-{name}") for name in names}) + "\n"
    if not file.exists() or file.read_text() != text:
        write_private(file, text)
    return file


def launch_airflow(home: Home, environment: Environment, arguments: tuple[str, ...]) -> Launch:
    """Prepare Airflow's database and settings → how ``airflow`` is started with these arguments."""
    own = {**environment, "AIRFLOW__API__HOST": environment.get("CONNECT_BIND", "127.0.0.1")}
    # Tasks must find this environment's programs, such as spark-submit.
    own["PATH"] = f"{Path(sys.executable).parent}:{environment.get('PATH', '')}"
    if chosen := environment.get(_EXECUTOR):
        own["AIRFLOW__CORE__EXECUTOR"] = chosen
    config = home.folder("airflow") / "config"
    config.mkdir(exist_ok=True)
    (config / "airflow_local_settings.py").write_text(_LOCAL_SETTINGS)
    with home.lock("airflow-migration.lock"):
        _migrate(home, own)
    return Launch((sys.executable, "-m", "airflow", *arguments), own)


def _migrate(home: Home, environment: Environment) -> None:
    stamp = home.folder("airflow") / "migrated"
    if stamp.exists() and stamp.read_text() == _schema(environment):
        return
    command = [sys.executable, "-m", "airflow", "db", "migrate"]
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ConnectError(f"Airflow's database could not be migrated: {(done.stderr or done.stdout).strip()[-800:]}")
    stamp.write_text(_schema(environment))


def _schema(environment: Environment) -> str:
    """Return the installed version of Airflow and that of the database schema."""
    address = environment[_CONNECTION].replace("+psycopg", "")
    try:
        with psycopg.connect(address, connect_timeout=5) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable:
        row = None
    return f"{version('apache-airflow-core')} {row[0] if row else 'empty'}\n"


def _health(home: Home) -> dict[str, dict[str, str | None]]:
    connection = http.client.HTTPConnection("127.0.0.1", port_of(home, _API_SERVER), timeout=5)
    try:
        connection.request("GET", "/api/v2/monitor/health")
        answer = connection.getresponse()
        return dict(json.loads(answer.read())) if answer.status == 200 else {}
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()


def _api_is_healthy(home: Home, environment: Environment) -> bool:
    return bool(_health(home))


def _has_heartbeat(home: Home, name: str) -> bool:
    component = name.removeprefix("airflow-").replace("-", "_")
    told = _health(home).get(component) or {}
    beat = told.get(f"latest_{component}_heartbeat")
    # Airflow accepts the last heartbeat of a previous process as healthy; it must not count here.
    pid_file = home.path / name / "pid"
    return bool(beat) and pid_file.exists() and datetime.fromisoformat(str(beat)).timestamp() > pid_file.stat().st_mtime


def _component(name: str) -> Service:
    arguments = _COMPONENTS[name]
    is_api_server = name == _API_SERVER
    return Service(
        name=name,
        launch=lambda home, environment: launch_airflow(home, environment, arguments),
        is_healthy=_api_is_healthy if is_api_server else lambda home, environment: _has_heartbeat(home, name),
        exports=_exports if is_api_server else lambda home: {},
        ports=MappingProxyType({"port": 8080} if is_api_server else {}),
        needs=("postgres",),
        child_title=_EXECUTOR_WORKERS if name == "airflow-scheduler" else "",
    )


AIRFLOW = tuple(_component(name) for name in _COMPONENTS)
