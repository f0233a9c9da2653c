"""Source partitions and offsets as canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["canonical", "parse"]


def canonical(partition: Mapping[str, Any]) -> str:
    """Return the canonical JSON of a source partition or offset: sorted, no spaces."""
    return json.dumps(partition, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse(text: str) -> dict[str, Any]:
    """Return the map of a canonical JSON text."""
    value: dict[str, Any] = json.loads(text)
    return value
