"""The librdkafka that the Python client is linked with, for calls that the client does not offer."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, cimpl, libversion

__all__ = ["allocate", "free", "handle_of", "library", "version"]

_POINTER, _INT, _SIZE, _LONG = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int64
_TEXT = ctypes.c_char_p
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rd_kafka_topic_new": (_POINTER, [_POINTER, _TEXT, _POINTER]),
    "rd_kafka_topic_name": (_TEXT, [_POINTER]),
    "rd_kafka_topic_destroy": (None, [_POINTER]),
    "rd_kafka_produce_batch": (_INT, [_POINTER, ctypes.c_int32, _INT, _POINTER, _INT]),
    "rd_kafka_last_error": (_INT, []),
    "rd_kafka_queue_get_main": (_POINTER, [_POINTER]),
    "rd_kafka_queue_get_consumer": (_POINTER, [_POINTER]),
    "rd_kafka_queue_forward": (None, [_POINTER, _POINTER]),
    "rd_kafka_queue_poll": (_POINTER, [_POINTER, _INT]),
    "rd_kafka_queue_destroy": (None, [_POINTER]),
    "rd_kafka_consume_batch_queue": (ctypes.c_ssize_t, [_POINTER, _INT, _POINTER, _SIZE]),
    "rd_kafka_message_destroy": (None, [_POINTER]),
    "rd_kafka_messages_count": (_SIZE, [_POINTER]),
    "rd_kafka_messages_get": (_POINTER, [_POINTER, _SIZE]),
    "rd_kafka_messages_destroy": (None, [_POINTER]),
    "rd_kafka_message_errstr": (_TEXT, [_POINTER]),
    "rd_kafka_message_timestamp": (_LONG, [_POINTER, ctypes.POINTER(_INT)]),
    "rd_kafka_event_type": (_INT, [_POINTER]),
    "rd_kafka_event_error": (_INT, [_POINTER]),
    "rd_kafka_event_error_string": (_TEXT, [_POINTER]),
    "rd_kafka_event_log": (
        _INT,
        [_POINTER, ctypes.POINTER(_TEXT), ctypes.POINTER(_TEXT), ctypes.POINTER(_INT)],
    ),
    "rd_kafka_event_destroy": (None, [_POINTER]),
}
"""Function → its result and argument types, as declared in ``rdkafka.h``; those of message lists are new in 2.15."""


@cache
def library() -> Any:
    """Return the shared library, with the signatures of its functions set."""
    loaded = ctypes.CDLL(cimpl.__file__)
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is not None:
            function.restype, function.argtypes = result, arguments
    return loaded


def allocate(size: int) -> int:
    """Return the address of ``size`` bytes that librdkafka may free. Raise MemoryError."""
    address: int | None = _c_library().malloc(size)
    if address is None:
        raise MemoryError(f"no room for {size} bytes")
    return address


def free(address: int) -> None:
    """Free what ``allocate`` returned and librdkafka has not freed."""
    _c_library().free(address)


@cache
def _c_library() -> Any:
    loaded = ctypes.CDLL(None)
    loaded.malloc.restype, loaded.malloc.argtypes = _POINTER, [_SIZE]
    loaded.free.restype, loaded.free.argtypes = None, [_POINTER]
    return loaded


def version() -> tuple[int, int]:
    """Return the major and minor version of librdkafka."""
    number = libversion()[1]
    return number >> 24, number >> 16 & 0xFF


def handle_of(client: Any) -> int:
    """Return the ``rd_kafka_t`` of a client, the first field of the Python object. Raise KafkaException if closed."""
    # Objects of other classes have another field at this address.
    known = isinstance(client, (Consumer, Producer))
    address = known and ctypes.c_void_p.from_address(id(client) + object.__basicsize__).value
    if not address:
        raise KafkaException(KafkaError(KafkaError._STATE, "the client is closed"))
    return address
