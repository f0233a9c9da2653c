"""Random cases: a class, a configuration of it, and an input."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from tests.conformance.case import Case
from tests.fuzz.data import FIELDS, Data

__all__ = ["KINDS", "cases"]

Json = Any
_SMT = "org.apache.kafka.connect.transforms"
_CASTS = ("int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string")
_TYPES = ("BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD")
_SETTINGS = ("1", "-3", "true", "a,id", "9" * 12, "1.5")
_FORMATS = ("yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss.SSS", "HH:mm", "")


class _Configs:
    """Settings of the transforms: mostly sensible, now and then not."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def field(self) -> str:
        return self.chance.choice(FIELDS if self.chance.random() < 0.1 else FIELDS[:-1])

    def fields(self) -> str:
        return ",".join(self.field() for _ in range(self.chance.randint(1, 3)))

    def some(self, **settings: Any) -> dict[str, str]:
        """Return some of the settings; those given as functions are drawn."""
        drawn = {name: form() if callable(form) else form for name, form in settings.items()}
        return {name.replace("_", "."): text for name, text in drawn.items() if self.chance.random() < 0.7}

    def renames(self) -> str:
        return ",".join(f"{self.field()}:{self.field()}" for _ in range(self.chance.randint(1, 2)))

    def cast(self) -> str:
        if self.chance.random() < 0.3:
            return self.chance.choice((*_CASTS, "int"))
        return ",".join(f"{self.field()}:{self.chance.choice(_CASTS)}" for _ in range(self.chance.randint(1, 3)))

    def one_of(self, *texts: str) -> Callable[[], str]:
        return lambda: self.chance.choice(texts)


def _transforms(configs: _Configs) -> Mapping[str, Callable[[], dict[str, str]]]:
    one_of, field, fields, some = configs.one_of, configs.field, configs.fields, configs.some
    flag, target = one_of("true", "false"), one_of("string", "unix", "Date", "Time", "Timestamp")
    units = one_of("milliseconds", "seconds", "microseconds", "nanoseconds")
    inserted = {"topic_field": field, "partition_field": field, "offset_field": field, "timestamp_field": field}
    return {
        "Cast": lambda: {"spec": configs.cast(), **some(replace_null_with_default=flag)},
        "DropHeaders": lambda: {"headers": configs.chance.choice(("h", "h,id", "nothing"))},
        "ExtractField": lambda: {"field": field(), **some(replace_null_with_default=flag, field_syntax_version="V2")},
        "Flatten": lambda: some(delimiter=one_of(".", "_", "")),
        "HeaderFrom": lambda: {
            "fields": field(),
            "headers": "made",
            "operation": configs.chance.choice(("copy", "move", "drop")),
        },
        "HoistField": lambda: {"field": field()},
        "InsertField": lambda: some(**inserted, static_field=field, static_value="given"),
        "InsertHeader": lambda: {
            "header": "made",
            "value.literal": configs.chance.choice(("1", "true", "text", "1.5")),
        },
        "MaskField": lambda: {"fields": fields(), **some(replacement=one_of("0", "xxx", "1.9", "-300"))},
        "ReplaceField": lambda: some(exclude=fields, include=fields, renames=configs.renames),
        "SetSchemaMetadata": lambda: some(
            schema_name="made", schema_version=one_of("1", "x"), replace_null_with_default=flag
        ),
        "TimestampConverter": lambda: {
            "target.type": target(),
            **some(field=field, format=one_of(*_FORMATS), unix_precision=units),
        },
        "ValueToKey": lambda: {"fields": fields(), **some(replace_null_with_default=flag)},
        "RegexRouter": lambda: {
            "regex": one_of("(.*)", "o(.*)", "a-(.)_(.*)")(),
            "replacement": one_of("x$1", "$1-y", "z")(),
        },
        "TimestampRouter": lambda: some(
            topic_format=one_of("${topic}-${timestamp}", "x"), timestamp_format=one_of("yyyyMMdd", "HH")
        ),
    }


