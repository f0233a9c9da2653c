"""Parsing of sink offsets sent by users. Connect: ``SinkUtils.parseSinkConnectorOffsets``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from connect_core.api.records import TopicPartition
from connect_core.errors import BadRequestError

__all__ = ["parse_sink_offsets"]

_TOPIC, _PARTITION, _OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
_NUMBER = re.compile(r"[+-]?\d{1,19}")
_LARGEST = {_PARTITION: 2**31 - 1, _OFFSET: 2**63 - 1}


def parse_sink_offsets(entries: Sequence[Mapping[str, Any]]) -> dict[TopicPartition, int | None]:
    """Return the positions of ``{partition, offset}`` entries; numbers may be strings.

    Raise BadRequestError in Connect's words.
    """
    return {_part(entry.get("partition")): _position(entry.get("offset")) for entry in entries}


def _part(partition: Any) -> TopicPartition:
    if not isinstance(partition, Mapping):
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    if _TOPIC not in partition or _PARTITION not in partition:
        raise BadRequestError(
            f"The partition for a sink connector offset must contain the keys '{_TOPIC}' and '{_PARTITION}'"
        )
    if partition[_TOPIC] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if partition[_PARTITION] is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    return TopicPartition(str(partition[_TOPIC]), _number(partition, _PARTITION, "Kafka partition", "Partition"))


def _position(offset: Any) -> int | None:
    if offset is None:
        return None
    if not isinstance(offset, Mapping) or _OFFSET not in offset:
        raise BadRequestError(f"The offset for a sink connector should either be null or contain the key '{_OFFSET}'")
    return _number(offset, _OFFSET, "Kafka offset", "Offset")


def _number(values: Mapping[str, Any], key: str, what: str, kind: str) -> int:
    text = str(values[key])
    if isinstance(values[key], bool) or not _NUMBER.fullmatch(text) or abs(int(text)) > _LARGEST[key]:
        raise BadRequestError(
            f"Failed to parse the following {what} value in the provided offsets: '{_java_text(values[key])}'. "
            f"{kind} values for sink connectors need to be integers."
        )
    return int(text)


def _java_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)
