"""The settings of AvroConverter, besides those of the schema registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.converters.schema_keys import (
    GENERALIZED_SUM_TYPE_SUPPORT,
    IGNORE_DEFAULT_FOR_NULLABLES,
    SCHEMAS_CACHE_CONFIG,
)

__all__ = ["CONFIG", "AvroSettings", "define_avro"]

SCHEMAS_CACHE_SIZE = "schemas.cache.size"
CONNECT_META_DATA = "connect.meta.data"
ENHANCED = "enhanced.avro.schema.support"
SCRUB = "scrub.invalid.names"
OPTIONAL_KEYS = "allow.optional.map.keys"
FLATTEN = "flatten.singleton.unions"
DISCARD = "discard.type.doc.default"
_DEFAULT_SIZE = 1000

_FLAGS: tuple[tuple[str, bool, str], ...] = (
    (
        CONNECT_META_DATA,
        True,
        "Whether written schemas keep what Avro cannot express (name, version, doc, parameters, default, int8 and "
        "int16) as 'connect.' properties.",
    ),
    (
        ENHANCED,
        False,
        "Whether enums that were read as strings are written as enums again, and branches of unions are called by "
        "their full names.",
    ),
    (
        GENERALIZED_SUM_TYPE_SUPPORT,
        False,
        "Whether enums and unions are read in the form shared by Avro, Protobuf and JSON Schema.",
    ),
    (
        SCRUB,
        False,
        "Whether names that Avro does not allow are written with other characters: x before an invalid first one, "
        "_ and the hex code for others.",
    ),
    (OPTIONAL_KEYS, False, "Whether maps whose keys are optional strings are written as Avro's maps."),
    (FLATTEN, False, "Whether a union of one branch is read as that branch, not as a struct of one field."),
    (
        DISCARD,
        False,
        "Whether a field's own doc and default come before those of its type, as before version 6.1 of Confluent's "
        "converter.",
    ),
    (
        IGNORE_DEFAULT_FOR_NULLABLES,
        False,
        "Whether a null of a field with a default is written as null, not as that default.",
    ),
)


def define_avro(base: ConfigDef) -> ConfigDef:
    """Return a new definition: the settings of ``base`` and AvroConverter's own."""
    definition = ConfigDef(base)
    for name, default in ((SCHEMAS_CACHE_SIZE, _DEFAULT_SIZE), (SCHEMAS_CACHE_CONFIG, None)):
        old = (
            " Confluent's older name of 'schemas.cache.size', which takes precedence over it."
            if name == SCHEMAS_CACHE_CONFIG
            else ""
        )
        definition.define(
            name,
            ConfigType.INT,
            default,
            importance=Importance.LOW,
            doc=f"How many translated schemas are cached, for each direction.{old}",
        )
    for name, flag, doc in _FLAGS:
        definition.define(name, ConfigType.BOOLEAN, flag, importance=Importance.LOW, doc=doc)
    return definition


CONFIG = define_avro(ConfigDef())


@dataclass(frozen=True, slots=True)
class AvroSettings:
    """The parsed settings."""

    cache_size: int = _DEFAULT_SIZE
    metadata: bool = True
    enhanced: bool = False
    generalized: bool = False
    scrub: bool = False
    optional_keys: bool = False
    flatten: bool = False
    discard: bool = False
    ignore_default: bool = False

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> AvroSettings:
        """Parse ``configs``. Raise ConfigError on a bad value."""
        config = CONFIG.parse(configs)
        older = config[SCHEMAS_CACHE_CONFIG]
        size = config[SCHEMAS_CACHE_SIZE] if older is None or SCHEMAS_CACHE_SIZE in configs else older
        return cls(
            size,
            config[CONNECT_META_DATA],
            config[ENHANCED],
            config[GENERALIZED_SUM_TYPE_SUPPORT],
            config[SCRUB],
            config[OPTIONAL_KEYS],
            config[FLATTEN],
            config[DISCARD],
            config[IGNORE_DEFAULT_FOR_NULLABLES],
        )
