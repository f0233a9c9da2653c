"""What a connector guarantees for its records: declared by the plugin, shown wherever it is listed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Atomicity", "Delivery", "Guarantee", "Ordering"]


class Delivery(Enum):
    """How often a record arrives, whichever process is killed meanwhile."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    AT_MOST_ONCE = "at-most-once"
    UNKNOWN = "unknown"
    """The plugin does not declare it."""


class Ordering(Enum):
    """The scope within which the order of records is kept."""

    PARTITION = "partition"
    """Within a source partition or a Kafka partition."""
    NONE = "none"


class Atomicity(Enum):
    """The part of an interval that becomes visible at once."""

    TRANSACTION = "transaction"
    """A Kafka transaction of a source: records and their offsets."""
    TASK = "task"
    """All that one task wrote, such as a transaction of a database."""
    INTERVAL = "interval"
    """All that the interval wrote."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The guarantee of one configuration; ``condition``: its precondition, in a few words."""

    delivery: Delivery
    ordering: Ordering = Ordering.PARTITION
    atomicity: Atomicity = Atomicity.NONE
    condition: str = ""

    def __str__(self) -> str:
        order = "in no order" if self.ordering is Ordering.NONE else f"in order within a {self.ordering.value}"
        whole = (
            "" if self.atomicity is Atomicity.NONE else f", visible {self.atomicity.value} by {self.atomicity.value}"
        )
        return f"{self.delivery.value}, {order}{whole}" + (f"; {self.condition}" if self.condition else "")