_SIDED: tuple[str, ...] = (
    "Cast",
    "ExtractField",
    "Flatten",
    "HeaderFrom",
    "HoistField",
    "InsertField",
    "MaskField",
    "ReplaceField",
)
_SIDED += ("SetSchemaMetadata", "TimestampConverter")


def _transform(data: Data) -> tuple[str, Json, Json]:
    known = _transforms(_Configs(data.chance))
    name = data.chance.choice(sorted(known))
    side = f"${data.chance.choice(('Key', 'Value', 'Value'))}" if name in _SIDED else ""
    return f"{_SMT}.{name}{side}", known[name](), data.record()


def _predicate(data: Data) -> tuple[str, Json, Json]:
    name, config = data.chance.choice(
        (
            ("HasHeaderKey", {"name": data.chance.choice(("h", "id", "nothing"))}),
            ("TopicNameMatches", {"pattern": data.chance.choice(("o.*", "orders", "[a-z]-.*", "(t)1"))}),
            ("RecordIsTombstone", {}),
        )
    )
    return f"{_SMT}.predicates.{name}", config, data.record()


_NUMBERS = ("Double", "Float", "Integer", "Long", "Short", "Boolean", "ByteArray")


def _converter(data: Data) -> tuple[str, Json, Json]:
    draw = data.chance.random()
    if draw < 0.6:
        name, config = "org.apache.kafka.connect.json.JsonConverter", _json_config(data)
    elif draw < 0.75:
        name, config = "org.apache.kafka.connect.storage.StringConverter", {}
    else:
        name, config = f"org.apache.kafka.connect.converters.{data.chance.choice(_NUMBERS)}Converter", {}
    content: Json = {"isKey": data.chance.random() < 0.3, "topic": "orders"}
    if data.chance.random() < 0.6:
        schema, value = data.with_schema()
        return name, config, content | {"op": "fromConnectData", "schema": schema, "value": value}
    return name, config, content | {"op": "toConnectData", "bytes": _bytes(data)}


def _json_config(data: Data) -> dict[str, str]:
    configs = _Configs(data.chance)
    flag = configs.one_of("true", "false")
    decimals = configs.one_of("BASE64", "NUMERIC")
    return configs.some(schemas_enable=flag, decimal_format=decimals, replace_null_with_default=flag)


def _bytes(data: Data) -> Json:
    """Return what a converter may be given to read: mostly JSON, often with an envelope."""
    draw = data.chance.random()
    if draw < 0.05:
        return None
    if draw < 0.15:
        text = data.text()
    elif draw < 0.5:
        schema = _json_schema(data, 2) if data.chance.random() < 0.9 else None
        text = json.dumps({"schema": schema, "payload": _plain(data, 2)})
    else:
        text = json.dumps(_plain(data, 3))
    return {"@bytes": base64.b64encode(text.encode()).decode()}


def _plain(data: Data, depth: int) -> Any:
    draw = data.chance.random()
    if depth and draw < 0.3:
        return {data.text(): _plain(data, depth - 1) for _ in range(data.chance.randint(0, 3))}
    if depth and draw < 0.4:
        return [_plain(data, depth - 1) for _ in range(data.chance.randint(0, 3))]
    return data.chance.choice((None, True, 1, -5, 2**40, 1.5, 1e30, data.text()))


def _json_schema(data: Data, depth: int) -> dict[str, Any]:
    kinds = ["int8", "int32", "int64", "float", "double", "boolean", "string", "bytes", "nonsense"]
    kind = data.chance.choice([*kinds, "struct", "array", "map"] if depth else kinds)
    content: dict[str, Any] = {"type": kind, "optional": data.chance.random() < 0.5}
    if kind == "struct":
        names = data.chance.sample(FIELDS[:-1], 2)
        content["fields"] = [{"field": name, **_json_schema(data, depth - 1)} for name in names]
    if kind == "array":
        content["items"] = _json_schema(data, depth - 1)
    if kind == "map":
        content |= {"keys": _json_schema(data, 0), "values": _json_schema(data, depth - 1)}
    return content


