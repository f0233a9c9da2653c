"""Time zones by the names that connectors' settings have: regions, ``UTC``, and fixed shifts such as ``+02:00``."""

from __future__ import annotations

import re
from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

__all__ = ["zone_of"]

_FIXED = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::?(\d\d))?\Z")


def zone_of(name: str) -> tzinfo:
    """Return the time zone of a name. Raises ValueError if there is none."""
    fixed = _FIXED.match(name)
    try:
        if fixed:
            shift = timedelta(hours=int(fixed[2]), minutes=int(fixed[3] or 0))
            return timezone(shift if fixed[1] == "+" else -shift)
        return ZoneInfo("UTC" if name == "Z" else name)
    except (ValueError, OSError, KeyError) as error:
        raise ValueError(f"There is no time zone {name}") from error
