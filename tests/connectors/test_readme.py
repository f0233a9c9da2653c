from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from connect_core import connectors
from connect_core.api import ConfigDef, ConfigType
from connect_core.connectors.delta.config import CONFIG as DELTA_CONFIG
from connect_core.connectors.delta.sink import DeltaSinkConnector
from connect_core.connectors.file.config import SINK_CONFIG, SOURCE_CONFIG
from connect_core.connectors.file.sink import FileStreamSinkConnector
from connect_core.connectors.file.source import FileStreamSourceConnector
from connect_core.connectors.filesystem.sink.config import CONFIG
from connect_core.connectors.filesystem.sink.connector import FileSystemSinkConnector
from connect_core.connectors.filesystem.source.config import SOURCE_CONFIG as FILE_SYSTEM_SOURCE_CONFIG
from connect_core.connectors.filesystem.source.connector import FileSystemSourceConnector
from connect_core.connectors.iceberg.config import CONFIG as ICEBERG_CONFIG
from connect_core.connectors.iceberg.sink import IcebergSinkConnector
from connect_core.connectors.jdbc.sink.config import SINK_CONFIG as JDBC_SINK_CONFIG
from connect_core.connectors.jdbc.sink.connector import JdbcSinkConnector
from connect_core.connectors.jdbc.source.config import SOURCE_CONFIG as JDBC_SOURCE_CONFIG

FOLDER = Path(connectors.__file__).parent
HEAD = "<!-- keys -->\n| Key | Type | Default | Values | Meaning |\n|---|---|---|---|---|\n"


def key_table(definition: ConfigDef) -> str:
    rows = [HEAD]
    for key in definition.sorted_keys():
        if not key.has_default:
            default = "required"
        elif key.default is None:
            default = "none"
        else:
            default = f"`{str(key.default).lower() if key.type is ConfigType.BOOLEAN else key.default}`"
        valid = "" if key.validator is None else str(key.validator)
        rows.append(f"| `{key.name}` | {key.type.value} | {default} | {valid} | {key.doc} |\n")
    return "".join(rows)


@pytest.mark.parametrize(
    ("folder", "connector", "config"),
    [
        ("file", FileStreamSourceConnector, {"file": "x", "topic": "t"}),
        ("file", FileStreamSinkConnector, {"file": "x"}),
        ("filesystem", FileSystemSinkConnector, {"path": "x"}),
        ("filesystem", FileSystemSourceConnector, {"path": "x", "topic": "t"}),
        ("delta", DeltaSinkConnector, {"path": "x"}),
        ("iceberg", IcebergSinkConnector, {"iceberg.tables": "db.t"}),
        ("jdbc", JdbcSinkConnector, {"connection.url": "jdbc:postgresql://h/d"}),
    ],
)
def test_readme_states_the_declared_guarantee(folder: str, connector: Any, config: dict[str, str]) -> None:
    text = " ".join((FOLDER / folder / "README.md").read_text().split()).lower()
    assert str(connector().guarantee(config)) in text


@pytest.mark.parametrize(
    ("folder", "definition"),
    [
        ("file", SOURCE_CONFIG),
        ("file", SINK_CONFIG),
        ("filesystem", CONFIG),
        ("filesystem", FILE_SYSTEM_SOURCE_CONFIG),
        ("delta", DELTA_CONFIG),
        ("iceberg", ICEBERG_CONFIG),
        ("jdbc", JDBC_SOURCE_CONFIG),
        ("jdbc", JDBC_SINK_CONFIG),
    ],
)
def test_readme_has_the_keys_of_the_definition(folder: str, definition: Any) -> None:
    assert key_table(definition) in (FOLDER / folder / "README.md").read_text()
