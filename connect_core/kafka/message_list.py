"""Messages that librdkafka hands out together and releases together, in one call."""

from __future__ import annotations

from functools import cache
from types import TracebackType
from typing import Any

from connect_core.kafka.librdkafka import allocate, free, library
from connect_core.kafka.memory import Addresses, words_from

__all__ = ["MessageList", "releases_lists"]

_WORD = 8


class MessageList:
    """Room for messages, laid out as librdkafka's ``rd_kafka_messages_t``: their count, then the address of each.

    A context: at its end the messages are released, and whatever points into them is invalid.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._address = allocate(_WORD * (room + 1))
        self._words = words_from(self._address, room + 1)
        self._words[0] = 0

    def receive(self, queue: Any, milliseconds: int) -> Addresses:
        """Return the addresses of the messages that a queue has, waiting at most ``milliseconds``. Once only."""
        first = self._address + _WORD
        count = library().rd_kafka_consume_batch_queue(queue, milliseconds, first, self._room)
        self._words[0] = max(count, 0)
        return self._words[1 : 1 + max(count, 0)]

    def __enter__(self) -> MessageList:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if releases_lists():
            library().rd_kafka_messages_destroy(self._address)
            return
        destroy = library().rd_kafka_message_destroy
        for message in self._words[1 : 1 + int(self._words[0])].tolist():
            destroy(message)
        free(self._address)


@cache
def releases_lists() -> bool:
    """Return whether librdkafka (from 2.15) can release a list of this layout, by asking it what it finds in one."""
    if not hasattr(library(), "rd_kafka_messages_destroy"):
        return False
    address = allocate(3 * _WORD)
    words_from(address, 3)[:] = 2, 21, 42
    count, get = library().rd_kafka_messages_count, library().rd_kafka_messages_get
    found = [count(address), get(address, 0), get(address, 1)]
    free(address)
    return found == [2, 21, 42]
