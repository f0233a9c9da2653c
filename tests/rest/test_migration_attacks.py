"""What a caller, or the cluster it names, tries through an import: hosts, sizes, times, and the password."""

from __future__ import annotations

import base64
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi import FastAPI

from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConfigError
from connect_core.migration import cluster
from connect_core.migration.cluster import open_bounded_api
from connect_core.migration.transport import Bounds
from connect_core.rest import LoopbackAuthorizer
from connect_core.rest.v1 import migration
from tests.herder.harness import SOURCE, Harness, worker
from tests.migration.fake_connect import FakeConnect, FakeConnector
from tests.migration.served_connect import served_connect
from tests.rest.conftest import Client, app_of
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server

pytestmark = pytest.mark.slow

LIST = "/connectors?expand=info&expand=status"
PASSWORD = "canary-4711-of-the-other-cluster"
BASIC = base64.b64encode(f"mover:{PASSWORD}".encode()).decode()
LOGIN = {"user": "mover", "password": PASSWORD}


@pytest.fixture(autouse=True)
def is_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_RETRY_SECONDS", 0.5)


@pytest.fixture
def faults() -> Iterator[FaultServer]:
    with fault_server() as started:
        yield started


def report(call: Client, url: str, **more: Any) -> tuple[int, str]:
    answer = call("POST", "/v1/import/report", {"url": url, **LOGIN, **more})
    assert PASSWORD not in answer.text
    assert BASIC not in answer.text
    return answer.status, answer.text if answer.status < 400 else answer.json["message"]


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "2852039166", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200", "0.0.0.0"],
)
@pytest.mark.parametrize("path", ["/v1/import/report", "/v1/connectors/a/import", "/v1/connectors/a/switch"])
def test_metadata_services_are_not_called(harness: Harness, call: Client, host: str, path: str) -> None:
    if path.endswith("switch"):
        harness.create("a")
    answer = call("POST", path, {"url": f"http://{host}:80/latest", **LOGIN})
    assert (answer.status, "link-local, metadata or multicast" in answer.text) == (400, True), answer.text


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/x",
        "//127.0.0.1",
        "http://[",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://\x00/",
        f"http://mover:{PASSWORD}@127.0.0.1:1/",
        f"http://{PASSWORD}@127.0.0.1:1/",
        "",
        "h" * 3000,
    ],
)
def test_an_address_that_is_none_is_refused(call: Client, url: str) -> None:
    status, message = report(call, url)
    assert status == 400, message


def test_a_redirect_is_not_followed(call: Client, faults: FaultServer) -> None:
    """Not to a metadata service, and nowhere else: the login would go along."""
    for target in ("http://169.254.169.254/latest", f"{faults.url}/else", "//evil.example/"):
        faults.answers[LIST] = [Answer(302, b"", {"Location": target})]
        status, message = report(call, faults.url)
        assert (status, "answered 302" in message) == (500, True)
    assert {path for _, path, _ in faults.requests} == {LIST}


