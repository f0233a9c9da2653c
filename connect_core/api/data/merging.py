"""The schema that several parsed values have in common. Connect: ``Values.SchemaMerger``."""

from __future__ import annotations

from connect_core.api.data.schema import Schema, SchemaType

__all__ = ["SchemaMerger"]

_NUMBERS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)


class SchemaMerger:
    """Widens a schema value by value; ``common`` is ``None`` if there is none."""

    def __init__(self) -> None:
        self.common: Schema | None = None
        self._compatible = True

    def merge(self, schema: Schema | None) -> None:
        """Include another value's schema; ``None`` is compatible with any."""
        if schema is None or not self._compatible:
            return
        self.common = schema if self.common is None else _merged(self.common, schema)
        self._compatible = self.common is not None


def _merged(previous: Schema, latest: Schema) -> Schema | None:
    if previous.type is not latest.type:
        if previous.type not in _NUMBERS or latest.type not in _NUMBERS:
            return None
        return max(previous, latest, key=lambda schema: _NUMBERS.index(schema.type))
    if previous.optional == latest.optional:
        return previous if previous.optional else latest
    return previous if previous == latest else None
