"""Kafka: configured clients, a bounded reader, a transactional writer, and the markers in the offsets topic."""

from connect_core.kafka.admin import KafkaAdmin
from connect_core.kafka.clients import KafkaClients
from connect_core.kafka.control import ControlProducer, fence_producers, write_epoch, write_offsets
from connect_core.kafka.heartbeat import TaskHeartbeat
from connect_core.kafka.ids import control_id, transactional_id
from connect_core.kafka.marker_records import Marker, MarkerStamp
from connect_core.kafka.markers import MarkerView, OffsetsTopic, check_start
from connect_core.kafka.plain_writer import PlainWriter
from connect_core.kafka.raw_batch import RawBatch
from connect_core.kafka.reader import BoundedReader, ReaderLimits
from connect_core.kafka.transactional_writer import OffsetsTarget, TransactionalWriter, WriterOptions

__all__ = [
    "BoundedReader",
    "ControlProducer",
    "KafkaAdmin",
    "KafkaClients",
    "Marker",
    "MarkerStamp",
    "MarkerView",
    "OffsetsTarget",
    "OffsetsTopic",
    "PlainWriter",
    "RawBatch",
    "ReaderLimits",
    "TaskHeartbeat",
    "TransactionalWriter",
    "WriterOptions",
    "check_start",
    "control_id",
    "fence_producers",
    "transactional_id",
    "write_epoch",
    "write_offsets",
]
