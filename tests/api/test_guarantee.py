"""What connectors promise: declared by the plugin for a configuration, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from connect_core.api import (
    Atomicity,
    Delivery,
    ExactlyOnceSupport,
    Guarantee,
    Ordering,
    SinkConnector,
    SourceConnector,
)
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.connectors.file.source import FileStreamSourceConnector
from connect_core.herder.guarantee import declared_guarantee


def sink(**methods: Any) -> Any:
    """Return a sink class of which only the guarantee is asked."""
    kind: Any = type("Sink", (SinkConnector,), methods)
    kind.__abstractmethods__ = frozenset()
    return kind


def source(support: ExactlyOnceSupport | None) -> Any:
    kind: Any = type("Source", (SourceConnector,), {"exactly_once_support": lambda self, config: support})
    kind.__abstractmethods__ = frozenset()
    return kind


def test_sink_that_keeps_no_offsets_with_its_data_is_at_least_once() -> None:
    assert sink()().guarantee({}) == Guarantee(Delivery.AT_LEAST_ONCE)


def test_sink_with_a_committer_is_exactly_once_by_interval() -> None:
    kept = sink(committer=lambda self, config: None)
    assert kept().guarantee({}) == Guarantee(Delivery.EXACTLY_ONCE, atomicity=Atomicity.INTERVAL)


@pytest.mark.parametrize(
    ("support", "delivery"),
    [
        (ExactlyOnceSupport.SUPPORTED, Delivery.EXACTLY_ONCE),
        (ExactlyOnceSupport.UNSUPPORTED, Delivery.AT_LEAST_ONCE),
        (None, Delivery.UNKNOWN),
    ],
)
def test_source_promises_what_it_supports(support: ExactlyOnceSupport | None, delivery: Delivery) -> None:
    assert source(support)().guarantee({}) == Guarantee(delivery, atomicity=Atomicity.TRANSACTION)


def test_plugin_may_say_it_itself() -> None:
    def promise(self: object, config: Mapping[str, str]) -> Guarantee:
        return Guarantee(Delivery.EXACTLY_ONCE, Ordering.NONE, Atomicity.TASK, f"{config['key']} is unique")

    said = sink(guarantee=promise)().guarantee({"key": "id"})
    assert str(said) == "exactly-once, in no order, visible task by task; id is unique"


def test_standard_streams_promise_less_than_files() -> None:
    assert FileStreamSourceConnector().guarantee({"topic": "t"}).delivery is Delivery.AT_MOST_ONCE
    assert FileStreamSourceConnector().guarantee({"topic": "t", "file": "x"}).delivery is Delivery.EXACTLY_ONCE
    assert FileStreamSinkConnector().guarantee({}).delivery is Delivery.AT_LEAST_ONCE
    assert FileStreamSinkConnector().guarantee({"file": "x"}).delivery is Delivery.EXACTLY_ONCE


def test_stored_connector_is_asked_through_its_class() -> None:
    config = {"connector.class": "FileStreamSink", "topics": "t", "file": "x"}
    assert declared_guarantee(config).delivery is Delivery.EXACTLY_ONCE
    assert declared_guarantee(config).atomicity is Atomicity.INTERVAL
    assert declared_guarantee({"connector.class": "NoSuchConnector"}).delivery is Delivery.UNKNOWN
