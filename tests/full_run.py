"""How much of what is long is done: a part in ``make test``, all of it in ``make matrix`` and ``make fuzz``."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

__all__ = ["IS_FULL_RUN", "examples", "smoke_and_matrix"]

IS_FULL_RUN = os.environ.get("CONNECT_MATRIX") == "1"


def examples(few: int, many: int) -> int:
    """Return how many random examples a property is tried with."""
    return many if IS_FULL_RUN else few


def smoke_and_matrix(smoke: Collection[object], every: Iterable[object]) -> list[ParameterSet]:
    """Return parameters of which ``make test`` takes those of ``smoke``, ``make matrix`` the others."""
    return [pytest.param(one, marks=() if one in smoke else pytest.mark.matrix) for one in every]