def test_a_name_that_comes_to_mean_a_metadata_service_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that is connected to is one that was checked: the name is looked up again for each connection."""
    answers = iter(["127.0.0.1", "169.254.169.254"])
    called: list[Any] = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: [(2, 1, 6, "", (next(answers), 0))])
    monkeypatch.setattr("socket.create_connection", lambda *given, **_: called.append(given))
    bounds = Bounds(WorkerLimits(), time.monotonic() + 5)
    with (
        open_bounded_api("http://rebound.example:1", bounds) as api,
        pytest.raises(ConfigError, match="link-local"),
    ):
        api.connectors()
    assert called == []


def test_an_unlisted_address_of_a_listed_name_is_not_called(
    harness: Harness, serve: Callable[[FastAPI], Client]
) -> None:
    harness.herder = replace(harness.herder, worker=worker(**{"limits.hosts.allowed": "10.0.0.0/8"}))
    call = serve(app_of(harness, LoopbackAuthorizer()))
    status, message = report(call, "http://localhost:1")
    assert (status, "limits.hosts.allowed" in message) == (400, True)


def test_an_answer_without_end_is_cut_off(call: Client, faults: FaultServer) -> None:
    faults.answers[LIST] = [Answer(body=b" " * (17 << 20))]
    status, message = report(call, faults.url)
    assert (status, "more than 16 MiB" in message) == (500, True)


def test_a_compressed_answer_is_not_expanded(call: Client, faults: FaultServer) -> None:
    for encoding in ("gzip", "zstd", "br"):
        faults.answers[LIST] = [Answer(body=gzip.compress(b"{}"), headers={"Content-Encoding": encoding})]
        status, message = report(call, faults.url)
        assert (status, "compressed body" in message) == (500, True)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b"{}}",
        b"null",
        b'"x"',
        b"[1]",
        b'{"a": 1}',
        b'{"a": "x"}',
        b'{"a": {"info": {"config": [1]}, "status": {"tasks": 3}}}',
        b'{"a": {"info": {"config": {"connector.class": {"x": 1}}}, "status": {"connector": "x"}}}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_answer_of_connect_is_said(call: Client, faults: FaultServer, body: bytes) -> None:
    faults.answers[LIST] = [Answer(body=body)]
    status, message = report(call, faults.url)
    assert status == 500, message
    assert "see the log" not in message


def test_odd_offsets_are_refused(call: Client, faults: FaultServer) -> None:
    faults.answers["/connectors/a"] = [Answer(body=json.dumps({"config": SOURCE, "type": "source"}).encode())]
    faults.answers["/connectors/a/status"] = [Answer(body=b'{"connector": {"state": "RUNNING"}, "tasks": []}')]
    for body in (b'{"offsets": 3}', b'{"offsets": [3]}', b'{"offsets": [{"partition": 1, "offset": {}}]}'):
        faults.answers["/connectors/a/offsets"] = [Answer(body=body)]
        answer = call("POST", "/v1/connectors/a/import", {"url": faults.url})
        assert (answer.status, "in a different form" in answer.text) == (500, True), answer.text


@contextmanager
def dripping(head: bytes) -> Iterator[str]:
    """A server that sends a byte of its answer now and then, for ever."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip(connection: socket.socket) -> None:
            with connection:
                try:
                    connection.sendall(head)
                    while not ended.wait(0.1):
                        connection.sendall(b"x")
                except OSError:
                    return

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=drip, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        ended.set()
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"],
    ids=["no answer", "headers", "body"],
)
def test_a_slow_answer_ends_in_time(call: Client, monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    """Each byte comes in time, all of them never do: the limit is that of the whole request."""
    monkeypatch.setattr(migration, "_CALLS_SECONDS", 1.0)
    with dripping(head) as url:
        began = time.monotonic()
        status, message = report(call, url)
        assert time.monotonic() - began < 10
    assert status in (500, 503)
    assert "got no response" in message


def test_requests_that_wait_for_clusters_leave_threads_to_others(call: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "_CALLS_SECONDS", 2.0)
    found: list[tuple[int, str]] = []
    with dripping(b"") as url:
        threads = [threading.Thread(target=lambda: found.append(report(call, url))) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.5)
        assert call("GET", "/v1/connectors").status == 200
        for thread in threads:
            thread.join()
    refused = [(status, message) for status, message in found if "the limit: try again" in message]
    assert [status for status, _ in refused] == [503] * 4


@pytest.mark.parametrize(
    "body",
    [
        {"url": "http://127.0.0.1:1", "password": "x" * 6000},
        {"url": "http://127.0.0.1:1", "password": [PASSWORD]},
        {"url": "http://127.0.0.1:1", "password": {"p": PASSWORD}},
        {"url": "http://127.0.0.1:1", "passwort": PASSWORD},
        {"url": ["http://127.0.0.1:1"], "password": PASSWORD},
        {"url": "http://127.0.0.1:1", "password": PASSWORD, "seconds": 1000},
        {"url": "https://127.0.0.1:1", "password": PASSWORD, "ca": "no certificate"},
        {"url": "https://127.0.0.1:1", "password": PASSWORD, "ca": "ümlaut"},
        {"url": "http://127.0.0.1:1", "password": PASSWORD, "names": ["x"] * 1001},
        {
            "url": "http://127.0.0.1:1",
            "password": PASSWORD,
            "converters": {f"key.converter.{n}": "" for n in range(201)},
        },
        b'{"url": "http://127.0.0.1:1", "password": "' + PASSWORD.encode(),
    ],
)
def test_a_body_that_is_refused_is_not_repeated(call: Client, body: Any) -> None:
    answer = call("POST", "/v1/import/report", body, {"Content-Type": "application/json"})
    assert answer.status == 400, answer.text
    assert PASSWORD not in answer.text


def test_the_password_is_nowhere(harness: Harness, call: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Not in answers, logs, audit or the database: not of what succeeds, nor of what fails at each call."""
    caplog.set_level(logging.DEBUG)
    told: list[str] = []

    def tell(path: str, **more: Any) -> None:
        told.append(call("POST", path, {"url": served.url, **LOGIN, **more}).text)

    there = FakeConnect({"a": FakeConnector(dict(SOURCE), offsets={'{"filename":"/tmp/a.txt"}': {"position": 1}})})
    with served_connect(there, f"mover:{PASSWORD}", is_required=True) as served:
        tell("/v1/import/report")
        tell("/v1/connectors/a/import")
        tell("/v1/connectors/a/switch", seconds=0)
        tell("/v1/connectors/a/switch")
        tell("/v1/connectors/a/switch", back=True)
    tell("/v1/import/report", seconds=0.1)
    # This one refuses the login, and repeats what it was given.
    with served_connect(there, "other:login", is_required=True) as served:
        for path in ("/v1/import/report", "/v1/connectors/a/import", "/v1/connectors/a/switch"):
            tell(path)
            assert "its message contains the login" in told[-1]
    for path in ("", "/config", "/status", "/offsets"):
        told.append(call("GET", f"/connectors/a{path}").text)
    for path in ("/acts", "/switch", "/config/history"):
        told.append(call("GET", f"/v1/connectors/a{path}").text)
    assert "begin switch" in told[-3]
    told.append(caplog.text)
    assert "401" in caplog.text
    with harness.database.read() as connection:
        tables = sa.inspect(connection).get_table_names()
        told += [str(connection.execute(sa.text(f"SELECT * FROM {table}")).fetchall()) for table in tables]
    assert len(told) > 25
    for text in told:
        assert PASSWORD not in text
        assert BASIC not in text


def test_a_message_that_repeats_the_password_alone_is_not_quoted(call: Client) -> None:
    there = FakeConnect()
    with served_connect(there, f"mover:{PASSWORD}") as served:
        for message, is_quoted in ((f"no {PASSWORD}!", False), ("no, never", True)):
            there.answers = [httpx.Response(500, json={"message": message})]
            status, said = report(call, served.url)
            assert (status, message in said) == (500, is_quoted)


def test_a_host_that_does_not_answer_is_said(call: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}", "http://no-such-host.invalid"):
        status, message = report(call, url)
        assert (status, "got no response (ConnectError): is it running, and is the URL right?" in message) == (
            503,
            True,
        )
