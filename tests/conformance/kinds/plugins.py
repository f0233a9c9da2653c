"""The classes behind Java names, and their configuration definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect_core.api.config import ConfigDef, ConfigKey
from connect_core.registry import PluginKind, registry
from tests.conformance.case import Case
from tests.conformance.kinds.definitions import encode_config_value
from tests.conformance.stages import step

__all__ = ["KINDS", "plugin"]

Json = Any


def plugin(kind: PluginKind, java_class: str | None) -> Any:
    """Return a new object of the class of this Java name."""
    with step("load"):
        return registry().load(kind, str(java_class))()


def _plugin_config(case: Case) -> Json:
    found = registry().describe(str(case.java_class))
    assert found is not None, f"no plugin answers to {case.java_class}"
    with step("config"):
        definition: ConfigDef = found.load()().config()
    return [_key(key) for _, key in sorted(definition.config_keys().items())]


def _key(key: ConfigKey) -> Json:
    return {
        "name": key.name,
        "type": key.type.name,
        "required": not key.has_default,
        "default": encode_config_value(key.type, key.default) if key.has_default else None,
        "importance": key.importance.name,
        "validator": None if key.validator is None else str(key.validator),
        "group": key.group,
        "orderInGroup": key.order,
        "width": key.width.name,
        "displayName": key.display_name,
        "documentation": "",
    }


KINDS: dict[str, Callable[[Case], Json]] = {"plugin_config": _plugin_config}
