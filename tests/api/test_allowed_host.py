"""Which hosts a connector may call."""

from __future__ import annotations

import pytest

from connect_core.api.allowed_host import ensure_allowed_host
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.jdbc.address import database_url
from connect_core.errors import ConfigError


def check(host: str, listed: str = "") -> None:
    ensure_allowed_host("url", host, WorkerLimits((), {"hosts.allowed": listed}))


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.0.1",
        "2852039166",
        "0xA9.0xFE.0xA9.0xFE",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::1]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "168.63.129.16",
        "224.0.0.1",
        "0.0.0.0",
        "[::]",
    ],
)
def test_metadata_and_link_local_addresses_are_refused_by_default(host: str) -> None:
    with pytest.raises(ConfigError, match="link-local, metadata or multicast"):
        check(host)
    with pytest.raises(ConfigError, match="link-local, metadata or multicast"):
        database_url(f"jdbc:postgresql://{host}:80/x", (None, None), WorkerLimits())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.1.2.3", "[::1]", "no-such-host.invalid"])
def test_other_hosts_are_allowed_by_default(host: str) -> None:
    check(host)


@pytest.mark.parametrize(
    ("host", "listed"),
    [
        ("localhost", "localhost"),
        ("LOCALHOST.", "localhost"),
        ("db.example.invalid", "*.example.invalid, other"),
        ("127.0.0.1", "127.0.0.0/8"),
        ("localhost", "127.0.0.0/8,::1"),
        ("169.254.169.254", "169.254.169.254"),
    ],
)
def test_listed_hosts_are_allowed(host: str, listed: str) -> None:
    check(host, listed)


@pytest.mark.parametrize(
    ("host", "listed"),
    [
        ("10.0.0.1", "127.0.0.0/8"),
        ("localhost", "db.example.invalid"),
        ("example.invalid", "*.example.invalid"),
        ("evilexample.invalid", "*.example.invalid"),
        ("nowhere.invalid", "localhost"),
    ],
)
def test_hosts_that_are_not_listed_are_refused(host: str, listed: str) -> None:
    with pytest.raises(ConfigError, match=r"limits\.hosts\.allowed"):
        check(host, listed)


def test_name_of_the_list_does_not_lead_to_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = [(2, 1, 6, "", ("169.254.169.254", 0))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(ConfigError, match="link-local"):
        check("db.example.invalid", "db.example.invalid")
