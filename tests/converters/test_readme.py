from __future__ import annotations

from pathlib import Path

import pytest

from connect_core import converters
from connect_core.api.config import ConfigDef
from connect_core.converters.avro.config import CONFIG as AVRO
from connect_core.converters.json.config import CONFIG as JSON
from connect_core.converters.json_schema.config import CONFIG as JSON_SCHEMA
from connect_core.converters.protobuf.config import CONFIG as PROTOBUF
from connect_core.converters.string import CONFIG as STRING
from tests.connectors.test_readme import key_table


@pytest.mark.parametrize("definition", [AVRO, JSON, JSON_SCHEMA, PROTOBUF, STRING])
def test_readme_has_the_keys_of_the_definition(definition: ConfigDef) -> None:
    assert key_table(definition) in (Path(converters.__file__).parent / "README.md").read_text()
