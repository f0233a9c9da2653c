"""Partition transforms as written in configurations: ``day(time), bucket(id, 16), country``."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PartitionText", "partition_texts"]

_WITHOUT_NUMBER = ("identity", "year", "month", "day", "hour")
_WITH_NUMBER = ("bucket", "truncate")
_PLURALS = {f"{name}s": name for name in _WITHOUT_NUMBER[1:]}
_CALL = re.compile(r"(\w+)(?:\[(\d+)\])?\(([^()]+)\)\Z")
_PARTS = re.compile(r"[^,()]+(?:\([^()]*\))?")
_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PartitionText:
    """One field of a partition spec."""

    column: str
    transform: str
    """By Iceberg's name: ``identity``, ``day``, ``bucket[16]``."""

    @property
    def name(self) -> str:
        """The partition field's name."""
        kind = self.transform.partition("[")[0]
        return self.column if kind == "identity" else f"{self.column}_{'trunc' if kind == 'truncate' else kind}"


def partition_texts(text: str) -> tuple[PartitionText, ...]:
    """Return the partition fields in a text; none for an empty one. Raises ValueError with a remedy."""
    parts = [part.strip() for part in _PARTS.findall(text) if part.strip()]
    if "".join(",".join(parts).split()) != "".join(text.split()):
        raise ValueError(_REMEDY)
    return tuple(_partition(part) for part in parts)


_REMEDY = "separate by commas: a column, year(c), month(c), day(c), hour(c), bucket(c, 16) or truncate(c, 10)"


def _partition(text: str) -> PartitionText:
    call = _CALL.match(text)
    if call is None:
        if "(" in text:
            raise ValueError(_REMEDY)
        return PartitionText(text, "identity")
    name = _PLURALS.get(call[1].lower(), call[1].lower())
    column, _, number = call[3].partition(",")
    number = (call[2] or number).strip()
    if name in _WITHOUT_NUMBER and not number:
        return PartitionText(column.strip(), name)
    if name in _WITH_NUMBER and number.isdigit() and 0 < int(number) <= _MOST:
        return PartitionText(column.strip(), f"{name}[{int(number)}]")
    raise ValueError(_REMEDY)
