"""The client before a registry that fails in every way, and what is remembered of its answers."""

from __future__ import annotations

import json
import pickle
import threading
import time
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import pytest
import zstandard

from connect_core.errors import ConfigError, RetriableError, ServiceError
from connect_core.schema_registry.caching import CachedRegistry, release_registry, shared_registry
from connect_core.schema_registry.errors import SchemaRegistryError, UnavailableRegistryError
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaReference, SchemaText
from connect_core.schema_registry.references import resolved_references
from connect_core.schema_registry.settings import ClientSettings, RegistrySettings
from tests.integration.ports import free_port
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server, refusal, schema

pytestmark = pytest.mark.slow

INT = SchemaText(SchemaKind.AVRO, '"int"')
# A hundred threads that start on a busy machine may take longer than the short time-out of the other tests.
PATIENT = {"http_read_timeout_ms": "30000"}
QUICK = {"retries.wait.ms": "10", "retries.max.wait.ms": "50", "http.read.timeout.ms": "300"}


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as found:
        yield found


def settings_of(url: str, **settings: str) -> ClientSettings:
    given = {"schema.registry.url": url, **QUICK, **{name.replace("_", "."): text for name, text in settings.items()}}
    return RegistrySettings.of(given, False).client


def registry_of(url: str, **settings: str) -> CachedRegistry:
    return CachedRegistry(settings_of(url, **settings))


def refused(registry: CachedRegistry, id: int = 1) -> SchemaRegistryError:
    with pytest.raises(SchemaRegistryError) as error:
        registry.by_id(id)
    return error.value


@pytest.mark.parametrize(
    ("status", "code", "is_retriable", "is_of_record"),
    [(401, 401, False, False), (403, 403, False, False), (404, 404, False, False), (301, 0, False, False)]
    + [(404, 40403, False, True), (409, 409, False, True), (422, 42201, False, True), (422, 42205, False, False)]
    + [(status, status, True, False) for status in (408, 429, 500, 502, 503, 504)],
)
def test_statuses(server: FaultServer, status: int, code: int, is_retriable: bool, is_of_record: bool) -> None:
    server.answers["/schemas/ids/1"] = [refusal(status, code, "for a reason")]
    error = refused(registry_of(server.url))
    assert (error.status, error.error_code, isinstance(error, RetriableError)) == (status, code, is_retriable)
    assert isinstance(error, ServiceError) != is_of_record
    assert "for a reason" in str(error)
    assert server.url in str(error)
    assert server.count("/schemas/ids/1") == (4 if is_retriable else 1)


def test_a_server_without_such_a_path_is_remembered_as_that(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [refusal(404, 404)]
    registry = registry_of(server.url)
    assert [isinstance(refused(registry), ServiceError) for _ in range(2)] == [True, True]
    assert server.count("/schemas/ids/1") == 1


def test_errors_are_pickled_whole(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [refusal(503, 50301)]
    again = pickle.loads(pickle.dumps(refused(registry_of(server.url))))
    assert (type(again), again.status, again.error_code) == (UnavailableRegistryError, 503, 50301)


def test_what_fails_for_a_while_is_asked_again(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [refusal(500, 1), Answer(429, headers={"Retry-After": "0"}), schema()]
    assert registry_of(server.url).by_id(1).schema == INT


@pytest.mark.parametrize("is_date", [False, True])
def test_retry_after_is_honoured_within_limits(server: FaultServer, is_date: bool) -> None:
    text = formatdate(time.time() + 3600, usegmt=True) if is_date else "1"
    server.answers["/schemas/ids/1"] = [Answer(429, headers={"Retry-After": text}), schema()]
    began = time.monotonic()
    registry_of(server.url, retries_max_wait_ms="400").by_id(1)
    assert 0.35 < time.monotonic() - began < 5


def test_a_hanging_registry_ends_in_time(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(seconds=30)]
    began = time.monotonic()
    error = refused(registry_of(server.url, schema_registry_request_timeout_ms="500", http_read_timeout_ms="60000"))
    assert isinstance(error, RetriableError)
    assert time.monotonic() - began < 5


def test_a_trickling_answer_ends_in_time(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(body=b" " * 100, seconds=0.1, pieces=100)]
    began = time.monotonic()
    error = refused(registry_of(server.url, schema_registry_request_timeout_ms="500"))
    assert "takes too long" in str(error)
    assert time.monotonic() - began < 5


def test_a_slow_registry_is_waited_for(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(body=schema().body, seconds=0.2)]
    assert registry_of(server.url).by_id(1).id == 1


def test_an_answer_cut_off_is_asked_for_again(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(body=schema().body, cut=True), schema()]
    assert registry_of(server.url).by_id(1).schema == INT


def test_a_large_schema_is_read_and_a_huge_answer_refused(server: FaultServer) -> None:
    large = json.dumps({"type": "int", "doc": "x" * (10 << 20)})
    server.answers["/schemas/ids/1"] = [Answer(body=json.dumps({"schema": large}).encode())]
    server.answers["/schemas/ids/2"] = [Answer(body=b'{"schema": "' + b"x" * (17 << 20) + b'"}')]
    registry = registry_of(server.url)
    assert registry.by_id(1).schema.text == large
    error = refused(registry, 2)
    assert "more than 16 MiB" in str(error)
    assert not isinstance(error, RetriableError)


def test_a_compressed_answer_is_refused_before_it_expands(server: FaultServer) -> None:
    bomb = zstandard.compress(bytes(64 << 20))
    server.answers["/schemas/ids/1"] = [Answer(body=bomb, headers={"Content-Encoding": "zstd"})]
    tracemalloc.start()
    error = refused(registry_of(server.url))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "compressed body, which was not requested" in str(error)
    assert not isinstance(error, RetriableError)
    assert peak < 32 << 20


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"",
        b"[]",
        b'{"schema": 5}',
        b'{"schema": "x", "references": 7}',
        b'{"schema": "x", "references": [1]}',
        b'{"schema": "x", "schemaType": "XSD"}',
        b'{"schema": "x", "ruleSet": {"domainRules": [{"name": "encrypt"}]}}',
    ],
)
def test_garbage_is_refused(server: FaultServer, body: bytes) -> None:
    server.answers["/schemas/ids/1"] = [Answer(body=body)]
    assert not isinstance(refused(registry_of(server.url)), RetriableError)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"status": "maintenance"}', b"<html>"])
