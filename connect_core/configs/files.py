"""Connector configurations in files: properties or JSON, as ``connect standalone`` accepts them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connect_core.errors import ConfigError
from connect_core.java.properties import read_properties

__all__ = ["ConnectorFile", "connector_of_json", "ensure_text", "json_of", "read_connector_file"]

_REQUEST = frozenset({"name", "config", "initial_state"})
_ANSWER = frozenset({"tasks", "type"})
"""Further fields of Connect's responses: a saved response may be sent back."""
_STATES = ("RUNNING", "PAUSED", "STOPPED")


class _Number(str):
    """A number of JSON in its original text."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ConnectorFile:
    """The contents of a file: a connector's name, its configuration and initial state."""

    name: str
    config: Mapping[str, str]
    initial_state: str = "RUNNING"


def read_connector_file(path: Path) -> ConnectorFile:
    """Read a properties file, a JSON object of settings, or a JSON request.

    Connect: ``ConnectStandalone.parseConnectorConfigurationFile`` (KIP-1034 and
    KIP-980). Raise ConfigError naming the file.
    """
    if path.suffix.lower() != ".json":
        return _connector(path, read_properties(path))
    try:
        content = json_of(path, path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"it is not JSON ({error})"
        raise ConfigError(f"Cannot read {path}: {reason}") from error
    return connector_of_json(path, content)


def json_of(path: Path, text: str, pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a file's JSON text; numbers keep the digits written, which a configuration stores.

    Raise ValueError or RecursionError for other text, and ConfigError for NaN and Infinity.
    """

    def refuse(word: str) -> Any:
        raise ConfigError(f'{path} contains {word}, which is not a JSON number: write a number, or the text "{word}"')

    return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=refuse, object_pairs_hook=pairs_hook)


def connector_of_json(path: Path, content: Any) -> ConnectorFile:
    """Return the connector of a JSON value read from a file. Raise ConfigError naming the file."""
    if not isinstance(content, dict):
        raise ConfigError(f"{path} does not contain a JSON object: write the connector's settings as one")
    if isinstance(content.get("config"), dict):
        return _request(path, content)
    return _connector(path, _texts(path, content))


def _request(path: Path, content: Mapping[str, Any]) -> ConnectorFile:
    unknown = sorted(set(content) - _REQUEST - _ANSWER)
    if unknown:
        raise ConfigError(f"{path} has unknown fields next to config: {', '.join(unknown)}")
    state = str(content.get("initial_state") or "RUNNING").upper()
    if state not in _STATES:
        raise ConfigError("initial_state", content["initial_state"], f"in {path}, use one of {', '.join(_STATES)}")
    config = _texts(path, content["config"])
    name = content.get("name") or config.get("name")
    if "name" in config and config["name"] != name:
        raise ConfigError(f"{path} names the connector {name} and, in its config, {config['name']}: use one name")
    return _connector(path, {**config, "name": name} if name else config, state)


def _connector(path: Path, config: Mapping[str, str], state: str = "RUNNING") -> ConnectorFile:
    ensure_text(path, config.items())
    name = config.get("name")
    if name is not None and (not isinstance(name, str) or isinstance(name, _Number)):
        raise ConfigError("name", name, f"in {path}, write a connector's name as a string")
    if not name:
        raise ConfigError(f'{path}: Missing required configuration "name" which has no default value.')
    return ConnectorFile(name, config, state)


def _texts(path: Path, content: Mapping[str, Any]) -> dict[str, str]:
    """Return JSON scalars as Connect stores them: as texts."""
    texts: dict[str, str] = {}
    for key, value in content.items():
        if value is None:
            raise ConfigError(key, None, f"in {path}, give the setting a value, or leave it out")
        if isinstance(value, dict | list):
            raise ConfigError(f"{path}: the setting {key} is not a string, number or boolean: write it as a string")
        texts[key] = str(value) if isinstance(value, str) else json.dumps(value)
    return texts


def ensure_text(place: object, settings: Iterable[tuple[str, Any]]) -> None:
    """Raise ConfigError for half of a surrogate pair, as in ``\\ud800``: it can neither be stored nor printed."""
    for key, value in settings:
        try:
            f"{key}{value}".encode()
        except UnicodeEncodeError as error:
            shown = key.encode("ascii", "backslashreplace").decode()
            reason = f"in {place}, it contains half of a surrogate pair: write the character itself"
            raise ConfigError(shown, "with \\ud…", reason) from error
