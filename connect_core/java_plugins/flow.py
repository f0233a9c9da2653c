"""Selects the part of a flow that a Java task does in its host: the adjacent Java stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from connect_core.api.flow import Flow
from connect_core.api.transform import ChosenPlugin, FlowStage
from connect_core.converters.bytes import ByteArrayConverter
from connect_core.java_plugins.catalog import Catalog, JavaClass

__all__ = ["TakenFlow", "stage_spec", "take_first", "take_last"]

Json = Any
_NEGATE = ("predicate", "negate", "plugin.version")


@dataclass(frozen=True, slots=True)
class TakenFlow:
    """The part of a flow that a task does in its host; ``spec`` describes it, ``classes`` are those it needs."""

    spec: Json
    classes: tuple[JavaClass, ...]
    left: Flow
    is_converted: bool
    first: int = 0
    """The index of its first transform in the whole flow."""


def take_first(flow: Flow, catalog: Catalog) -> TakenFlow:
    """Return the part for a source's task: the first transforms, and the converters if no transform is left."""
    count = 0
    while count < len(flow.stages) and _classes(flow.stages[count], catalog) is not None:
        count += 1
    taken, left = flow.stages[:count], flow.stages[count:]
    return _taken(flow, catalog, taken, left, 0)


def take_last(flow: Flow, catalog: Catalog) -> TakenFlow:
    """Return the part for a sink's task: the last transforms, and the converters if no transform is left."""
    first = len(flow.stages)
    while first > 0 and _classes(flow.stages[first - 1], catalog) is not None:
        first -= 1
    return _taken(flow, catalog, flow.stages[first:], flow.stages[:first], first)


def _taken(
    flow: Flow, catalog: Catalog, taken: Sequence[FlowStage], left: Sequence[FlowStage], first: int
) -> TakenFlow:
    spec: Json = {"retryMillis": flow.retries.timeout, "longestDelay": flow.retries.longest_delay}
    spec["stages"] = [stage_spec(stage) for stage in taken]
    classes = [one for stage in taken for one in _classes(stage, catalog) or ()]
    converters = {
        "key": (flow.chosen_key, "converter"),
        "value": (flow.chosen_value, "converter"),
        "header": (flow.chosen_header, "header_converter"),
    }
    known = {part: catalog.find(chosen.name, kind) for part, (chosen, kind) in converters.items()}
    is_converted = not left and None not in known.values()
    rest = replace(flow, stages=left)
    if is_converted:
        spec |= {part: _plugin(chosen) for part, (chosen, _) in converters.items()}
        classes += [one for one in known.values() if one is not None]
        rest = replace(rest, key=_bytes(True), value=_bytes(False), header=_bytes(False))
    return TakenFlow(spec, tuple(classes), rest, is_converted, first)


def stage_spec(stage: FlowStage) -> Json:
    """Return the description of a transform for a host."""
    spec = _plugin(stage.chosen)
    if stage.chosen_predicate is not None:
        spec |= {"predicate": _plugin(stage.chosen_predicate), "negate": stage.negate}
    return spec


def _plugin(chosen: ChosenPlugin) -> Json:
    settings = {key: value for key, value in chosen.settings.items() if key not in _NEGATE}
    return {"class": chosen.name, "config": settings}


def _classes(stage: FlowStage, catalog: Catalog) -> list[JavaClass] | None:
    """Return the classes of a stage, ``None`` if one is not a Java class."""
    found = [catalog.find(stage.chosen.name, "transformation")]
    if stage.chosen_predicate is not None:
        found.append(catalog.find(stage.chosen_predicate.name, "predicate"))
    return None if None in found else [one for one in found if one is not None]


def _bytes(is_key: bool) -> ByteArrayConverter:
    made = ByteArrayConverter()
    made.configure({}, is_key)
    return made
