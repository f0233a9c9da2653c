"""Manifests, epochs and owners as objects of a bucket with a conditional create."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from connect_core.errors import RetriableError

__all__ = ["ObjectControlStore", "Objects", "object_name"]


class Objects(Protocol):
    """The calls of an object store; each may raise RetriableError."""

    def read(self, name: str) -> bytes | None:
        """Return an object's bytes, ``None`` if there is none."""

    def create(self, name: str, data: bytes) -> None:
        """Write an object unless it exists: of any number of callers exactly one writes."""

    def names(self, prefix: str) -> list[str]:
        """Return the names after a prefix, up to the next slash."""

    def remove(self, name: str) -> None:
        """Remove an object, if it exists."""

    def remove_all(self, prefix: str) -> None:
        """Remove the objects with this prefix."""


class ObjectControlStore:
    """Objects are written atomically, so that no draft is needed."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def read(self, place: Path) -> dict[str, Any] | None:
        """Return the JSON of an object, or ``None`` if there is none."""
        data = self._objects.read(object_name(place))
        if data is None:
            return None
        content: dict[str, Any] = json.loads(data)
        return content

    def create(self, place: Path, content: Mapping[str, Any]) -> dict[str, Any]:
        """Write JSON unless the object exists → the content that is there."""
        existing = self.read(place)
        if existing is not None:
            return existing
        data = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
        self._objects.create(object_name(place), data)
        existing = self.read(place)
        if existing is None:
            raise RetriableError(f"{place} was not written: another program removed it meanwhile")
        return existing

    def names(self, folder: Path) -> list[str]:
        """Return the names within a prefix, on one level."""
        return sorted(set(self._objects.names(f"{object_name(folder)}/")))

    def remove(self, place: Path) -> None:
        """Remove an object, if it exists."""
        self._objects.remove(object_name(place))

    def remove_tree(self, place: Path) -> bool:
        """Remove the objects within a prefix."""
        self._objects.remove_all(f"{object_name(place)}/")
        return True


def object_name(place: Path) -> str:
    """Return the name of a path's object in a bucket."""
    return place.as_posix().lstrip("/")
