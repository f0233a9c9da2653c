"""Random schemas and values, in the JSON of the recorded cases."""

from __future__ import annotations

import base64
import random
from typing import Any

__all__ = ["Data"]

Json = Any
_PRIMITIVES = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string", "bytes")
_LOGICAL = {
    "int32": ("org.apache.kafka.connect.data.Date", "org.apache.kafka.connect.data.Time"),
    "int64": ("org.apache.kafka.connect.data.Timestamp",),
    "bytes": ("org.apache.kafka.connect.data.Decimal",),
}
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_DAY = 86_400_000
_TEXTS: tuple[str, ...] = (
    "",
    "a",
    "id",
    "true",
    "False",
    "null",
    "1",
    "-7",
    "1.5",
    "1e3",
    "NaN",
    "0x10",
    " 12 ",
    "é",
    "☃",
    "a.b",
)
_TEXTS += ("x y", "[1,2]", '{"a":1}', '"q"', "2020-01-02", "2020-01-02T03:04:05.006Z", "12:34:56.789Z", "\\", "\t")
_TEXTS += ("\u0001", "🙂")
FIELDS = ("id", "name", "at", "a", "b", "amount", "nested", "x.y", "Ünï", "")


class Data:
    """Makes schemas and values from one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def schema(self, depth: int = 2, type: str | None = None) -> Json:
        """Return a schema; arrays, maps and structs down to ``depth``."""
        kinds = (*_PRIMITIVES, "array", "map", "struct", "struct") if depth else _PRIMITIVES
        kind = type or self.chance.choice(kinds)
        content: dict[str, Json] = {"type": kind, "optional": self.chance.random() < 0.5}
        if kind in _LOGICAL and self.chance.random() < 0.4:
            self._name_logical(content)
        elif self.chance.random() < 0.15:
            content |= {"name": self.chance.choice(("com.example.Thing", "n"))}
        if self.chance.random() < 0.1:
            content |= {"version": self.chance.randint(0, 3)}
        if self.chance.random() < 0.1:
            content |= {"doc": "some words"}
        self._add_parts(content, depth)
        if kind not in ("struct", "array", "map") and self.chance.random() < 0.15:
            content["default"] = self.value({**content, "optional": False})
        return content

    def _name_logical(self, content: Json) -> None:
        content |= {"name": self.chance.choice(_LOGICAL[content["type"]]), "version": 1}
        if content["type"] == "bytes":
            content["parameters"] = {"scale": str(self.chance.randint(0, 4))}

    def _add_parts(self, content: Json, depth: int) -> None:
        if content["type"] == "struct":
            names = self.chance.sample(FIELDS[:-1], self.chance.randint(0, 4))
            content["fields"] = [{"name": name, "schema": self.schema(depth - 1)} for name in names]
        if content["type"] == "map":
            content["keySchema"] = self.schema(0, None if self.chance.random() < 0.3 else "string")
        if content["type"] in ("map", "array"):
            content["valueSchema"] = self.schema(depth - 1)

    def value(self, schema: Json) -> Json:
        """Return a value that fits a schema."""
        kind = schema["type"]
        if schema["optional"] and self.chance.random() < 0.2:
            return None
        if kind == "struct":
            return {"@struct": {field["name"]: self.value(field["schema"]) for field in schema["fields"]}}
        if kind == "array":
            return [self.value(schema["valueSchema"]) for _ in range(self.chance.randint(0, 3))]
        if kind == "map":
            pairs = [
                (self.value({**schema["keySchema"], "optional": False}), self.value(schema["valueSchema"]))
                for _ in range(self.chance.randint(0, 3))
            ]
            if all(isinstance(key, str) for key, _ in pairs):
                return {"@map": dict(pairs)}
            unlike = {repr(key): [key, item] for key, item in pairs}
            return {"@pairs": list(unlike.values())}
        return self._logical(schema) if schema.get("name") in _names() else self.primitive(kind)

    def _logical(self, schema: Json) -> Json:
        name = schema["name"].rpartition(".")[2]
        if name == "Decimal":
            scale = int(schema["parameters"]["scale"])
            unscaled = self.chance.choice((0, 1, -1, 15, self.chance.randint(-(10**12), 10**12)))
            return {"@decimal": _decimal_text(unscaled, scale)}
        if name == "Date":
            return {"@date": self.chance.randint(-30_000, 30_000) * _DAY}
        if name == "Time":
            return {"@date": self.chance.randrange(_DAY)}
        return {"@date": self.chance.choice((0, -1, self.chance.randint(-(10**12), 2 * 10**12)))}

    def primitive(self, kind: str) -> Json:
        """Return a value of a primitive type."""
        if kind in _BITS:
            top = 2 ** (_BITS[kind] - 1)
            return {f"@{kind}": self.chance.choice((0, 1, -1, top - 1, -top, self.chance.randrange(-top, top)))}
        if kind.startswith("float"):
            return {f"@{kind}": self._floating(kind)}
        if kind == "boolean":
            return self.chance.random() < 0.5
        if kind == "bytes":
            raw = bytes(self.chance.randrange(256) for _ in range(self.chance.randint(0, 5)))
            return {self.chance.choice(("@bytes", "@bytebuffer")): base64.b64encode(raw).decode()}
        return self.text()

    def _floating(self, kind: str) -> float | str:
        number = self.chance.choice((0.0, -0.0, 1.0, 1.5, -2.25, 1e7, 1e-4, self.chance.uniform(-1e6, 1e6)))
        return self.chance.choice(("NaN", "Infinity", "-Infinity")) if self.chance.random() < 0.1 else number

    def text(self) -> str:
        """Return a text, often one that looks like something else."""
        if self.chance.random() < 0.7:
            return self.chance.choice(_TEXTS)
        return "".join(self.chance.choice("ab1.,:{}[]\"'-+eE \u00e9") for _ in range(self.chance.randint(0, 8)))

    def schemaless(self, depth: int = 2) -> Json:
        """Return a value that needs no schema."""
        draw = self.chance.random()
        if depth and draw < 0.4:
            names = self.chance.sample(FIELDS[:-1], self.chance.randint(0, 4))
            return {"@map": {name: self.schemaless(depth - 1) for name in names}}
        if depth and draw < 0.5:
            return [self.schemaless(depth - 1) for _ in range(self.chance.randint(0, 3))]
        if draw < 0.55:
            return None
        if draw < 0.6:
            return {"@date": self.chance.randint(0, 2 * 10**12)}
        return self.primitive(self.chance.choice(_PRIMITIVES))

    def with_schema(self) -> tuple[Json, Json]:
        """Return a schema, or none, and a value that fits; now and then both are null."""
        draw = self.chance.random()
        if draw < 0.05:
            return None, None
        if draw < 0.35:
            return None, self.schemaless()
        schema = self.schema(type="struct" if self.chance.random() < 0.6 else None)
        return schema, self.value(schema)

    def record(self) -> Json:
        """Return a sink's or a source's record."""
        (key_schema, key), (value_schema, value) = self.with_schema(), self.with_schema()
        content = {
            "topic": self.chance.choice(("orders", "a-b_c.d", "t1")),
            "kafkaPartition": self.chance.randint(0, 3),
            "keySchema": key_schema,
            "key": key,
            "valueSchema": value_schema,
            "value": value,
            "timestamp": self.chance.choice((None, 0, 1_600_000_000_123)),
            "headers": [self._header() for _ in range(self.chance.choice((0, 0, 1, 2)))],
        }
        if self.chance.random() < 0.5:
            return content | {"record": "sink", "kafkaOffset": 7, "timestampType": "CreateTime"}
        places = {"sourcePartition": {"@map": {"p": "x"}}, "sourceOffset": {"@map": {"o": {"@int64": 1}}}}
        return content | {"record": "source", **places}

    def _header(self) -> Json:
        schema = self.schema(0)
        return {"key": self.chance.choice(("h", "trace", "id")), "schema": schema, "value": self.value(schema)}


def _names() -> frozenset[str]:
    return frozenset(name for names in _LOGICAL.values() for name in names)


def _decimal_text(unscaled: int, scale: int) -> str:
    if not scale:
        return str(unscaled)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"
