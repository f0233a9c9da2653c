"""Everything with a real registry, Apicurio; confluent-kafka's own client says whether that one works."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry import SchemaReference as ConfluentReference

from connect_core.errors import DataError, RetriableError
from connect_core.schema_registry.caching import CachedRegistry
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.model import RegisteredSchema, SchemaKind, SchemaReference, SchemaText
from connect_core.schema_registry.serde import MessageSchemas, open_schemas
from connect_core.schema_registry.settings import RegistrySettings
from tests.integration.ports import free_port
from tests.schema_registry.apicurio_server import apicurio_running

pytestmark = pytest.mark.servers

ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "long"}]}
WIDER: dict[str, Any] = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string", "default": ""}]}
BROKEN: dict[str, Any] = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string"}]}
# Apicurio takes a text for JSON Schema by its "$schema", whatever the request says.
JSON_ORDER = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "title": "Order"}
PROTO = 'syntax = "proto3";\npackage shop;\n\nmessage Order {\n  int64 id = 1;\n}\n'


def avro(schema: Any, *references: SchemaReference) -> SchemaText:
    return SchemaText(SchemaKind.AVRO, json.dumps(schema), references)


def registry_of(url: str, **settings: str) -> CachedRegistry:
    given = {"schema.registry.url": url, **{name.replace("_", "."): text for name, text in settings.items()}}
    return CachedRegistry(RegistrySettings.of(given, False).client)


def schemas_of(url: str, kind: str = "AVRO", **settings: str) -> MessageSchemas:
    return open_schemas(
        {"schema.registry.url": url, **{k.replace("_", "."): v for k, v in settings.items()}}, False, kind
    )


@pytest.fixture
def registry(apicurio: str) -> CachedRegistry:
    return registry_of(apicurio)


@pytest.fixture
def confluent(apicurio: str) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": apicurio})


@pytest.fixture
def topic() -> str:
    return f"orders-{uuid.uuid4().hex}"


def test_what_is_registered_is_what_confluents_client_reads(
    registry: CachedRegistry, confluent: SchemaRegistryClient, topic: str
) -> None:
    subject = f"{topic}-value"
    found = registry.register(subject, avro(ORDER))
    theirs = confluent.get_latest_version(subject)
    assert (theirs.schema_id, json.loads(theirs.schema.schema_str)) == (found.id, ORDER)
    assert registry.register(subject, avro(ORDER)).id == found.id
    looked_up = registry.lookup(subject, avro(ORDER))
    assert (looked_up.id, looked_up.version) == (found.id, 1)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("AVRO", json.dumps(ORDER)), ("JSON", json.dumps(JSON_ORDER)), ("PROTOBUF", PROTO)],
)
def test_what_confluents_client_registers_is_read(
    registry: CachedRegistry, confluent: SchemaRegistryClient, topic: str, kind: str, text: str
) -> None:
    number = confluent.register_schema(topic, Schema(text, kind))
    found = registry.by_id(number)
    assert (found.id, found.schema.kind.value) == (number, kind)
    assert found.schema.text == confluent.get_schema(number).schema_str
    assert registry.latest(topic).version == 1
    assert registry.version(topic, 1).schema == found.schema


def test_incompatible_schemas_are_refused(registry: CachedRegistry, topic: str) -> None:
    registry.register(topic, avro(ORDER))
    assert registry.is_compatible(topic, avro(WIDER))
    assert not registry.is_compatible(topic, avro(BROKEN))
    with pytest.raises(SchemaRegistryError) as error:
        registry.register(topic, avro(BROKEN))
    assert error.value.status == 409
    assert not isinstance(error.value, RetriableError)
    registry.register(topic, avro(WIDER))
    assert json.loads(registry.latest(topic).schema.text) == WIDER


@pytest.mark.parametrize("question", ["id", "latest", "version", "lookup"])
def test_what_is_not_there(registry: CachedRegistry, topic: str, question: str) -> None:
    questions = {
        "id": lambda: registry.by_id(2**31 - 1),
        "latest": lambda: registry.latest(topic),
        "version": lambda: registry.version(topic, 7),
        "lookup": lambda: registry.lookup(topic, avro(ORDER)),
    }
    with pytest.raises(SchemaRegistryError) as error:
        questions[question]()
    assert error.value.is_missing
    assert error.value.error_code in (40401, 40402, 40403)


def test_what_is_no_schema_is_refused(registry: CachedRegistry, topic: str) -> None:
    with pytest.raises(SchemaRegistryError) as error:
        registry.register(topic, SchemaText(SchemaKind.AVRO, '{"type": "nothing"}'))
    assert (error.value.status, error.value.error_code) == (422, 42201)


def test_references(registry: CachedRegistry, confluent: SchemaRegistryClient, topic: str) -> None:
    country = {"type": "enum", "name": "Country", "namespace": "shop", "symbols": ["AT", "CH"]}
    address = {
        "type": "record",
        "name": "Address",
        "namespace": "shop",
        "fields": [{"name": "country", "type": "shop.Country"}],
    }
    order = {**ORDER, "fields": [{"name": "to", "type": "shop.Address"}]}
    registry.register(f"{topic}-country", avro(country))
    to_country = SchemaReference("shop.Country", f"{topic}-country", 1)
    registry.register(f"{topic}-address", avro(address, to_country))
    to_address = SchemaReference("shop.Address", f"{topic}-address", 1)
    found = registry.register(topic, avro(order, to_address))
    read = registry_of_same(registry, found.id)
    assert [(name, json.loads(text.text)) for name, text in read.resolved] == [
        ("shop.Country", country),
        ("shop.Address", address),
    ]
    assert read.schema.references == (to_address,)
    theirs = confluent.get_schema(found.id).references
    assert theirs == [ConfluentReference("shop.Address", f"{topic}-address", 1)]


def registry_of_same(registry: CachedRegistry, number: int) -> RegisteredSchema:
    """Ask again without what was remembered."""
    return CachedRegistry(registry.calls._settings).by_id(number)


def test_two_addresses_the_first_dead(apicurio: str, topic: str) -> None:
    registry = registry_of(f"http://127.0.0.1:{free_port()},{apicurio}", max_retries="0")
    assert registry.register(topic, avro(ORDER)).id == registry.register(topic, avro(ORDER)).id


def test_messages_find_their_schemas_again(apicurio: str, topic: str) -> None:
    written, read = schemas_of(apicurio), schemas_of(apicurio)
    frame, found = written.to_write(topic, avro(ORDER), "shop.Order")
    assert found.subject == f"{topic}-value"
    schema, body = read.split(frame + b"body")
    assert (json.loads(schema.schema.text), bytes(body)) == (ORDER, b"body")
    frames = read.split_batch(pa.array([frame + b"body", None], pa.binary()))
    assert read.schema_of(int(frames.ids[0])).id == found.id
    written.close()
    read.close()


def test_nothing_is_registered_unless_it_is_wanted(apicurio: str, registry: CachedRegistry, topic: str) -> None:
    schemas = schemas_of(apicurio, auto_register_schemas="false", missing_schema_cache_ttl_sec="0")
    with pytest.raises(SchemaRegistryError) as error:
        schemas.to_write(topic, avro(ORDER), "shop.Order")
    assert error.value.is_missing
    number = registry.register(f"{topic}-value", avro(ORDER)).id
    assert schemas.to_write(topic, avro(ORDER), "shop.Order")[1].id == number
    schemas.close()


def test_the_newest_version_is_written_with(apicurio: str, registry: CachedRegistry, topic: str) -> None:
    registry.register(f"{topic}-value", avro(ORDER))
    newest = registry.register(f"{topic}-value", avro(WIDER))
    settings = {"auto_register_schemas": "false", "use_latest_version": "true"}
    strict, lax = (
        schemas_of(apicurio, **settings),
        schemas_of(apicurio, **settings, latest_compatibility_strict="false"),
    )
    _, found = strict.to_write(topic, avro(ORDER), "shop.Order")
    assert (found.id, found.version, json.loads(found.schema.text)) == (newest.id, 2, WIDER)
    other = {**ORDER, "fields": [{"name": "id", "type": "string"}]}
    with pytest.raises(DataError, match=r"latest\.compatibility\.strict=false"):
        strict.to_write(topic, avro(other), "shop.Order")
    assert lax.to_write(topic, avro(other), "shop.Order")[1].id == newest.id
    strict.close()
    lax.close()


def test_the_schema_of_an_id_is_written_with(apicurio: str, registry: CachedRegistry, topic: str) -> None:
    chosen = registry.register(f"{topic}-value", avro(WIDER))
    schemas = schemas_of(apicurio, auto_register_schemas="false", use_schema_id=str(chosen.id))
    frame, found = schemas.to_write(topic, avro(ORDER), "shop.Order")
    assert (found.id, frame) == (chosen.id, b"\0" + chosen.id.to_bytes(4, "big"))
    assert json.loads(found.schema.text) == WIDER
    with pytest.raises(DataError, match=r"id\.compatibility\.strict=false"):
        schemas.to_write(topic, avro({**ORDER, "fields": []}), "shop.Order")
    schemas.close()


def test_other_languages_are_checked_by_the_registry(apicurio: str, registry: CachedRegistry, topic: str) -> None:
    registry.register(f"{topic}-value", SchemaText(SchemaKind.PROTOBUF, PROTO))
    schemas = schemas_of(apicurio, "PROTOBUF", auto_register_schemas="false", use_latest_version="true")
    wider = SchemaText(SchemaKind.PROTOBUF, PROTO.replace("}", "  string note = 2;\n}"))
    assert schemas.to_write(topic, wider, "shop.Order")[1].version == 1
    other = SchemaText(SchemaKind.PROTOBUF, PROTO.replace("int64 id", "string id"))
    with pytest.raises(DataError, match="cannot read"):
        schemas.to_write(topic, other, "shop.Order")
    schemas.close()


def test_schemas_of_another_language_are_refused(apicurio: str, registry: CachedRegistry, topic: str) -> None:
    number = registry.register(topic, SchemaText(SchemaKind.PROTOBUF, PROTO)).id
    schemas = schemas_of(apicurio)
    with pytest.raises(DataError, match="of type PROTOBUF, not AVRO"):
        schemas.split(b"\0" + number.to_bytes(4, "big"))
    schemas.close()


def test_global_ids_tell_subjects_apart(apicurio: str, topic: str) -> None:
    schemas = schemas_of(apicurio, schema_id_codec="apicurio-global")
    one, first = schemas.to_write(topic, avro(ORDER), "shop.Order")
    other, second = schemas.to_write(f"{topic}-2", avro(ORDER), "shop.Order")
    assert first.id == second.id
    assert (len(one), one == other) == (9, False)
    assert [schemas.split(frame + b"x")[0].id for frame in (one, other)] == [first.id] * 2
    unknown = b"\0" + (2**40).to_bytes(8, "big")
    with pytest.raises(SchemaRegistryError) as error:
        schemas.split(unknown)
    assert error.value.is_missing
    schemas.close()


def test_content_ids_of_eight_bytes(apicurio: str, topic: str) -> None:
    schemas = schemas_of(apicurio, schema_id_codec="apicurio-content-8")
    frame, found = schemas.to_write(topic, avro(ORDER), "shop.Order")
    assert frame == b"\0" + found.id.to_bytes(8, "big")
    assert json.loads(schemas.split(frame)[0].schema.text) == ORDER
    schemas.close()


def test_schemas_outlive_a_restart(tmp_path: Path) -> None:
    with apicurio_running(tmp_path) as url:
        number = registry_of(url).register("s", avro(ORDER)).id
    with apicurio_running(tmp_path) as url:
        assert json.loads(registry_of(url).by_id(number).schema.text) == ORDER
