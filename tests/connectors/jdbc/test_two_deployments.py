"""Two deployments with one connector's name, one target and one table of positions."""

from __future__ import annotations

import pytest

from connect_core.api.records import TopicPartition
from connect_core.api.sink import IntervalKey
from connect_core.errors import ConfigError
from tests.connectors.jdbc.servers import Server
from tests.connectors.jdbc.sink_runs import SinkRun, order

SETTINGS = {"insert.mode": "insert", "auto.create": "true"}
PART = TopicPartition("orders", 0)


def test_positions_of_another_deployment_are_refused_by_name(server: Server) -> None:
    here, there = (SinkRun(server, SETTINGS, deployment=name) for name in ("here", "there"))
    here.put([order(0, 1), order(1, 2)])
    with pytest.raises(ConfigError, match=r"connector copy of the deployment here \(this one is there\)"):
        there.fence()
    with pytest.raises(ConfigError, match="kafka_topic='deployment:here'"):
        there.committer().abandon(IntervalKey("copy", 1, 1, 9), {PART: 0})
    # Nothing of what was refused stands: the first one goes on under its epoch.
    here.put([order(2, 3)])
    assert [row[0] for row in here.rows("SELECT id FROM orders ORDER BY 1")] == [1, 2, 3]
    assert here.fence() == {PART: 3}


def test_a_deployment_finds_its_own_again(server: Server) -> None:
    SinkRun(server, SETTINGS, deployment="here").put([order(0, 1)])
    anew = SinkRun(server, SETTINGS, deployment="here", epoch=1)
    assert anew.fence() == {PART: 1}


def test_who_deletes_its_connector_leaves_the_place_to_others(server: Server) -> None:
    here, there = (SinkRun(server, SETTINGS, deployment=name) for name in ("here", "there"))
    here.put([order(0, 1)])
    here.committer().release()
    there.epoch = here.epoch
    assert there.fence() == {}
    with pytest.raises(ConfigError, match="deployment there"):
        SinkRun(server, SETTINGS, deployment="here", epoch=there.epoch).fence()


def test_positions_of_before_are_the_first_ones(server: Server) -> None:
    """Tables of earlier versions name nobody."""
    old = SinkRun(server, SETTINGS)
    old.put([order(0, 1)])
    mine = SinkRun(server, SETTINGS, deployment="here", epoch=old.epoch)
    assert mine.fence() == {PART: 1}
    with pytest.raises(ConfigError, match="deployment here"):
        SinkRun(server, SETTINGS, deployment="there", epoch=mine.epoch).fence()
