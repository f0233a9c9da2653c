"""One folder for each Kafka partition."""

from __future__ import annotations

import pyarrow as pa

from connect_core.api.batch import Batch
from connect_core.connectors.filesystem.partitioners.partitioner import Partitioner, constant

__all__ = ["DefaultPartitioner"]


class DefaultPartitioner(Partitioner):
    """``partition=<number>``. Connect: ``DefaultPartitioner`` of Confluent's storage sinks."""

    keys = ("partition",)

    def folders(self, batch: Batch) -> pa.Array:
        """Return the folder of the partition from which the records were read."""
        _, partition = batch.original or (batch.topic, batch.partition)
        return constant(f"partition={partition[0].as_py()}", len(batch))
