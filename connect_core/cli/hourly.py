"""The quickstart's export by the hour: past hours by Airflow's backfill, read back by one line of DuckDB."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from connect_core.cli.examples import output_path
from connect_core.cli.waiter import ConnectorWaiter
from connect_core.configs import ConnectorFile
from connect_core.dag.airflow_api import AirflowApi
from connect_core.dag.naming import dag_id_of
from connect_core.dev.home import Home
from connect_core.dev.visits import HOUR, PAST_HOURS, VISITS_AN_HOUR
from connect_core.errors import ConnectError, NotFoundError
from connect_core.herder.context import Herder
from connect_core.interval.values import ConnectorType
from connect_core.store import offsets

__all__ = ["HourlyExport", "Hours", "counting_line", "told_by"]

_FIRST_SECONDS, _BACKFILL_SECONDS = 180.0, 300.0
_LINE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Hours:
    """Past hours and their rows; ``seconds``: how long the backfill took, ``None`` if they were there already.

    ``line``: a command that counts all hours; ``told``: what it has printed, empty without DuckDB.
    """

    connector: str
    rows: Mapping[datetime, int]
    seconds: float | None
    line: str
    told: str


@dataclass(frozen=True, slots=True)
class HourlyExport:
    """The example, deployed on a stack; ``first`` is when the first past hour began."""

    herder: Herder
    airflow: AirflowApi
    example: ConnectorFile
    home: Home
    first: datetime

    def export_past(self, waiter: ConnectorWaiter) -> Hours:
        """Have Airflow export the past hours unless they are there. Raise ConnectError if one lacks a visit."""
        began = time.monotonic()
        is_asked = not all(self._is_finished(hour) for hour in self._hours())
        if is_asked:
            waiter.wait("the first run", self._without_first_run, _FIRST_SECONDS)
            asked = self.airflow.backfill(self._dag_id, self.first + HOUR, self.first + PAST_HOURS * HOUR)
            waiter.wait("the backfill", partial(self._unless_ended, asked), _BACKFILL_SECONDS)
        rows = {hour: self._rows(hour) for hour in self._hours()}
        if min(rows.values()) < VISITS_AN_HOUR or not all(self._is_finished(hour) for hour in rows):
            raise ConnectError(
                f"{self.example.name} has exported {list(rows.values())} of {VISITS_AN_HOUR} visits an hour."
                f" See the backfill runs of DAG {self._dag_id} in Airflow."
            )
        line = counting_line(self._folder)
        return Hours(
            self.example.name, rows, time.monotonic() - began if is_asked else None, shlex.join(line), told_by(line)
        )

    @property
    def _dag_id(self) -> str:
        return dag_id_of(self.example.name)

    @property
    def _folder(self) -> Path:
        return output_path(self.example, self.home) / self.example.config["topics"]

    def _hours(self) -> list[datetime]:
        return [self.first + number * HOUR for number in range(PAST_HOURS)]

    def _place(self, hour: datetime) -> Path:
        return self._folder / hour.strftime("year=%Y/month=%m/day=%d/hour=%H")

    def _is_finished(self, hour: datetime) -> bool:
        return (self._place(hour) / "_SUCCESS").exists()

    def _rows(self, hour: datetime) -> int:
        return sum(pq.read_metadata(file).num_rows for file in self._place(hour).glob("*.parquet"))

    def _unless(self, is_done: bool) -> list[str]:
        return [] if is_done else [self.example.name]

    def _unless_ended(self, backfill: int) -> list[str]:
        return self._unless(self.airflow.has_backfill_ended(backfill))

    def _without_first_run(self) -> list[str]:
        """Return the connector until its first run has fixed where the live export begins: a backfill ends there."""
        try:
            runs = self.airflow.latest_runs(self._dag_id)
        except NotFoundError:
            return [self.example.name]
        with self.herder.database.read() as connection:
            begun = offsets.load(connection, self.example.name, ConnectorType.SINK)
        return self._unless(bool(begun) and all(run.state == "success" for run in runs))


def counting_line(folder: Path) -> list[str]:
    """Return a command of one line that counts the rows of each hour below a folder, by DuckDB."""
    files = f"{_near(folder)}/**/*.parquet"
    query = f'SELECT day, hour, count(*) AS visits, count(DISTINCT visitor) AS visitors FROM "{files}"'
    line = f'import duckdb; duckdb.sql("""{query} GROUP BY ALL ORDER BY ALL""").show()'
    return [str(_near(Path(sys.executable))), "-c", line]


def told_by(line: Sequence[str]) -> str:
    """Run such a line → what it prints; nothing if DuckDB is not installed. Raise ConnectError if it fails."""
    done = subprocess.run(line, capture_output=True, text=True, encoding="utf-8", timeout=_LINE_SECONDS, check=False)
    if done.returncode and "No module named 'duckdb'" not in done.stderr:
        # The last line of a traceback says what is wrong.
        reason = "".join(done.stderr.splitlines()[-1:])
        raise ConnectError(f"DuckDB cannot read the exported hours: {reason}")
    return done.stdout.rstrip()


def _near(path: Path) -> Path:
    """Return a path as short as somebody in this folder can type it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
