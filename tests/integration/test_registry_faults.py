"""A worker whose schema registry fails in every way: named, asked again, nothing lost, nothing skipped for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import fastavro.schema
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from tests.full_run import smoke_and_matrix
from tests.integration.plugin_worker import PluginWorker, eventually, parts_of, plugin_worker
from tests.integration.test_errors import DEAD, context_of, letters, lines_of
from tests.integration.topics import Topics
from tests.schema_registry.apicurio_server import apicurio_running
from tests.schema_registry.fault_proxy import Fault, FaultProxy, fault_proxy

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]

UNKNOWN_ID = 987_654
HANGS = Fault()
PASSING = {
    "429 with Retry-After": Fault(429, headers={"Retry-After": "1"}),
    "500": Fault(500),
    "hanging": HANGS,
}
REFUSALS = {"401": Fault(401), "403": Fault(403), "404 of another server": Fault(404)}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with apicurio_running(tmp_path_factory.mktemp("fault-registry")) as url:
        yield url


@pytest.fixture
def proxy(registry: str) -> Iterator[FaultProxy]:
    with fault_proxy(registry) as running:
        yield running


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, bootstrap: str) -> Iterator[PluginWorker]:
    # Else no connector would be created while its registry fails.
    settings = {"connect.validate.live": "false"}
    with plugin_worker(tmp_path_factory.mktemp("registry-faults"), bootstrap, settings) as running:
        yield running


def registered(registry: str, topic: str, text: str) -> int:
    return int(SchemaRegistryClient({"url": registry}).register_schema(f"{topic}-value", Schema(text, "AVRO")))


def documented(doc: str) -> str:
    return json.dumps({"type": "string", "doc": doc})


def message(id: int, text: str) -> bytes:
    """Return a short Avro string of a registered schema."""
    return b"\0" + id.to_bytes(4, "big") + bytes([2 * len(text)]) + text.encode()


def converter(url: str) -> dict[str, str]:
    limits = {"max.retries": "1", "retries.wait.ms": "10", "retries.max.wait.ms": "1000", "http.read.timeout.ms": "500"}
    settings = {"schema.registry.url": url, **limits, "schema.registry.request.timeout.ms": "3000"}
    named = {f"value.converter.{key}": value for key, value in settings.items()}
    return {"value.converter": "io.confluent.connect.avro.AvroConverter", **named}


def put_sink(worker: PluginWorker, name: str, topic: str, url: str, dead: str | None, **settings: str) -> Path:
    """Create a sink that skips bad records into ``dead``, with more settings → its file."""
    more = {**DEAD, "errors.deadletterqueue.topic.name": dead} if dead else {}
    own = {**converter(url), **settings, **more}
    sink = {"connector.class": "FileStreamSink", "topics": topic, "file": f"{name}.txt", **own}
    worker.put(name, sink)
    return worker.folder / f"{name}.txt"


def put_source(worker: PluginWorker, name: str, topic: str, url: str, dead: str | None) -> None:
    more = {**DEAD, "errors.deadletterqueue.topic.name": dead} if dead else {}
    source = {"connector.class": "FileStreamSource", "file": f"{name}.txt", "topic": topic}
    worker.put(name, {**source, **converter(url), **more})


def await_running_again(worker: PluginWorker, name: str, file: Path, wanted: list[str]) -> None:
    """Wait until the connector has gone on, restarting it as often as an operator might."""

    def lines() -> list[str]:
        if any(part["state"] == "FAILED" for part in parts_of(worker.status(name))):
            worker.restart(name)
        return lines_of(file)

    assert eventually(lines, lambda found: len(found) >= len(wanted)) == wanted


def break_down(proxy: FaultProxy, fault: Fault | None) -> None:
    if fault is None:
        proxy.down()
    else:
        proxy.break_down(fault)


def repair(proxy: FaultProxy) -> None:
    proxy.recover()
    proxy.up()


@pytest.mark.parametrize("kind", smoke_and_matrix(("down", "401"), ["down", *PASSING, *REFUSALS]))
def test_sink_waits_for_its_registry(
    kind: str, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic, dead = topics.create(1), topics.create(1)
    id = registered(registry, topic, '"string"')
    texts = [f"line {number}" for number in range(20)]
    topics.write(topic, [message(id, text) for text in texts], 1)
    name = f"sink-{kind.split()[0]}"
    break_down(proxy, {**PASSING, **REFUSALS}.get(kind))
    file = put_sink(worker, name, topic, proxy.url, dead)
    trace = worker.await_failure(name, f"topic {topic}, partition 0, offset 0 in stage VALUE_CONVERTER")
    assert f"GET /schemas/ids/{id}" in trace
    assert "it is not skipped, regardless of errors.tolerance" in trace
    assert kind in ("down", "hanging") or f"HTTP {kind.split()[0]}" in trace
    assert (lines_of(file), worker.offsets(name), topics.read(dead)) == ([], [], [])
    repair(proxy)
    await_running_again(worker, name, file, texts)
    assert (topics.read(dead), worker.skipped(name)) == ([], [])
    worker.delete(name)


@pytest.mark.parametrize("fault", smoke_and_matrix((HANGS,), [Fault(500), HANGS]), ids=["500", "hanging"])
def test_outage_in_the_middle_of_an_interval(
    fault: Fault, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic, dead = topics.create(1), topics.create(1)
    old = registered(registry, topic, '"string"')
    new = registered(registry, topic, documented(topic))
    assert old != new
    texts = [f"line {number}" for number in range(20)]
    topics.write(topic, [message(old if at < 12 else new, text) for at, text in enumerate(texts)], 1)
    name = f"middle-{fault.status}"
    proxy.break_down(Fault(fault.status, of=f"/schemas/ids/{new}"))
    file = put_sink(worker, name, topic, proxy.url, dead)
    trace = worker.await_failure(name, f"topic {topic}, partition 0, offset 12 in stage VALUE_CONVERTER")
    assert f"GET /schemas/ids/{new}" in trace
    assert (lines_of(file), worker.offsets(name), topics.read(dead)) == ([], [], [])
    repair(proxy)
    await_running_again(worker, name, file, texts)
    assert (topics.read(dead), worker.skipped(name)) == ([], [])
    worker.delete(name)


def test_short_outage_is_no_failure(worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics) -> None:
    topic = topics.create(1)
    id = registered(registry, topic, '"string"')
    topics.write(topic, [message(id, "one"), message(id, "two")], 1)
    proxy.break_down(Fault(429, headers={"Retry-After": "0"}, times=1))
    file = put_sink(worker, "short", topic, proxy.url, None)
    assert eventually(lambda: lines_of(file), lambda found: len(found) >= 2) == ["one", "two"]
    assert proxy.failed == 1
    assert {part["state"] for part in parts_of(worker.status("short"))} == {"RUNNING"}
    worker.delete("short")


def test_tasks_do_not_ask_one_by_one(worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics) -> None:
    """A process asks once for a schema, however many tasks and intervals it runs."""
    topic, tasks = topics.create(100), 100
    id = registered(registry, topic, '"string"')
    name, path = "many", f"/schemas/ids/{id}"
    patient = {"http.read.timeout.ms": "20000", "schema.registry.request.timeout.ms": "60000"}
    settings = {f"value.converter.{key}": value for key, value in patient.items()} | {"tasks.max": str(tasks)}
    for turn in (1, 2):
        topics.write(topic, [message(id, f"{turn} {number}") for number in range(1000)], 100)
        file = put_sink(worker, name, topic, proxy.url, None, **settings)
        eventually(partial(lines_of, file), partial(_has_lines, 1000 * turn), 270)
    asked = [one for one in proxy.paths if one.startswith(path)]
    print(f"{tasks} tasks, 2 intervals or more: {len(asked)} requests")
    # Spark's local mode has 16 processes at most, and gives each many tasks.
    assert 1 <= len(asked) <= 16
    worker.delete(name)


def _has_lines(wanted: int, found: list[str]) -> bool:
    return len(found) >= wanted


def bad_messages(id: int) -> dict[str, tuple[bytes, list[str]]]:
    """Return messages that cannot be read, and what is said of each."""
    return {
        "wrong magic byte": (b"\7\0\0\0\1\2x", ["7"]),
        "unknown id": (message(UNKNOWN_ID, "x"), [f"/schemas/ids/{UNKNOWN_ID}", "404"]),
        "truncated frame": (b"\0\0\0", ["3 bytes has no schema id, which takes 5"]),
        "truncated body": (message(id, "longer")[:-3], [f"schema id {id}"]),
        "empty": (b"", []),
    }


def test_bad_messages_are_dead_letters(worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    id = registered(registry, topic, '"string"')
    bad = bad_messages(id)
    values = [value for one, _ in bad.values() for value in (message(id, "good"), one)]
    topics.write(topic, [*values, message(id, "last")], 1)
    file = put_sink(worker, "bad", topic, proxy.url, dead)
    assert eventually(lambda: lines_of(file), lambda found: len(found) >= 6) == ["good"] * 5 + ["last"]
    for at, (sent, told) in enumerate(zip(letters(topics, dead, 5), bad.items(), strict=True)):
        kind, (value, texts) = told
        context = context_of(sent)
        place = [context[f"__connect.errors.{name}"] for name in ("topic", "partition", "offset", "stage")]
        assert (kind, sent.value(), place) == (kind, value, [topic, "0", str(2 * at + 1), "VALUE_CONVERTER"])
        for text in texts:
            assert text in context["__connect.errors.exception.message"], kind
    worker.delete("bad")


OTHERS = {
    "JSON": (
        "io.confluent.connect.json.JsonSchemaConverter",
        '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "title": "%s"}',
        b"{}",
        b'{"n":',
    ),
    "PROTOBUF": (
        "io.confluent.connect.protobuf.ProtobufConverter",
        'syntax = "proto3"; message M%s { int64 n = 1; }',
        b"\0\x08\x01",
        b"\0\x08",
    ),
}
"""Kind → its converter, a schema to be named, a body, and one that is cut off."""


@pytest.mark.parametrize("kind", smoke_and_matrix(("PROTOBUF",), OTHERS))
def test_bad_messages_of_other_kinds_are_dead_letters(
    kind: str, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    converter_class, text, body, cut = OTHERS[kind]
    schema = Schema(text % topic.replace("-", ""), kind)
    id = int(SchemaRegistryClient({"url": registry}).register_schema(f"{topic}-value", schema))
    frame, unknown = b"\0" + id.to_bytes(4, "big"), b"\0" + UNKNOWN_ID.to_bytes(4, "big")
    bad = {b"\7" + frame[1:] + body: "Unknown magic byte", frame[:3]: "3 bytes", frame + cut: "", unknown + body: "404"}
    topics.write(topic, [frame + body, *bad, frame + body], 1)
    file = put_sink(worker, f"bad-{kind}", topic, proxy.url, dead, **{"value.converter": converter_class})
    eventually(lambda: len(lines_of(file)), lambda found: found >= 2)
    for at, (sent, (value, told)) in enumerate(zip(letters(topics, dead, 4), bad.items(), strict=True), 1):
        context = context_of(sent)
        place = [context[f"__connect.errors.{name}"] for name in ("topic", "partition", "offset", "stage")]
        assert (sent.value(), place) == (value, [topic, "0", str(at), "VALUE_CONVERTER"])
        assert told in context["__connect.errors.exception.message"]
    worker.delete(f"bad-{kind}")


@pytest.mark.parametrize("kind", smoke_and_matrix(("JSON",), OTHERS))
def test_sink_of_another_kind_waits_for_its_registry(
    kind: str, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic = topics.create(1)
    converter_class, text, body, _ = OTHERS[kind]
    schema = Schema(text % topic.replace("-", ""), kind)
    id = int(SchemaRegistryClient({"url": registry}).register_schema(f"{topic}-value", schema))
    topics.write(topic, [b"\0" + id.to_bytes(4, "big") + body] * 3, 1)
    break_down(proxy, Fault(500))
    name = f"waits-{kind}"
    file = put_sink(worker, name, topic, proxy.url, None, **{"value.converter": converter_class})
    trace = worker.await_failure(name, f"topic {topic}, partition 0, offset 0 in stage VALUE_CONVERTER")
    assert f"GET /schemas/ids/{id}" in trace
    assert (lines_of(file), worker.offsets(name)) == ([], [])
    repair(proxy)
    worker.restart(name)
    assert eventually(lambda: len(lines_of(file)), lambda found: found >= 3) == 3
    worker.delete(name)


@pytest.mark.parametrize("kind", smoke_and_matrix(("unknown id", "truncated body"), bad_messages(0)))
def test_bad_message_fails_the_task(
    kind: str, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic = topics.create(1)
    id = registered(registry, topic, '"string"')
    value, texts = bad_messages(id)[kind]
    topics.write(topic, [message(id, "good"), value], 1)
    name = f"bad-{kind.replace(' ', '-')}"
    file = put_sink(worker, name, topic, proxy.url, None)
    trace = worker.await_failure(name, f"topic {topic}, partition 0, offset 1 in stage VALUE_CONVERTER")
    for text in [*texts, "errors.tolerance=all"]:
        assert text in trace
    assert (lines_of(file), worker.offsets(name)) == ([], [])
    worker.delete(name)


def bomb() -> str:
    """Return a small Avro schema that would be 2^40 fields, were each use of a name written out."""
    text = '"string"'
    for level in range(40):
        again = f'"B{level - 1}"' if level else '"string"'
        fields = f'{{"name": "a", "type": {text}}}, {{"name": "b", "type": {again}}}'
        text = f'{{"type": "record", "name": "B{level}", "fields": [{fields}]}}'
    return text


def test_schema_bomb_is_a_dead_letter(worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics) -> None:
    topic, dead = topics.create(1), f"dead-{topics.create(1)}"
    good, bad = registered(registry, topic, '"string"'), registered(registry, topics.create(1), bomb())
    topics.write(topic, [message(good, "one"), message(bad, "x"), message(good, "three")], 1)
    file = put_sink(worker, "bomb", topic, proxy.url, dead)
    assert eventually(lambda: lines_of(file), lambda found: len(found) >= 2) == ["one", "three"]
    (sent,) = letters(topics, dead, 1)
    context = context_of(sent)
    assert context["__connect.errors.offset"] == "1"
    assert f"schema id {bad}" in context["__connect.errors.exception.message"]
    worker.delete("bomb")


def test_schema_of_ten_megabytes_is_refused(
    worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic = topics.create(1)
    id = registered(registry, topic, documented("d" * (10 << 20)))
    topics.write(topic, [message(id, "one")], 1)
    slowly = {
        "value.converter.http.read.timeout.ms": "60000",
        "value.converter.schema.registry.request.timeout.ms": "120000",
    }
    file = put_sink(worker, "large", topic, proxy.url, None, **slowly)
    trace = worker.await_failure("large", f"schema id {id}", 300)
    assert f"topic {topic}, partition 0, offset 0 in stage VALUE_CONVERTER" in trace
    assert "larger than the 4000000 allowed" in trace
    assert lines_of(file) == []
    worker.delete("large")


@pytest.mark.parametrize("kind", smoke_and_matrix(("down",), ["down", *PASSING, "401"]))
def test_source_waits_for_its_registry(kind: str, worker: PluginWorker, proxy: FaultProxy, topics: Topics) -> None:
    topic, dead = topics.create(1), topics.create(1)
    name = f"source-{kind.split()[0]}"
    texts = [f"line {number}" for number in range(20)]
    (worker.folder / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
    break_down(proxy, {**PASSING, **REFUSALS}.get(kind))
    put_source(worker, name, topic, proxy.url, dead)
    trace = worker.await_failure(name, f"on its way to topic {topic} in stage VALUE_CONVERTER")
    assert f"POST /subjects/{topic}-value/versions" in trace
    assert '"position":' in trace.replace(" ", "")
    assert (topics.read(topic), topics.read(dead), worker.offsets(name)) == ([], [], [])
    repair(proxy)

    def values() -> list[bytes | None]:
        if any(part["state"] == "FAILED" for part in parts_of(worker.status(name))):
            worker.restart(name)
        return topics.read(topic)

    found = eventually(values, lambda read: len(read) >= len(texts))
    assert [(value or b"")[6:].decode() for value in found] == texts
    assert (topics.read(dead), worker.skipped(name)) == ([], [])
    worker.delete(name)


@pytest.mark.parametrize("status", smoke_and_matrix((409,), (409, 422)))
def test_schema_the_registry_refuses(
    status: int, worker: PluginWorker, registry: str, proxy: FaultProxy, topics: Topics
) -> None:
    topic, dead, name = topics.create(1), f"dead-{topics.create(1)}", f"refused-{status}"
    (worker.folder / f"{name}.txt").write_text("one\ntwo\n")
    if status == 409:
        client = SchemaRegistryClient({"url": registry})
        registered(registry, topic, '"int"')
        client.set_compatibility(f"{topic}-value", "BACKWARD")
    else:
        proxy.break_down(Fault(422, 42201))
    put_source(worker, name, topic, proxy.url, None)
    trace = worker.await_failure(name, f"HTTP {status}")
    for text in (f"on its way to topic {topic}", f"/subjects/{topic}-value/versions", "errors.tolerance=all"):
        assert text in trace
    assert topics.read(topic) == []
    put_source(worker, name, topic, proxy.url, dead)
    with suppress(AssertionError):
        worker.restart(name)
    found = [context_of(one) for one in letters(topics, dead, 2)]
    assert [f"HTTP {status}" in one["__connect.errors.exception.message"] for one in found] == [True, True]
    assert topics.read(topic) == []
    worker.delete(name)


def test_bomb_is_valid_avro() -> None:
    assert fastavro.schema.parse_schema(json.loads(bomb()))
