"""Random Avro schemas as others write them: enums, fixed, unions of any branches, names used twice."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st

__all__ = ["avro_records"]

_PLAIN = ("boolean", "int", "long", "float", "double", "bytes", "string")
_LOGICAL: tuple[tuple[str, str], ...] = (
    ("int", "date"),
    ("int", "time-millis"),
    ("long", "timestamp-millis"),
    ("long", "timestamp-micros"),
    ("string", "uuid"),
)


@st.composite
def avro_records(draw: st.DrawFn) -> Any:
    """Return the schema of a record."""
    numbers = count()
    return _record(draw, numbers, 0)


def _record(draw: st.DrawFn, numbers: count[int], depth: int) -> Any:
    name = f"R{next(numbers)}"
    fields = [
        {"name": f"f{place}", "type": _type(draw, numbers, depth + 1)} for place in range(draw(st.integers(0, 4)))
    ]
    return {"type": "record", "name": name, "fields": fields}


def _type(draw: st.DrawFn, numbers: count[int], depth: int, in_union: bool = False) -> Any:
    kinds = ["plain", "logical", "enum", "fixed", "decimal", "optional"]
    kinds += [] if depth > 3 else ["array", "map", "record", "union", "entries"]
    if in_union:
        kinds = [kind for kind in kinds if kind not in ("optional", "union")]
    kind = draw(st.sampled_from(kinds))
    if kind == "plain":
        return draw(st.sampled_from(_PLAIN))
    if kind == "logical":
        base, logical = draw(st.sampled_from(_LOGICAL))
        return {"type": base, "logicalType": logical}
    if kind == "record":
        return _record(draw, numbers, depth)
    if kind in ("array", "map"):
        return {"type": kind, "items" if kind == "array" else "values": _type(draw, numbers, depth + 1)}
    if kind in ("optional", "union"):
        return _union(draw, numbers, depth, kind)
    return _named(draw, numbers, kind, depth)


def _named(draw: st.DrawFn, numbers: count[int], kind: str, depth: int) -> Any:
    name = f"N{next(numbers)}"
    if kind == "enum":
        return {"type": "enum", "name": name, "symbols": [f"S{place}" for place in range(draw(st.integers(1, 3)))]}
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": draw(st.integers(1, 5))}
    if kind == "decimal":
        return {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": draw(st.integers(0, 12))}
    fields = [{"name": part, "type": _type(draw, numbers, depth + 1)} for part in ("key", "value")]
    fields[0]["type"] = draw(st.sampled_from(["int", "long", "bytes", ["null", "string"]]))
    return {
        "type": "array",
        "items": {"type": "record", "name": name, "connect.internal.type": "MapEntry", "fields": fields},
    }


def _union(draw: st.DrawFn, numbers: count[int], depth: int, kind: str) -> Any:
    size = 1 if kind == "optional" else draw(st.integers(2, 4))
    branches: dict[str, Any] = {}
    for _ in range(size):
        branch = _type(draw, numbers, depth + 1, True)
        word = branch if isinstance(branch, str) else branch["type"]
        branches.setdefault(branch["name"] if word in ("record", "enum") else word, branch)
    found = list(branches.values())
    if kind == "optional" or draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), "null")
    return found