def test_what_is_no_registrys_answer_is_no_fault_of_a_record(server: FaultServer, body: bytes) -> None:
    """``errors.tolerance=all`` skips records that fail, not all of those behind a proxy's own page."""
    server.answers["/schemas/ids/1"] = [Answer(body=body)]
    server.answers["/subjects/s/versions"] = [Answer(body=body)]
    registry = registry_of(server.url)
    assert isinstance(refused(registry), ServiceError)
    with pytest.raises(ServiceError):
        registry.register("s", INT)


@pytest.mark.parametrize("host", ["b\u00fccher..invalid", f"{'a' * 70}.invalid"])
def test_a_host_that_cannot_exist_is_no_fault_of_a_record(host: str) -> None:
    error = refused(registry_of(f"http://{host}:81"))
    assert isinstance(error, ServiceError)
    assert not isinstance(error, RetriableError)
    assert "correct schema.registry.url" in str(error)


@pytest.mark.parametrize(("status", "is_retriable"), [(200, False), (503, True)])
def test_a_compressed_answer_is_no_fault_of_a_record(server: FaultServer, status: int, is_retriable: bool) -> None:
    server.answers["/schemas/ids/1"] = [Answer(status, b"x", {"Content-Encoding": "gzip"})]
    error = refused(registry_of(server.url))
    assert isinstance(error, ServiceError)
    assert isinstance(error, RetriableError) is is_retriable
    assert server.count("/schemas/ids/1") == (4 if is_retriable else 1)


