"""A pattern of topics never matches what another connector keeps its offsets in, whoever asks."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from connect_core.effects.worker import ConnectorWorker
from connect_core.herder.lag import get_lag
from connect_core.herder.topic_ends import TopicEnds
from connect_core.interval import effects as fx
from connect_core.interval.values import ConnectorType, TargetState
from connect_core.run.probe import open_probe
from connect_core.store import connectors
from connect_core.store.connectors import NewConfig
from tests.herder.conftest import harness, sqlite_template
from tests.herder.harness import SINK, SOURCE, Harness, worker
from tests.kafka.cluster import Cluster

__all__ = ["harness", "sqlite_template"]
pytestmark = pytest.mark.servers


def test_pattern_matches_no_offsets_topic_in_use(cluster: Cluster, harness: Harness) -> None:
    prefix = f"shop-{uuid.uuid4().hex[:8]}"
    data, offsets = cluster.create(name=f"{prefix}-orders"), cluster.create(name=f"{prefix}-offsets")
    settings = worker(**{"bootstrap.servers": cluster.bootstrap}).with_standalone_id("alone")
    sink = {key: value for key, value in SINK.items() if key != "topics"} | {"topics.regex": f"{prefix}-.*"}
    stored = {
        "source": (ConnectorType.SOURCE, {**SOURCE, "offsets.storage.topic": offsets}),
        "sink": (ConnectorType.SINK, sink),
    }
    with harness.database.write() as connection:
        for name, (kind, config) in stored.items():
            connectors.create(connection, name, NewConfig(kind, {**config, "name": name}), TargetState.STARTED)
    driver = ConnectorWorker(settings, harness.database, "sink")
    driver.handlers()[fx.LoadConnector](fx.LoadConnector("sink"))
    found = driver.handlers()[fx.ReadPartitionEnds](fx.ReadPartitionEnds((), sink["topics.regex"]))
    driver.close()
    assert {part.topic for part in found} == {data}
    probe = open_probe(settings, harness.database)
    assert {part.topic for part in probe.admin.partition_ends((), sink["topics.regex"])} == {data}
    herder = replace(harness.herder, ends=TopicEnds(probe.admin))
    assert {part.topic for part in get_lag(herder, "sink").partitions} == {data}
