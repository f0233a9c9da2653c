"""Random records and random chains of transforms."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from connect_core.api.data import (
    Date,
    Decimal,
    Instant,
    Int8,
    Int32,
    Schema,
    SchemaAndValue,
    SchemaBuilder,
    SchemaType,
    Struct,
    Time,
    Timestamp,
    infer_schema,
)
from connect_core.api.headers import Headers
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord
from connect_core.api.transform import Transformation
from connect_core.transforms.cast import CastValue
from connect_core.transforms.drop_headers import DropHeaders
from connect_core.transforms.extract_field import ExtractFieldValue
from connect_core.transforms.flatten import FlattenValue
from connect_core.transforms.header_from import HeaderFromValue
from connect_core.transforms.hoist_field import HoistFieldKey, HoistFieldValue
from connect_core.transforms.insert_field import InsertFieldKey, InsertFieldValue
from connect_core.transforms.insert_header import InsertHeader
from connect_core.transforms.mask_field import MaskFieldValue
from connect_core.transforms.regex_router import RegexRouter
from connect_core.transforms.replace_field import ReplaceFieldValue
from connect_core.transforms.set_schema_metadata import SetSchemaMetadataValue
from connect_core.transforms.timestamp_converter import TimestampConverterValue
from connect_core.transforms.timestamp_router import TimestampRouter
from connect_core.transforms.value_to_key import ValueToKey
from tests.api.data.strategies import values_of

__all__ = ["chains", "records"]

NAMES = ("a", "b", "c")
NAME = st.sampled_from((*NAMES, *NAMES, *NAMES, "missing", "n.x"))
TEXTS = st.sampled_from(["", "1", "-7", "+9", " 3", "1.5", "1e3", "true", "TRUE", "2017-01-03", "abc", "é😀", '"\\\n'])
MILLIS = st.sampled_from([0, 5, -1, 86_399_999, 86_400_000, 1_483_425_001_864, -1_234_567, 253_402_300_800_000])
_NESTED = SchemaBuilder.struct().field("x", Schema(SchemaType.INT64, optional=True)).build()
_LEAVES = [
    *(Schema(type) for type in SchemaType if type.is_primitive),
    Date.SCHEMA,
    Time.SCHEMA,
    Timestamp.SCHEMA,
    Decimal.schema(2),
    SchemaBuilder.array(Schema(SchemaType.INT32)).build(),
    SchemaBuilder.map(Schema(SchemaType.STRING), Schema(SchemaType.INT32)).build(),
    _NESTED,
]


@st.composite
def _field_schemas(draw: st.DrawFn) -> Schema:
    schema = draw(st.sampled_from(_LEAVES)).replace(optional=draw(st.booleans()))
    if schema.type is not SchemaType.STRUCT and draw(st.integers(0, 5)) == 0:
        schema = schema.replace(default=draw(_values(schema.replace(optional=False))))
    return schema


def _values(schema: Schema) -> st.SearchStrategy[Any]:
    if schema.type is SchemaType.STRING:
        return st.none() | TEXTS if schema.optional or schema.default is not None else TEXTS
    return values_of(schema)


@st.composite
def _struct_rows(draw: st.DrawFn, count: int) -> list[tuple[Schema | None, Any]]:
    builder = SchemaBuilder.struct().name(draw(st.none() | st.just("row")))
    for name in draw(st.lists(st.sampled_from((*NAMES, "n")), unique=True, min_size=3)):
        builder.field(name, _NESTED if name == "n" else draw(_field_schemas()))
    schema = builder.build()
    if draw(st.integers(0, 4)) == 0:
        schema = schema.replace(optional=True)
    columns = st.tuples(*(_values(field.schema) for field in schema.fields))
    rows = columns.map(lambda row: Struct.of_values(schema, row))
    return [(schema, draw(st.none() | rows if schema.optional else rows)) for _ in range(count)]


_SCALARS: list[st.SearchStrategy[Any]] = [
    TEXTS,
    MILLIS,
    st.integers(-300, 300).map(Int32),
    st.integers(-128, 127).map(Int8),
    st.sampled_from([0.0, -0.0, 1.5, 1e7, 1e-5, 1e20, float("nan"), float("-inf"), 123456.789]),
    st.booleans(),
    st.binary(max_size=4),
    MILLIS.map(Instant),
    st.lists(st.integers(0, 9), max_size=2),
    st.fixed_dictionaries({"x": st.integers(0, 9)}),
]
SCALARS = st.sampled_from(_SCALARS)


@st.composite
def _map_rows(draw: st.DrawFn, count: int) -> list[tuple[Schema | None, Any]]:
    names = draw(st.lists(st.sampled_from((*NAMES, "n")), unique=True, min_size=3))
    nulls = draw(st.booleans())
    shape = {name: st.none() | draw(SCALARS) if nulls else draw(SCALARS) for name in names}
    rows = st.fixed_dictionaries(shape)
    return [(None, draw(st.none() | rows if nulls else rows)) for _ in range(count)]


@st.composite
def _scalar_rows(draw: st.DrawFn, count: int) -> list[tuple[Schema | None, Any]]:
    if draw(st.booleans()):
        schema = draw(_field_schemas())
        return [(schema, draw(_values(schema))) for _ in range(count)]
    scalar = draw(SCALARS)
    return [(None, draw(scalar)) for _ in range(count)]


@st.composite
def records(draw: st.DrawFn) -> list[ConnectRecord]:
    """Return records that mostly share schema and shape, all sink or all source."""
    count = draw(st.integers(1, 4))
    kinds = st.sampled_from([_struct_rows, _struct_rows, _map_rows, _map_rows, _scalar_rows])
    rows = draw(draw(kinds)(count))
    if draw(st.integers(0, 7)) == 0:
        rows += draw(draw(kinds)(1))
    is_sink = draw(st.booleans())
    stamped, partitioned = draw(st.integers(0, 4)) > 0, draw(st.integers(0, 4)) > 0
    made: list[ConnectRecord] = []
    for place, (schema, value) in enumerate(rows):
        topic = draw(st.sampled_from(["t", "topic-1"]))
        partition, time = place if partitioned else None, draw(MILLIS) if stamped else None
        headers = _headers(draw(st.dictionaries(st.sampled_from(["h", "g"]), st.integers(0, 3), max_size=2)))
        key = draw(st.sampled_from([None, {"k": 1}, {"k": 2}]))
        shared = (topic, partition, None, key, schema, value, time, headers)
        made.append(SinkRecord(*shared, place) if is_sink else SourceRecord(*shared, {"file": "f"}, {"pos": place}))
    return made


def _headers(values: dict[str, int]) -> Headers:
    headers = Headers()
    for name, value in values.items():
        headers.add_schema_and_value(name, SchemaAndValue(infer_schema(value), value))
    return headers


_TYPES = st.sampled_from(["int8", "int16", "int32", "int64", "float32", "float64", "boolean", "string"])
_FLAG = st.sampled_from(["true", "false"])
_TARGETS = st.sampled_from(["string", "unix", "Date", "Time", "Timestamp"])
_PRECISIONS = st.sampled_from(["seconds", "milliseconds", "microseconds", "nanoseconds"])
_FORMATS = st.sampled_from(["yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss.SSS", "HH"])


def _of(kind: type[Transformation], **settings: st.SearchStrategy[str]) -> st.SearchStrategy[Transformation]:
    def configured(config: dict[str, str]) -> Transformation:
        transform = kind()
        transform.configure({name.replace("_", "."): value for name, value in config.items()})
        return transform

    return st.fixed_dictionaries(settings).map(configured)


_TRANSFORMS: list[st.SearchStrategy[Transformation]] = [
    _of(CastValue, spec=st.tuples(NAME, _TYPES).map(":".join), replace_null_with_default=_FLAG),
    _of(CastValue, spec=_TYPES),
    _of(DropHeaders, headers=st.sampled_from(["h", "g", "h,g"])),
    _of(ExtractFieldValue, field=NAME, field_syntax_version=st.sampled_from(["V1", "V2"])),
    _of(FlattenValue, delimiter=st.sampled_from([".", "_"])),
    _of(HeaderFromValue, fields=NAME, headers=st.just("h"), operation=st.sampled_from(["move", "copy"])),
    _of(HoistFieldValue, field=NAME),
    _of(HoistFieldKey, field=NAME),
    _of(InsertFieldKey, static_field=NAME, static_value=st.just("s")),
    _of(
        InsertFieldValue,
        topic_field=st.sampled_from(["topic", "a!"]),
        partition_field=st.sampled_from(["partition", "p!"]),
        timestamp_field=st.sampled_from(["time", "b?"]),
        replace_null_with_default=_FLAG,
    ),
    _of(InsertFieldValue, offset_field=NAME, static_field=st.just("source!"), static_value=TEXTS),
    _of(InsertHeader, header=st.just("h"), value_literal=st.sampled_from(["1", "[1,2]", "x"])),
    _of(MaskFieldValue, fields=NAME, replace_null_with_default=_FLAG),
    _of(MaskFieldValue, fields=NAME, replacement=st.sampled_from(["7", "-300", "xx", "1.9"])),
    _of(RegexRouter, regex=st.sampled_from(["t", "(.*)-1", "x"]), replacement=st.sampled_from(["new", "$1"])),
    _of(ReplaceFieldValue, exclude=NAME, renames=st.tuples(NAME, st.sampled_from(["b", "z"])).map(":".join)),
    _of(ReplaceFieldValue, include=st.sampled_from(["a", "a,b"]), replace_null_with_default=_FLAG),
    _of(SetSchemaMetadataValue, schema_name=st.just("named"), schema_version=st.just("3")),
    _of(TimestampConverterValue, field=NAME, target_type=_TARGETS, format=_FORMATS, unix_precision=_PRECISIONS),
    _of(TimestampConverterValue, target_type=_TARGETS, format=_FORMATS, unix_precision=_PRECISIONS),
    _of(TimestampRouter, timestamp_format=st.sampled_from(["yyyyMMdd", "HH:mm:ss.SSS"])),
    _of(ValueToKey, fields=st.sampled_from(["a", "b,a", "missing"])),
]
chains = st.lists(st.sampled_from(_TRANSFORMS).flatmap(lambda transform: transform), min_size=1, max_size=4)
"""One to four configured transforms."""
