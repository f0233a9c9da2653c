"""JSON Schema documents, and the targets of their ``$ref``. Nothing is ever downloaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import orjson

from connect_core.errors import DataError
from connect_core.schema_registry.model import SchemaText

__all__ = ["Document", "load_document"]

LARGEST = 16 << 20
"""Most characters of a schema and those it refers to."""

_MODERN = ("json-schema.org/draft/2019-09/", "json-schema.org/draft/2020-12/")
_OLD = ("json-schema.org/draft-04/", "json-schema.org/schema")
_IDS = ("$id", "id", "$anchor")
_SAME = {"$defs": "definitions", "definitions": "$defs"}


class Document:
    """A parsed schema and those it may refer to; all of them share ``names``."""

    def __init__(self, root: Any, names: dict[str, Document], base: str = "", modern: bool | None = None) -> None:
        dialect = root.get("$schema") if isinstance(root, dict) else None
        dialect = dialect if isinstance(dialect, str) else ""
        own = next((root[key] for key in ("$id", "id") if isinstance(root, dict) and key in root), None)
        self.root = root
        self.base = urldefrag(own)[0] if isinstance(own, str) else base
        self.is_modern = any(name in dialect for name in _MODERN) if modern is None else modern
        self.is_draft_4 = any(name in dialect for name in _OLD)
        self._names = names
        self._ids: dict[str, Any] | None = None

    def resolve(self, ref: str) -> tuple[Any, Document, str]:
        """Return the target of a ``$ref``, its document, and a key that is equal for equal targets."""
        address, fragment = urldefrag(ref)
        document = self._document(address)
        node = document._at(fragment)
        return node, document, f"{id(document)}#{fragment}"

    def _document(self, address: str) -> Document:
        absolute = urljoin(self.base, address)
        if not address or absolute == self.base:
            return self
        for name in (address, absolute, f"./{address}"):
            if name in self._names:
                return self._names[name]
        embedded = self._by_id(absolute)
        if embedded is None:
            embedded = self._by_id(address)
        if embedded is None:
            known = ", ".join(sorted(self._names)) or "none"
            raise DataError(f"$ref {address[:200]} is not among the references of the schema ({known[:500]})")
        return self._names.setdefault(absolute, Document(embedded, self._names, absolute, self.is_modern))

    def _at(self, fragment: str) -> Any:
        if not fragment:
            return self.root
        if not fragment.startswith("/"):
            found = self._by_id(f"#{fragment}")
            if found is None:
                raise DataError(f"$ref #{fragment[:200]} does not exist in the schema")
            return found
        node = self.root
        for token in unquote(fragment)[1:].split("/"):
            node = _member(node, token.replace("~1", "/").replace("~0", "~"), fragment)
        return node

    def _by_id(self, name: str) -> Any:
        if self._ids is None:
            self._ids = {}
            for key, value, node in _identified(self.root):
                self._ids.setdefault(f"#{value}" if key == "$anchor" else value, node)
                self._ids.setdefault(urljoin(self.base, value), node)
        return self._ids.get(name)


def _member(node: Any, name: str, pointer: str) -> Any:
    if isinstance(node, Mapping):
        for spelling in (name, _SAME.get(name)):
            if spelling in node:
                return node[spelling]
    if isinstance(node, Sequence) and not isinstance(node, str) and name.isdecimal() and int(name) < len(node):
        return node[int(name)]
    raise DataError(f"$ref #{pointer[:200]} does not exist in the schema")


def _identified(root: Any) -> Iterator[tuple[str, str, Any]]:
    """Return all named parts of a document, with the keyword that contains the name."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield from ((key, node[key], node) for key in _IDS if isinstance(node.get(key), str))
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def load_document(schema: SchemaText, resolved: Sequence[tuple[str, SchemaText]], old_dialect: bool) -> Document:
    """Return a schema with those it refers to. Raise DataError if it is not valid JSON or too big.

    resolved: the referenced schemas, by their names; old_dialect: parse all as draft 7.
    """
    size = len(schema.text) + sum(len(text.text) for _, text in resolved)
    if size > LARGEST:
        raise DataError(f"A JSON Schema of {size} characters with its references exceeds the limit of {LARGEST}")
    names: dict[str, Document] = {}
    modern = False if old_dialect else None
    root = Document(_parsed(schema.text), names, "", modern)
    for name, text in resolved:
        document = Document(_parsed(text.text), names, name, modern)
        names[name] = names[urljoin(root.base, name)] = document
        if document.base:
            names.setdefault(document.base, document)
    return root


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        raise DataError(f"A JSON Schema is not JSON: {error}") from error
