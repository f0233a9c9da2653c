"""Paths to fields, plain or into nested structs and maps (KIP-821)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from connect_core.api.config import CaseInsensitiveValidString, ConfigDef, ConfigType, Importance
from connect_core.api.data import Field, Schema, Struct
from connect_core.errors import ConfigError, IllegalArgumentError, NullValueError
from connect_core.transforms.support.requirements import require_map_or_null, require_struct_or_null

__all__ = ["FIELD_SYNTAX_VERSION", "FieldPath", "define_field_syntax"]

FIELD_SYNTAX_VERSION = "field.syntax.version"
_PURPOSE = "nested field access"


def define_field_syntax(definition: ConfigDef) -> ConfigDef:
    """Add ``field.syntax.version`` to a definition and return it."""
    return definition.define(
        FIELD_SYNTAX_VERSION,
        ConfigType.STRING,
        "V1",
        validator=CaseInsensitiveValidString.one_of("V1", "V2"),
        importance=Importance.HIGH,
        doc="How the field is named. V1: the name of a field at the top, dots and all. V2: a path with a dot between "
        "names; a name that contains dots is enclosed in backticks, as in `a.b`.c.",
    )


@dataclass(frozen=True, slots=True)
class FieldPath:
    """The name of a field and of the fields that contain it, from the outermost inwards."""

    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str | None, version: str) -> FieldPath:
        """Parse a path in version ``V1`` or ``V2``. Raise ConfigError for an unclosed backtick."""
        if text is None:
            raise NullValueError("the name of the field is null")
        return cls((text,) if version.upper() == "V1" else tuple(_split(text)))

    def field_of(self, schema: Schema) -> Field | None:
        """Return the field, or ``None``. Raise DataError if a step leads through anything but a struct."""
        *parents, last = self._steps()
        for step in parents:
            field = schema.field(step)
            if field is None:
                return None
            schema = field.schema
        return schema.field(last)

    def value_of_struct(self, struct: Struct, replace_nulls: bool) -> Any:
        """Return the value, ``None`` if anything on the path is null or missing."""
        *parents, last = self._steps()
        for step in parents:
            if struct.schema.field(step) is None:
                return None
            inner = require_struct_or_null(struct.get(step), _PURPOSE)
            if inner is None:
                return None
            struct = inner
        if struct.schema.field(last) is None:
            return None
        return struct.get(last) if replace_nulls else struct.get_without_default(last)

    def value_of_map(self, value: dict[str, Any]) -> Any:
        """Return the value, ``None`` if anything on the path is null or missing."""
        *parents, last = self._steps()
        for step in parents:
            inner = require_map_or_null(value.get(step), _PURPOSE)
            if inner is None:
                return None
            value = inner
        return value.get(last)

    def _steps(self) -> tuple[str, ...]:
        if not self.steps:
            raise IllegalArgumentError("the path of the field is empty")
        return self.steps


def _split(path: str) -> list[str]:
    steps: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`":
            step, at = _quoted_step(path, at)
        else:
            end = path.find(".", at)
            end = len(path) if end < 0 else end
            step, at = path[at:end], end + 1
        steps.append(step)
    if path.endswith("."):
        steps.append("")
    return steps


def _quoted_step(path: str, opening: int) -> tuple[str, int]:
    """Return the name in backticks and the position after it and its dot.

    A backtick inside a name belongs to it unless a dot or the end follows; with a
    backslash before it, it belongs to the name even then.
    """
    name = ""
    start = at = opening + 1
    while True:
        at = path.find("`", at)
        is_last = at == len(path) - 1
        escaped = at > 0 and path[at - 1] == "\\"
        if at < 0 or (is_last and escaped):
            raise ConfigError(
                f"Incomplete backtick pair in path: [{path}],"
                f" consider adding a backslash before backtick at position {opening} to escape it"
            )
        if is_last:
            return name + path[start:at], at + 1
        if path[at + 1] == ".":
            if not escaped:
                return name + path[start:at], at + 2
            name += path[start : at - 1] + "`"
            start = at + 1
        at += 1
