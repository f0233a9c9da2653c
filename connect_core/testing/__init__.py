"""Contracts that every plugin must keep, as test classes: subclass one, name your class, run pytest."""

from connect_core.testing.contexts import KeptErrors, MemoryConnectorContext
from connect_core.testing.converter_contract import ConverterContract, HeaderConverterContract
from connect_core.testing.format_contract import FormatContract
from connect_core.testing.partitioner_contract import PartitionerContract
from connect_core.testing.samples import ORDER_SCHEMA, orders, sink_records
from connect_core.testing.sink_contract import SinkContract
from connect_core.testing.sink_engine import SinkEngine
from connect_core.testing.source_contract import SourceContract
from connect_core.testing.source_engine import Lane, Position, SourceEngine
from connect_core.testing.storage_contract import StorageContract
from connect_core.testing.transformation_contract import PredicateContract, TransformationContract

__all__ = [
    "ORDER_SCHEMA",
    "ConverterContract",
    "FormatContract",
    "HeaderConverterContract",
    "KeptErrors",
    "Lane",
    "MemoryConnectorContext",
    "PartitionerContract",
    "Position",
    "PredicateContract",
    "SinkContract",
    "SinkEngine",
    "SourceContract",
    "SourceEngine",
    "StorageContract",
    "TransformationContract",
    "orders",
    "sink_records",
]
