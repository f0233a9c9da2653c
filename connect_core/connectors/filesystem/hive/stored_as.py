"""How a metastore describes files of each format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from connect_core.api.config import AbstractConfig
from connect_core.connectors.filesystem.columns import Kind
from connect_core.errors import ConfigError

__all__ = ["StoredAs", "stored_as"]

_SERDE = "org.apache.hadoop.hive.serde2."
_IO = "org.apache.hadoop.hive.ql.io."
_TEXT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = f"{_IO}HiveIgnoreKeyTextOutputFormat"
_FORMAT = "format"


@dataclass(frozen=True, slots=True)
class StoredAs:
    """The classes with which Hive reads a format, and what tables of it know of their columns."""

    name: str
    input: str
    output: str
    serde: str
    serde_properties: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    """Parameters of tables."""
    has_columns: bool = True
    """Whether the columns of files are known; if not, only partitions of an existing table are registered."""
    is_positional: bool = False
    """Whether columns are found by position, not by name."""
    has_avro_schema: bool = False
    takes_longs_for_floats: bool = True
    """Whether all readers find 64-bit integers where the table has a float: Spark does not, in Parquet."""

    def kind(self, kind: Kind) -> Kind:
        """Return the kind of a column as this format stores it."""
        if self.is_positional:
            return "string"
        return _of_avro(kind) if self.has_avro_schema else kind


def stored_as(name: str, settings: AbstractConfig) -> StoredAs:
    """Return how files of a format are described. Raises ConfigError for one that Hive's tables do not have."""
    if name not in _FORMATS:
        text = f"hive.integration registers files of {', '.join(_FORMATS)}; choose one of them, or set it to false"
        raise ConfigError(_FORMAT, name, text)
    return _FORMATS[name](settings)


def _csv(settings: AbstractConfig) -> StoredAs:
    delimiter = settings.get_string("csv.delimiter") or ","
    # Backslashes are no escapes in these files. The serde must have one: a character that occurs nowhere.
    serde = {
        "separatorChar": "\t" if delimiter == "\\t" else delimiter,
        "quoteChar": '"',
        "escapeChar": "\x01",
    }
    table = {"skip.header.line.count": "1"} if settings.get_boolean("csv.header") else {}
    return StoredAs("csv", _TEXT, _TEXT_OUTPUT, f"{_SERDE}OpenCSVSerde", serde, table, is_positional=True)


_PARQUET = StoredAs(
    "parquet",
    f"{_IO}parquet.MapredParquetInputFormat",
    f"{_IO}parquet.MapredParquetOutputFormat",
    f"{_IO}parquet.serde.ParquetHiveSerDe",
    takes_longs_for_floats=False,
)
_AVRO = StoredAs(
    "avro",
    f"{_IO}avro.AvroContainerInputFormat",
    f"{_IO}avro.AvroContainerOutputFormat",
    f"{_SERDE}avro.AvroSerDe",
    has_avro_schema=True,
)
_ORC = StoredAs("orc", f"{_IO}orc.OrcInputFormat", f"{_IO}orc.OrcOutputFormat", f"{_IO}orc.OrcSerde")
_JSON = StoredAs("json", _TEXT, _TEXT_OUTPUT, "org.apache.hive.hcatalog.data.JsonSerDe", has_columns=False)

_FORMATS: Mapping[str, Callable[[AbstractConfig], StoredAs]] = {
    "parquet": lambda settings: _PARQUET,
    "avro": lambda settings: _AVRO,
    "orc": lambda settings: _ORC,
    "csv": _csv,
    "json": lambda settings: _JSON,
}


def _of_avro(kind: Kind) -> Kind:
    """Return a kind as in Avro files: small integers are ints, maps whose keys are no texts are lists."""
    if isinstance(kind, str):
        return "int32" if kind in ("int8", "int16") else kind
    if kind[0] == "list":
        return "list", _of_avro(kind[1])
    if kind[0] == "struct":
        return "struct", tuple((name, _of_avro(part)) for name, part in kind[1])
    if kind[1] == "string":
        return "map", "string", _of_avro(kind[2])
    return "list", ("struct", (("key", _of_avro(kind[1])), ("value", _of_avro(kind[2]))))
