"""Folders as a table's partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from connect_core.connectors.filesystem.partitioners.hive import NO_VALUE

__all__ = ["folders_of", "values_of"]


def folders_of(files: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the folders of files below their topic's, each once."""
    folders = (file["name"].removeprefix(f"{file['home']}/").rpartition("/")[0] for file in files)
    return list(dict.fromkeys(folders))


def values_of(folder: str, keys: Sequence[str]) -> list[str]:
    """Return the values of a partition.

    A folder of other parts is the one of records without a time: all its values are Hive's null.
    """
    parts = [part.partition("=") for part in folder.split("/")]
    if [_plain(name).lower() for name, _, _ in parts] != list(keys):
        return [NO_VALUE] * len(keys)
    return [_plain(value) for _, _, value in parts]


def _plain(text: str) -> str:
    """Return a text without percent signs; unchanged if that is no text, as with a half surrogate."""
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text
