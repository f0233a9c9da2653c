"""What validation says of a registry: that it answers, takes the login, and has what is needed to write."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence

import pytest

from connect_core.api.connector import WorkerLimits
from connect_core.api.data import INT64_SCHEMA, STRING_SCHEMA, Schema, SchemaBuilder
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from tests.integration.ports import free_port
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server, refusal, schema

pytestmark = pytest.mark.slow

URL = "schema.registry.url"
OPEN = WorkerLimits()
ORDER: Schema = SchemaBuilder.struct().name("Order").field("id", INT64_SCHEMA).build()
SUBJECT, NEWEST = "/subjects/orders-value", "/subjects/orders-value/versions/latest"
KINDS = {AvroConverter: "AVRO", JsonSchemaConverter: "JSON", ProtobufConverter: "PROTOBUF"}
COMPATIBLE = "/compatibility/subjects/orders-value/versions/latest"


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        running.answers["/subjects"] = [Answer(body=b"[]")]
        yield running


def errors(server: FaultServer, limits: WorkerLimits = OPEN, /, **more: str) -> Mapping[str, Sequence[str]]:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return AvroConverter.validate_live(converter_with(limits), {URL: server.url, **settings}, False, {})


def refused(server: FaultServer, schema: Schema = ORDER, /, **more: str) -> Mapping[str, Sequence[str]]:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return AvroConverter().validate_live({URL: server.url, **settings}, False, {"orders": schema})


def converter_with(limits: WorkerLimits) -> AvroConverter:
    converter = AvroConverter()
    converter.limits = limits
    return converter


def test_a_registry_that_answers_is_right(server: FaultServer) -> None:
    assert errors(server) == {}
    assert [path for _, path, _ in server.requests] == ["/subjects"]


@pytest.mark.parametrize("status", [401, 403, 404, 500, 503])
def test_what_it_refuses_is_shown_at_its_address(server: FaultServer, status: int) -> None:
    server.answers["/subjects"] = [Answer(status)]
    ((key, (text,)),) = errors(server).items()
    assert (key, f"HTTP {status}" in text, server.url in text) == (URL, True, True)
    assert server.count("/subjects") == 1, "it is asked once"


def test_what_is_no_registry_is_shown(server: FaultServer) -> None:
    server.answers["/subjects"] = [Answer(body=b"<html>")]
    assert "not JSON; check schema.registry.url" in errors(server)[URL][0]


def test_one_that_does_not_answer_costs_two_seconds(server: FaultServer) -> None:
    server.answers["/subjects"] = [Answer(body=b"[]", seconds=20)]
    began = time.monotonic()
    assert "does not respond to GET /subjects" in errors(server)[URL][0]
    assert time.monotonic() - began < 15


def test_one_that_is_down_is_named() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    (text,) = AvroConverter().validate_live({URL: url}, False, {})[URL]
    assert url in text
    assert "check schema.registry.url" in text


def test_a_host_the_worker_does_not_allow_is_not_called(server: FaultServer) -> None:
    limits = WorkerLimits(values={"hosts.allowed": "registry.example"})
    assert "limits.hosts.allowed" in errors(server, limits)[URL][0]
    assert server.requests == []


def test_the_schema_to_write_with_must_be_there(server: FaultServer) -> None:
    server.answers["/schemas/ids/7"] = [schema()]
    settings = {"auto_register_schemas": "false"}
    assert errors(server, use_schema_id="7", **settings) == {}
    server.answers["/schemas/ids/8"] = [refusal(404, 40403)]
    ((key, (text,)),) = errors(server, use_schema_id="8", **settings).items()
    assert (key, "/schemas/ids/8" in text) == ("use.schema.id", True)


@pytest.mark.parametrize("kind", [AvroConverter, JsonSchemaConverter, ProtobufConverter])
def test_each_converter_asks_its_registry(
    kind: type[AvroConverter | JsonSchemaConverter | ProtobufConverter], server: FaultServer
) -> None:
    server.answers["/subjects"] = [Answer(401)]
    assert list(kind().validate_live({URL: server.url}, True, {})) == [URL]


def verdict(is_compatible: bool) -> list[Answer]:
    return [Answer(body=json.dumps({"is_compatible": is_compatible}).encode())]


def test_a_schema_that_could_not_be_registered_is_refused_and_not_registered(server: FaultServer) -> None:
    server.answers[COMPATIBLE] = verdict(False)
    server.answers["/config/orders-value?defaultToGlobal=true"] = [Answer(body=b'{"compatibilityLevel": "BACKWARD"}')]
    ((key, (text,)),) = refused(server).items()
    assert key == "auto.register.schemas"
    assert "Topic orders cannot be written: its schema is not compatible with the newest version of" in text
    assert "subject orders-value (BACKWARD); change what is written" in text
    assert not any(method == "POST" and path.startswith("/subjects") for method, path, _ in server.requests)


@pytest.mark.parametrize("answer", [*verdict(True), refusal(404, 40401)])
def test_a_compatible_or_first_schema_is_right(server: FaultServer, answer: Answer) -> None:
    server.answers[COMPATIBLE] = [answer]
    assert refused(server) == {}
    assert server.count(COMPATIBLE) == 1


def test_the_subject_must_exist_where_nothing_registers_it(server: FaultServer) -> None:
    server.answers[SUBJECT] = server.answers[NEWEST] = [refusal(404, 40401, "Subject not found")]
    for settings, key in ({}, "auto.register.schemas"), ({"use_latest_version": "true"}, "use.latest.version"):
        ((found, (text,)),) = refused(server, auto_register_schemas="false", **settings).items()
        assert found == key
        assert "Subject not found" in text
        assert "register the schema, or set auto.register.schemas=true" in text


def test_the_newest_schema_must_read_what_is_written(server: FaultServer) -> None:
    settings = {"auto_register_schemas": "false", "use_latest_version": "true"}
    server.answers[NEWEST] = [schema(id=3, version=1, schema='"string"')]
    ((key, (text,)),) = refused(server, **settings).items()
    assert (key, "latest.compatibility.strict=false" in text) == ("use.latest.version", True)
    assert refused(server, STRING_SCHEMA, **settings) == {}
    assert refused(server, latest_compatibility_strict="false", **settings) == {}


def test_the_schema_of_an_id_must_read_what_is_written(server: FaultServer) -> None:
    server.answers["/schemas/ids/7"] = [schema()]
    server.answers["/schemas/ids/7?subject=orders-value"] = [schema(schema='"string"')]
    ((key, (text,)),) = refused(server, auto_register_schemas="false", use_schema_id="7").items()
    assert (key, "id.compatibility.strict=false" in text) == ("use.schema.id", True)


def test_a_registry_that_stops_answering_is_no_error_of_the_schemas(server: FaultServer) -> None:
    server.answers[COMPATIBLE] = [Answer(seconds=20)]
    began = time.monotonic()
    assert refused(server) == {}
    assert time.monotonic() - began < 15


def test_of_a_thousand_topics_only_so_many_are_asked_about(server: FaultServer) -> None:
    written = {f"topic-{number}": ORDER for number in range(1000)}
    assert AvroConverter().validate_live({URL: server.url}, False, written) is not None
    assert len(server.requests) <= 102


@pytest.mark.parametrize("kind", [AvroConverter, JsonSchemaConverter, ProtobufConverter])
def test_each_converter_tries_its_own_schema(
    kind: type[AvroConverter | JsonSchemaConverter | ProtobufConverter], server: FaultServer
) -> None:
    server.answers["/compatibility/subjects/orders-key/versions/latest"] = verdict(False)
    server.answers["/config/orders-key?defaultToGlobal=true"] = [Answer(body=b'{"compatibilityLevel": "FULL"}')]
    ((key, _),) = kind().validate_live({URL: server.url}, True, {"orders": ORDER}).items()
    (asked,) = [json.loads(body) for body in server.bodies if body]
    assert (key, asked.get("schemaType", "AVRO")) == ("auto.register.schemas", KINDS[kind])
    assert "id" in asked["schema"]
