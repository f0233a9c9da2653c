"""The setting with the purpose of a converter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.config.validators import ValidString

__all__ = ["CONVERTER_TYPE", "define_kind", "with_kind"]

CONVERTER_TYPE = "converter.type"


def define_kind(definition: ConfigDef) -> ConfigDef:
    """Add ``converter.type`` to a definition and return it."""
    return definition.define(
        CONVERTER_TYPE,
        ConfigType.STRING,
        validator=ValidString.one_of("key", "value", "header"),
        importance=Importance.LOW,
        doc="What the converter is used for: key, value or header. Set by the framework.",
    )


def with_kind(configs: Mapping[str, Any], is_key: bool | None) -> dict[str, Any]:
    """Return the settings with ``converter.type``; ``None`` leaves a header converter's as given."""
    return dict(configs) if is_key is None else {**configs, CONVERTER_TYPE: "key" if is_key else "value"}
