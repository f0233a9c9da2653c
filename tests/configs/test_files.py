"""Connector configurations in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connect_core.configs import ConnectorFile, read_connector_file
from connect_core.errors import ConfigError
from tests.configs.workers import SOURCE


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def test_properties_file_is_read(tmp_path: Path) -> None:
    text = "\n".join(f"{key}={value}" for key, value in SOURCE.items())
    assert read_connector_file(written(tmp_path, "a.properties", text)) == ConnectorFile("lines", SOURCE)


def test_json_object_of_settings_is_read(tmp_path: Path) -> None:
    numbers = SOURCE | {"tasks.max": 1, "errors.log.enable": True}
    found = read_connector_file(written(tmp_path, "a.json", numbers))
    assert found == ConnectorFile("lines", SOURCE | {"errors.log.enable": "true"})


def test_json_numbers_keep_their_digits(tmp_path: Path) -> None:
    text = '{"name": "a", "v": 1.10, "e": 1e3, "t": 1E-7, "whole": -0, "flag": false}'
    expected = {"name": "a", "v": "1.10", "e": "1e3", "t": "1E-7", "whole": "-0", "flag": "false"}
    assert read_connector_file(written(tmp_path, "a.json", text)).config == expected


def test_json_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors and shells of Windows write it, and Connect's reader skips it."""
    file = written(tmp_path, "a.json", "\ufeff" + json.dumps(SOURCE))
    assert read_connector_file(file) == ConnectorFile("lines", SOURCE)


def test_json_request_is_read(tmp_path: Path) -> None:
    bare = {key: value for key, value in SOURCE.items() if key != "name"}
    request = {"name": "lines", "config": bare, "initial_state": "paused"}
    assert read_connector_file(written(tmp_path, "a.json", request)) == ConnectorFile("lines", SOURCE, "PAUSED")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "it is not JSON"),
        ("[1]", "does not contain a JSON object"),
        ("[" * 100_000, "it is not JSON"),
        ('{"name": "a", "v": -Infinity}', "contains -Infinity, which is not a JSON number"),
        ('{"name": "a\\ud800"}', "configuration name: in .*half of a surrogate pair"),
        ('{"config": {"name": "a", "v\\udc00": "b"}}', r"configuration v\\udc00: in .*half of a surrogate pair"),
        ({"name": "a", "b": {"c": 1}}, "the setting b is not a string"),
        ({"connector.class": "FileStreamSource"}, 'Missing required configuration "name"'),
        ({"name": "a", "config": {"name": "b"}}, "use one name"),
        ({"config": {}, "name": "a", "foo": 1}, "unknown fields next to config: foo"),
        ({"config": {}, "name": "a", "initial_state": "gone"}, "use one of RUNNING, PAUSED, STOPPED"),
    ],
)
def test_bad_file_is_refused_by_name(tmp_path: Path, content: Any, error: str) -> None:
    with pytest.raises(ConfigError, match=error) as caught:
        read_connector_file(written(tmp_path, "a.json", content))
    assert "a.json" in str(caught.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    for name in ("gone.json", "gone.properties"):
        with pytest.raises(ConfigError, match=f"Cannot read .*{name}: No such file"):
            read_connector_file(tmp_path / name)
