"""Check for Airflow time-outs that make recovery slow, for ``connect doctor`` and ``connect distributed``."""

from __future__ import annotations

from collections.abc import Mapping

from connect_core.configs import load_worker
from connect_core.dag.airflow_tasks import Calls
from connect_core.dag.time_outs import TIME_OUTS, Slow, ask_airflow, read_here, slow_ones
from connect_core.dag.wiring import airflow_api
from connect_core.dev.checks import Finding, passed, skip
from connect_core.errors import ConnectError
from connect_core.settings import WorkerMode

__all__ = ["check_time_outs", "slow_time_outs"]

_SUBJECT = "time-outs"


def check_time_outs(environment: Mapping[str, str]) -> Finding:
    """Name Airflow's time-outs that make recovery slow: those of the deployment, else those set on this machine."""
    if not environment.get("CONNECT_AIRFLOW_URL"):
        return skip(_SUBJECT, "CONNECT_AIRFLOW_URL is not set: Airflow's timeouts are unknown")
    try:
        api = airflow_api(load_worker(None, environment, WorkerMode.DISTRIBUTED))
    except ConnectError as error:
        return skip(_SUBJECT, f"Airflow cannot be reached: {error}")
    slow, where = slow_time_outs(api)
    if not slow:
        return passed(_SUBJECT, f"none of Airflow's {len(TIME_OUTS)} makes recovery slow ({where})")
    return Finding(_SUBJECT, True, f"{len(slow)} of Airflow's make recovery slow ({where})", "; ".join(map(str, slow)))


def slow_time_outs(api: Calls) -> tuple[list[Slow], str]:
    """Return the time-outs that make recovery slow, and where the settings were read."""
    read = ask_airflow(api)
    if read(TIME_OUTS[0]) is not None:
        return list(slow_ones(read)), "as Airflow says"
    return list(slow_ones(read_here)), "as set on this machine: Airflow does not show its own, [api] expose_config"
