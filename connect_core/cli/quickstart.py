"""``connect quickstart``: the embedded stack, three examples, and the proof that live data has moved."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connect_core.cli.deployment import open_deployment, settings_of
from connect_core.cli.dev import progress
from connect_core.cli.evidence import (
    MovedInterval,
    check_abutting,
    count_lines,
    count_records,
    has_line,
    moved_intervals,
    parquet_files,
    sinks_behind,
)
from connect_core.cli.examples import EXPORT, LINES, SOURCE, deploy, load_examples, output_path
from connect_core.cli.findings import Counts, Findings, Times, print_findings
from connect_core.cli.patience import Patience
from connect_core.cli.spark_jobs import job_ids
from connect_core.configs import ConnectorFile
from connect_core.dev.environment import load_environment
from connect_core.dev.home import Home
from connect_core.dev.log_lines import cause_log_line
from connect_core.dev.stack import Report, Stack
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder

__all__ = ["quickstart"]

_FIRST_SECONDS = 300.0
_NEXT_SECONDS = 180.0
_ENOUGH = 2
"""How many intervals with records each connector is to have."""
_COUNTINGS = 5
"""New lines may come between the counts."""


def quickstart() -> None:
    """Start the embedded stack, run three connectors on live data, and show what they moved.

    May be called again at any time: what runs goes on, what is missing is started.
    """
    # What is worth knowing is said below; the servers keep logs of their own.
    logging.getLogger("connect_core").setLevel(logging.ERROR)
    home = Home.locate()
    stack = Stack(home.path, project=home.project)
    began = time.monotonic()
    with progress() as report:
        stack.up(report)
        up_seconds = time.monotonic() - began
        # Its addresses are known only now.
        load_environment(home)
        deployment = open_deployment(settings_of(None), is_service=True)
        try:
            findings = _Demonstration(stack, deployment.herder("quickstart"), load_examples(home), report).run()
        finally:
            deployment.database.close()
    print_findings(findings, stack.environment(), Times(up_seconds, time.monotonic() - began))


@dataclass(frozen=True, slots=True)
class _Demonstration:
    """The running stack, its herder, and the examples by file name."""

    stack: Stack
    herder: Herder
    examples: Mapping[str, ConnectorFile]
    report: Report

    def run(self) -> Findings:
        """Deploy the examples, let live data pass through them, and look at what became of it."""
        for example in self.examples.values():
            output_path(example, self.stack.home).parent.mkdir(parents=True, exist_ok=True)
            self.report.say(f"connector {example.name}: {deploy(self.herder, example)}")
        patience = Patience(self.herder, self._names(), self.report)
        patience.wait("the first records", lambda: self._with_fewer_than(1), _FIRST_SECONDS)
        patience.wait("what was there to be moved", self._behind, _FIRST_SECONDS)
        seconds = self._time_one_line(patience)
        while self._with_fewer_than(_ENOUGH):
            self._move_more(patience)
        counts = self._counts(patience)
        jobs = job_ids(self.stack.environment()["CONNECT_SPARK_UI"])
        intervals = {name: self._intervals(name) for name in self._names()}
        return Findings(intervals, jobs, counts, seconds, self._export_name())

    def _time_one_line(self, patience: Patience) -> float:
        """Let the broker log a line → the seconds until it is in a Parquet file."""
        seen = set(self._parquet())
        text = cause_log_line(self.stack.service("kafka"), self.stack.environment())
        written = time.monotonic()

        def is_missing() -> list[str]:
            fresh = [file for file in self._parquet() if file not in seen]
            if has_line(fresh, text):
                return []
            seen.update(fresh)
            return [self._export_name()]

        patience.wait("a new log line to be in Parquet", is_missing, _NEXT_SECONDS)
        return time.monotonic() - written

    def _move_more(self, patience: Patience) -> None:
        last = self._last_moving()
        cause_log_line(self.stack.service("kafka"), self.stack.environment())
        patience.wait("more records", lambda: self._unmoved_since(last), _NEXT_SECONDS)

    def _counts(self, patience: Patience) -> Counts:
        """Count in all three places, when nothing is under way. Raise ConnectError if they do not agree."""
        for _ in range(_COUNTINGS):
            patience.wait("all records to be moved", self._behind, _NEXT_SECONDS)
            kafka = count_records(self.herder.worker, self._topic())
            files = self._parquet()
            counts = Counts(kafka, sum(files.values()), len(files), count_lines(self._output(LINES)))
            if counts.agree:
                return counts
        raise ConnectError(f"The counts do not agree: {counts}. Were outputs or offsets changed by hand?")

    def _behind(self) -> list[str]:
        """Return the connectors that have not moved all there is."""
        source = self.examples[SOURCE].name
        ended = max((bound.end for bound in self._moving(source)[-1].bounds), default=0)
        behind = [source] if ended != self._output(SOURCE).stat().st_size else []
        return behind + sinks_behind(self.herder, self._topic(), [self._export_name(), self.examples[LINES].name])

    def _names(self) -> list[str]:
        return [example.name for example in self.examples.values()]

    def _export_name(self) -> str:
        return self.examples[EXPORT].name

    def _topic(self) -> str:
        return self.examples[EXPORT].config["topics"]

    def _output(self, file: str) -> Path:
        return output_path(self.examples[file], self.stack.home)

    def _parquet(self) -> dict[Path, int]:
        return parquet_files(self._output(EXPORT), self._topic())

    def _moving(self, name: str) -> list[MovedInterval]:
        return [interval for interval in moved_intervals(self.herder, name) if interval.records]

    def _with_fewer_than(self, count: int) -> list[str]:
        return [name for name in self._names() if len(self._moving(name)) < count]

    def _last_moving(self) -> dict[str, int]:
        return {name: self._moving(name)[-1].sequence for name in self._names()}

    def _unmoved_since(self, last: Mapping[str, int]) -> list[str]:
        now = self._last_moving()
        return [name for name in last if now[name] == last[name]]

    def _intervals(self, name: str) -> list[MovedInterval]:
        intervals = moved_intervals(self.herder, name)
        check_abutting(name, intervals)
        return intervals
