"""The settings of ProtobufConverter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.converters.kind import define_kind
from connect_core.converters.schema_keys import (
    GENERALIZED_SUM_TYPE_SUPPORT,
    IGNORE_DEFAULT_FOR_NULLABLES,
    SCHEMAS_CACHE_CONFIG,
    define_schema_keys,
)

__all__ = ["CONFIG", "ProtobufSettings"]

_FLAGS: dict[str, tuple[bool, str]] = {
    "enhanced.protobuf.schema.support": (False, "Whether names include the package they are declared in."),
    "scrub.invalid.names": (False, "Whether characters that are invalid in Protobuf names are replaced by valid ones."),
    "int.for.enums": (False, "Whether enums are read as their numbers instead of their names."),
    "optional.for.nullables": (False, "Whether nullable fields are those with the label optional."),
    "optional.for.proto2": (True, "Whether an optional field of proto2 that is not set is read as a null."),
    "wrapper.for.nullables": (False, "Whether nullable fields are wrapper messages, such as StringValue."),
    "wrapper.for.raw.primitives": (True, "Whether a top-level wrapper message is read as the value it wraps."),
    "generate.struct.for.nulls": (False, "Whether a message that is not set is read as a struct of defaults."),
    "generate.index.for.unions": (True, "Whether the name of a union's field ends with its number."),
    "flatten.unions": (False, "Whether the fields of a oneof are read as separate fields at the same level."),
}
_LOW = ("generate.index.for.unions", "flatten.unions")

CONFIG = define_schema_keys(define_kind(ConfigDef()))
for _name, (_default, _doc) in _FLAGS.items():
    _importance = Importance.LOW if _name in _LOW else Importance.MEDIUM
    CONFIG.define(_name, ConfigType.BOOLEAN, _default, importance=_importance, doc=_doc)


@dataclass(frozen=True, slots=True)
class ProtobufSettings:
    """The parsed settings."""

    generalized_sums: bool = False
    ignore_defaults: bool = False
    cache_size: int = 1000
    full_names: bool = False
    scrub_names: bool = False
    int_enums: bool = False
    optional_nullables: bool = False
    optional_proto2: bool = True
    wrapper_nullables: bool = False
    unwrap_root: bool = True
    structs_for_nulls: bool = False
    index_unions: bool = True
    flatten_unions: bool = False

    @classmethod
    def of(cls, configs: Mapping[str, Any]) -> ProtobufSettings:
        """Parse ``configs``. Raise ConfigError on a bad value."""
        config = CONFIG.parse(configs)
        return cls(
            config[GENERALIZED_SUM_TYPE_SUPPORT],
            config[IGNORE_DEFAULT_FOR_NULLABLES],
            max(1, config[SCHEMAS_CACHE_CONFIG]),
            *(config[name] for name in _FLAGS),
        )
