"""The whole embedded stack: Airflow with the mounted API and the page, `connect rest`, Kafka, Spark, PostgreSQL."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx

from connect_core.dag.naming import dag_id_of
from connect_core.dev.processes import marked
from connect_core.dev.stack import Stack

__all__ = ["CHECKOUT", "IN_VARIABLE", "VARIABLE", "Deployments", "Standalone", "running_deployments", "token_of"]

CHECKOUT = Path(__file__).parents[2]
VARIABLE = "CANARY_OF_ENV"
IN_VARIABLE = f"canary-env-{uuid.uuid4().hex}"
"""A variable of the workers' processes, and the secret in it."""


@dataclass(frozen=True, slots=True)
class Deployments:
    """Where the deployments are, and somebody's token for Airflow.

    ``folder``: where connectors may read and write, and the worker finds secrets.
    """

    stack: Stack
    airflow: str
    rest: str
    token: str
    folder: Path

    @property
    def mounted(self) -> str:
        """Return the address of the API in Airflow's server."""
        return f"{self.airflow}/connect"

    @property
    def header(self) -> dict[str, str]:
        """Return the login."""
        return {"Authorization": f"Bearer {self.token}"}

    def set_paused(self, connector: str, *, is_paused: bool) -> None:
        """Do what the switch in Airflow's own page does."""
        address = f"{self.airflow}/api/v2/dags/{dag_id_of(connector)}"
        answer = httpx.patch(address, json={"is_paused": is_paused}, headers=self.header, timeout=60)
        assert answer.is_success, answer.text


@dataclass(frozen=True, slots=True)
class Standalone:
    """The address of ``connect standalone``, and the folder with its log and database."""

    base: str
    folder: Path


def token_of(airflow: str, user: str, password: str) -> str:
    """Log in to Airflow → a token for its API."""
    answer = httpx.post(f"{airflow}/auth/token", json={"username": user, "password": password}, timeout=60)
    assert answer.is_success, answer.text
    return str(answer.json()["access_token"])


@contextmanager
def running_deployments(folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[Deployments]:
    """Run an empty stack until the block ends; Spark keeps its event log as text. ``more``: settings of the worker."""
    project, data = folder / "project", folder / "data"
    for path in (project / "dags", data, folder / "events"):
        path.mkdir(parents=True)
    (project / "plugins").symlink_to(CHECKOUT / "plugins")
    for file in ("dags/connect_dags.py", "config/hourly/hourly_counts.py"):
        shutil.copy(CHECKOUT / file, project / "dags")
    shutil.copytree(CHECKOUT / "config", project / "config")
    users = project / "config" / "airflow.env"
    users.write_text(
        users.read_text().replace("=admin:admin,viewer:viewer", "=admin:admin,op:op,user:user,viewer:viewer")
    )
    with (project / "config" / "spark-defaults.conf").open("a") as conf:
        conf.write(
            f"\nspark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir {folder}/events\n"
        )
    settings = {
        "CONNECT_FILE_ROOTS": f"{data},/tmp",
        "CONNECT_CONFIG_PROVIDERS": "env,file,dir",
        "CONNECT_CONFIG_PROVIDERS_ENV_PARAM_ALLOWLIST_PATTERN": VARIABLE,
        "CONNECT_CONFIG_PROVIDERS_FILE_PARAM_ALLOWED_PATHS": str(data),
        "CONNECT_CONFIG_PROVIDERS_DIR_PARAM_ALLOWED_PATHS": str(data),
        VARIABLE: IN_VARIABLE,
        "PYTHONPATH": str(CHECKOUT),
        "CONNECT_VERIFICATION_SCHEDULE": "@yearly",
        **more,
    }
    stack = Stack(folder / "stack", project=project, settings=settings)
    try:
        stack.up()
        found = stack.environment()
        url, password = found["CONNECT_AIRFLOW_URL"], Path(found["CONNECT_AIRFLOW_PASSWORD_FILE"]).read_text().strip()
        token = token_of(url, found["CONNECT_AIRFLOW_USER"], password)
        yield Deployments(stack, url, found["CONNECT_REST_URL"], token, data)
    finally:
        stack.down()
    assert marked(stack.home.path) == set()
