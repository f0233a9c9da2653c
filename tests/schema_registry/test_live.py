"""What validation says of a registry: that it answers, takes the login, and has the schema to write with."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import pytest

from connect_core.api.connector import WorkerLimits
from connect_core.converters.avro import AvroConverter
from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.schema_registry.live import try_registry
from tests.integration.ports import free_port
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server, refusal, schema

pytestmark = pytest.mark.slow

URL = "schema.registry.url"
OPEN = WorkerLimits()


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as running:
        running.answers["/subjects"] = [Answer(body=b"[]")]
        yield running


def errors(server: FaultServer, limits: WorkerLimits = OPEN, /, **more: str) -> Mapping[str, Sequence[str]]:
    settings = {name.replace("_", "."): value for name, value in more.items()}
    return try_registry({URL: server.url, **settings}, False, limits)


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
    (text,) = try_registry({URL: url}, False, WorkerLimits())[URL]
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
    assert list(kind().validate_live({URL: server.url}, True)) == [URL]
