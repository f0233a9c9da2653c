"""What a source task's ``poll`` returned, checked: a plugin's mistake is named with its field and remedy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any

from connect_core.api.headers import Headers
from connect_core.api.records import SourceRecord
from connect_core.errors import ConnectError
from connect_core.task.tolerance import class_name

__all__ = ["checked_records"]

_LISTS = "poll must return a list of SourceRecord, or None if there are none yet"
_FINE: dict[str, set[type]] = {
    "topic": {str, type(None)},
    "kafka_partition": {int, type(None)},
    "timestamp": {int, type(None)},
    "headers": {Headers},
}


def checked_records(task: object, polled: Any) -> tuple[SourceRecord, ...]:
    """Return the records that ``poll`` returned. Raise ConnectError for anything else."""
    if polled is None:
        return ()
    if not isinstance(polled, Collection) or isinstance(polled, str | bytes | Mapping):
        raise _mistake(task, f"returned an object of class {class_name(polled)}: {_LISTS}")
    records = tuple(polled)
    # Per batch and field one pass in C: only a batch with other types is looked at record by record.
    if not set(map(type, records)) <= {SourceRecord}:
        _check_classes(task, records)
    for name, fine in _FINE.items():
        if not set(map(type, map(attrgetter(name), records))) <= fine:
            _check_field(task, name, records)
    return records


def _check_classes(task: object, records: Iterable[Any]) -> None:
    for record in records:
        if not isinstance(record, SourceRecord):
            raise _mistake(task, f"returned a list with an object of class {class_name(record)} in it: {_LISTS}")


def _check_field(task: object, name: str, records: Iterable[SourceRecord]) -> None:
    is_fine, remedy = _CHECKS[name]
    for value in map(attrgetter(name), records):
        if not is_fine(value):
            # Only a number is shown: other values may be the user's data.
            shown = f"{value!r}, " if isinstance(value, int | float) else ""
            raise _mistake(task, f"returned a record whose {name} is {shown}of class {class_name(value)}: {remedy}")


def _is_whole(value: Any) -> bool:
    """Return whether a value is an integer or None; also numpy's, or a float without a fraction."""
    return value is None or hasattr(value, "__index__") or (isinstance(value, float) and value.is_integer())


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "topic": (
        lambda value: value is None or isinstance(value, str | bytes),
        "return a text, or None if a transform sets the topic",
    ),
    "kafka_partition": (_is_whole, "return a whole number, or None to have the partition chosen by the key"),
    "timestamp": (_is_whole, "return whole milliseconds since 1970, such as int(time.time() * 1000), or None"),
    "headers": (lambda value: isinstance(value, Headers), "return Headers, such as Headers().add('name', 'value')"),
}


def _mistake(task: object, text: str) -> ConnectError:
    return ConnectError(f"{class_name(task)}.poll {text}")
