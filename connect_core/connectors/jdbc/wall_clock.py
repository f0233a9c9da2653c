"""Converts between wall clock times of a time zone and points in time, in Arrow columns; all in microseconds.

Arrow has the clock changes one by one, up to 2037; Python continues by their rule. Rows beyond Arrow's data are left to
Python.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.connectors.jdbc.source.driver_values import in_zone

__all__ = ["from_wall_clock", "to_wall_clock"]

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_KNOWN_UNTIL = (datetime(2037, 1, 1) - _EPOCH) // _MICROSECOND


def from_wall_clock(naive: pa.Array, zone: ZoneInfo) -> pa.Array:
    """Return local times (int64) in UTC (int64), each as ``in_zone`` reads it."""
    utc, skipped = _located(naive, zone)
    return _corrected(utc.view(pa.int64()), naive, pc.or_(skipped, _is_late(naive)), lambda value: _read(value, zone))


def to_wall_clock(utc: pa.Array, zone: ZoneInfo) -> pa.Array:
    """Return points in time (int64) as wall clock times of a zone (int64)."""
    shown = pc.local_timestamp(utc.view(pa.timestamp("us", zone.key))).view(pa.int64())
    return _corrected(shown, utc, _is_late(utc), lambda value: _shown(value, zone))


def _located(naive: pa.Array, zone: ZoneInfo) -> tuple[pa.Array, pa.Array]:
    """Return local times in UTC, and which of them never existed."""
    local = naive.view(pa.timestamp("us"))
    first, last = (
        pc.assume_timezone(local, zone.key, ambiguous="earliest", nonexistent=choice)
        for choice in ("earliest", "latest")
    )
    return last, pc.fill_null(pc.not_equal(first, last), False)


def _is_late(micros: pa.Array) -> pa.Array:
    return pc.fill_null(pc.greater_equal(micros, _KNOWN_UNTIL), False)


def _corrected(found: pa.Array, given: pa.Array, rows: pa.Array, read: Callable[[int], int]) -> pa.Array:
    """Return the array with the marked rows converted by Python, each distinct value once."""
    if not pc.any(rows).as_py():
        return found
    chosen = given.filter(rows)
    distinct = pc.unique(chosen)
    answers = pa.array([read(value) for value in distinct.to_pylist()], pa.int64())
    return pc.replace_with_mask(found, rows, answers.take(pc.index_in(chosen, distinct)))


def _read(micros: int, zone: ZoneInfo) -> int:
    return (in_zone(_EPOCH + micros * _MICROSECOND, zone).replace(tzinfo=None) - _EPOCH) // _MICROSECOND


def _shown(micros: int, zone: ZoneInfo) -> int:
    moment = (_EPOCH + micros * _MICROSECOND).replace(tzinfo=UTC)
    return (moment.astimezone(zone).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
