"""The folder of a record: the contract of partitioners, and the built-in ones."""

from connect_core.connectors.filesystem.partitioners.daily import DailyPartitioner
from connect_core.connectors.filesystem.partitioners.default import DefaultPartitioner
from connect_core.connectors.filesystem.partitioners.field import FieldPartitioner
from connect_core.connectors.filesystem.partitioners.hourly import HourlyPartitioner
from connect_core.connectors.filesystem.partitioners.partitioner import Partitioner, constant
from connect_core.connectors.filesystem.partitioners.time_based import TimeBasedPartitioner

__all__ = [
    "DailyPartitioner",
    "DefaultPartitioner",
    "FieldPartitioner",
    "HourlyPartitioner",
    "Partitioner",
    "TimeBasedPartitioner",
    "constant",
]
