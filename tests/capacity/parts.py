"""Works the measured parts of ``connect plan-capacity`` out of the benchmarks' kept figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from connect_core.capacity import Deployment, Plan, Workload, figures_with, plan_capacity
from connect_core.cli.plan_capacity import plan_rows
from tests.architecture.sources import ROOT

__all__ = ["comparison_table", "derived", "need", "plan_of", "plan_page", "rounded", "runs"]

_FOLDER = ROOT / "tests/benchmarks"
_AT_REST = {
    "scheduler": "airflow-scheduler",
    "api": "airflow-api-server",
    "triggerer": "airflow-triggerer",
    "database": "postgres",
}
_AT_WORK = {
    "start.scheduler": "airflow-scheduler",
    "start.task": "airflow tasks",
    "start.api": "airflow-api-server",
    "start.triggerer": "airflow-triggerer",
    "start.database": "postgres",
    "interval.server": "spark",
    "interval.executors": "Spark's Python workers",
}
"""Name in the model → the service of the embedded stack."""
_DATABASES = ("metadata", "airflow")
_PARSE_INTERVAL = 15
"""Seconds: ``min_file_process_interval`` of config/airflow.env."""


def _kept(name: str) -> Any:
    return json.loads((_FOLDER / name).read_text())


def runs() -> list[Mapping[str, Any]]:
    """Return the kept runs of ``many_connectors``, the smallest first."""
    found: list[Mapping[str, Any]] = _kept("many_connectors.json")["runs"]
    return sorted(found, key=lambda run: run["connectors"])


def derived() -> dict[str, float]:
    """Return every part by its name."""
    return {**_of_records(), **_of_connectors(), **_of_servers()}


def rounded(value: float) -> float:
    """Return a value with two digits."""
    return float(f"{value:.2g}")


def _of_records() -> dict[str, float]:
    found = {}
    for work in _kept("figures.json")["works"]:
        ours = next(iter(work["ways"].values()))["cpu_seconds_per_million_by_process"]
        # What has no role is Python workers that were started from a preloaded daemon.
        roles = ("others", "Spark's JVM", "Spark's Python workers")
        found[f"records.{work['work']}.executors"] = sum(ours.get(role, 0.0) for role in roles)
        if "table" in work["work"]:
            found[f"records.{work['work']}.database"] = ours["PostgreSQL"]
    return found


def _of_connectors() -> dict[str, float]:
    first, *_, last = runs()
    small, starts = first["figures"], first["figures"]["task starts a second, busy"]
    found: dict[str, float] = {}
    for name, service in _AT_REST.items():
        found |= _line(name, [run["figures"]["idle"][service] / 100 for run in (first, last)])
    for name, service in _AT_WORK.items():
        found[name] = max(0.0, small["busy"][service] - small["idle"][service]) / 100 / starts
    found |= _line("cores", [run["figures"]["idle, whole stack"] / 100 for run in (first, last)])
    found["start.cores"] = (small["busy, whole stack"] - small["idle, whole stack"]) / 100 / starts
    for name, what in (("writes", "rows"), ("commits", "commits")):
        found |= _of_databases(name, what)
    shares = [run["figures"]["idle"]["airflow-dag-processor"] for run in (first, last)]
    found |= _line("parse", [share / 100 * _PARSE_INTERVAL for share in shares])
    found["start.seconds"] = small["a task ran for, busy, p50, s"]
    return found


def _of_databases(name: str, what: str) -> dict[str, float]:
    first, *_, last = (run["figures"] for run in runs())
    found = _line(name, [sum(one[f"idle, {which}, {what} a second"] for which in _DATABASES) for one in (first, last)])
    for part, which in (("interval", "metadata"), ("start", "airflow")):
        more = first[f"busy, {which}, {what} a second"] - first[f"idle, {which}, {what} a second"]
        found[f"{part}.{name}"] = max(0.0, more) / first["task starts a second, busy"]
    return found


def _line(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return what grows with each connector, and what is there without any, from the smallest and the largest run."""
    first, *_, last = (run["connectors"] for run in runs())
    each = max(0.0, (values[1] - values[0]) / (last - first))
    return {f"base.{name}": max(0.0, values[0] - first * each), f"idle.{name}": each}


def _of_servers() -> dict[str, float]:
    figures, parsed = _kept("servers.json")["figures"], _kept("dag_file.json")["figures"]
    few, *_, many = sorted(parsed, key=int)
    return {
        "idle.import": (parsed[many] - parsed[few]) / (int(many) - int(few)),
        "broker.read": figures["broker, read, MB a second"],
        "broker.written": figures["broker, written, MB a second"],
        "database.commits": figures["PostgreSQL, commits of one row a second"],
    }


def comparison_table() -> str:
    """Return a Markdown table of what the model says of the kept runs, beside what was measured."""
    lines = [
        "| Connectors, of them busy | Task starts a second | Cores of the whole stack, idle | The same, busy, with the "
        "starts measured | Rows written a second, likewise | DAG processor, CPU s a parse |",
        "|---|---|---|---|---|---|",
    ]
    for run in runs():
        busy = plan_of(run)
        idle = plan_of({**run, "busy": 0})
        figures = run["figures"]
        started = plan_of({**run, "busy": 60 * figures["task starts a second, busy"]})
        pairs = (
            (busy.workload.starts, figures["task starts a second, busy"]),
            (idle.overhead, figures["idle, whole stack"] / 100),
            (started.overhead, figures["busy, whole stack"] / 100),
            (started.writes, sum(figures[f"busy, {name}, rows a second"] for name in _DATABASES)),
            (need(busy, "Airflow DAG processor"), figures["busy"]["airflow-dag-processor"] / 100 * _PARSE_INTERVAL),
        )
        cells = [f"{told:.2f} / {found:.2f} ({_difference(told, found)})" for told, found in pairs]
        lines.append(f"| {run['connectors']}, {run['busy']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plan_of(run: Mapping[str, Any]) -> Plan:
    """Return the plan of what a run of ``many_connectors`` did: a record a minute for each busy connector."""
    connectors, busy = run["connectors"], run["busy"]
    return plan_capacity(Workload(connectors, busy / connectors, busy / 60), Deployment(), figures_with({}))


def need(plan: Plan, name: str) -> float:
    """Return what is asked of a part."""
    (found,) = (part.need for part in plan.parts if part.name == name)
    return found


def _difference(told: float, found: float) -> str:
    return f"{told / found - 1:+.0%}"


def plan_page(plan: Plan) -> str:
    """Return a plan as Markdown: a table of its parts, and what is full first."""
    lines = ["| Part | Need | One takes | Number | Used |", "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in plan_rows(plan)]
    found = [f"**Full first: {plan.limit.name}, used to {plan.limit.used:.0%}**: {plan.limit.remedy}."]
    found += [
        f"Then {part.name}, used to {part.used:.0%}: {part.remedy}."
        for part in plan.too_small
        if part is not plan.limit
    ]
    return "\n".join([*lines, "", *found]) + "\n"
