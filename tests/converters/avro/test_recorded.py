"""What a Java converter once wrote, Apicurio's fork of Confluent's: the same schema and bytes are written and read.

Rows of ``samples.EVERYTHING`` by number, those whose maps have one entry at most: others have Java's order.
``tests/schema_registry/test_apicurio_converter.py`` runs that converter.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.converters.avro.making import frame_of, made, register, text_of
from tests.converters.avro.samples import EVERYTHING, everything
from tests.schema_registry.memory import MemoryRegistry

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("number", RECORDED["rows"])
def test_row_is_written_as_recorded(number: str) -> None:
    registry = MemoryRegistry()
    message = made(registry).from_connect_data("t", EVERYTHING, everything(int(number)))
    assert message is not None
    assert (text_of(registry), message[5:].hex()) == (RECORDED["schema"], RECORDED["rows"][number])


@pytest.mark.parametrize("number", RECORDED["rows"])
def test_recorded_row_is_read(number: str) -> None:
    registry = MemoryRegistry()
    frame = frame_of(register(registry, RECORDED["schema"]))
    converter = made(registry)
    found = converter.to_connect_data("t", frame + bytes.fromhex(RECORDED["rows"][number]))
    own = converter.from_connect_data("u", EVERYTHING, everything(int(number)))
    assert found == converter.to_connect_data("t", own)
    assert found.value.get("int64") == everything(int(number)).get("int64")
