"""The settings shared by the converters of registered schemas."""

from __future__ import annotations

from connect_core.api.config import ConfigDef, ConfigType, Importance

__all__ = ["GENERALIZED_SUM_TYPE_SUPPORT", "IGNORE_DEFAULT_FOR_NULLABLES", "SCHEMAS_CACHE_CONFIG", "define_schema_keys"]

GENERALIZED_SUM_TYPE_SUPPORT = "generalized.sum.type.support"
IGNORE_DEFAULT_FOR_NULLABLES = "ignore.default.for.nullables"
SCHEMAS_CACHE_CONFIG = "schemas.cache.config"


def define_schema_keys(definition: ConfigDef) -> ConfigDef:
    """Add these settings to a definition and return it."""
    return (
        definition.define(
            GENERALIZED_SUM_TYPE_SUPPORT,
            ConfigType.BOOLEAN,
            False,
            importance=Importance.MEDIUM,
            doc="Whether enums and unions are represented in the same way as in the other schema languages.",
        )
        .define(
            IGNORE_DEFAULT_FOR_NULLABLES,
            ConfigType.BOOLEAN,
            False,
            importance=Importance.MEDIUM,
            doc="Whether a null is written as null even if its schema has a default.",
        )
        .define(
            SCHEMAS_CACHE_CONFIG,
            ConfigType.INT,
            1000,
            importance=Importance.LOW,
            doc="How many translated schemas are cached, for each direction.",
        )
    )
