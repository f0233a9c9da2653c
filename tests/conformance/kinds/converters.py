"""Converters and header converters; converters in both lanes."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Objects
from connect_core.api.convert import BatchRowError, Converter, HeaderConverter
from connect_core.api.data import SchemaAndValue
from connect_core.registry import PluginKind
from tests.conformance.case import Case
from tests.conformance.decode import decode_config, decode_schema, decode_value
from tests.conformance.encode import encode_schema, encode_value
from tests.conformance.kinds.plugins import plugin
from tests.conformance.lanes import BatchRun, Row, by_records
from tests.conformance.stages import step

__all__ = ["BATCH_KINDS", "KINDS"]

Json = Any


def _converter(case: Case) -> Converter:
    found: Converter = plugin(PluginKind.CONVERTER, case.java_class)
    with step("configure"):
        found.configure(decode_config(case.config), case.input["isKey"])
    return found


def _header_converter(case: Case) -> HeaderConverter:
    found: HeaderConverter = plugin(PluginKind.HEADER_CONVERTER, case.java_class)
    with step("configure"):
        found.configure({"converter.type": "header", **decode_config(case.config)})
    return found


def _run(case: Case) -> Json:
    if case.input["op"] in ("fromConnectHeader", "toConnectHeader"):
        return _run_header(_header_converter(case), case.input)
    return _run_record(_converter(case), case.input)


def _run_record(found: Converter, content: Json) -> Json:
    if content["op"] == "fromConnectData":
        data = _data(content)
        with step("convert"):
            return encode_value(None, found.from_connect_data(content["topic"], data.schema, data.value))
    with step("convert"):
        return _encoded(found.to_connect_data(content["topic"], _bytes(content)))


def _run_header(found: HeaderConverter, content: Json) -> Json:
    topic, header = content["topic"], content["headerKey"]
    if content["op"] == "fromConnectHeader":
        data = _data(content)
        with step("convert"):
            return encode_value(None, found.from_connect_header(topic, header, data.schema, data.value))
    with step("convert"):
        return _encoded(found.to_connect_header(topic, header, _bytes(content)))


def _run_batch(case: Case, rows: Sequence[Row]) -> BatchRun:
    found = _converter(case)
    topics = pa.array([row.input["topic"] for row in rows], pa.string())
    convert = _write if case.input["op"] == "fromConnectData" else _read
    try:
        with step("convert"):
            results = convert(found, topics, rows)
    except BatchRowError:
        results = None
    if results is None:
        return by_records(rows, lambda content: _run_record(found, content))
    return BatchRun(results)


def _write(found: Converter, topics: pa.Array, rows: Sequence[Row]) -> list[Json] | None:
    data = [_data(row.input) for row in rows]
    objects = Objects([item.schema for item in data], [item.value for item in data])
    results = found.from_connect_batch(topics, objects.to_columns() or objects)
    return None if results is None else [encode_value(None, result) for result in results.to_pylist()]


def _read(found: Converter, topics: pa.Array, rows: Sequence[Row]) -> list[Json] | None:
    results = found.to_connect_batch(topics, pa.array([_bytes(row.input) for row in rows], pa.binary()))
    if results is None:
        return None
    objects = results.to_objects()
    return [_encoded(SchemaAndValue(*pair)) for pair in zip(objects.schemas, objects.values, strict=True)]


def _data(content: Json) -> SchemaAndValue:
    schema = decode_schema(content["schema"])
    return SchemaAndValue(schema, decode_value(content["value"], schema))


def _bytes(content: Json) -> bytes | None:
    return None if content["bytes"] is None else base64.b64decode(content["bytes"]["@bytes"])


def _encoded(data: SchemaAndValue) -> Json:
    return {"schema": encode_schema(data.schema), "value": encode_value(data.schema, data.value)}


KINDS: dict[str, Callable[[Case], Json]] = {"converter": _run}
BATCH_KINDS: dict[str, Callable[[Case, Sequence[Row]], BatchRun]] = {"converter": _run_batch}
