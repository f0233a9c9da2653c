"""What files look like: the contract of formats, and those there are."""

from connect_core.connectors.filesystem.formats.format import ColumnFormat, Format, FormatWriter
from connect_core.connectors.filesystem.formats.parquet import ParquetFormat

__all__ = ["ColumnFormat", "Format", "FormatWriter", "ParquetFormat"]
