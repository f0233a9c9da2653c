"""Where the API listens."""

from __future__ import annotations

import socket

import pytest

from connect_core.errors import ConfigError, ConnectError
from connect_core.rest import LoopbackAuthorizer, check_listeners, serve_in_thread
from connect_core.settings import Listener
from tests.herder.harness import Harness
from tests.rest.conftest import app_of


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "connect.example"])
def test_public_address_without_a_login_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="Without a login"):
        check_listeners([Listener("http", host, 8083)])


def test_tls_is_left_to_a_proxy() -> None:
    with pytest.raises(ConfigError, match="TLS"):
        check_listeners([Listener("https", "127.0.0.1", 8083)])


def test_public_address_with_a_login_is_fine() -> None:
    check_listeners([Listener("http", "0.0.0.0", 8083)], has_login=True)


def test_loopback_needs_no_login() -> None:
    check_listeners([Listener("http", "127.0.0.1", 8083), Listener("http", "localhost", 1)])


def test_taken_port_is_named(harness: Harness) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConnectError, match=f"cannot listen on http://127.0.0.1:{port}"):
            serve_in_thread(app_of(harness, LoopbackAuthorizer()), Listener("http", "127.0.0.1", port))


def test_stopped_server_is_gone(harness: Harness) -> None:
    server = serve_in_thread(app_of(harness, LoopbackAuthorizer()), Listener("http", "127.0.0.1", 0))
    server.stop()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=5)