def test_the_next_address_answers_for_a_dead_one(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = server.answers["/schemas/ids/2"] = [schema()]
    registry = registry_of(f"http://127.0.0.1:{free_port()},{server.url}", max_retries="0")
    assert (registry.by_id(1).id, registry.by_id(2).id) == (1, 2)


def test_the_next_address_answers_for_a_failing_one(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [schema()]
    with fault_server() as other:
        other.answers["/schemas/ids/1"] = [refusal(503, 1)]
        assert registry_of(f"{other.url},{server.url}", max_retries="0").by_id(1).id == 1
        # The one that answered is asked first from now on; what one refuses, the other is not asked.
        registry = registry_of(f"{other.url},{server.url}", max_retries="0")
        registry.by_id(1)
        assert refused(registry, 7).status == 404
        assert (other.count("/schemas/ids/7"), server.count("/schemas/ids/7")) == (0, 1)


def test_no_address_answers() -> None:
    error = refused(registry_of(f"http://me:hush@127.0.0.1:{free_port()},http://127.0.0.1:{free_port()}"))
    assert isinstance(error, RetriableError)
    assert "schema.registry.url" in str(error)
    assert "hush" not in str(error)


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        ({"schema_registry_url": "me:pass@"}, "Basic bWU6cGFzcw=="),
        ({"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "me:pass"}, "Basic bWU6cGFzcw=="),
        ({"bearer_auth_token": "abc"}, "Bearer abc"),
        ({}, None),
    ],
)
def test_logins(server: FaultServer, settings: dict[str, str], header: str | None) -> None:
    server.answers["/schemas/ids/1"] = [schema()]
    login = settings.pop("schema_registry_url", "")
    registry_of(server.url.replace("//", f"//{login}"), **settings, request_header_X_Team="lake").by_id(1)
    _, _, headers = server.requests[0]
    assert (headers.get("Authorization"), headers.get("X.Team")) == (header, "lake")


def test_the_environments_proxies_and_logins_are_not_used(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    server.answers["/schemas/ids/1"] = [schema()]
    assert registry_of(server.url).by_id(1).id == 1


def test_a_proxy_is_called(server: FaultServer) -> None:
    server.answers["http://registry.invalid/schemas/ids/1"] = [schema()]
    port = server.url.rpartition(":")[2]
    assert registry_of("http://registry.invalid", proxy_host="127.0.0.1", proxy_port=port).by_id(1).id == 1


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200"])
def test_a_clouds_metadata_are_not_called(host: str) -> None:
    with pytest.raises(ConfigError, match=r"schema\.registry\.url"):
        registry_of(f"http://{host}").by_id(1)


def test_questions_and_their_paths(server: FaultServer) -> None:
    subject = "a b/ü?"
    path = "/subjects/a%20b%2F%C3%BC%3F"
    server.answers |= {
        f"{path}/versions?normalize=true": [Answer(body=b'{"id": 7}')],
        path: [Answer(body=b'{"id": 7, "version": 2, "guid": "g"}')],
        f"{path}/versions/latest": [schema(id=8, version=3, schemaType="JSON")],
        f"{path}/versions/2": [schema(id=7, version=2)],
        "/schemas/ids/7?subject=%3A.c%3As": [schema()],
        "/schemas/guids/g": [schema(id=7)],
        f"/compatibility{path}/versions/latest": [Answer(body=b'{"is_compatible": false}')],
        "/config/s?defaultToGlobal=true": [Answer(body=b'{"compatibilityLevel": "FULL"}')],
        "/config": [Answer(body=b'{"compatibilityLevel": "NONE"}')],
        "/mode": [Answer(body=b'{"mode": "READONLY"}')],
        "/subjects": [Answer(body=b'["s"]')],
    }
    registry = registry_of(server.url)
    assert registry.register(subject, INT, normalize=True).id == 7
    found = registry.lookup(subject, INT)
    assert (found.id, found.version, found.guid, found.subject) == (7, 2, "g", subject)
    assert registry.latest(subject).schema.kind is SchemaKind.JSON
    assert registry.version(subject, 2).version == 2
    assert registry.by_id(7, ":.c:s").subject == ":.c:s"
    assert registry.by_guid("g").guid == "g"
    assert not registry.is_compatible(subject, INT)
    assert registry.is_compatible("new", INT)
    client = registry.client
    assert (client.compatibility("s"), client.compatibility(), client.mode()) == ("FULL", "NONE", "READONLY")
    assert client.subjects() == ["s"]
    assert json.loads(server.bodies[0]) == {"schema": '"int"', "schemaType": "AVRO"}


def test_a_hundred_threads_ask_once(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(body=schema().body, seconds=0.1)]
    registry = registry_of(server.url, **PATIENT)
    with ThreadPoolExecutor(100) as pool:
        found = list(pool.map(registry.by_id, [1] * 300))
    assert len({id(one) for one in found}) == 1
    assert server.count("/schemas/ids/1") == 1


def test_a_hundred_threads_share_a_failure(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [Answer(404, refusal(404, 40403).body, seconds=0.1)]
    registry = registry_of(server.url, missing_id_cache_ttl_sec="60", **PATIENT)

    def outcome(_: int) -> int:
        return refused(registry).status

    with ThreadPoolExecutor(100) as pool:
        assert set(pool.map(outcome, range(300))) == {404}
    assert server.count("/schemas/ids/1") == 1


def test_what_is_missing_is_asked_for_again_soon(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [refusal(404, 40403), schema()]
    registry = registry_of(server.url, missing_id_cache_ttl_sec="0")
    refused(registry)
    assert registry.by_id(1).id == 1


def test_a_registration_ends_what_was_missing(server: FaultServer) -> None:
    server.answers["/subjects/s/versions/latest"] = [refusal(404, 40401), schema(id=1, version=1)]
    server.answers["/subjects/s/versions"] = [Answer(body=b'{"id": 1}')]
    registry = registry_of(server.url)
    with pytest.raises(SchemaRegistryError):
        registry.latest("s")
    registry.register("s", INT)
    registry.register("s", INT)
    assert registry.latest("s").version == 1
    assert server.count("/subjects/s/versions") == 1


def test_the_newest_version_is_remembered_for_a_while(server: FaultServer) -> None:
    server.answers["/subjects/s/versions/latest"] = [schema(id=1, version=1), schema(id=2, version=2)]
    for_good, for_no_time = registry_of(server.url), registry_of(server.url, latest_cache_ttl_sec="0")
    assert [for_good.latest("s").id for _ in range(2)] == [1, 1]
    assert for_no_time.latest("s").id == 2
    assert server.count("/subjects/s/versions/latest") == 2
    for_no_time.latest("s")
    assert server.count("/subjects/s/versions/latest") == 3


def references(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "subject": name, "version": 1} for name in names]


def test_references_come_in_the_order_they_are_needed(server: FaultServer) -> None:
    server.answers |= {
        "/schemas/ids/1": [schema(references=references("b", "c"))],
        "/subjects/b/versions/1": [schema(schema="B", references=references("a"))],
        "/subjects/c/versions/1": [schema(schema="C", references=references("a", "b"))],
        "/subjects/a/versions/1": [schema(schema="A")],
    }
    found = registry_of(server.url).by_id(1)
    assert [(name, one.text) for name, one in found.resolved] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert server.count("/subjects/a/versions/1") == 1


def test_references_of_what_is_written_are_resolved_in_its_context(server: FaultServer) -> None:
    server.answers |= {
        "/subjects/%3A.c%3As/versions": [Answer(body=b'{"id": 1}')],
        "/subjects/%3A.c%3Aa/versions/1": [schema(schema="A")],
    }
    given = SchemaText(SchemaKind.AVRO, "S", (SchemaReference("a", "a", 1),))
    assert registry_of(server.url).register(":.c:s", given).resolved == (("a", SchemaText(SchemaKind.AVRO, "A")),)


def test_circles_and_depths_are_refused(server: FaultServer) -> None:
    server.answers |= {
        "/schemas/ids/1": [schema(references=references("a"))],
        "/subjects/a/versions/1": [schema(references=references("b"))],
        "/subjects/b/versions/1": [schema(references=references("a"))],
        "/schemas/ids/2": [schema(references=references("d0"))],
    }
    server.answers |= {
        f"/subjects/d{one}/versions/1": [schema(references=references(f"d{one + 1}"))] for one in range(40)
    }
    registry = registry_of(server.url)
    assert "a version 1 → b version 1 → a version 1" in str(refused(registry, 1))
    assert "deeper than 32 levels" in str(refused(registry, 2))


def test_numbers_of_references_are_bounded() -> None:
    listed = tuple(SchemaReference(f"n{number}", f"s{number}", 1) for number in range(1001))
    with pytest.raises(SchemaRegistryError, match="more than 1000"):
        resolved_references(SchemaText(SchemaKind.AVRO, "", listed), None, lambda *_: RegisteredSchema(1, INT))


def test_converters_share_a_registry(server: FaultServer) -> None:
    server.answers["/schemas/ids/1"] = [schema()]
    server.answers["/subjects/s/versions/latest"] = [schema(id=1, version=1)]
    settings = settings_of(server.url)
    one, other = shared_registry(settings), shared_registry(settings)
    assert one is other
    one.by_id(1)
    one.latest("s")
    release_registry(settings)
    assert other.latest("s").id == 1
    release_registry(settings)
    # Ids stay known in a worker that is used again; what may have changed is asked for again.
    again = shared_registry(settings)
    again.by_id(1)
    again.latest("s")
    release_registry(settings)
    assert (server.count("/schemas/ids/1"), server.count("/subjects/s/versions/latest")) == (1, 2)


def test_a_call_outlasts_the_last_user_before_it(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answers["/schemas/ids/1"] = [schema()]
    server.answers["/schemas/ids/2"] = [Answer(body=schema().body, seconds=0.2)]
    settings = settings_of(server.url, max_retries="0")
    shared_registry(settings).by_id(1)
    leaving, forget = threading.Event(), CachedRegistry.forget

    def slow_forget(registry: CachedRegistry) -> None:
        leaving.set()
        # Time for another user to begin a call.
        time.sleep(0.1)
        forget(registry)

    def called() -> int:
        leaving.wait(5)
        return shared_registry(settings).by_id(2).id

    monkeypatch.setattr(CachedRegistry, "forget", slow_forget)
    with ThreadPoolExecutor() as threads:
        call = threads.submit(called)
        release_registry(settings)
        assert call.result(10) == 2
    release_registry(settings)
