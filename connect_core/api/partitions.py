"""Distributes elements among groups. Connect: ``ConnectorUtils``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeVar

from connect_core.errors import IllegalArgumentError

__all__ = ["group_partitions"]

Element = TypeVar("Element")
"""The type of the elements, such as a table's name."""


def group_partitions(elements: Sequence[Element], num_groups: int) -> list[list[Element]]:
    """Return ``num_groups`` consecutive groups of the elements, the first ones longer by one.

    Groups are empty when there are too few elements. Raise IllegalArgumentError
    unless ``num_groups`` is positive.
    """
    if num_groups <= 0:
        raise IllegalArgumentError("Number of groups must be positive.")
    size, longer = divmod(len(elements), num_groups)
    bounds = accumulate((size + (group < longer) for group in range(num_groups)), initial=0)
    return [list(elements[start:end]) for start, end in pairwise(bounds)]
