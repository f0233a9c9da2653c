"""Which schema a message carries: order of the settings, what is remembered, GUIDs, threads."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pytest

from connect_core.errors import ConfigError, DataError
from connect_core.schema_registry.errors import SchemaRegistryError
from connect_core.schema_registry.frames import FIRST_GUID
from connect_core.schema_registry.model import SchemaKind, SchemaText
from connect_core.schema_registry.serde import MessageSchemas, open_schemas
from tests.schema_registry.fault_server import Answer, FaultServer, fault_server, refusal, schema

INT = SchemaText(SchemaKind.AVRO, '"int"')


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with fault_server() as found:
        yield found


def opened(server: FaultServer, kind: str = "AVRO", is_key: bool = False, /, **settings: str) -> MessageSchemas:
    given = {"schema.registry.url": server.url, **{name.replace("_", "."): text for name, text in settings.items()}}
    return open_schemas(given, is_key, kind)


def answer(**fields: Any) -> Answer:
    return Answer(body=json.dumps(fields).encode())


def test_new_schemas_are_registered_once(server: FaultServer) -> None:
    server.answers["/subjects/t-value/versions"] = [answer(id=7)]
    schemas = opened(server, use_latest_version="true", use_schema_id="9")
    for _ in range(3):
        frame, found = schemas.to_write("t", INT, None)
        assert (frame, found.id, found.schema) == (b"\0\0\0\0\7", 7, INT)
    assert server.count("/subjects/t-value/versions") == 1
    schemas.close()


def test_an_id_comes_before_the_newest_version(server: FaultServer) -> None:
    server.answers["/schemas/ids/9?subject=t-key"] = [schema()]
    schemas = opened(server, "avro", True, auto_register_schemas="false", use_latest_version="true", use_schema_id="9")
    assert schemas.to_write("t", INT, None)[0] == b"\0\0\0\0\x09"
    schemas.close()


def test_a_record_names_the_subject(server: FaultServer) -> None:
    server.answers["/subjects/t-shop.Order"] = [answer(id=7, version=1)]
    strategy = "io.confluent.kafka.serializers.subject.TopicRecordNameStrategy"
    schemas = opened(server, auto_register_schemas="false", value_subject_name_strategy=strategy)
    assert schemas.to_write("t", INT, "shop.Order")[1].subject == "t-shop.Order"
    with pytest.raises(DataError, match="must only be a record"):
        schemas.to_write("t", INT, None)
    schemas.close()


def test_the_newest_version_is_asked_for_again_when_it_expires(server: FaultServer) -> None:
    server.answers["/subjects/t-value/versions/latest"] = [schema(id=1, version=1), schema(id=2, version=2)]
    settings = {"auto_register_schemas": "false", "use_latest_version": "true"}
    for_good, for_no_time = opened(server, **settings), opened(server, **settings, latest_cache_ttl_sec="0")
    assert [for_good.to_write("t", INT, None)[1].id for _ in range(3)] == [1, 1, 1]
    assert [for_no_time.to_write("t", INT, None)[1].id for _ in range(2)] == [2, 2]
    assert server.count("/subjects/t-value/versions/latest") == 3
    for_good.close()
    for_no_time.close()


def test_the_newest_version_of_another_language_is_refused(server: FaultServer) -> None:
    server.answers["/subjects/t-value/versions/latest"] = [schema(id=1, version=1, schemaType="JSON")]
    schemas = opened(
        server, auto_register_schemas="false", use_latest_version="true", latest_compatibility_strict="false"
    )
    with pytest.raises(DataError, match="of type JSON, not AVRO"):
        schemas.to_write("t", INT, None)
    schemas.close()


def test_json_that_is_written_otherwise_is_the_same(server: FaultServer) -> None:
    text = {"type": "object", "title": "A"}
    server.answers["/subjects/t-value/versions/latest"] = [
        schema(id=1, version=1, schemaType="JSON", schema=json.dumps(text, indent=2))
    ]
    schemas = opened(server, "JSON", auto_register_schemas="false", use_latest_version="true")
    assert schemas.to_write("t", SchemaText(SchemaKind.JSON, json.dumps(text)), None)[1].id == 1
    assert [path for _, path, _ in server.requests if "compatibility" in path] == []
    schemas.close()


def test_guids_have_ids_of_their_own(server: FaultServer) -> None:
    guids = [uuid.UUID(int=one) for one in (5, 3)]
    server.answers |= {f"/schemas/guids/{one}": [schema(id=int(one))] for one in guids}
    server.answers["/schemas/ids/8"] = [schema()]
    schemas = opened(server)
    messages = [b"\1" + guids[0].bytes + b"a", b"\0\0\0\0\x08b", None, b"\1" + guids[1].bytes + b"c"]
    frames = schemas.split_batch(pa.array(messages, pa.binary()))
    again = schemas.split_batch(pa.array(messages[:1], pa.binary()))
    assert [number >= FIRST_GUID for number in frames.ids.tolist()] == [True, False, False, True]
    assert [schemas.schema_of(number).id for number in frames.ids.tolist() if number != -1] == [5, 8, 3]
    assert again.ids[0] == frames.ids[0]
    assert schemas.split(messages[0] or b"")[0].guid == str(guids[0])
    schemas.close()


def test_unknown_guids_are_not_kept(server: FaultServer) -> None:
    schemas = opened(server)
    with pytest.raises(SchemaRegistryError, match="404"):
        schemas.split_batch(pa.array([b"\1" + bytes(16)], pa.binary()))
    schemas.close()


def test_every_thread_sees_the_same(server: FaultServer) -> None:
    server.answers["/subjects/t-value/versions"] = [Answer(body=b'{"id": 7}', seconds=0.05)]
    server.answers["/schemas/ids/7"] = [Answer(body=schema().body, seconds=0.05)]
    schemas = opened(server)

    def work(_: int) -> int:
        frame, _registered = schemas.to_write("t", INT, None)
        return schemas.split(frame)[0].id

    with ThreadPoolExecutor(50) as pool:
        assert set(pool.map(work, range(200))) == {7}
    assert (server.count("/subjects/t-value/versions"), server.count("/schemas/ids/7")) == (1, 1)
    schemas.close()


def test_opening_asks_nothing_and_closing_twice_is_closing_once(server: FaultServer) -> None:
    one, other = opened(server), opened(server)
    one.close()
    one.close()
    server.answers["/schemas/ids/1"] = [schema()]
    assert other.schema_of(1).schema == INT
    other.close()
    assert len(server.requests) == 1


@pytest.mark.parametrize(("key", "value"), [("schema.id.codec", "mine"), ("value.subject.name.strategy", "com.Mine")])
def test_unknown_names_are_refused(key: str, value: str) -> None:
    with pytest.raises(ConfigError, match=key):
        open_schemas({"schema.registry.url": "http://r", key: value}, False, "AVRO")


def test_a_refusal_to_register_reaches_the_caller(server: FaultServer) -> None:
    server.answers["/subjects/t-value/versions"] = [refusal(409, 409, "Incompatible"), answer(id=7)]
    schemas = opened(server)
    with pytest.raises(SchemaRegistryError, match="Incompatible"):
        schemas.to_write("t", INT, None)
    # Nothing is remembered of it: the subject's level may be changed while a task is tried again.
    assert schemas.to_write("t", INT, None)[1].id == 7
    schemas.close()
