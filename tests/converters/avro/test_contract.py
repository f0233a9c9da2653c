from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from connect_core.converters.avro import AvroConverter
from connect_core.registry import PluginKind, registry
from connect_core.testing import ConverterContract
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.contract import ADDRESS, CheckedSettings
from tests.schema_registry.memory import MemoryRegistry

REGISTRY = MemoryRegistry()


class AvroInMemory(CheckedSettings, AvroConverter):
    """One registry for all instances: the contract makes one for each call."""

    def __init__(self) -> None:
        super().__init__(PlainSchemas(REGISTRY))


class TestAvroConverter(ConverterContract):
    converter = AvroInMemory
    config: ClassVar[Mapping[str, str]] = ADDRESS
    bad = (
        *ConverterContract.bad,
        b"\0\0\0\0\0",
        b"\0\0\0\0\1",
        b"\0\0\0\0\1" + b"\xff" * 12,
        b"\0\0\0\0\2\x01",
        b"\1\0\0\0\1\0",
        b"\0\x7f\xff\xff\xff\0",
    )


def test_class_is_found_by_its_names() -> None:
    for name in ("io.confluent.connect.avro.AvroConverter", "AvroConverter", "Avro"):
        assert registry().load(PluginKind.CONVERTER, name) is AvroConverter