_CONVERSIONS: tuple[str, ...] = (
    "Boolean",
    "Byte",
    "Short",
    "Integer",
    "Long",
    "Float",
    "Double",
    "String",
    "List",
    "Map",
    "Struct",
)
_CONVERSIONS += ("Date", "Time", "Timestamp")


def _values(data: Data) -> tuple[str, Json, Json]:
    draw = data.chance.random()
    if draw < 0.3:
        return "parseString", None, {"schema": None, "value": data.text()}
    schema, value = data.with_schema()
    if draw < 0.4:
        return "inferSchema", None, {"schema": schema, "value": value}
    if draw < 0.5:
        return "convertToDecimal", None, {"schema": schema, "value": value, "scale": data.chance.randint(0, 3)}
    if draw < 0.8:
        schema = data.schema(0)
        value = data.value(schema)
    return f"convertTo{data.chance.choice(_CONVERSIONS)}", None, {"schema": schema, "value": value}


def _project(data: Data) -> tuple[None, Json, Json]:
    source = data.schema()
    target = source if data.chance.random() < 0.3 else data.schema(type=source["type"])
    if data.chance.random() < 0.3:
        target = data.schema()
    return None, None, {"source": source, "value": data.value(source), "target": target}


def _validate_value(data: Data) -> tuple[None, Json, Json]:
    schema = data.schema()
    value = data.value(schema) if data.chance.random() < 0.4 else data.schemaless()
    return None, None, {"schema": schema, "value": value}


def _definition(data: Data) -> Json:
    keys = []
    for name in data.chance.sample(FIELDS[:-1], data.chance.randint(1, 4)):
        key: dict[str, Json] = {"name": name, "type": data.chance.choice(_TYPES)}
        if data.chance.random() < 0.4:
            key["default"] = None
        if data.chance.random() < 0.4:
            key["validator"] = data.chance.choice(_validators(key["type"]))
        keys.append(key)
    return {"keys": keys}


def _validators(kind: str) -> list[Json]:
    if kind in ("INT", "SHORT", "LONG", "DOUBLE"):
        tag = {"INT": "@int32", "SHORT": "@int16", "LONG": "@int64", "DOUBLE": "@float64"}[kind]
        return [{"atLeast": {tag: 0}}, {"between": [{tag: -2}, {tag: 10}]}, {"nonNull": True}]
    if kind == "STRING":
        names = ["a", "id", "true"]
        return [
            {"validString": names},
            {"caseInsensitiveValidString": names},
            {"nonEmptyString": True},
            {"nonNull": True},
        ]
    return [{"validList": ["a", "id", "1"]}, {"listSize": 2}] if kind == "LIST" else [{"nonNull": True}]


def _configdef(data: Data, texts_only: bool) -> tuple[None, Json, Json]:
    definition = _definition(data)
    given: dict[str, Json] = {}
    for key in definition["keys"]:
        draw = data.chance.random()
        if draw < 0.7:
            given[key["name"]] = (
                data.text() if draw < 0.5 else data.chance.choice(("1", "-3", "true", "a,id", "9" * 12, "1.5"))
            )
        elif draw < 0.8 and not texts_only:
            given[key["name"]] = data.primitive(data.chance.choice(("int32", "boolean", "float64", "int16")))
    return None, definition, given


KINDS: Mapping[str, Callable[[Data], tuple[str | None, Json, Json]]] = MappingProxyType(
    {
        "transform": _transform,
        "predicate": _predicate,
        "converter": _converter,
        "values": _values,
        "project": _project,
        "validate_value": _validate_value,
        "configdef_parse": lambda data: _configdef(data, texts_only=False),
        "configdef_validate": lambda data: _configdef(data, texts_only=True),
    }
)
_SHARES = {"transform": 8, "converter": 5, "values": 3}


def cases(seed: int, count: int) -> Iterator[Case]:
    """Yield random cases; the same ones for a seed."""
    chance = random.Random(seed)
    data = Data(chance)
    shares = [_SHARES.get(kind, 1) for kind in KINDS]
    for number in range(count):
        kind = chance.choices(list(KINDS), shares)[0]
        name, config, content = KINDS[kind](data)
        yield Case("fuzz", f"{seed}-{number}", kind, name, config, content, None)
