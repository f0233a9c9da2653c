"""Schemas, structs, logical types, Values and SchemaProjector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from connect_core.api import data
from connect_core.api.data import Date, Decimal, Schema, SchemaBuilder, Struct, Time, Timestamp, validate_value, values
from connect_core.api.data.projector import project
from tests.conformance.case import Case
from tests.conformance.decode import decode_schema, decode_value, new_builder
from tests.conformance.encode import encode_schema, encode_value
from tests.conformance.stages import step

__all__ = ["KINDS"]

Json = Any


def _values(case: Case) -> Json:
    schema = decode_schema(case.input["schema"])
    value = decode_value(case.input["value"], schema)
    name = _snake(str(case.java_class))
    with step("call"):
        if name == "infer_schema":
            return encode_schema(data.infer_schema(value))
        if name == "parse_string":
            parsed = values.parse_string(value)
            return {"schema": encode_schema(parsed.schema), "value": encode_value(parsed.schema, parsed.value)}
        if name == "convert_to_decimal":
            return encode_value(None, values.convert_to_decimal(schema, value, case.input["scale"]))
        return encode_value(None, getattr(values, name)(schema, value))


_LOGICAL = {"Date": Date, "Time": Time, "Timestamp": Timestamp, "Decimal": Decimal}


def _logical(case: Case) -> Json:
    kind, _, method = str(case.java_class).partition(".")
    schema = decode_schema(case.input["schema"])
    value = decode_value(case.input["value"], None)
    with step("call"):
        if method == "schema":
            return encode_schema(Decimal.schema(value))
        result = getattr(_LOGICAL[kind], _snake(method))(schema, value)
    return encode_value(schema if method == "fromLogical" else None, result)


def _project(case: Case) -> Json:
    source, target = decode_schema(case.input["source"]), decode_schema(case.input["target"])
    value = decode_value(case.input["value"], source)
    assert source is not None
    assert target is not None
    with step("project"):
        return encode_value(target, project(source, value, target))


def _schema_builder(case: Case) -> Json:
    with step("create"):
        builder = new_builder(case.input["type"], case.input)
    for number, (call, *arguments) in enumerate(case.input["calls"]):
        with step(f"call {number}"):
            if call == "get_fields":
                return [{"name": field.name, "schema": encode_schema(field.schema)} for field in builder.draft.fields]
            if call == "get_field":
                field = builder.draft.field(arguments[0])
                return None if field is None else encode_schema(field.schema)
            _call(builder, call, arguments)
    with step("build"):
        return encode_schema(builder.build())


def _call(builder: SchemaBuilder, call: str, arguments: list[Json]) -> None:
    if call == "default":
        builder.default_value(decode_value(arguments[0], builder.draft))
    elif call == "field":
        builder.field(arguments[0], decode_schema(arguments[1]))  # type: ignore[arg-type]
    else:
        getattr(builder, call)(*arguments)


def _validate_value(case: Case) -> Json:
    schema = decode_schema(case.input["schema"])
    assert schema is not None
    value = decode_value(case.input["value"], schema)
    with step("validate"):
        validate_value(schema, value, case.input.get("field"))
    return True


def _struct(case: Case) -> Json:
    schema = decode_schema(case.input["schema"])
    assert schema is not None
    with step("create"):
        struct = Struct(schema)
    fields = {field.name: field.schema for field in schema.fields}
    for number, (name, value) in enumerate(case.input["puts"]):
        decoded = decode_value(value, fields.get(name))
        with step(f"put {number}"):
            struct.put(name, decoded)
    with step(case.input["op"]):
        return _STRUCT[case.input["op"]](struct, case.input.get("name"))


def _typed_getter(method: str) -> Callable[[Struct, str], Json]:
    def get(struct: Struct, name: str) -> Json:
        field = struct.schema.field(name)
        return encode_value(None if field is None else field.schema, getattr(struct, method)(name))

    return get


def _validate_struct(struct: Struct, name: str) -> Json:
    struct.validate()
    return True


def _plain(schema: Schema, value: Any) -> Json:
    """Encode a value as the untyped getters of Java return it: structs with their schema."""
    return encode_value(None if isinstance(value, Struct) else schema, value)


def _get(struct: Struct, name: str) -> Json:
    return _plain(struct._field(name).schema, struct.get(name))


def _get_without_default(struct: Struct, name: str) -> Json:
    return _plain(struct._field(name).schema, struct.get_without_default(name))


_TYPED = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Float32",
    "Float64",
    "Boolean",
    "String",
    "Bytes",
    "Array",
    "Map",
    "Struct",
]
_STRUCT: dict[str, Callable[[Struct, str], Json]] = {
    "validate": _validate_struct,
    "struct": lambda struct, name: encode_value(struct.schema, struct),
    "toString": lambda struct, name: str(struct),
    "get": _get,
    "getWithoutDefault": _get_without_default,
    **{f"get{name}": _typed_getter(f"get_{name.lower()}") for name in _TYPED},
}


def _schema_type(case: Case) -> Json:
    schema = decode_schema(case.input["schema"])
    assert schema is not None
    with step("call"):
        return _SCHEMA[case.input["op"]](schema, case.input)


def _field_text(schema: Schema, content: Json) -> Json:
    field = schema.field(content["name"])
    return None if field is None else str(field)


_SCHEMA: dict[str, Callable[[Schema, Json], Json]] = {
    "toString": lambda schema, content: str(schema),
    "equals": lambda schema, content: schema == decode_schema(content["other"]),
    "fields": lambda schema, content: {"@int32": len(schema.fields)},
    "field": _field_text,
    "keySchema": lambda schema, content: encode_schema(schema.key_schema),
    "valueSchema": lambda schema, content: encode_schema(schema.value_schema),
}


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


KINDS: dict[str, Callable[[Case], Json]] = {
    "values": _values,
    "logical": _logical,
    "project": _project,
    "schema_builder": _schema_builder,
    "validate_value": _validate_value,
    "struct": _struct,
    "schema_type": _schema_type,
}
