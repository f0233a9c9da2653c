"""A setting that many transforms share: whether a null is replaced by its default."""

from __future__ import annotations

from connect_core.api.config import ConfigDef, ConfigType, Importance

__all__ = ["REPLACE_NULL_WITH_DEFAULT", "define_replace_null"]

REPLACE_NULL_WITH_DEFAULT = "replace.null.with.default"


def define_replace_null(definition: ConfigDef) -> ConfigDef:
    """Add ``replace.null.with.default`` to a definition and return it."""
    return definition.define(
        REPLACE_NULL_WITH_DEFAULT,
        ConfigType.BOOLEAN,
        True,
        importance=Importance.MEDIUM,
        doc="Whether a null in a field whose schema has a default is copied as that default. If false, it stays null.",
    )
