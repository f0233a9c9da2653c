"""JsonSchemaConverter keeps the contract of converters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from connect_core.converters.json_schema import JsonSchemaConverter
from connect_core.testing import ConverterContract
from tests.schema_registry.confluent_frames import PlainSchemas
from tests.schema_registry.contract import ADDRESS, CheckedSettings
from tests.schema_registry.memory import MemoryRegistry

REGISTRY = MemoryRegistry()


class OverMemory(CheckedSettings, JsonSchemaConverter):
    def __init__(self) -> None:
        super().__init__(PlainSchemas(REGISTRY))


class TestJsonSchemaConverter(ConverterContract):
    converter = OverMemory
    config: ClassVar[Mapping[str, str]] = ADDRESS


class TestWithOtherSettings(ConverterContract):
    converter = OverMemory
    config: ClassVar[Mapping[str, str]] = {
        **ADDRESS,
        "decimal.format": "numeric",
        "object.additional.properties": "false",
        "generalized.sum.type.support": "true",
        "json.fail.invalid.schema": "true",
    }
