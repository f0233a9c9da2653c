"""The settings of JsonSchemaConverter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.config.validators import CaseInsensitiveValidString
from connect_core.converters.kind import define_kind
from connect_core.converters.schema_keys import (
    GENERALIZED_SUM_TYPE_SUPPORT,
    IGNORE_DEFAULT_FOR_NULLABLES,
    SCHEMAS_CACHE_CONFIG,
    define_schema_keys,
)

__all__ = ["CONFIG", "JsonSchemaSettings"]

OBJECT_ADDITIONAL_PROPERTIES = "object.additional.properties"
USE_OPTIONAL_FOR_NONREQUIRED = "use.optional.for.nonrequired"
IGNORE_MODERN_DIALECTS = "ignore.modern.dialects"
FLATTEN_SINGLETON_UNIONS = "flatten.singleton.unions"
DECIMAL_FORMAT = "decimal.format"
FAIL_INVALID_SCHEMA = "json.fail.invalid.schema"

CONFIG = (
    define_schema_keys(define_kind(ConfigDef()))
    .define(
        OBJECT_ADDITIONAL_PROPERTIES,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Whether written schemas allow additional properties.",
    )
    .define(
        USE_OPTIONAL_FOR_NONREQUIRED,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether properties that a schema does not require become optional fields.",
    )
    .define(
        IGNORE_MODERN_DIALECTS,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.LOW,
        doc="Whether schemas of drafts later than 7 are read as draft 7.",
    )
    .define(
        FLATTEN_SINGLETON_UNIONS,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.LOW,
        doc="Whether a oneOf, anyOf or allOf with a single schema is read as that schema.",
    )
    .define(
        DECIMAL_FORMAT,
        ConfigType.STRING,
        "BASE64",
        validator=CaseInsensitiveValidString.one_of("BASE64", "NUMERIC"),
        importance=Importance.LOW,
        doc="How decimals are always written: BASE64 (the unscaled bytes as text) or NUMERIC (a JSON number). "
        "Both can be read.",
    )
    .define(
        FAIL_INVALID_SCHEMA,
        ConfigType.BOOLEAN,
        False,
        importance=Importance.MEDIUM,
        doc="Whether every message is checked against its JSON Schema, and fails if it does not match. Slow.",
    )
)


@dataclass(frozen=True, slots=True)
class JsonSchemaSettings:
    """The parsed settings."""

    additional_properties: bool = True
    optional_nonrequired: bool = False
    ignore_modern_dialects: bool = False
    flatten_singletons: bool = True
    numeric_decimals: bool = False
    generalized_sums: bool = False
    ignore_defaults: bool = False
    cache_size: int = 1000
    validate: bool = False

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> JsonSchemaSettings:
        """Parse ``configs``. Raise ConfigError on a bad value."""
        config = CONFIG.parse(configs)
        return cls(
            additional_properties=config[OBJECT_ADDITIONAL_PROPERTIES],
            optional_nonrequired=config[USE_OPTIONAL_FOR_NONREQUIRED],
            ignore_modern_dialects=config[IGNORE_MODERN_DIALECTS],
            flatten_singletons=config[FLATTEN_SINGLETON_UNIONS],
            numeric_decimals=config[DECIMAL_FORMAT].upper() == "NUMERIC",
            generalized_sums=config[GENERALIZED_SUM_TYPE_SUPPORT],
            ignore_defaults=config[IGNORE_DEFAULT_FOR_NULLABLES],
            cache_size=max(1, config[SCHEMAS_CACHE_CONFIG]),
            validate=config[FAIL_INVALID_SCHEMA],
        )
