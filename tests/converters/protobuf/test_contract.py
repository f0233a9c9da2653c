"""ProtobufConverter keeps the contract of converters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from connect_core.api.data import SchemaAndValue, Struct
from connect_core.converters.protobuf import ProtobufConverter
from connect_core.testing import ORDER_SCHEMA, ConverterContract, orders
from connect_core.testing.samples import sample_values
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.contract import ADDRESS, CheckedSettings
from tests.schema_registry.memory import MemoryRegistry

pytestmark = pytest.mark.slow

REGISTRY = MemoryRegistry()


class OverMemory(CheckedSettings, ProtobufConverter):
    def __init__(self) -> None:
        super().__init__(PlainSchemas(REGISTRY))


class TestProtobufConverter(ConverterContract):
    converter = OverMemory
    config: ClassVar[Mapping[str, str]] = ADDRESS

    def values(self) -> list[SchemaAndValue]:
        """Return the samples without packages, which are lost unless asked for."""
        samples = [one for one in sample_values() if not isinstance(one.value, Struct)]
        schema = ORDER_SCHEMA.replace(name="Order")
        return [*samples, *(SchemaAndValue(schema, Struct.of_values(schema, one.values)) for one in orders())]


class TestWithWrappers(ConverterContract):
    converter = OverMemory
    config: ClassVar[Mapping[str, str]] = {
        **ADDRESS,
        "wrapper.for.nullables": "true",
        "enhanced.protobuf.schema.support": "true",
        "int.for.enums": "true",
    }


class TestWithOptional(ConverterContract):
    converter = OverMemory
    config: ClassVar[Mapping[str, str]] = {
        **ADDRESS,
        "optional.for.nullables": "true",
        "enhanced.protobuf.schema.support": "true",
        "generalized.sum.type.support": "true",
    }
