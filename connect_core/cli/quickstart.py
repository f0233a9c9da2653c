"""``connect quickstart``: start the embedded stack, deploy the examples, and show that live data is moved."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from connect_core.cli.deployment import open_deployment, settings_of
from connect_core.cli.dev import progress
from connect_core.cli.examples import (
    EXPORT,
    HOURLY,
    LINES,
    SHOP_COPIES,
    SHOP_PARQUET,
    SOURCE,
    deploy,
    load_example,
    load_examples,
    output_path,
    with_registry,
)
from connect_core.cli.findings import Counts, Findings, Live, ShopCounts, Times, print_findings
from connect_core.cli.hourly import HourlyExport, Hours
from connect_core.cli.live import Effect, NewFiles, await_effects, line_arrives, orders_arrive
from connect_core.cli.moved_data import (
    MovedInterval,
    check_abutting,
    count_lines,
    count_records,
    moved_intervals,
    parquet_files,
    sinks_behind,
)
from connect_core.cli.spark_jobs import job_ids
from connect_core.cli.waiter import ConnectorWaiter
from connect_core.configs import ConnectorFile
from connect_core.dag.wiring import airflow_api
from connect_core.dev.environment import load_environment
from connect_core.dev.home import Home
from connect_core.dev.log_lines import cause_log_line
from connect_core.dev.services import STANDARD
from connect_core.dev.shop import Change, Shop
from connect_core.dev.stack import Report, Stack
from connect_core.dev.supervisor import running
from connect_core.dev.visits import Visits
from connect_core.errors import ConnectError
from connect_core.herder.context import Herder

__all__ = ["quickstart"]

_FIRST_SECONDS = 300.0
_NEXT_SECONDS = 180.0
_ENOUGH = 2
"""How many intervals with records each connector must have at the end."""
_COUNTINGS = 5
"""How often to count: the log may grow between two counts of the same attempt."""


def quickstart(
    registry: Annotated[
        bool, typer.Option("--registry", help="Also start a schema registry, and write the shop's orders as Avro.")
    ] = False,
) -> None:
    """Start the embedded stack, run the examples on live data, and show what they moved.

    May be called again at any time: what is running is left as it is, what is missing is started.
    """
    # This command prints what matters itself; the servers keep their own logs.
    logging.getLogger("connect_core").setLevel(logging.ERROR)
    home = Home.locate()
    stack = Stack(home.path, (*STANDARD, "registry") if registry else STANDARD, home.project)
    if registry and running(home, "supervisor") and not running(home, "registry"):
        raise ConnectError("The stack is running without a schema registry: stop it first with `connect dev down`.")
    began = time.monotonic()
    with progress() as report:
        stack.up(report)
        up_seconds = time.monotonic() - began
        # The stack's addresses are known only once it is up.
        load_environment(home)
        deployment = open_deployment(settings_of(None), is_service=True)
        try:
            herder = deployment.herder("quickstart")
            examples = with_registry(load_examples(home)) if registry else load_examples(home)
            findings = _Demonstration(stack, herder, examples, Shop(home), report).run(load_example(home, HOURLY))
        finally:
            deployment.database.close()
    environment = stack.environment()
    times = Times(up_seconds, time.monotonic() - began)
    address = environment.get("CONNECT_SCHEMA_REGISTRY_URL") if registry else None
    print_findings(findings, environment, times, Shop(home).url, address)


@dataclass(frozen=True, slots=True)
class _Demonstration:
    """The running stack, its herder, the examples by file name, and the shop whose orders change."""

    stack: Stack
    herder: Herder
    examples: Mapping[str, ConnectorFile]
    shop: Shop
    report: Report

    def run(self, hourly: ConnectorFile) -> Findings:
        """Deploy the examples, send live data through them, and collect the results.

        ``hourly``: the example that has a schedule, and moves nothing live until an hour is full.
        """
        # The shop's connectors are refused unless its tables exist.
        self.shop.create()
        visits = Visits(self.stack.environment()["CONNECT_BOOTSTRAP_SERVERS"], hourly.config["topics"])
        first = visits.create()
        for file in (EXPORT, LINES, SHOP_PARQUET):
            self._output(file).parent.mkdir(parents=True, exist_ok=True)
        for example in (*self.examples.values(), hourly):
            self.report.say(f"connector {example.name}: {deploy(self.herder, example)}")
        waiter = ConnectorWaiter(self.herder, self._names(), self.report)
        waiter.wait("the first records", lambda: self._with_fewer_than(1), _FIRST_SECONDS)
        waiter.wait("the existing data to be moved", self._behind, _FIRST_SECONDS)
        live = self._follow_changes(waiter)
        hours = self._past_hours(hourly, first)
        visits.add()
        while self._with_fewer_than(_ENOUGH):
            self._move_more(waiter)
        counts, shop = self._counts(waiter)
        jobs = job_ids(self.stack.environment()["CONNECT_SPARK_UI"])
        intervals = {name: self._intervals(name) for name in self._names()}
        return Findings(intervals, jobs, counts, live, shop, hours, self._name(EXPORT))

    def _past_hours(self, hourly: ConnectorFile, first: datetime) -> Hours:
        api = airflow_api(self.herder.worker)
        try:
            export = HourlyExport(self.herder, api, hourly, self.stack.home, first)
            return export.export_past(ConnectorWaiter(self.herder, [hourly.name], self.report))
        finally:
            api.close()

    def _follow_changes(self, waiter: ConnectorWaiter) -> Live:
        """Make the broker log a line and change orders → the seconds until each has reached its target."""
        lines = NewFiles(self._output(EXPORT), self._topic(EXPORT))
        orders = NewFiles(self._output(SHOP_PARQUET), self._topic(SHOP_PARQUET))
        text, change = self._change_all()
        effects = (
            Effect("a new log line in Parquet", self._name(EXPORT), line_arrives(lines, text)),
            Effect("orders in order_copies", self._name(SHOP_COPIES), lambda: not self.shop.not_copied(change.amounts)),
            Effect("orders in Parquet", self._name(SHOP_PARQUET), orders_arrive(orders, change.amounts)),
        )
        line, copied, exported = await_effects(waiter, effects, _NEXT_SECONDS)
        return Live(line, change.inserted, change.updated, copied, exported)

    def _change_all(self) -> tuple[str, Change]:
        return cause_log_line(self.stack.service("kafka"), self.stack.environment()), self.shop.change()

    def _move_more(self, waiter: ConnectorWaiter) -> None:
        last = self._last_moving()
        self._change_all()
        waiter.wait("more records", lambda: self._unmoved_since(last), _NEXT_SECONDS)

    def _counts(self, waiter: ConnectorWaiter) -> tuple[Counts, ShopCounts]:
        """Count in all places while no records are in flight. Raise ConnectError if the counts do not agree."""
        for _ in range(_COUNTINGS):
            waiter.wait("all records to be moved", self._behind, _NEXT_SECONDS)
            kafka = count_records(self.herder.worker, self._topic(EXPORT))
            files = self._parquet(EXPORT)
            counts = Counts(kafka, sum(files.values()), len(files), count_lines(self._output(LINES)))
            shop = self._shop_counts()
            if counts.agree and shop.agree:
                return counts, shop
        raise ConnectError(f"The counts differ: {counts}; {shop}. Were outputs or offsets changed manually?")

    def _shop_counts(self) -> ShopCounts:
        versions = sum(count_records(self.herder.worker, self._topic(SHOP_PARQUET)).values())
        rows = sum(self._parquet(SHOP_PARQUET).values())
        return ShopCounts(self.shop.count("orders"), versions, rows, self.shop.count("order_copies"))

    def _behind(self) -> list[str]:
        """Return the connectors that have not yet moved everything."""
        source = self._name(SOURCE)
        ended = max((bound.end for bound in self._moving(source)[-1].bounds), default=0)
        behind = [source] if ended != self._output(SOURCE).stat().st_size else []
        for files in ((EXPORT, LINES), (SHOP_COPIES, SHOP_PARQUET)):
            behind += sinks_behind(self.herder, self._topic(files[0]), [self._name(file) for file in files])
        return behind

    def _names(self) -> list[str]:
        return [example.name for example in self.examples.values()]

    def _name(self, file: str) -> str:
        return self.examples[file].name

    def _topic(self, file: str) -> str:
        return self.examples[file].config["topics"]

    def _output(self, file: str) -> Path:
        return output_path(self.examples[file], self.stack.home)

    def _parquet(self, file: str) -> dict[Path, int]:
        return parquet_files(self._output(file), self._topic(file))

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
