"""Reads connectors from files and folders: JSON, properties, and Kubernetes resources in YAML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from connect_core.configs import ConnectorFile, read_connector_file
from connect_core.configs.files import connector_of_json, json_of
from connect_core.errors import ConfigError
from connect_core.migration.definitions import Definition, unique
from connect_core.migration.manifests import read_manifests

__all__ = ["paths_of", "read_definitions"]

_YAML = (".yaml", ".yml")
_SUFFIXES = (".json", ".properties", *_YAML)
_MOST_FILES = 100_000
_LARGEST = 16 << 20
"""Maximum bytes of one file: a thousand connectors take less than a megabyte."""


def paths_of(key: str, given: Iterable[str]) -> list[Path]:
    """Return the paths of a command's argument. Raise ConfigError for an empty one: an unset variable of a shell.

    As a path it would be the working directory, whose connectors nobody meant.
    """
    places = list(given)
    if not all(place.strip() for place in places):
        raise ConfigError(key, '""', "give a file or a folder; the working directory is .")
    return [Path(place) for place in places]


def read_definitions(paths: Iterable[Path]) -> list[Definition]:
    """Return the connectors defined by files and folders, sorted by name; folders are read with their subfolders.

    In folders, files and folders whose names begin with a dot are skipped, as are other kinds of files. Raise
    ConfigError naming the file, or if there is no connector at all.
    """
    places = list(paths)
    found = unique(one for path in places for file in _files(path) for one in _read(file))
    if not found:
        where = ", ".join(map(str, places))
        raise ConfigError(
            f"{where} defines no connector: give a folder with {', '.join(_SUFFIXES)} files of connectors"
        )
    return found


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    kept: list[Path] = []
    seen: set[str] = set()
    for folder, folders, names in os.walk(path, onerror=_unread, followlinks=True):
        real = os.path.realpath(folder)
        # A link may lead back to a folder above it.
        folders[:] = [] if real in seen else [name for name in folders if not name.startswith(".")]
        if real not in seen:
            kept += [Path(folder, name) for name in names if not name.startswith(".") and _is_wanted(name)]
        seen.add(real)
    if len(kept) > _MOST_FILES:
        raise ConfigError(f"{path} holds more than {_MOST_FILES} files: give only the folder with the connectors")
    yield from sorted(kept)


def _is_wanted(name: str) -> bool:
    return Path(name).suffix.lower() in _SUFFIXES


def _unread(error: OSError) -> None:
    """A folder that is not read would look as if its connectors were to be deleted."""
    raise ConfigError(f"Cannot read {error.filename}: {error.strerror}. Check its permissions.") from error


def _read(path: Path) -> list[Definition]:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ConfigError(f"Cannot read {path}: {error.strerror}. Check the path and its permissions.") from error
    if size > _LARGEST:
        raise ConfigError(f"{path} has {size} bytes, more than {_LARGEST}: split it")
    if path.suffix.lower() in _YAML:
        return read_manifests(_text(path), str(path))
    if path.suffix.lower() == ".json":
        return _json(path)
    if path.suffix.lower() == ".properties":
        return [_definition(path, read_connector_file(path))]
    raise ConfigError(f"{path} is no .json, .properties, .yaml or .yml file")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"Cannot read {path}: {reason}. Check the path and its permissions.") from error


def _json(path: Path) -> list[Definition]:
    try:
        content = json_of(path, _text(path), partial(_object, path))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"Cannot read {path}: it is not JSON ({type(error).__name__})") from error
    many = _several(content)
    if many is not None:
        return [_definition(path, connector_of_json(path, one)) for one in many]
    if isinstance(content, dict) and content.get("name") is None and not isinstance(content.get("config"), dict):
        # A plain map of settings defines the connector named like the file.
        content = {"name": path.stem, **content}
    return [_definition(path, connector_of_json(path, content))]


def _object(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{path} gives {twice} twice in one object: keep one of them")
    return found


def _several(content: Any) -> list[Any] | None:
    """Return the connectors of a list, or of a response to ``GET /connectors?expand=info``; ``None`` for one."""
    if isinstance(content, list):
        return content
    if isinstance(content, Mapping) and content and all(_is_expanded(one) for one in content.values()):
        return [
            {"name": name, "config": _given(one["info"]["config"]), "initial_state": _state(one.get("status"))}
            for name, one in content.items()
        ]
    return None


def _state(status: Any) -> str:
    """Return PAUSED or STOPPED if a saved status says so: such a connector is not to be started here."""
    connector = status.get("connector") if isinstance(status, Mapping) else None
    state = connector.get("state") if isinstance(connector, Mapping) else None
    return state if state in ("PAUSED", "STOPPED") else "RUNNING"


def _given(config: Any) -> Any:
    """Return a configuration of a cluster without its nulls, which are settings that are not given."""
    return {key: value for key, value in config.items() if value is not None} if isinstance(config, dict) else config


def _is_expanded(one: Any) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("info"), Mapping) and "config" in one["info"]


def _definition(path: Path, one: ConnectorFile) -> Definition:
    config = {key: value for key, value in one.config.items() if key != "name"}
    return Definition(one.name, config, one.initial_state, place=str(path))
