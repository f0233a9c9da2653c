"""Validate all settings at once, following dependents. Connect: ``ConfigDef.validateAll``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from connect_core.api.config.key import ConfigKey, ConfigValue
from connect_core.api.config.parsing import ClassResolver, parse_type
from connect_core.errors import ConfigError

__all__ = ["validate_all"]


def validate_all(
    keys: Mapping[str, ConfigKey],
    undefined: Iterable[str],
    props: Mapping[str, Any],
    resolve: ClassResolver,
) -> dict[str, ConfigValue]:
    """Return the validation result of every setting, by name.

    A setting that depends on several others is visited once for each, and
    repeats its messages; one in a cycle of dependents is never visited.
    """
    values = {name: ConfigValue(name) for name in keys}
    for name in undefined:
        message = f"{name} is referred in the dependents, but not defined."
        values[name] = ConfigValue(name, error_messages=[message], visible=False)
    parsed: dict[str, Any] = {}
    for key in _visits(keys):
        parsed[key.name] = values[key.name].value = _parse(key, props, values[key.name].error_messages, resolve)
    for key in _visits(keys):
        _recommend(key, parsed, values[key.name])
    return values


def _visits(keys: Mapping[str, ConfigKey]) -> Iterator[ConfigKey]:
    dependents = {name for key in keys.values() for name in key.dependents}
    for name in keys:
        if name not in dependents:
            yield from _visit(name, keys)


def _visit(name: str, keys: Mapping[str, ConfigKey]) -> Iterator[ConfigKey]:
    key = keys.get(name)
    if key is not None:
        yield key
        for dependent in key.dependents:
            yield from _visit(dependent, keys)


def _parse(key: ConfigKey, props: Mapping[str, Any], messages: list[str], resolve: ClassResolver) -> Any:
    value = None
    if key.name in props:
        try:
            value = parse_type(key.name, props[key.name], key.type, resolve)
        except ConfigError as error:
            messages.append(str(error))
    elif key.has_default:
        value = key.default
    else:
        messages.append(f'Missing required configuration "{key.name}" which has no default value.')
    if key.validator is not None:
        try:
            key.validator.ensure_valid(key.name, value)
        except ConfigError as error:
            messages.append(str(error))
    return value


def _recommend(key: ConfigKey, parsed: Mapping[str, Any], value: ConfigValue) -> None:
    if key.recommender is None:
        return
    try:
        recommended = list(key.recommender.valid_values(key.name, parsed))
        if value.recommended_values:
            recommended = [item for item in recommended if item in value.recommended_values]
        value.recommended_values = recommended
        value.visible = key.recommender.visible(key.name, parsed)
    except ConfigError as error:
        value.error_messages.append(str(error))
