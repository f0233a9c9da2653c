"""Column types that behave the same on PostgreSQL and SQLite."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

__all__ = ["FreeText", "JsonText", "Moment"]


class JsonText(TypeDecorator[Any]):
    """JSON as text, with keys in the order given; not jsonb, which refuses ``\\u0000``."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write JSON."""
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read JSON."""
        return None if value is None else json.loads(value)


class FreeText(TypeDecorator[str]):
    """Unchecked text, such as a trace: characters that a database refuses are replaced."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace NUL and lone surrogates."""
        return None if value is None else value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


class Moment(TypeDecorator[datetime]):
    """A time with zone UTC; on SQLite text with milliseconds, comparable to its clock."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose ``timestamptz`` on PostgreSQL, else text."""
        kind = DateTime(timezone=True) if dialect.name == "postgresql" else Text()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Write in UTC."""
        if value is None or dialect.name == "postgresql":
            return value
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read as UTC."""
        if value is None:
            return None
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
