"""One private broker a session; CONNECT_TEST_BOOTSTRAP_SERVERS names another to use."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from connect_core.dev.stack import Stack
from tests.kafka.cluster import Cluster
from tests.kafka.proxy import BrokerProxy


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker of our own."""
    named = os.environ.get("CONNECT_TEST_BOOTSTRAP_SERVERS")
    if named:
        yield Cluster(named)
        return
    stack = Stack(tmp_path_factory.mktemp("kafka"), services=("kafka",))
    stack.up()
    try:
        yield Cluster(stack.environment()["CONNECT_BOOTSTRAP_SERVERS"])
    finally:
        stack.down()


@pytest.fixture
def proxy(cluster: Cluster) -> Iterator[BrokerProxy]:
    """A way to the broker that can be cut."""
    with BrokerProxy(cluster.bootstrap) as proxy:
        yield proxy
