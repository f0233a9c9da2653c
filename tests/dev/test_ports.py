import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from connect_core.dev.home import Home
from connect_core.dev.ports import choose, is_free, listens, port_of, release
from connect_core.dev.processes import ProcessId
from connect_core.errors import ConnectError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / ".connect", tmp_path)


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_choose_moves_from_a_taken_port_and_says_so(home: Home, taken: int) -> None:
    said: list[str] = []
    port = choose(home, "kafka", "port", taken, said.append)
    assert port != taken
    assert is_free(port)
    assert said == [f"kafka: port {taken} is in use, using {port}"]
    assert port_of(home, "kafka") == port


def test_choose_keeps_the_port_used_before(home: Home, taken: int) -> None:
    first = choose(home, "kafka", "port", taken, lambda line: None)
    assert choose(home, "kafka", "port", 9092, lambda line: None) == first


def test_port_another_stack_has_chosen_is_left_to_it_until_it_ends(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other", tmp_path)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        free = server.getsockname()[1]
    assert choose(other, "kafka", "port", free, lambda line: None) == free
    assert choose(home, "kafka", "port", free, lambda line: None) != free
    release(other)
    assert choose(home, "spark", "port", free, lambda line: None) == free


def test_a_service_never_gets_one_port_for_two_purposes(home: Home) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        free = server.getsockname()[1]
    assert choose(home, "kafka", "port", free, lambda line: None) == free
    assert choose(home, "kafka", "controller_port", free, lambda line: None) != free


def test_only_the_process_that_accepts_connections_listens(taken: int) -> None:
    this = ProcessId.of(os.getpid())
    assert this is not None
    assert listens(this, taken)
    assert not listens(this, taken + 1)


def test_choose_refuses_a_fixed_port_that_is_taken(home: Home, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONNECT_AIRFLOW_API_SERVER_PORT", str(taken))
    with pytest.raises(ConnectError, match=f"Port {taken} for airflow-api-server is used .* use another port"):
        choose(home, "airflow-api-server", "port", 8080, lambda line: None)
