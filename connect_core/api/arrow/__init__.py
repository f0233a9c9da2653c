"""Conversion between Connect's data and Arrow's: types, fields and whole columns."""

from connect_core.api.arrow.arrays import to_arrow_array, to_python
from connect_core.api.arrow.types import from_arrow_field, to_arrow_field, to_arrow_type

__all__ = ["from_arrow_field", "to_arrow_array", "to_arrow_field", "to_arrow_type", "to_python"]
