"""Airflow's own time-outs that make recovery slow: their values, effects and recommended settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from connect_core.dag.airflow_tasks import Calls
from connect_core.errors import ConnectError

__all__ = ["TIME_OUTS", "Slow", "TimeOut", "ask_airflow", "read_here", "slow_ones"]


@dataclass(frozen=True, slots=True)
class TimeOut:
    """A setting of Airflow in seconds; beyond ``most`` recovery is slow; ``what`` happens only after that time."""

    section: str
    key: str
    most: float
    what: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"AIRFLOW__{self.section.upper()}__{self.key.upper()}"


TIME_OUTS = (
    TimeOut("scheduler", "task_instance_heartbeat_timeout", 60, "a killed task is detected"),
    TimeOut("scheduler", "task_queued_timeout", 120, "a task lost by its executor is queued again"),
    TimeOut("scheduler", "task_queued_timeout_check_interval", 60, "such tasks are searched for"),
    TimeOut("scheduler", "scheduler_health_check_threshold", 30, "a killed scheduler is detected"),
    TimeOut("scheduler", "orphaned_tasks_check_interval", 60, "the tasks of a killed scheduler are adopted"),
    TimeOut("triggerer", "triggerer_health_check_threshold", 30, "the triggers of a killed triggerer are adopted"),
    TimeOut("dag_processor", "refresh_interval", 300, "a new connector is found if the request to parse it fails"),
)
"""With Airflow's own defaults a killed task is detected after five minutes, and a lost one after ten."""


@dataclass(frozen=True, slots=True)
class Slow:
    """A time-out that is longer than recommended."""

    time_out: TimeOut
    seconds: float

    def __str__(self) -> str:
        """Return the consequence, and the recommended setting."""
        one = self.time_out
        return (
            f"[{one.section}] {one.key} is {self.seconds:g} s: only then {one.what}. "
            f"Set {one.variable} to {one.most:g} or less"
        )


def slow_ones(read: Callable[[TimeOut], str | None]) -> Iterator[Slow]:
    """Yield the time-outs that are longer than recommended; those that cannot be read are skipped."""
    for one in TIME_OUTS:
        text = read(one)
        try:
            seconds = float(text) if text is not None else 0.0
        except ValueError:
            continue
        if seconds > one.most:
            yield Slow(one, seconds)


def ask_airflow(api: Calls) -> Callable[[TimeOut], str | None]:
    """Return a function that reads a running deployment's settings, if its ``[api] expose_config`` allows it."""

    def read(one: TimeOut) -> str | None:
        try:
            found = api.call("GET", f"/config/section/{one.section}/option/{one.key}")
        except ConnectError:
            return None
        return str(found["sections"][0]["options"][0]["value"])

    return read


def read_here(one: TimeOut) -> str | None:
    """Return the setting of Airflow on this machine: from its variables, its airflow.cfg or its defaults."""
    from airflow.configuration import conf

    value = conf.get(one.section, one.key, fallback=None)
    return None if value is None else str(value)
