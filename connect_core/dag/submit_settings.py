"""What a spark-submit is given, by where its driver will run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connect_core.errors import ConfigError

__all__ = ["Destination", "py_files", "spark_properties"]

_DEPLOY_MODE = "spark.submit.deployMode"
_PY_FILES = "spark.submit.pyFiles"
_WAITS = ("spark.yarn.submit.waitAppCompletion", "spark.kubernetes.submission.waitAppCompletion")


@dataclass(frozen=True, slots=True)
class Destination:
    """The Airflow connection of a spark-submit: its id, Spark's master, and its ``deploy-mode`` if it has one."""

    connection: str
    master: str
    deploy_mode: str | None = None

    def is_cluster(self, properties: Mapping[str, str]) -> bool:
        """Return whether the driver runs on the cluster instead of here. Raises ConfigError if it cannot."""
        key = _DEPLOY_MODE if self.deploy_mode is None else f"deploy-mode of the Airflow connection {self.connection}"
        mode = self.deploy_mode or properties.get(_DEPLOY_MODE) or "client"
        if mode == "cluster" and self.master.startswith("spark://"):
            remedy = "set it to client, or spark.mode=connect; drivers on the cluster need YARN or Kubernetes"
            raise ConfigError(
                key, mode, f"{self.master} is a standalone cluster, on which Spark starts no Python driver: {remedy}"
            )
        return mode == "cluster"


def spark_properties(destination: Destination, given: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings: those given, and for a driver on this machine its Python. Raises ConfigError."""
    is_cluster = destination.is_cluster(given)
    for key in _WAITS:
        if given.get(key, "").strip().lower() == "false":
            raise ConfigError(key, given[key], "the task must end when its driver does: remove it")
    # Retries are Airflow's, which knows the outcome.
    own = {"spark.yarn.maxAppAttempts": "1"} if destination.master.startswith("yarn") else {}
    if not is_cluster and "PYSPARK_PYTHON" not in os.environ:
        own |= {"spark.pyspark.driver.python": sys.executable, "spark.pyspark.python": sys.executable}
    return {**own, **given}


def py_files(archive: Path, given: Mapping[str, str]) -> str:
    """Return the code to be sent along: ours and the plugins', and what the settings name, which it would replace."""
    return ",".join(filter(None, (str(archive), given.get(_PY_FILES, ""))))
