"""Addresses the REST API listens on."""

from __future__ import annotations

import pytest

from connect_core.errors import ConfigError
from connect_core.settings.listeners import Listener, parse_listener


@pytest.mark.parametrize(
    ("address", "listener"),
    [
        ("HTTP://myhost:8083", Listener("http", "myhost", 8083)),
        (" https://0.0.0.0:443 ", Listener("https", "0.0.0.0", 443)),
        ("http://:8083", Listener("http", "127.0.0.1", 8083)),
        ("http://[::1]:80", Listener("http", "::1", 80)),
    ],
)
def test_listener_reads_addresses(address: str, listener: Listener) -> None:
    assert parse_listener("listeners", address) == listener
    assert parse_listener("listeners", str(listener)) == listener


@pytest.mark.parametrize("address", ["", "8083", "ftp://h:1", "http://h", "http://h:99999", "http://h:1/x"])
def test_listener_refuses_others(address: str) -> None:
    with pytest.raises(ConfigError, match="Write protocol, host and port"):
        parse_listener("listeners", address)
