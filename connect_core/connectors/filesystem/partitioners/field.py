"""One folder for each value, or combination of values, of one or several fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, Importance
from connect_core.connectors.filesystem.partitioners.hive import hive_folder
from connect_core.connectors.filesystem.partitioners.partitioner import Partitioner
from connect_core.connectors.filesystem.partitioners.value_fields import field_values
from connect_core.errors import ConfigError, DataError

__all__ = ["FieldPartitioner"]

_FIELDS = "partition.field.name"


class FieldPartitioner(Partitioner):
    """``country=de/city=Bonn``. Connect: ``FieldPartitioner`` of Confluent's storage sinks."""

    definition = ConfigDef().define(
        _FIELDS,
        ConfigType.LIST,
        "",
        importance=Importance.MEDIUM,
        doc="The fields whose values name the folders of the partitioner field, in order; a.b for nested ones.",
    )

    def setup(self, settings: AbstractConfig) -> None:
        """Read the fields. Raises ConfigError if there are none, or one occurs twice."""
        self._fields = settings.get_list(_FIELDS) or []
        if not all(self._fields) or not self._fields or len(set(self._fields)) < len(self._fields):
            given = ",".join(self._fields)
            raise ConfigError(_FIELDS, repr(given), "name the fields to partition by, each once: country,city")

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(self._fields)

    def folders(self, batch: Batch) -> pa.Array:
        """Return ``name=value`` for each field. Raises DataError for a field that is missing, or of another type."""
        columns = [_coded(field, field_values(batch.value, field)) for field in self._fields]
        if len(columns) == 1:
            return columns[0]
        return pa.array("/".join(parts) for parts in zip(*(column.to_pylist() for column in columns), strict=True))


def _coded(field: str, values: Sequence[Any] | pa.Array) -> pa.Array:
    """Return the folders of one field's values; each distinct value is converted once."""
    if isinstance(values, pa.Array):
        plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        _check_type(field, plain.type)
        coded = plain.dictionary_encode(null_encoding="encode")
        folders = [hive_folder(field, _text(field, value)) for value in coded.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(coded.indices, pa.array(folders, pa.string()))
    return pa.array([hive_folder(field, _text(field, value)) for value in values], pa.string())


def _check_type(field: str, kind: pa.DataType) -> None:
    types = pa.types
    checks = (types.is_integer, types.is_string, types.is_large_string, types.is_boolean, types.is_null)
    if not any(check(kind) for check in checks):
        raise _refusal(field, str(kind))


def _text(field: str, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, str):
        return str(value)
    raise _refusal(field, type(value).__name__)


def _refusal(field: str, kind: str) -> DataError:
    return DataError(
        f"field {field} is of the type {kind}, which cannot name a folder: strings, integers and booleans can; cast it "
        "with a transform, or use a time-based partitioner"
    )
