"""What a deployment needs for a given work, added up from measured parts; and which part is full first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from connect_core.capacity.measured import KINDS_OF_WORK
from connect_core.errors import ConfigError

__all__ = ["Deployment", "Part", "Plan", "Workload", "plan_capacity"]

_MILLION = 1e6
_MOST = 1e15
"""Any given number is at most this: more would only overflow."""
_IMPORT_SECONDS = 30.0
"""Airflow's default of ``[core] dagbag_import_timeout``: a file that takes longer has no DAGs.

What is measured is processor time and includes the DAGs' serialization.
"""


@dataclass(frozen=True, slots=True)
class Workload:
    """What is to be moved.

    ``busy``: share of the connectors, 0 to 1, that move data; the others wait. ``records``: records a second of all
    connectors together. ``record_bytes``: bytes of a record on the wire, after compression. ``kind``: one of
    KINDS_OF_WORK. ``interval``: seconds from one interval of a busy connector to its next. ``intervals_per_run``: how
    many of them one Airflow task runs; more than one with ``run.linger.ms``.
    """

    connectors: int = 1_000
    busy: float = 0.05
    records: float = 100_000.0
    record_bytes: float = 120.0
    kind: str = "parquet"
    interval: float = 60.0
    intervals_per_run: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no deployment can have. Raises ConfigError."""
        if self.kind not in KINDS_OF_WORK:
            raise ConfigError("kind", self.kind, f"use one of {', '.join(KINDS_OF_WORK)}")
        if not 0 <= self.busy <= 1:
            raise ConfigError("busy", self.busy, "it is a share of the connectors: use a number from 0 to 1")
        _refuse_outside(self, 0, "records", "record_bytes")
        _refuse_outside(self, 1, "connectors", "intervals_per_run")
        _refuse_outside(self, 0.1, "interval")

    @property
    def intervals(self) -> float:
        """Intervals a second of all connectors."""
        return self.connectors * self.busy / self.interval

    @property
    def starts(self) -> float:
        """Airflow task starts a second of all connectors."""
        return self.intervals / self.intervals_per_run


@dataclass(frozen=True, slots=True)
class Deployment:
    """What there is. None: as many as are needed.

    ``cores``: of each machine that runs executors, Airflow's tasks or a broker. ``slots``: Airflow's
    ``core.parallelism`` of one scheduler. ``capacity``: ``[triggerer] capacity``. ``replication``: of the topics.
    ``parse_interval``: seconds, ``[dag_processor] min_file_process_interval``. ``utilisation``: up to which share of
    itself, 0 to 1, a part is to be used.
    """

    cores: int = 4
    executors: int | None = None
    workers: int | None = None
    brokers: int | None = None
    triggerers: int | None = None
    schedulers: int | None = 1
    slots: int = 32
    capacity: int = 1_000
    replication: int = 3
    parse_interval: int = 30
    utilisation: float = 0.7

    def __post_init__(self) -> None:
        """Refuse what cannot be. Raises ConfigError."""
        if not 0 < self.utilisation <= 1:
            raise ConfigError("utilisation", self.utilisation, "it is a share: use a number above 0, up to 1")
        counts = ("executors", "workers", "brokers", "triggerers", "schedulers")
        _refuse_outside(self, 1, "cores", "slots", "capacity", "replication", "parse_interval", *counts)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a deployment: what is asked of all of its kind, and what one of them takes, in the same unit.

    ``fixed``: how many there are, or None if it is as many as are needed. ``remedy``: what to do when it is full.
    """

    name: str
    need: float
    unit: str
    one: float
    each: str
    fixed: int | None
    remedy: str
    utilisation: float = 0.7

    @property
    def wanted(self) -> int:
        """How many are needed so that none is used beyond ``utilisation``; at least one."""
        # Shares of exactly 1 must not become two by rounding.
        return max(1, math.ceil(self.need / (self.one * self.utilisation) - 1e-9))

    @property
    def used(self) -> float:
        """Which share of those that there are is used; above 1, they are too few."""
        return self.need / (self.one * (self.wanted if self.fixed is None else self.fixed))


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts in the order in which work passes through them, and what the workload comes to a second."""

    workload: Workload
    deployment: Deployment
    parts: tuple[Part, ...]
    overhead: float
    """Cores that Airflow, PostgreSQL, Kafka, Spark and the REST API use together besides what records cost."""
    writes: float
    """Rows that Airflow and connect-core write to PostgreSQL a second."""

    @property
    def limit(self) -> Part:
        """The part that is full first: of those whose number is fixed the one that is used most."""
        return max((part for part in self.parts if part.fixed is not None), key=lambda part: part.used)

    @property
    def too_small(self) -> tuple[Part, ...]:
        """The parts that are used beyond the share that is wanted, the fullest first."""
        found = [part for part in self.parts if part.used > self.deployment.utilisation + 1e-9]
        return tuple(sorted(found, key=lambda part: -part.used))


def plan_capacity(workload: Workload, deployment: Deployment, figures: Mapping[str, float]) -> Plan:
    """Return what the workload needs of each part; ``figures`` as of ``measured.figures_with``."""
    ask = _Ask(workload, deployment, figures)
    return Plan(
        workload, deployment, (*ask.of_data(), *ask.of_airflow(), *ask.of_metadata()), ask.total("cores"), ask.writes()
    )


