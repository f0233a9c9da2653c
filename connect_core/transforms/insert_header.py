"""InsertHeader: add a header with a fixed value to every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance, NonNullValidator
from connect_core.api.data.values import parse_string
from connect_core.api.headers import Headers
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.transforms.support.batch_headers import with_changed_headers

__all__ = ["InsertHeader"]

HEADER = "header"
VALUE_LITERAL = "value.literal"

CONFIG = (
    ConfigDef()
    .define(
        HEADER,
        ConfigType.STRING,
        validator=NonNullValidator(),
        importance=Importance.HIGH,
        doc="Name of the header. Existing headers of this name are kept.",
    )
    .define(
        VALUE_LITERAL,
        ConfigType.STRING,
        validator=NonNullValidator(),
        importance=Importance.HIGH,
        doc="Value of the header; its schema is inferred from the text: numbers, true, false, dates, [lists], {maps}.",
    )
)


class InsertHeader(Transformation):
    """Appends one header. Connect: ``InsertHeader``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings."""
        config = CONFIG.parse(configs)
        self._header: str = config[HEADER]
        self._literal = parse_string(config[VALUE_LITERAL])

    def apply(self, record: Record) -> Record:
        """Add the header to one record."""
        return replace(record, headers=self._added(record.headers))

    def _added(self, headers: Headers) -> Headers:
        return headers.duplicate().add_schema_and_value(self._header, self._literal)

    def apply_batch(self, batch: Batch) -> Batch:
        """Add the header to all rows."""
        return with_changed_headers(batch, self._added)
