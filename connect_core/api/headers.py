"""Headers of a record: an ordered multimap of name to schema and value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from connect_core.api.data import Schema, SchemaAndValue, infer_schema

__all__ = ["Header", "Headers"]


@dataclass(slots=True)
class Header:
    """One named value with its schema (``None``: schemaless)."""

    key: str
    schema: Schema | None
    value: Any

    def with_key(self, key: str) -> Header:
        """Return the same value with another name."""
        return Header(key, self.schema, self.value)


class Headers:
    """An ordered list of headers in which a name may occur several times.

    Connect: ``ConnectHeaders``. Mutating methods return the object itself.
    """

    __slots__ = ("_headers",)

    def __init__(self, headers: Iterable[Header] = ()) -> None:
        self._headers: list[Header] = list(headers)

    def add(self, key: str, value: Any, schema: Schema | None = None) -> Headers:
        """Append a header; without a schema, one is inferred if possible."""
        self._headers.append(Header(key, schema if schema is not None else infer_schema(value), value))
        return self

    def add_schema_and_value(self, key: str, data: SchemaAndValue) -> Headers:
        """Append a header with exactly this schema, which may be ``None``."""
        self._headers.append(Header(key, data.schema, data.value))
        return self

    def remove(self, key: str) -> Headers:
        """Drop every header of this name."""
        self._headers = [header for header in self._headers if header.key != key]
        return self

    def clear(self) -> Headers:
        """Drop all headers."""
        self._headers = []
        return self

    def retain_latest(self, key: str) -> Headers:
        """Keep only the last header of this name, in its position."""
        last = self.last_with_name(key)
        self._headers = [header for header in self._headers if header.key != key or header is last]
        return self

    def last_with_name(self, key: str) -> Header | None:
        """Return the last header of this name, or ``None``."""
        return next((header for header in reversed(self._headers) if header.key == key), None)

    def all_with_name(self, key: str) -> Iterator[Header]:
        """Iterate over the headers of this name, in order."""
        return (header for header in self._headers if header.key == key)

    def apply(self, key: str, change: Callable[[Header], Header | None]) -> Headers:
        """Replace each header of this name by what ``change`` returns; ``None`` drops it."""
        changed = (change(header) if header.key == key else header for header in self._headers)
        self._headers = [header for header in changed if header is not None]
        return self

    def duplicate(self) -> Headers:
        """Return an independent list of the same headers."""
        return Headers(self._headers)

    def __iter__(self) -> Iterator[Header]:
        return iter(self._headers)

    def __len__(self) -> int:
        return len(self._headers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self._headers == other._headers

    def __hash__(self) -> int:
        raise TypeError("Headers are mutable and cannot be hashed")

    def __repr__(self) -> str:
        return f"Headers({self._headers!r})"
