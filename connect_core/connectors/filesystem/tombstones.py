"""What happens to records whose value is null."""

from __future__ import annotations

from enum import Enum

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch, Columns
from connect_core.errors import DataError

__all__ = ["NullValues", "present", "without_nulls"]


class NullValues(Enum):
    """The policy for them."""

    WRITE = "write"
    IGNORE = "ignore"
    FAIL = "fail"


def without_nulls(batch: Batch, policy: NullValues) -> Batch:
    """Return the rows of a batch to write. Raises DataError if there is a null and the policy is ``FAIL``."""
    if policy is NullValues.WRITE or not len(batch):
        return batch
    there = present(batch)
    if pc.all(there).as_py():
        return batch
    if policy is NullValues.FAIL:
        raise DataError("the value is null and behavior.on.null.values is fail; set it to ignore or write")
    return batch.filter(there)


def present(batch: Batch) -> pa.Array:
    """Return for each row (booleans) whether its value is not null."""
    data = batch.value
    if isinstance(data, Columns):
        return data.array.is_valid()
    return pa.array([value is not None for value in data.values], pa.bool_())
