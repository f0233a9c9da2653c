"""The client of Connect's REST API: what is tried again, what is not, and what an error says."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from connect_core.errors import BadRequestError, ConfigError, ConnectError, NotFoundError, RetriableError
from connect_core.migration.cluster import Tls, open_api
from connect_core.migration.connect_api import ConnectApi
from tests.migration.fake_connect import FakeConnect, FakeConnector

BUSY = httpx.Response(409, json={"error_code": 409, "message": "Cannot complete request because of a rebalance"})
TIMED_OUT = httpx.Response(500, json={"error_code": 500, "message": "Request timed out. The worker is currently …"})
AWAY = httpx.Response(503, text="<html>proxy</html>")


def cluster() -> FakeConnect:
    return FakeConnect({"a b/c": FakeConnector({"connector.class": "X", "none": ""}, offsets={'{"f":"x"}': {"p": 1}})})


def test_connectors_are_read_by_one_call() -> None:
    there = cluster()
    with there.api() as api:
        (one,) = api.connectors()
    assert (one.name, one.type, one.state, one.tasks) == ("a b/c", "source", "RUNNING", ("RUNNING",))
    assert dict(one.config) == {"connector.class": "X", "none": ""}
    assert len(there.calls) == 1


@pytest.mark.parametrize("answer", [BUSY, TIMED_OUT, AWAY, httpx.ConnectError("no")])
def test_what_passes_is_tried_again(answer: httpx.Response | Exception) -> None:
    there = cluster()
    there.answers = [answer, answer]
    with there.api() as api:
        assert api.plugins() == []
    assert len(there.calls) == 3


@pytest.mark.parametrize("answer", [BUSY, httpx.ReadTimeout("slow at http://jo:hunter2@there")])
def test_what_does_not_pass_is_told_in_time(answer: httpx.Response | Exception) -> None:
    there = cluster()
    there.answers = [answer] * 1000
    with (
        there.api(retry_seconds=0.0) as api,
        pytest.raises(RetriableError, match="GET http://there:8083/conn") as caught,
    ):
        api.plugins()
    assert "hunter2" not in str(caught.value)
    assert len(there.calls) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (httpx.Response(500, json={"message": "offsets are wrong"}), ConnectError, "500: offsets are wrong"),
        (httpx.Response(400, json={"message": "bad"}), BadRequestError, "400: bad"),
        (httpx.Response(404, json={"message": "gone"}), NotFoundError, "404: gone"),
        (
            httpx.Response(401, text="<html/>"),
            ConnectError,
            r"401: Unauthorized. Use a login with this permission \(--login",
        ),
        (httpx.Response(405, json={"message": "no such method"}), BadRequestError, "requires Kafka Connect 3.6"),
        (httpx.Response(200, text="<html>hello</html>"), ConnectError, "is it the URL of a Kafka Connect REST API"),
        (httpx.Response(200, json=["a"]), ConnectError, "2.3 or newer"),
    ],
)
def test_an_error_says_what_is_wrong(answer: httpx.Response, kind: type[ConnectError], message: str) -> None:
    there = cluster()
    there.answers = [answer]
    with there.api() as api, pytest.raises(kind, match=message):
        api.connectors()
    assert len(there.calls) == 1


@pytest.mark.parametrize("url", ["localhost:8083", "ftp://there", "http://", "http://there:port", "connect"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="write http://HOST:8083"), open_api(url):
        pass


def test_an_address_keeps_its_path(tmp_path: Path) -> None:
    with open_api("https://there:8443/connect/?x=1#y", ("jo", "hunter2")) as api:
        assert api.address == "https://there:8443/connect"
        assert "hunter2" not in repr(api)
    with pytest.raises(ConfigError, match=r"Cannot use the certificates of .*missing\.pem"):
        Tls(ca=tmp_path / "missing.pem").context()


def test_names_are_quoted_in_paths() -> None:
    there = cluster()
    with there.api() as api, pytest.raises(NotFoundError):
        api.connector("é?#")
    assert there.calls == ["GET /connectors/%C3%A9%3F%23"]


class Clock:
    """A clock on which only pauses and unanswered calls take time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds_a_call: float = 0.0) -> None:
        self.now = 0.0
        self.seconds_a_call = seconds_a_call
        monkeypatch.setattr("connect_core.migration.connect_api.time.monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def api(self, client: httpx.Client) -> ConnectApi:
        return ConnectApi(client, "http://there:8083", sleep=self.sleep)

    def no_response(self, request: httpx.Request) -> httpx.Response:
        self.now += min(self.seconds_a_call, request.extensions["timeout"]["read"])
        raise httpx.ReadTimeout("slow")


def test_a_wrong_address_is_told_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with (
        httpx.Client(base_url="http://there:8083", transport=httpx.MockTransport(clock.no_response)) as client,
        pytest.raises(RetriableError, match="is the URL right"),
    ):
        clock.api(client).connectors()
    assert clock.now <= 10


def test_a_cluster_that_ends_in_the_middle_costs_minutes_not_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 1000.0)
    with httpx.Client(
        base_url="http://there:8083",
        transport=httpx.MockTransport(
            lambda request: clock.no_response(request) if clock.now else httpx.Response(200, json={})
        ),
    ) as client:
        api = clock.api(client)
        assert api.connectors() == []
        clock.now = 1.0
        for number in range(200):
            with pytest.raises(RetriableError):
                api.offsets(f"a{number}")
    assert clock.now < 15 * 60


def test_a_busy_cluster_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    with httpx.Client(
        base_url="http://there:8083",
        transport=httpx.MockTransport(lambda request: BUSY if clock.now < 80 else httpx.Response(200, json={})),
    ) as client:
        assert clock.api(client).connectors() == []


def test_a_redirect_is_told_with_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    there = cluster()
    there.answers = [httpx.Response(301, headers={"location": "https://jo:hunter2@there:8443/connectors?x=1"})]
    with (
        there.api() as api,
        pytest.raises(ConnectError, match=r"give the address that it leads to \(https://there:8443"),
    ):
        api.connectors()


def test_an_old_cluster_that_cannot_stop_is_told_with_the_way_around() -> None:
    there = FakeConnect({"a": FakeConnector({"connector.class": "X"})})
    there.answers = [httpx.Response(404, json={"message": "HTTP 404 Not Found"})]
    with (
        there.api() as api,
        pytest.raises(BadRequestError, match=r"requires Kafka Connect 3\.5.*--offsets-topic TOPIC"),
    ):
        api.stop("a")
    with there.api() as api, pytest.raises(NotFoundError, match="Connector gone not found"):
        api.stop("gone")
