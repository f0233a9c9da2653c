"""TimestampRouter: rename topics by the record's timestamp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from connect_core.api.batch import Batch
from connect_core.api.config import ConfigDef, ConfigType, Importance
from connect_core.api.data import Instant
from connect_core.api.records import Record
from connect_core.api.transform import Transformation
from connect_core.errors import ConnectError, DataError, NullValueError
from connect_core.java.dates.columns import format_column
from connect_core.java.dates.format import SimpleDateFormat
from connect_core.transforms.support.topics import encoded

__all__ = ["TimestampRouter"]

TOPIC_FORMAT = "topic.format"
TIMESTAMP_FORMAT = "timestamp.format"

CONFIG = (
    ConfigDef()
    .define(
        TOPIC_FORMAT,
        ConfigType.STRING,
        "${topic}-${timestamp}",
        importance=Importance.HIGH,
        doc="The new topic; ${topic} is replaced by the old topic and ${timestamp} by the record's timestamp.",
    )
    .define(
        TIMESTAMP_FORMAT,
        ConfigType.STRING,
        "yyyyMMdd",
        importance=Importance.HIGH,
        doc="Format of the timestamp, in UTC: a pattern for Java's SimpleDateFormat.",
    )
)


class TimestampRouter(Transformation):
    """Builds the topic from the old one and the timestamp. Connect: ``TimestampRouter``."""

    def config(self) -> ConfigDef:
        """Return the settings of this transform."""
        return CONFIG

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Apply the settings; a bad pattern is only detected at the first record, as in Connect."""
        config = CONFIG.parse(configs)
        self._topic_format: str | None = config[TOPIC_FORMAT]
        self._pattern: str | None = config[TIMESTAMP_FORMAT]
        self._format: SimpleDateFormat | None = None

    def apply(self, record: Record) -> Record:
        """Route one record. Raise DataError if it has no timestamp."""
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record: {record}")
        stamp = self._date_format().format(Instant(record.timestamp))
        topic = self._topic(record.topic, stamp)
        return replace(record, topic=topic, headers=record.headers.duplicate())

    def _date_format(self) -> SimpleDateFormat:
        if self._format is None:
            if self._pattern is None:
                raise NullValueError(f"{TIMESTAMP_FORMAT} is null")
            self._format = SimpleDateFormat(self._pattern)
        return self._format

    def _topic(self, topic: str | None, stamp: str) -> str:
        if self._topic_format is None or topic is None:
            raise NullValueError(f"{TOPIC_FORMAT} or the record's topic is null")
        return self._topic_format.replace("${topic}", topic).replace("${timestamp}", stamp)

    def apply_batch(self, batch: Batch) -> Batch | None:
        """Route all rows: one topic is built for each pair of old topic and formatted timestamp."""
        if batch.timestamp.null_count or batch.topic.null_count or not len(batch):
            return None if len(batch) else batch
        try:
            stamps = encoded(format_column(batch.timestamp, self._date_format()))
            topics = encoded(batch.topic)
            count = len(stamps.dictionary)
            pairs = pc.add(pc.multiply(topics.indices.cast(pa.int64()), count), stamps.indices.cast(pa.int64()))
            known = pairs.dictionary_encode()
            names, written = topics.dictionary.to_pylist(), stamps.dictionary.to_pylist()
            routed = [self._topic(names[pair // count], written[pair % count]) for pair in known.dictionary.to_pylist()]
        except ConnectError:
            return None
        return replace(batch.with_topic(pa.array(routed, pa.string()).take(known.indices)), read_time=None)
