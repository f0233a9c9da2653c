"""What a connector, converter or transform author imports; nothing else is needed."""

from connect_core.api.batch import Batch, Columns, Data, Objects, SourcePositions
from connect_core.api.config import AbstractConfig, ConfigDef, ConfigType, ConfigValue, Importance, Password, Width
from connect_core.api.connector import Connector, ConnectorContext, Task, WorkerLimits
from connect_core.api.convert import BatchRowError, Converter, HeaderConverter
from connect_core.api.data import Field, Instant, Schema, SchemaAndValue, SchemaBuilder, SchemaType, Struct
from connect_core.api.headers import Header, Headers
from connect_core.api.records import ConnectRecord, SinkRecord, SourceRecord, TimestampType, TopicPartition
from connect_core.api.sink import (
    CommitMarker,
    ErrantRecordReporter,
    IntervalContext,
    IntervalKey,
    PartitionRange,
    SinkCommitter,
    SinkConnector,
    SinkTask,
    SinkTaskContext,
    Staged,
)
from connect_core.api.source import (
    ConnectorTransactionBoundaries,
    ExactlyOnceSupport,
    OffsetStorageReader,
    SourceConnector,
    SourceTask,
    SourceTaskContext,
    TransactionContext,
)
from connect_core.api.transform import Predicate, Transformation
from connect_core.errors import ConfigError, ConnectError, DataError, RetriableError

__all__ = [
    "AbstractConfig",
    "Batch",
    "BatchRowError",
    "Columns",
    "CommitMarker",
    "ConfigDef",
    "ConfigError",
    "ConfigType",
    "ConfigValue",
    "ConnectError",
    "ConnectRecord",
    "Connector",
    "ConnectorContext",
    "ConnectorTransactionBoundaries",
    "Converter",
    "Data",
    "DataError",
    "ErrantRecordReporter",
    "ExactlyOnceSupport",
    "Field",
    "Header",
    "HeaderConverter",
    "Headers",
    "Importance",
    "Instant",
    "IntervalContext",
    "IntervalKey",
    "Objects",
    "OffsetStorageReader",
    "PartitionRange",
    "Password",
    "Predicate",
    "RetriableError",
    "Schema",
    "SchemaAndValue",
    "SchemaBuilder",
    "SchemaType",
    "SinkCommitter",
    "SinkConnector",
    "SinkRecord",
    "SinkTask",
    "SinkTaskContext",
    "SourceConnector",
    "SourcePositions",
    "SourceRecord",
    "SourceTask",
    "SourceTaskContext",
    "Staged",
    "Struct",
    "Task",
    "TimestampType",
    "TopicPartition",
    "TransactionContext",
    "Transformation",
    "Width",
    "WorkerLimits",
]
