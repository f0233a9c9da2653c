"""Results of ``connect quickstart``, and how they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from connect_core.cli.hourly import Hours
from connect_core.cli.moved_data import MovedInterval

__all__ = ["Counts", "Findings", "Live", "ShopCounts", "Times", "print_findings"]

_WIDTH = 120
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Counts:
    """Records of the topic by partition, rows and files of the export, lines of the text file."""

    kafka: Mapping[int, int]
    rows: int
    files: int
    lines: int

    @property
    def total(self) -> int:
        """All committed records of the topic."""
        return sum(self.kafka.values())

    @property
    def agree(self) -> bool:
        """Whether Kafka, Parquet and the text file hold the same number of records."""
        return self.total == self.rows == self.lines

    def __str__(self) -> str:
        return f"{self.total} records in Kafka, {self.rows} rows in Parquet, {self.lines} lines of text"


@dataclass(frozen=True, slots=True)
class ShopCounts:
    """Orders, their versions in Kafka and in Parquet, and rows of ``order_copies``."""

    orders: int
    versions: int
    rows: int
    copies: int

    @property
    def agree(self) -> bool:
        """Whether Parquet has as many versions as Kafka. Copies are left out: deleted orders stay there."""
        return self.versions == self.rows

    def __str__(self) -> str:
        return (
            f"{self.orders} orders, order_copies: {self.copies} rows; {self.versions} versions of orders in Kafka,"
            f" {self.rows} in Parquet"
        )


@dataclass(frozen=True, slots=True)
class Live:
    """Seconds until a new log line was in Parquet, and two changed orders were in ``order_copies`` and in Parquet."""

    line: float
    inserted: int
    updated: int
    copied: float
    exported: float


@dataclass(frozen=True, slots=True)
class Findings:
    """Intervals by connector, Spark jobs by tag, the counts, and how long live changes took."""

    intervals: Mapping[str, Sequence[MovedInterval]]
    jobs: Mapping[str, Sequence[int]]
    counts: Counts
    live: Live
    shop: ShopCounts
    hours: Hours
    export: str
    """The connector that writes Parquet."""


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds until the stack was up, and in total."""

    up: float
    whole: float


def print_findings(
    findings: Findings, environment: Mapping[str, str], times: Times, shop: str, registry: str | None = None
) -> None:
    """Print the tables, the counts, the times and the addresses; ``shop`` and ``registry`` are two of them."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    for name, intervals in findings.intervals.items():
        moving = sum(1 for interval in intervals if interval.records)
        head = f"[bold]{escape(name)}[/] · {moving} intervals with records, each from where the one before ended"
        shown = [_table(_last(intervals), findings.jobs)] if _fits(intervals) else []
        console.print("", head, *shown, sep="\n")
    console.print()
    for line in (
        *_summary(findings),
        "",
        *_hours(findings.hours),
        "",
        *_addresses(environment, shop, registry),
        "",
        _ending(times),
    ):
        console.print(line, soft_wrap=True)


def _table(intervals: Sequence[MovedInterval], jobs: Mapping[str, Sequence[int]]) -> Table:
    right = [Column(name, justify="right") for name in ("interval", "records", "start", "end")]
    table = Table(*right, Column("of", overflow="fold"), "Spark job", "tag", box=None, padding=(0, 3, 0, 0))
    for interval in intervals:
        numbers = ", ".join(map(str, jobs.get(interval.job_tag, ()))) or "-"
        head, tail = (str(interval.sequence), str(interval.records)), (numbers, interval.job_tag)
        for bound in interval.bounds:
            table.add_row(*head, _text(bound.start), _text(bound.end), escape(bound.partition), *tail)
            head, tail = ("", ""), ("", "")
    return table


def _fits(intervals: Sequence[MovedInterval]) -> bool:
    """Return whether all bounds are numbers; those of tables have many parts and are too wide to show."""
    bounds = [bound for interval in intervals for bound in interval.bounds]
    return all(isinstance(bound.end, int) for bound in bounds)


def _last(intervals: Sequence[MovedInterval]) -> Sequence[MovedInterval]:
    """Return the last intervals, starting with the last but one that had records."""
    moving = [index for index, interval in enumerate(intervals) if interval.records]
    return intervals[moving[-_ENOUGH] if len(moving) >= _ENOUGH else 0 :]


def _text(value: Any) -> str:
    return "-" if value is None else str(value)


def _summary(findings: Findings) -> list[str]:
    counts, live = findings.counts, findings.live
    by_partition = ", ".join(str(count) for count in counts.kafka.values())
    return [
        f"[bold]Read back[/]  Kafka, read_committed: {counts.total} records in {len(counts.kafka)} partitions"
        f" ({by_partition})",
        f"           Parquet: {counts.rows} rows in {counts.files} files; text file: {counts.lines} lines",
        f"           Shop: {findings.shop}",
        f"[bold]Processes[/]  of {escape(findings.export)}, as (partition, Python pid): {_processes(findings)}",
        f"[bold]Live[/]       a new line of the broker's log was in Parquet after {live.line:.1f} s, by itself",
        f"           order {live.inserted} inserted and order {live.updated} updated: in order_copies after"
        f" {live.copied:.1f} s, in Parquet after {live.exported:.1f} s",
    ]


def _hours(hours: Hours) -> list[str]:
    first = min(hours.rows)
    how = "there already" if hours.seconds is None else f"exported by Airflow's backfill in {hours.seconds:.1f} s"
    return [
        f"[bold]By the hour[/]  {escape(hours.connector)}: {len(hours.rows)} past hours from {first:%H:%M} UTC,"
        f" {sum(hours.rows.values())} rows, {how}; the present one follows when it is full",
        escape(hours.line),
        *([escape(hours.told)] if hours.told else []),
    ]


def _processes(findings: Findings) -> str:
    shown = _last(findings.intervals[findings.export])
    pairs = {pair for interval in shown for pair in interval.processes}
    return " ".join(f"({partition.rpartition('-')[2]}, {pid})" for partition, pid in sorted(pairs))


def _addresses(environment: Mapping[str, str], shop: str, registry: str | None) -> list[str]:
    password = environment.get("CONNECT_AIRFLOW_PASSWORD_FILE", "")
    known = {
        "Airflow": environment.get("CONNECT_AIRFLOW_URL"),
        "  user": environment.get("CONNECT_AIRFLOW_USER"),
        "  password": f"{Path(password).read_text().strip()} (kept in {password})",
        "REST API": environment.get("CONNECT_REST_URL"),
        "Kafka": environment.get("CONNECT_BOOTSTRAP_SERVERS"),
        "Spark UI": environment.get("CONNECT_SPARK_UI"),
        "Registry": registry,
        "Shop": shop,
    }
    return [f"{label:<14}{escape(value)}" for label, value in known.items() if value]


def _ending(times: Times) -> str:
    return (
        f"Done in {times.whole:.0f} s, {times.up:.0f} s of them for the servers."
        " All goes on by itself until `make down` ends it."
    )
