"""REST catalogs that do not answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from connect_core.api import WorkerLimits
from connect_core.connectors.iceberg.catalog import open_catalog
from connect_core.connectors.iceberg.config import Settings
from connect_core.errors import ConfigError, RetriableError

pytestmark = pytest.mark.slow


@pytest.fixture
def unresponsive() -> Iterator[str]:
    """The address of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def settings(address: str, **more: str) -> Settings:
    properties = {"type": "rest", "uri": address, "rest.client.socket-timeout-ms": "100", **more}
    return Settings.of(
        {"iceberg.tables": "db.t", **{f"iceberg.catalog.{key}": value for key, value in properties.items()}}
    )


SIGNED = {"rest.sigv4-enabled": "true", "rest.signing-region": "x"}


@pytest.mark.parametrize("more", [{}, {"credential": "a:b"}, SIGNED], ids=["plain", "token", "signed"])
@pytest.mark.filterwarnings("ignore:Deprecated in 0.8.0:DeprecationWarning")
def test_a_catalog_that_does_not_answer_is_asked_again(
    unresponsive: str, more: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    with pytest.raises(RetriableError, match="timed out"):
        open_catalog(settings(unresponsive, **more), WorkerLimits())


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "soon", ""])
def test_a_time_limit_is_a_positive_number(unresponsive: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"rest\.client\.socket-timeout-ms.*positive number"):
        open_catalog(settings(unresponsive, **{"rest.client.socket-timeout-ms": value}), WorkerLimits())
