"""Arrow columns as text in the format of Java's ``toString``, all rows at once."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from connect_core.java.text import float32_text, float64_text

__all__ = ["column_text", "float_column_text", "logical_column_text"]

_EXACT_BELOW = {pa.float64(): 2.0**53, pa.float32(): 2.0**24}
"""Below these limits, whole numbers have the digits of the integer, in every JDK."""
_DAY = 86_400_000
_EARLIEST, _LATEST = -12_212_553_600_000, 253_402_300_799_999


def column_text(column: pa.Array) -> pa.Array | None:
    """Return strings, numbers and booleans formatted as by ``to_text``; nulls stay null.

    Return ``None`` for every other type.
    """
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return column.cast(pa.string())
    return float_column_text(column) if pa.types.is_float32(kind) or pa.types.is_float64(kind) else None


def float_column_text(column: pa.Array) -> pa.Array:
    """Return floats formatted as by ``Double.toString`` or ``Float.toString``.

    Plain from 0.001 to 10,000,000, otherwise as ``1.0E10``; ``NaN``, ``Infinity``.
    """
    series = pl.Series(column)
    plain = series.cast(pl.String)
    size = series.abs()
    unusual = ((size >= 1e7) | (size < 1e-3)) & (size != 0)
    if not unusual.any() and not series.is_nan().any():
        return plain.to_arrow().cast(pa.string())
    text = _with_exponents(series, plain, unusual.fill_null(False)).to_arrow().cast(pa.string())
    # JDK 17's texts of very large, very small and long numbers are not always the shortest ones.
    is_exact = (size >= 1e7) & (size < _EXACT_BELOW[column.type]) & (size == size.floor())
    odd = (unusual & size.is_finite() & ~is_exact).fill_null(False)
    if not odd.any():
        return text
    write = float32_text if pa.types.is_float32(column.type) else float64_text
    exact = pa.array([write(value) for value in column.filter(odd.to_arrow()).to_pylist()], pa.string())
    return pc.replace_with_mask(text, odd.to_arrow(), exact)


def logical_column_text(column: pa.Array) -> pa.Array | None:
    """Return decimals, dates, times and timestamps formatted as by ``to_text``; nulls stay null.

    Return ``None`` for instants outside the years 1583 to 9999, and for units other than milliseconds.
    """
    if pa.types.is_decimal128(column.type):
        return column.cast(pa.string())
    millis = _millis(column)
    limits = None if millis is None else pc.min_max(millis).as_py()
    if limits is None or (limits["min"] is not None and (limits["min"] < _EARLIEST or limits["max"] > _LATEST)):
        return None
    seconds = pc.floor(pc.divide(pc.cast(millis, pa.float64()), 1000.0)).cast(pa.int64()).view(pa.timestamp("s"))
    return pc.strftime(seconds, "%a %b %d %H:%M:%S UTC %Y")


def _millis(column: pa.Array) -> pa.Array | None:
    if pa.types.is_timestamp(column.type):
        return column.view(pa.int64()) if column.type.unit == "ms" else None
    stored = column.view(pa.int32()).cast(pa.int64())
    return pc.multiply(stored, _DAY) if pa.types.is_date(column.type) else stored


def _with_exponents(series: pl.Series, plain: pl.Series, unusual: pl.Series) -> pl.Series:
    frame = pl.DataFrame({"value": series, "text": plain, "unusual": unusual})
    mantissa, exponent = _scientific(pl.col("text"))
    text = (
        pl.when(pl.col("value").is_infinite())
        .then(pl.when(pl.col("value") > 0).then(pl.lit("Infinity")).otherwise(pl.lit("-Infinity")))
        .when(pl.col("value").is_nan())
        .then(pl.lit("NaN"))
        .when(pl.col("unusual"))
        .then(mantissa + "E" + exponent.cast(pl.String))
        .otherwise(pl.col("text"))
    )
    return frame.select(pl.when(pl.col("value").is_null()).then(None).otherwise(text)).to_series()


def _scientific(text: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Split a shortest decimal text into Java's mantissa (``d.ddd``) and its exponent of ten."""
    written = text.str.extract(r"e([+-]?[0-9]+)$").cast(pl.Int32).fill_null(0)
    whole = text.str.extract(r"^-?([0-9]+)")
    fraction = text.str.extract(r"\.([0-9]+)").fill_null("")
    digits = (whole + fraction).str.strip_chars_start("0")
    leading = (whole + fraction).str.len_bytes().cast(pl.Int32) - digits.str.len_bytes().cast(pl.Int32)
    exponent = written + whole.str.len_bytes().cast(pl.Int32) - 1 - leading
    figures = digits.str.strip_chars_end("0")
    rest = figures.str.slice(1)
    sign = pl.when(text.str.starts_with("-")).then(pl.lit("-")).otherwise(pl.lit(""))
    return sign + figures.str.slice(0, 1) + "." + pl.when(rest == "").then(pl.lit("0")).otherwise(rest), exponent
