"""Projects values of one schema onto another. Connect: ``SchemaProjector``."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any, TypeVar

from connect_core.api.data.schema import Field, Schema, SchemaType
from connect_core.api.data.struct import Struct
from connect_core.errors import ClassCastError, NullValueError, SchemaProjectorError
from connect_core.java.narrowing import to_double, to_long
from connect_core.java.numbers import Float32, Float64, Int8, Int16, Int32, Int64, wrap
from connect_core.java.text import to_text

__all__ = ["project"]

Kind = TypeVar("Kind")
"""The class that a value must have according to its schema."""

_PROMOTABLE = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)


def project(source: Schema, record: Any, target: Schema) -> Any:
    """Return a value of ``source`` as a value of ``target``.

    Numbers are promoted, missing fields get their default. Raise
    SchemaProjectorError when the schemas do not allow it.
    """
    _check_compatible(source, target)
    if record is not None and not (source.optional and not target.optional and target.default is None):
        return _project_value(source, record, target)
    if not source.optional or target.optional:
        return None
    if target.default is None:
        raise SchemaProjectorError(
            "Writer schema is optional, however, target schema does not provide a default value."
        )
    return target.default


def _check_compatible(source: Schema, target: Schema) -> None:
    if source.type is not target.type and not _is_promotable(source.type, target.type):
        raise SchemaProjectorError(f"Schema type mismatch. source type: {source.type} and target type: {target.type}")
    if source.name != target.name:
        raise SchemaProjectorError(
            f"Schema name mismatch. source name: {to_text(source.name)} and target name: {to_text(target.name)}"
        )
    if source.parameters != target.parameters:
        raise SchemaProjectorError(
            f"Schema parameters not equal. source parameters: {to_text(source.parameters)}"
            f" and target parameters: {to_text(target.parameters)}"
        )


def _is_promotable(source: SchemaType, target: SchemaType) -> bool:
    known = source in _PROMOTABLE and target in _PROMOTABLE
    return known and _PROMOTABLE.index(source) <= _PROMOTABLE.index(target)


def _project_value(source: Schema, record: Any, target: Schema) -> Any:
    if target.type is SchemaType.STRUCT:
        return _project_struct(source, _cast(record, Struct), target)
    if target.type is SchemaType.ARRAY:
        elements, wanted = source.value_schema, target.value_schema
        return [project(_part(elements), element, _part(wanted)) for element in _cast(record, list)]
    if target.type is SchemaType.MAP:
        return _project_map(source, _cast(record, dict), target)
    promote = _PROMOTIONS.get(target.type)
    is_number = isinstance(record, int | float | decimal.Decimal) and not isinstance(record, bool)
    if promote is None or not is_number or not _is_promotable(source.type, target.type):
        return record
    return promote(record)


def _project_map(source: Schema, record: dict[Any, Any], target: Schema) -> dict[Any, Any]:
    keys, items = source.key_schema, source.value_schema
    wanted_keys, wanted_items = target.key_schema, target.value_schema
    return {
        project(_part(keys), key, _part(wanted_keys)): project(_part(items), item, _part(wanted_items))
        for key, item in record.items()
    }


def _project_struct(source: Schema, record: Struct, target: Schema) -> Struct:
    result = Struct(target)
    for field in target.fields:
        found = source.field(field.name)
        if found is not None:
            result.put(field, _project_field(found, record, field))
        elif field.schema.optional:
            continue
        elif field.schema.default is not None:
            result.put(field, field.schema.default)
        else:
            raise SchemaProjectorError(f"Required field `{field.name}` is missing from source schema: {source}")
    return result


def _project_field(found: Field, record: Struct, target: Field) -> Any:
    try:
        return project(found.schema, record.get(found.name), target.schema)
    except SchemaProjectorError as error:
        raise SchemaProjectorError(f"Error projecting {found.name}") from error


def _cast(record: Any, kind: type[Kind]) -> Kind:
    if not isinstance(record, kind):
        raise ClassCastError(f"{to_text(record)} is not a {kind.__name__}, as its schema requires")
    return record


def _part(schema: Schema | None) -> Schema:
    if schema is None:
        raise NullValueError("an array or map without element schema cannot be projected")
    return schema


_PROMOTIONS: dict[SchemaType, Callable[[Any], Any]] = {
    SchemaType.INT8: lambda number: Int8(wrap(to_long(number), 8)),
    SchemaType.INT16: lambda number: Int16(wrap(to_long(number), 16)),
    SchemaType.INT32: lambda number: Int32(wrap(to_long(number), 32)),
    SchemaType.INT64: lambda number: Int64(to_long(number)),
    SchemaType.FLOAT32: lambda number: Float32(to_double(number)),
    SchemaType.FLOAT64: lambda number: Float64(to_double(number)),
}
