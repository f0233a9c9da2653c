"""The chain of transforms in a configuration, created and configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from connect_core.api.transform import NOT_CHOSEN, ChosenPlugin, Predicate, Transformation
from connect_core.configs.classes import class_text
from connect_core.configs.enrichment import NEGATE, PREDICATE, VERSION
from connect_core.errors import ConfigError, ConnectError
from connect_core.java.class_names import error_text

__all__ = ["TransformationStage", "make_stages"]


@dataclass(frozen=True, slots=True)
class TransformationStage:
    """One transform, guarded by a predicate or not. Connect: ``TransformationStage``."""

    transformation: Transformation
    predicate: Predicate | None = None
    negate: bool = False
    chosen: ChosenPlugin = NOT_CHOSEN
    chosen_predicate: ChosenPlugin | None = None


def make_stages(config: Mapping[str, str], values: Mapping[str, Any]) -> list[TransformationStage]:
    """Return new, configured stages in order; ``values`` are the parsed settings.

    Raise ConnectError, with Connect's messages, for a transform or a predicate that
    rejects its settings or is not defined.
    """
    return [_stage(alias, config, values) for alias in values["transforms"]]


def _stage(alias: str, config: Mapping[str, str], values: Mapping[str, Any]) -> TransformationStage:
    prefix = f"transforms.{alias}."
    settings = _with_prefix(config, prefix)
    predicate, negate = settings.pop(PREDICATE, None), settings.pop(NEGATE, None)
    settings.pop(VERSION, None)
    try:
        transformation: Transformation = values[f"{prefix}type"]()
        transformation.configure(settings)
        chosen = ChosenPlugin(class_text(values[f"{prefix}type"]), settings)
        if predicate is None:
            return TransformationStage(transformation, chosen=chosen)
        guard, chosen_guard = _predicate(predicate, config, values)
        return TransformationStage(transformation, guard, (negate or "").lower() == "true", chosen, chosen_guard)
    except ConnectError as error:
        raise ConnectError(error_text(error)) from error


def _predicate(alias: str, config: Mapping[str, str], values: Mapping[str, Any]) -> tuple[Predicate, ChosenPlugin]:
    prefix = f"predicates.{alias}."
    if prefix + VERSION not in values:
        unknown = ConfigError(f"Unknown configuration '{prefix}{VERSION}'")
        raise ConnectError(error_text(unknown)) from unknown
    predicate: Predicate = values[f"{prefix}type"]()
    settings = _with_prefix(config, prefix)
    settings.pop(VERSION, None)
    predicate.configure(settings)
    return predicate, ChosenPlugin(class_text(values[f"{prefix}type"]), settings)


def _with_prefix(config: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {
        key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix) and key != prefix
    }
