"""Apicurio's own Java converter beside ours, over one registry: byte for byte on write, schema for schema on read.

Its Avro data is a fork of Confluent's, whose converter is on no public package registry.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings

from connect_core.api.convert import Converter
from connect_core.api.data import Schema, SchemaAndValue, SchemaBuilder, SchemaType, Struct
from connect_core.converters.avro import AvroConverter
from connect_core.dev.java_runtime import java_runtime
from connect_core.errors import ConnectError
from connect_core.java_host.settings import HostSettings
from connect_core.java_plugins.plugins import JavaPlugins
from tests.api.data.strategies import schemas, values_of
from tests.converters.avro.samples import EVERYTHING, everything
from tests.full_run import examples
from tests.java_plugins.equipment import loaded, silent
from tests.schema_registry.apicurio_converter import converter_folder, converter_settings
from tests.seeds import SEED

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> JavaPlugins:
    folder = converter_folder(tmp_path_factory.mktemp("plugins"))
    return JavaPlugins(HostSettings(java_runtime(silent), (str(folder),), "only_scan", "256m"), idle_seconds=2.0)


@pytest.fixture
def theirs(plugins: JavaPlugins, apicurio: str) -> Iterator[Converter]:
    made: Converter = loaded(plugins, "io.apicurio.registry.utils.converter.AvroConverter", "converter")()
    made.configure(converter_settings(apicurio), False)
    yield made
    made.close()


@pytest.fixture
def ours(apicurio: str) -> Iterator[Converter]:
    made = AvroConverter()
    made.configure({"schema.registry.url": apicurio, "converter.type": "value"}, False)
    yield made
    made.close()


def has_small_maps(value: Any) -> bool:
    """Whether no map has two entries, whose order Java's hash tables choose."""
    if isinstance(value, Struct):
        return all(has_small_maps(one) for one in value.values)
    if isinstance(value, Mapping):
        return len(value) < 2 and all(has_small_maps(one) for one in value.values())
    return all(map(has_small_maps, value)) if isinstance(value, list) else True


def is_left_out(schema: Schema | None) -> bool:
    """Whether theirs is known to differ, by a schema or one in it.

    A list, a map or a struct has a default, of which it loses some when it reads; a float has one, whose text Avro 1.11
    writes with the digits of a double; a name begins with a dot, which is refused here.
    """
    if schema is None:
        return False
    if (schema.name or "").startswith(".") or (schema.type is SchemaType.FLOAT32 and schema.default is not None):
        return True
    if schema.type is SchemaType.STRUCT:
        return schema.default is not None or any(is_left_out(one.schema) for one in schema.fields)
    if schema.type not in (SchemaType.ARRAY, SchemaType.MAP):
        return False
    parts = [schema.value_schema, *([schema.key_schema] if schema.type is SchemaType.MAP else [])]
    return schema.default is not None or any(map(is_left_out, parts))


def written(converter: Converter, topic: str, data: SchemaAndValue) -> bytes | type[Exception] | None:
    """Return a message, or that it is refused."""
    try:
        return converter.from_connect_data(topic, data.schema, data.value)
    except ConnectError:
        return ConnectError


def same(theirs: Converter, ours: Converter, topic: str, data: SchemaAndValue) -> None:
    """Write by both, read what the other has written."""
    by_us, by_them = written(ours, topic, data), written(theirs, topic, data)
    if has_small_maps(data.value) or isinstance(by_us, type):
        assert by_us == by_them
    for content in (by_us, by_them):
        if isinstance(content, bytes):
            assert theirs.to_connect_data(topic, content) == ours.to_connect_data(topic, content)


@pytest.mark.parametrize("number", range(10))
def test_a_row_of_every_type(theirs: Converter, ours: Converter, number: int) -> None:
    topic = f"t-{uuid.uuid4().hex}"
    same(theirs, ours, topic, SchemaAndValue(EVERYTHING, everything(number)))


def test_random_rows(theirs: Converter, ours: Converter) -> None:
    @seed(SEED)
    @settings(max_examples=examples(40, 400), database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(typed=schemas.flatmap(lambda schema: values_of(schema).map(lambda value: (schema, value))))
    def check(typed: tuple[Schema, Any]) -> None:
        # In a struct: alone, theirs reads numbers and texts without their schema, unlike Confluent's.
        row = SchemaBuilder.struct().name("shop.Row").field("it", typed[0]).build()
        if is_left_out(typed[0]):
            return
        same(theirs, ours, f"t-{uuid.uuid4().hex}", SchemaAndValue(row, Struct.of_values(row, [typed[1]])))

    check()
