"""The settings of JsonConverter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ConfigDef, ConfigType, Importance, Width
from connect_core.api.config.validators import CaseInsensitiveValidString
from connect_core.converters.kind import define_kind

__all__ = ["CONFIG", "JsonSettings"]

SCHEMAS_ENABLE = "schemas.enable"
SCHEMAS_CACHE_SIZE = "schemas.cache.size"
SCHEMA_CONTENT = "schema.content"
DECIMAL_FORMAT = "decimal.format"
REPLACE_NULL_WITH_DEFAULT = "replace.null.with.default"

CONFIG = (
    define_kind(ConfigDef())
    .define(
        SCHEMAS_ENABLE,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.HIGH,
        doc="Whether each message is an envelope of 'schema' and 'payload'. Without schemas, messages are plain JSON: "
        "objects become maps, whole numbers int64, other numbers float64.",
        group="Schemas",
        order=0,
        width=Width.MEDIUM,
        display_name="Enable Schemas",
    )
    .define(
        SCHEMAS_CACHE_SIZE,
        ConfigType.INT,
        1000,
        importance=Importance.HIGH,
        doc="How many translated schemas are cached, for each direction.",
        group="Schemas",
        order=1,
        width=Width.MEDIUM,
        display_name="Schema Cache Size",
    )
    .define(
        SCHEMA_CONTENT,
        ConfigType.STRING,
        None,
        importance=Importance.HIGH,
        doc="A schema, in the JSON form used in envelopes, with which every message is read as a bare payload. "
        "Used only for reading, and only while 'schemas.enable' is true.",
        group="Schemas",
        order=2,
        width=Width.MEDIUM,
        display_name="Schema Content",
    )
    .define(
        DECIMAL_FORMAT,
        ConfigType.STRING,
        "BASE64",
        validator=CaseInsensitiveValidString.one_of("BASE64", "NUMERIC"),
        importance=Importance.LOW,
        doc="How decimals are always written: BASE64 (the unscaled bytes as text) or NUMERIC (a JSON number). "
        "Both can be read.",
        group="Serialization",
        order=0,
        width=Width.MEDIUM,
        display_name="Decimal Format",
    )
    .define(
        REPLACE_NULL_WITH_DEFAULT,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether a null whose schema has a default is read and written as that default.",
        group="Serialization",
        order=1,
        width=Width.MEDIUM,
        display_name="Replace null with default",
    )
)


@dataclass(frozen=True, slots=True)
class JsonSettings:
    """The parsed settings."""

    schemas_enabled: bool
    cache_size: int
    schema_content: str | None
    numeric_decimals: bool
    replace_nulls: bool

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> JsonSettings:
        """Parse ``configs``. Raise ConfigError on a bad value."""
        config = CONFIG.parse(configs)
        return cls(
            schemas_enabled=config[SCHEMAS_ENABLE],
            cache_size=config[SCHEMAS_CACHE_SIZE],
            schema_content=config[SCHEMA_CONTENT] or None,
            numeric_decimals=config[DECIMAL_FORMAT].upper() == "NUMERIC",
            replace_nulls=config[REPLACE_NULL_WITH_DEFAULT],
        )
