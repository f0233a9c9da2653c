"""Records of the offsets topic: Connect's own keys and values, with our proof in headers.

Key: ``["connector",{source partition}]``, value: the source offset, both as Connect's JsonConverter writes them without
schemas; a null value deletes. Epoch records have a list of three as key, which Connect's reader skips
(``OffsetUtils.processPartitionKey`` expects two).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from connect_core.api.offsets import canonical
from connect_core.converters.json import JsonConverter
from connect_core.errors import ConnectError

__all__ = [
    "CONTROL_TASK",
    "ConnectorOwner",
    "EpochRecord",
    "Marker",
    "MarkerRecord",
    "MarkerStamp",
    "decode",
    "encode_epoch",
    "key_prefix",
]

CONTROL_TASK = -1
"""The task number in records of the control producer."""

_TOO_LARGE = 2**53
_EPOCH_KIND = "connect-core.epoch"
_NUMBERS = {
    "epoch": "connect.epoch",
    "incarnation": "connect.incarnation",
    "sequence": "connect.sequence",
    "task": "connect.task",
}
_START, _STATE, _ATTEMPT, _RECORDS = "connect.start", "connect.state", "connect.attempt", "connect.records"

_json = JsonConverter()
_json.configure({"schemas.enable": "false", "converter.type": "value"})

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class MarkerRecord:
    """One encoded record for the offsets topic."""

    key: bytes
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, slots=True)
class MarkerStamp:
    """The writer of a marker: which attempt of which task in which interval.

    All fields are -1 or empty in a record that a Connect worker has written.
    """

    epoch: int = -1
    incarnation: int = -1
    sequence: int = -1
    task: int = CONTROL_TASK
    attempt: str = ""

    def headers(self) -> Headers:
        """Return the stamp as record headers."""
        numbers = [(header, str(getattr(self, name)).encode()) for name, header in _NUMBERS.items()]
        return [*numbers, (_ATTEMPT, self.attempt.encode())]


@dataclass(frozen=True, slots=True)
class Marker:
    """One committed source offset, with the proof of who committed it.

    ``start``: the offset the transaction began at; ``state``: private state of the source, such as a file's identity;
    ``records``: how many the transaction moved, set only in the first of its markers. An ``offset`` of ``None`` deletes
    the partition.
    """

    connector: str
    partition: Mapping[str, Any]
    offset: Mapping[str, Any] | None
    stamp: MarkerStamp = MarkerStamp()
    start: Mapping[str, Any] | None = None
    state: Mapping[str, Any] | None = None
    records: int = 0

    @property
    def canonical_partition(self) -> str:
        """The source partition as canonical JSON."""
        return canonical(self.partition)

    def encode(self) -> MarkerRecord:
        """Return the marker as a record; maps keep their order, as in Connect."""
        headers = self.stamp.headers()
        headers += [
            (name, canonical(content).encode())
            for name, content in ((_START, self.start), (_STATE, self.state))
            if content is not None
        ]
        if self.records:
            headers.append((_RECORDS, str(self.records).encode()))
        return MarkerRecord(
            _bytes([self.connector, dict(self.partition)]),
            None if self.offset is None else _bytes(dict(self.offset)),
            headers,
        )


@dataclass(frozen=True, slots=True)
class ConnectorOwner:
    """A deployment: its ``group.id``, or standalone id, and the id of its metadata database."""

    group: str
    database: str

    @property
    def is_standalone(self) -> bool:
        """Whether it is a standalone worker: it has no other name than that of its database."""
        return self.group == self.database


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """The connector's fencing number in the offsets topic, and the deployment that wrote it unless it was deleted."""

    connector: str
    epoch: int
    owner: ConnectorOwner | None = None


def encode_epoch(connector: str, stamp: MarkerStamp, owner: ConnectorOwner | None = None) -> MarkerRecord:
    """Return the record that raises a connector's epoch."""
    value: dict[str, Any] = {"epoch": stamp.epoch}
    if owner is not None:
        value |= {"group": owner.group, "database": owner.database}
    return MarkerRecord(_bytes([connector, None, _EPOCH_KIND]), _bytes(value), stamp.headers())


def key_prefix(connector: str) -> bytes:
    """Return the common prefix of the connector's keys."""
    return _bytes([connector])[:-1] + b","


def decode(key: bytes, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]) -> Marker | EpochRecord | None:
    """Return the content of a record; ``None`` for a key that Connect's reader would skip.

    Raise ConnectError for a value that is not a JSON map.
    """
    parts = _parsed(key)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        return None
    if len(parts) == 3 and parts[2] == _EPOCH_KIND:
        content = _map(value, key) or {}
        return EpochRecord(parts[0], _number(content.get("epoch"), -1), _owner(content))
    if len(parts) != 2 or not isinstance(parts[1], dict):
        return None
    named = dict(headers)
    return Marker(
        parts[0],
        parts[1],
        _map(value, key),
        _stamp(named),
        _map(named.get(_START), key),
        _map(named.get(_STATE), key),
        _number(named.get(_RECORDS), 0),
    )


def _owner(content: Mapping[str, Any]) -> ConnectorOwner | None:
    group, database = content.get("group"), content.get("database")
    return ConnectorOwner(group, database) if isinstance(group, str) and isinstance(database, str) else None


def _stamp(named: Mapping[str, bytes | None]) -> MarkerStamp:
    numbers = {name: _number(named.get(header), -1) for name, header in _NUMBERS.items()}
    return MarkerStamp(**numbers, attempt=(named.get(_ATTEMPT) or b"").decode(errors="replace"))


def _number(text: Any, default: int) -> int:
    """Return a number that we may have written; anything else is forged or garbage, and is ignored.

    An epoch near 2**63 could not be raised any more, and would disable a connector forever.
    """
    try:
        number = int(text)
    except (TypeError, ValueError):
        return default
    return number if -1 <= number < _TOO_LARGE else default


def _map(text: bytes | None, key: bytes) -> dict[str, Any] | None:
    if text is None:
        return None
    content = _parsed(text)
    if content is None or isinstance(content, dict):
        return content
    raise ConnectError(
        f"The offsets topic contains something other than a JSON map under the key {key.decode(errors='replace')}:"
        " write a tombstone under that key, or alter the connector's offsets"
    )


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return ()


def _bytes(content: Any) -> bytes:
    encoded = _json.from_connect_data("", None, content)
    assert encoded is not None
    return encoded
