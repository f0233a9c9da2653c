"""Random .proto texts with messages of them, and Connect schemas that Protobuf can say."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["protos"]

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "int32": st.integers(-(1 << 31), (1 << 31) - 1),
    "sint32": st.integers(-(1 << 31), (1 << 31) - 1),
    "sfixed32": st.integers(-(1 << 31), (1 << 31) - 1),
    "uint32": st.integers(0, (1 << 32) - 1),
    "fixed32": st.integers(0, (1 << 32) - 1),
    "int64": st.integers(-(1 << 63), (1 << 63) - 1),
    "sint64": st.integers(-(1 << 63), (1 << 63) - 1),
    "sfixed64": st.integers(-(1 << 63), (1 << 63) - 1),
    "uint64": st.integers(0, (1 << 64) - 1),
    "fixed64": st.integers(0, (1 << 64) - 1),
    "float": st.floats(width=32),
    "double": st.floats(),
    "bool": st.booleans(),
    "string": st.text(max_size=6),
    "bytes": st.binary(max_size=6),
}
ENUM = "enum E { ZERO = 0; ONE = 1; UNO = 1; MINUS = -2; option allow_alias = true; }"
MESSAGES: dict[str, st.SearchStrategy[Any]] = {
    "google.protobuf.Timestamp": st.fixed_dictionaries(
        {"seconds": st.integers(-62_135_596_800, 253_402_300_799), "nanos": st.integers(0, 999_999_999)}
    )
    | st.just({"seconds": 1 << 60}),
    "google.type.Date": st.fixed_dictionaries(
        {"year": st.integers(1, 9999), "month": st.integers(1, 12), "day": st.integers(1, 28)}
    )
    | st.just({}),
    "google.type.TimeOfDay": st.fixed_dictionaries(
        {"hours": st.integers(0, 23), "minutes": st.integers(0, 59), "nanos": st.integers(0, 999_999_999)}
    ),
    "confluent.type.Decimal": st.fixed_dictionaries(
        {"value": st.binary(min_size=1, max_size=9), "precision": st.integers(0, 12), "scale": st.integers(-1, 2)}
    ),
    "google.protobuf.StringValue": st.fixed_dictionaries({}, optional={"value": st.text(max_size=4)}),
    "google.protobuf.UInt64Value": st.fixed_dictionaries({"value": st.integers(0, (1 << 64) - 1)}),
    "google.protobuf.FloatValue": st.fixed_dictionaries({"value": st.floats(width=32)}),
}
KEYS = ("int32", "sint64", "uint64", "fixed32", "bool", "string")
IMPORTS = (
    'import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";'
    'import "google/type/date.proto";'
    'import "google/type/timeofday.proto"; import "confluent/type/decimal.proto"; import "confluent/meta.proto";'
)


@st.composite
def _types(draw: st.DrawFn, depth: int, place: int) -> tuple[str, st.SearchStrategy[Any], str]:
    """Return the name of a type, values of it, and what has to be declared for it at such a place."""
    kind = draw(st.sampled_from(["scalar", "scalar", "scalar", "message", "enum", *(["nested"] if depth else [])]))
    if kind == "scalar":
        name = draw(st.sampled_from(sorted(SCALARS)))
        return name, SCALARS[name], ""
    if kind == "message":
        name = draw(st.sampled_from(sorted(MESSAGES)))
        return name, MESSAGES[name], ""
    if kind == "enum":
        return "E", st.sampled_from([0, 1, -2]) | st.just(7), ""
    body, values = draw(_bodies(depth - 1))
    name = f"M{place}x{depth}"
    return name, values, f"message {name} {{ {body} }}"


@st.composite
def _bodies(draw: st.DrawFn, depth: int) -> tuple[str, st.SearchStrategy[Any]]:
    """Return what stands in a message, and its values as dicts."""
    numbers = draw(st.lists(st.integers(1, 40) | st.sampled_from([2047, 2048, 536_870_911]), unique=True, max_size=6))
    lines, values, members = [], {}, {}
    for place, number in enumerate(n for n in numbers if not 19_000 <= n <= 19_999):
        type, strategy, declared = draw(_types(depth, place))
        label = draw(st.sampled_from(["", "", "optional ", "repeated ", "map", "oneof"]))
        name = f"f{place}"
        lines.append(declared)
        meta = ' [(confluent.field_meta) = {params: [{key: "connect.type", value: "int8"}]}]' if type == "int32" else ""
        meta = ' [(confluent.field_meta) = {params: [{key: "scale", value: "2"}]}]' if "Decimal" in type else meta
        if label == "map":
            key = draw(st.sampled_from(KEYS))
            lines.append(f"map<{key}, {type}> {name} = {number};")
            entry = st.fixed_dictionaries({}, optional={"key": SCALARS[key], "value": strategy})
            values[name] = st.lists(entry, max_size=3)
        elif label == "oneof":
            members[name] = strategy
            lines.append(f"oneof o{place} {{ {type} {name} = {number}{meta}; }}")
            values[name] = strategy
        else:
            unpacked = " [packed = false]" if label == "repeated " and type in ("int32", "sint64", "double") else ""
            lines.append(f"{label}{type} {name} = {number}{unpacked or meta};")
            values[name] = st.lists(strategy, max_size=3) if label == "repeated " else strategy
    return "\n".join(line for line in lines if line), st.fixed_dictionaries({}, optional=values)


@st.composite
def protos(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """Return a text whose first message is ``Root``, and values of it."""
    body, values = draw(_bodies(2))
    text = f'syntax = "proto3"; {IMPORTS} message Root {{ {body} }} {ENUM}'
    return text, draw(st.lists(values, min_size=1, max_size=4))
