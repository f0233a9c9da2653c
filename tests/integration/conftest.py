"""Real servers for integration tests: one private stack a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.stack import Stack
from tests.integration.plugin_worker import PluginWorker, plugin_worker
from tests.integration.topics import Topics


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Kafka, PostgreSQL and Spark Connect, with ports and processes of their own."""
    servers = Stack(tmp_path_factory.mktemp("stack"), services=("postgres", "kafka", "spark"))
    servers.up()
    try:
        yield servers
    finally:
        servers.down()


@pytest.fixture(scope="session")
def bootstrap(stack: Stack) -> str:
    """The broker's address."""
    return stack.environment()["CONNECT_BOOTSTRAP_SERVERS"]


@pytest.fixture(scope="session")
def topics(bootstrap: str) -> Topics:
    """Kafka's own client: makes topics, writes and reads them."""
    return Topics(bootstrap)


@pytest.fixture(scope="session")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    """A standalone worker with the users' connectors of the tests; each test deletes its connectors."""
    with plugin_worker(tmp_path_factory.mktemp("worker"), bootstrap) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder the connectors may use."""
    return tmp_path
