"""A small cache that drops the least recently used entries."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["BoundedCache"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Keeps at most ``size`` entries; none at all for a size below one."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """Return the entry, or ``None``."""
        value = self._entries.get(key)
        if value is not None and len(self._entries) >= self._size:
            self._entries.move_to_end(key)
        return value

    def put(self, key: Key, value: Value) -> Value:
        """Store and return ``value``."""
        self._entries[key] = value
        while len(self._entries) > max(self._size, 0):
            self._entries.popitem(last=False)
        return value
