"""SimpleHeaderConverter: header values as readable text."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from connect_core.api.convert import HeaderConverter
from connect_core.api.data import BYTES_SCHEMA, Schema, SchemaAndValue
from connect_core.api.data.values import convert_to_string, parse_string
from connect_core.errors import ConnectError
from connect_core.java.charsets import find_charset

__all__ = ["SimpleHeaderConverter"]

_LOG = logging.getLogger(__name__)
_UTF8 = find_charset("UTF-8")


class SimpleHeaderConverter(HeaderConverter):
    """Writes text, and guesses the schema of text when reading; it has no settings.

    Text that cannot be parsed is returned as bytes. Connect:
    ``SimpleHeaderConverter``.
    """

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Do nothing: there are no settings."""

    def to_connect_header(self, topic: str | None, header_key: str, value: bytes | None) -> SchemaAndValue:
        """Return the value of a header's text."""
        if value is None:
            return SchemaAndValue(None, None)
        try:
            return parse_string(_UTF8.decode(value))
        except (ConnectError, ValueError, RecursionError) as error:
            _LOG.warning(
                "Header %r on topic %r cannot be parsed as a Connect value, so it stays bytes: %s",
                header_key,
                topic,
                error,
            )
            return SchemaAndValue(BYTES_SCHEMA, value)

    def from_connect_header(
        self, topic: str | None, header_key: str, schema: Schema | None, value: Any
    ) -> bytes | None:
        """Return the text of a header's value."""
        text = None if value is None else convert_to_string(schema, value)
        return None if text is None else _UTF8.encode(text)
