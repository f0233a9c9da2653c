"""Metrics of all connectors in Prometheus' text format, computed from the metadata database on request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from fastapi import APIRouter
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import PlainTextResponse, Response

from connect_core.herder.metrics import ConnectorMetrics, collect
from connect_core.herder.status import State
from connect_core.rest.access import Reader, Visible
from connect_core.rest.errors import GuardedRoute
from connect_core.store.overviews import Totals

__all__ = ["get_metrics", "router"]

router = APIRouter(route_class=GuardedRoute, tags=["beyond Connect"])

_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"description": "Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/metrics", include_in_schema=False)
@router.get("/v1/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse, responses=_TEXT)
def get_metrics(herder: Reader, visible: Visible) -> Response:
    """Return the metrics of the connectors the caller may see."""
    found = collect(herder)
    registry = CollectorRegistry()
    registry.register(_Collector([found[name] for name in visible(found)]))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Collector(Collector):
    """Converts a snapshot of the metrics to Prometheus' families."""

    def __init__(self, connectors: Collection[ConnectorMetrics]) -> None:
        self._connectors = connectors

    def collect(self) -> Iterator[Metric]:
        """Return every family."""
        yield self._info()
        yield self._states()
        yield self._stalls()
        yield self._tasks()
        yield self._intervals()
        yield self._counter("records", "Records of committed intervals.", lambda totals: totals.committed_records)
        yield self._counter("skipped_records", "Records that were skipped.", lambda totals: totals.skipped_records)
        for name, what in _NUMBERS.items():
            yield self._numbers(name, what)

    def _info(self) -> Metric:
        family = InfoMetricFamily("connect_connector", "A connector and its plugin.", labels=["connector"])
        for one in self._connectors:
            line = one.summary
            values = {"type": line.type.value, "class": line.connector_class, "version": line.plugin_version or ""}
            family.add_metric([line.name], values)
        return family

    def _states(self) -> Metric:
        family = GaugeMetricFamily(
            "connect_connector_state", "1 for the state a connector is in.", labels=["connector", "state"]
        )
        for one in self._connectors:
            for state in State:
                family.add_metric([one.summary.name, state.value], float(one.summary.state is state))
        return family

    def _stalls(self) -> Metric:
        family = GaugeMetricFamily(
            "connect_connector_stalled",
            "1 while work is waiting and making no progress, with the cause; otherwise 0, without a cause.",
            labels=["connector", "cause"],
        )
        for one in self._connectors:
            family.add_metric([one.summary.name, one.summary.stalled_cause or ""], float(one.summary.is_stalled))
        return family

    def _tasks(self) -> Metric:
        family = GaugeMetricFamily("connect_tasks", "Tasks of a connector by state.", labels=["connector", "state"])
        for one in self._connectors:
            for state, count in one.summary.tasks.items():
                family.add_metric([one.summary.name, state], count)
        return family

    def _intervals(self) -> Metric:
        family = CounterMetricFamily(
            "connect_intervals", "Finished intervals, by how they ended.", labels=["connector", "state"]
        )
        for one in self._connectors:
            family.add_metric([one.summary.name, "COMMITTED"], one.totals.committed_intervals)
            family.add_metric([one.summary.name, "ABANDONED"], one.totals.abandoned_intervals)
        return family

    def _counter(self, name: str, what: str, count: Callable[[Totals], int]) -> Metric:
        family = CounterMetricFamily(f"connect_{name}", what, labels=["connector"])
        for one in self._connectors:
            family.add_metric([one.summary.name], count(one.totals))
        return family

    def _numbers(self, name: str, what: str) -> Metric:
        family = GaugeMetricFamily(f"connect_{name}", what, labels=["connector"])
        for one in self._connectors:
            value = getattr(one, name)
            if value is not None:
                family.add_metric([one.summary.name], value)
        return family


_NUMBERS = {
    "lag_records": "Records a sink is behind the last stable offsets of its topics.",
    "last_success_timestamp_seconds": "When the last interval was committed, in Unix time.",
    "last_interval_seconds": "How long the last finished interval took.",
    "last_interval_records": "Records of the last finished interval.",
}
