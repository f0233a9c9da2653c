"""Connections go to the addresses that were checked, whatever a name stands for later (DNS rebinding)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from connect_core.connectors.jdbc.source.arrow_reader import ArrowReader
from connect_core.errors import ConfigError, RetriableError
from tests.connectors.jdbc.servers import Server, of_servers, replace_config

NAME = "database.example.invalid"
METADATA = "169.254.169.254"


class Resolver:
    """The system's resolver, but for one name that stands for what the test says."""

    def __init__(self) -> None:
        self.real, self.addresses, self.asked = socket.getaddrinfo, ["127.0.0.1"], 0

    def __call__(self, host: str, port: int | str | None, *given: Any, **named: Any) -> Any:
        if host != NAME:
            return self.real(host, port, *given, **named)
        self.asked += 1
        if not self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in self.addresses]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    made = Resolver()
    monkeypatch.setattr("socket.getaddrinfo", made)
    return made


def by_name(server: Server) -> Server:
    """Return the same server, under a name that only the test's resolver knows."""
    url = server.config["connection.url"].replace("127.0.0.1", NAME)
    return replace_config(server, {"connection.url": url, "connection.attempts": "1"}, without="")


@contextmanager
def listening(address: str) -> Iterator[socket.socket]:
    with socket.create_server((address, 0)) as made:
        made.settimeout(0.2)
        yield made


@pytest.mark.parametrize("server", of_servers(("postgresql", "mariadb")), indirect=True)
def test_connection_goes_where_the_checked_name_led(server: Server, resolver: Resolver) -> None:
    named = by_name(server)
    # An address that does not answer is passed over.
    resolver.addresses = ["127.0.0.77", "127.0.0.1"]
    with named.open().connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1
    assert resolver.asked == 2, "once for the settings, once for the connection"


@pytest.mark.parametrize("server", of_servers(("postgresql", "mariadb")), indirect=True)
def test_name_that_comes_to_mean_a_metadata_service_is_not_called(server: Server, resolver: Resolver) -> None:
    database = by_name(server).open()
    resolver.addresses = [METADATA]
    with pytest.raises(ConfigError, match="link-local"), database.connect():
        pass
    resolver.addresses = ["127.0.0.1", METADATA]
    with pytest.raises(ConfigError, match="link-local"), database.connect():
        pass
    resolver.addresses = []
    with pytest.raises(RetriableError, match=f"{NAME} of connection.url has no address"), database.connect():
        pass
    resolver.addresses = ["127.0.0.1"]
    with database.connect() as connection:
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1


@pytest.mark.servers
def test_columns_are_read_from_the_checked_address(postgresql: Server, resolver: Resolver) -> None:
    database = by_name(postgresql).open()
    reader = ArrowReader(database)
    assert [table.num_rows for table in reader.chunks(sa.select(sa.text("1 AS one")), 10)] == [1]
    reader.close()
    resolver.addresses = [METADATA]
    with pytest.raises(ConfigError, match="link-local"):
        ArrowReader(database)


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_unlisted_address_is_never_reached(request: pytest.FixtureRequest, resolver: Resolver, kind: str) -> None:
    server = by_name(request.getfixturevalue(kind))
    limited = Server(server.kind, server.config, type(server.limits)(values={"hosts.allowed": "127.0.0.1"}))
    database = limited.open()
    with listening("127.0.0.2") as forbidden:
        resolver.addresses = ["127.0.0.2"]
        with pytest.raises(ConfigError, match=r"limits\.hosts\.allowed"), database.connect():
            pass
        with pytest.raises(TimeoutError):
            forbidden.accept()
