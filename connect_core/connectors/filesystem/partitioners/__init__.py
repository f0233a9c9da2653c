"""In which folder a record lies: the contract of partitioners, and those there are."""

from connect_core.connectors.filesystem.partitioners.default import DefaultPartitioner
from connect_core.connectors.filesystem.partitioners.partitioner import Partitioner, constant

__all__ = ["DefaultPartitioner", "Partitioner", "constant"]
