"""Writes connectors of this deployment to files: JSON, properties, Strimzi's and Confluent's resources."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from connect_core.configs.secrets import mask
from connect_core.errors import ConfigError
from connect_core.herder.context import Herder
from connect_core.interval.values import TargetState
from connect_core.java.properties import format_properties
from connect_core.migration.definitions import Definition
from connect_core.migration.manifests import confluent_manifest, strimzi_manifest
from connect_core.store import connectors

__all__ = ["FORMATS", "stored_definitions", "write_definitions"]

_STATES = {TargetState.STARTED: "RUNNING", TargetState.PAUSED: "PAUSED"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 120


def _json(one: Definition, cluster: str) -> str:
    content = {"name": one.name, "config": {"name": one.name, **one.config}, "initial_state": one.state}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _properties(one: Definition, cluster: str) -> str:
    return format_properties({"name": one.name, **one.config})


FORMATS: Mapping[str, tuple[str, Callable[[Definition, str], str]]] = MappingProxyType(
    {
        "json": (".json", _json),
        "properties": (".properties", _properties),
        "strimzi": (".yaml", strimzi_manifest),
        "confluent": (".yaml", confluent_manifest),
    }
)
"""Format → the suffix of its files, and the function that formats a definition for a named Connect cluster."""


def stored_definitions(herder: Herder) -> list[Definition]:
    """Return all connectors, sorted by name: references as written, other secrets as ``[hidden]``."""
    with herder.database.read() as connection:
        states = [connectors.get(connection, name) for name in connectors.list_names(connection)]
    return [
        Definition(
            one.name,
            {key: value for key, value in mask(one.config).items() if key != "name" and value is not None},
            _STATES.get(one.target_state, "STOPPED"),
            is_state_kept=True,
        )
        for one in states
    ]


def write_definitions(found: list[Definition], folder: Path, form: str, cluster: str) -> list[Path]:
    """Write a file for each connector and return the paths. Raise ConfigError for an unknown format.

    Files are replaced atomically; files of deleted connectors are left.
    """
    if form not in FORMATS:
        raise ConfigError("--format", form, f"use one of {', '.join(FORMATS)}")
    ending, write = FORMATS[form]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"Cannot make the folder {folder}: {error.strerror}. Give another one.") from error
    written: dict[Path, str] = {}
    for one in found:
        path = folder / f"{_file_name(one.name)}{ending}"
        if path in written:
            raise ConfigError(f"{written[path]} and {one.name} would be written to {path}: use --only for one of them")
        written[path] = one.name
    for one, path in zip(found, written, strict=True):
        _replace(path, write(one, cluster))
    return list(written)


def _file_name(name: str) -> str:
    """Return a name that is safe on any file system; an unsafe one is changed, and made unique by a digest."""
    safe = _UNSAFE.sub("_", name)[:_LONGEST].lstrip(".")
    if safe == name:
        return name
    return f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _replace(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError as error:
        raise ConfigError(f"Cannot write {path}: {error.strerror}. Check the folder and its permissions.") from error
