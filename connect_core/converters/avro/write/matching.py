"""Which branch of an Avro union, and which field, a Connect schema is written to."""

from __future__ import annotations

from connect_core.api.data import Field, Schema, SchemaType
from connect_core.converters.avro.config import AvroSettings
from connect_core.converters.avro.schemas.model import AvroKind, AvroType
from connect_core.converters.avro.schemas.names import branch_name, field_name, type_name
from connect_core.errors import DataError

__all__ = ["branch_of", "fits", "source_fields", "union_branches"]

_NUMBERS = (AvroKind.INT, AvroKind.LONG, AvroKind.FLOAT, AvroKind.DOUBLE)
_KINDS: dict[SchemaType, tuple[AvroKind, ...]] = {
    SchemaType.INT8: _NUMBERS,
    SchemaType.INT16: _NUMBERS,
    SchemaType.INT32: _NUMBERS,
    SchemaType.INT64: _NUMBERS[1:],
    SchemaType.FLOAT32: _NUMBERS[2:],
    SchemaType.FLOAT64: _NUMBERS[3:],
    SchemaType.BOOLEAN: (AvroKind.BOOLEAN,),
    SchemaType.STRING: (AvroKind.STRING, AvroKind.ENUM),
    SchemaType.BYTES: (AvroKind.BYTES, AvroKind.FIXED),
    SchemaType.ARRAY: (AvroKind.ARRAY,),
    SchemaType.MAP: (AvroKind.MAP, AvroKind.ARRAY),
    SchemaType.STRUCT: (AvroKind.RECORD,),
}
"""The kinds that can represent each type, the nearest first; numbers are widened as Avro widens them."""


def fits(schema: Schema, avro: AvroType) -> bool:
    """Whether values of a schema can be written as a kind other than a union."""
    return avro.kind in _KINDS[schema.type]


def branch_of(schema: Schema, union: AvroType) -> int:
    """Return the index of the branch to which a schema is written. Raise DataError if there is none."""
    kinds = _KINDS[schema.type]
    own = type_name(schema.name, True) if schema.name and schema.type is SchemaType.STRUCT else None
    found = [
        (one.name != own, kinds.index(one.kind), place) for place, one in enumerate(union.branches) if one.kind in kinds
    ]
    if not found:
        raise DataError(f"no branch of the union in the registered schema takes {schema}")
    return min(found)[2]


def union_branches(schema: Schema, union: AvroType, settings: AvroSettings) -> dict[int, int]:
    """Return the branch to which each field of a union's struct is written. Raise DataError if one has none."""
    places = [place for place, one in enumerate(union.branches) if one.kind is not AvroKind.NULL]
    named = {branch_name(union.branches[place], place, settings): place for place in places}
    own = [named.get(field.name) for field in schema.fields]
    if None in own and len(places) == len(own):
        own = list(places)
    if None in own:
        raise DataError(f"the registered schema has no branch for the field {schema.fields[own.index(None)].name}")
    return {field.index: place for field, place in zip(schema.fields, own, strict=True) if place is not None}


def source_fields(schema: Schema, record: AvroType, scrub: bool) -> list[Field | None]:
    """Return the Connect field for each field of a record, matched by its name or else by its aliases."""
    named = {field_name(one.name, scrub): one for one in schema.fields}
    names = [(field.name, *field.aliases) for field in record.fields]
    return [next((named[name] for name in some if name in named), None) for some in names]
