"""Whether what happened is what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from connect_core.errors import JAVA_NAMES, ConnectError
from connect_core.java.numbers import round_to_float32
from tests.conformance.stages import FailedStep

__all__ = ["difference", "error_difference", "java_names"]

Json = Any
_ROUNDED: dict[str, Callable[[float], float]] = {"@float32": round_to_float32, "@float64": float}
_STAGES = ("configure", "define")


def difference(expected: Json, actual: Json) -> str | None:
    """Say how two results differ, or return ``None``."""
    wanted, found = _canonical(expected), _canonical(actual)
    return None if wanted == found else f"expected {_short(expected)}, got {_short(actual)}"


def error_difference(expected: Json, failure: FailedStep) -> str | None:
    """Say how an error differs from the recorded one, or return ``None``."""
    error = failure.error
    if JAVA_NAMES.get(expected["class"]) is not _known_class(error):
        return f"expected {expected['class']} ({expected['message']}), got {type(error).__name__}: {error}"
    if not expected.get("jvm_text") and str(error) != expected["message"]:
        return f"expected message {expected['message']!r}, got {str(error)!r}"
    if (failure.stage in _STAGES) != (expected.get("stage") in _STAGES):
        return f"expected an error at {expected.get('stage')}, got one at {failure.stage}"
    return None


def java_names(error: ConnectError) -> list[str]:
    """Return Connect's names of an error."""
    known = _known_class(error)
    return [name for name, kind in JAVA_NAMES.items() if kind is known]


def _known_class(error: ConnectError) -> type[ConnectError] | None:
    known = set(JAVA_NAMES.values())
    return next((kind for kind in type(error).__mro__ if kind in known), None)


def _canonical(content: Json) -> Any:
    if isinstance(content, list):
        return [_canonical(item) for item in content]
    if not isinstance(content, dict):
        return (type(content).__name__, content)
    if "@pairs" in content:
        return {"@pairs": sorted(map(_canonical_pair, content["@pairs"]))}
    return {key: _canonical_item(key, content[key]) for key in sorted(content)}


def _canonical_item(key: str, item: Json) -> Any:
    rounded = _ROUNDED.get(key)
    return repr(rounded(float(item))) if rounded is not None else _canonical(item)


def _canonical_pair(pair: Iterable[Json]) -> str:
    return repr([_canonical(item) for item in pair])


def _short(content: Json) -> str:
    text = repr(content)
    return text if len(text) < 2000 else f"{text[:2000]}…"
