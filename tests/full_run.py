"""How much of what is long is done: a part in ``make test``, all of it in ``make matrix`` and ``make fuzz``."""

from __future__ import annotations

import os

__all__ = ["IS_FULL_RUN", "examples"]

IS_FULL_RUN = os.environ.get("CONNECT_MATRIX") == "1"


def examples(few: int, many: int) -> int:
    """Return how many random examples a property is tried with."""
    return many if IS_FULL_RUN else few