@dataclass(frozen=True, slots=True)
class _Ask:
    work: Workload
    has: Deployment
    figures: Mapping[str, float]

    def total(self, of: str) -> float:
        """Return what there is without a connector, what each adds by waiting, and each task start."""
        waiting = self.figures[f"base.{of}"] + self.work.connectors * self.figures[f"idle.{of}"]
        return waiting + self.work.starts * self.figures[f"start.{of}"]

    def of_data(self) -> Iterator[Part]:
        """What moves records: executors and brokers."""
        cores = self.work.records / _MILLION * self.figures[f"records.{self.work.kind}.executors"]
        cores += self.work.intervals * self.figures["interval.executors"]
        yield self._part(
            ("Spark executors", cores, "cores"),
            (self.has.cores, f"machine of {self.has.cores} cores", self.has.executors),
            "add workers to the Spark cluster; a record transform in Python costs most: give it an apply_batch",
        )
        if (of_database := self.figures.get(f"records.{self.work.kind}.database")) is not None:
            load = self.work.records / _MILLION * of_database
            yield self._part(
                ("The connectors' databases", load, "cores"),
                (self.has.cores, f"machine of {self.has.cores} cores", None),
                "spread the tables over more database servers; only what the servers themselves use is counted",
            )
        yield self._part(
            ("Spark Connect server", self.work.intervals * self.figures["interval.server"], "cores"),
            (self.has.cores, f"machine of {self.has.cores} cores", 1),
            "use spark.mode=submit, or a server for each of several deployments (group.id)",
        )
        writes = self.work.kind in ("file-to-kafka", "table-to-kafka")
        passed = self.work.records * self.work.record_bytes * (self.has.replication if writes else 1)
        one = self.figures[f"broker.{'written' if writes else 'read'}"]
        yield self._part(
            ("Kafka brokers", passed / _MILLION, "MB a second"),
            (one, "broker", self.has.brokers),
            "add brokers and spread the topics' partitions over them; compress (lz4 or zstd)",
        )

    def of_airflow(self) -> Iterator[Part]:
        """What wakes connectors and runs their drivers."""
        starts, cores = self.work.starts, self.has.cores
        fewer = "let busy connectors run less often (a schedule) or several intervals a task (run.linger.ms)"
        yield self._part(
            ("Airflow schedulers", starts, "task starts a second"),
            (self._starts_of_a_scheduler(), "scheduler", self.has.schedulers),
            f"{fewer}; then run a second scheduler",
        )
        yield self._part(
            ("Airflow slots", starts * self._run_seconds(), "tasks at once"),
            (self.has.slots, "scheduler", self.has.schedulers),
            "raise [core] parallelism with the workers' cores",
        )
        yield self._part(
            ("Airflow workers", starts * self.figures["start.task"], "cores"),
            (cores, f"machine of {cores} cores", self.has.workers),
            f"add Airflow workers (CeleryExecutor); {fewer}",
        )
        yield self._part(
            ("Airflow API server", self.total("api"), "cores"),
            (1.0, "process", None),
            "raise [api] workers",
        )
        yield from self._of_waits()

    def _of_waits(self) -> Iterator[Part]:
        count = self.work.connectors
        yield self._part(
            ("Airflow triggerers, waits", count, "waiting connectors"),
            (self.has.capacity, "triggerer", self.has.triggerers),
            "raise [triggerer] capacity to the number of connectors, or run more triggerers",
        )
        yield self._part(
            ("Airflow triggerers, processor", self.total("triggerer"), "cores"),
            (1.0, "triggerer", self.has.triggerers),
            "run more triggerers",
        )
        yield self._part(
            ("Airflow DAG processor", self.figures["base.parse"] + count * self.figures["idle.parse"], "CPU s a parse"),
            (self.has.parse_interval, f"process, {self.has.parse_interval} s a parse", 1),
            "raise [dag_processor] min_file_process_interval, after which new connectors get their DAGs; or split the "
            "connectors among deployments (group.id)",
        )
        yield self._part(
            ("Airflow DAG file", count * self.figures["idle.import"], "s an import"),
            (_IMPORT_SECONDS, "file", 1),
            "raise [core] dagbag_import_timeout and [dag_processor] dag_file_processor_timeout; or split the "
            "connectors among deployments (group.id)",
        )

    def of_metadata(self) -> Iterator[Part]:
        """What keeps configurations, offsets, history, and Airflow's state."""
        commits = self.total("commits") + self.work.intervals * self.figures["interval.commits"]
        yield self._part(
            ("PostgreSQL, commits", commits, "a second"),
            (self.figures["database.commits"], "server", 1),
            "give Airflow and connect-core a server each, with fast disks; let busy connectors run less often",
        )
        yield self._part(
            ("PostgreSQL, processor", self.total("database"), "cores"),
            (self.has.cores, f"machine of {self.has.cores} cores", 1),
            "give Airflow and connect-core a server each, with more cores",
        )

    def writes(self) -> float:
        """Return the rows that are written a second to both databases."""
        return self.total("writes") + self.work.intervals * self.figures["interval.writes"]

    def _starts_of_a_scheduler(self) -> float:
        waiting = self.figures["base.scheduler"] + self.work.connectors * self.figures["idle.scheduler"]
        return max(0.01, 1 - waiting) / self.figures["start.scheduler"]

    def _run_seconds(self) -> float:
        more = (self.work.intervals_per_run - 1) * self.work.interval
        return self.figures["start.seconds"] + more

    def _part(self, asked: tuple[str, float, str], given: tuple[float, str, int | None], remedy: str) -> Part:
        name, need, unit = asked
        one, each, fixed = given
        return Part(name, need, unit, one, each, fixed, remedy, self.has.utilisation)


def _refuse_outside(value: Any, least: float, *names: str) -> None:
    wanted = {field.name for field in fields(value)} & set(names)
    for name in sorted(wanted):
        found = getattr(value, name)
        if found is not None and not least <= found <= _MOST:
            raise ConfigError(name, found, f"use a number from {least:g} to {_MOST:g}")
