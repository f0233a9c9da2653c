"""Calls of a Hive Metastore over Thrift, each with a time limit, with fail-over between several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from hive_metastore.ThriftHiveMetastore import Client
from hive_metastore.ttypes import MetaException
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException

from connect_core.api.allowed_host import allowed_addresses
from connect_core.api.connector import WorkerLimits
from connect_core.connectors.filesystem.hive.config import URIS, HiveSettings
from connect_core.errors import ConnectError, RetriableError

__all__ = ["Client", "with_metastore"]

Result = TypeVar("Result")

_CONNECT_TIMEOUT = 10.0
_LONGEST_TEXT = 64 * 1024 * 1024
_MOST_ITEMS = 1_000_000
_BROKEN = (TTransportException, TProtocolException, OSError, UnicodeDecodeError)
"""A connection that cannot be used any more, or never could."""


def with_metastore(settings: HiveSettings, limits: WorkerLimits, act: Callable[[Any], Result]) -> Result:
    """Return the result of calls to the first metastore that responds; ``act`` is repeated with the next one.

    ``act`` takes the client, and must be idempotent. Raises RetriableError if none responds, ConfigError for a host
    that the worker does not allow.
    """
    failures = []
    for host, port in settings.addresses:
        for address in allowed_addresses(URIS, host, limits) or [""]:
            try:
                with _opened(address, port, settings.timeout) as client, _errors():
                    return act(client)
            except _BROKEN as error:
                failures.append(f"thrift://{host}:{port}: {_told(error)}")
    raise RetriableError(f"the Hive Metastore does not respond: {'; '.join(dict.fromkeys(failures))}")


@contextmanager
def _opened(address: str, port: int, timeout: float) -> Iterator[Client]:
    if not address:
        raise OSError("its name cannot be resolved")
    connection = TSocket(address, port)
    connection.setTimeout(min(timeout, _CONNECT_TIMEOUT) * 1000)
    connection.open()
    try:
        connection.setTimeout(timeout * 1000)
        limits = {"string_length_limit": _LONGEST_TEXT, "container_length_limit": _MOST_ITEMS}
        yield Client(TBinaryProtocol(TBufferedTransport(connection), **limits))
    finally:
        connection.close()


@contextmanager
def _errors() -> Iterator[None]:
    """Raise what the metastore answers as errors of this project; a broken connection is left to the caller."""
    try:
        yield
    except (ConnectError, *_BROKEN):
        raise
    except MetaException as error:
        # Also for its own database, which may be down.
        raise RetriableError(f"the Hive Metastore: {_told(error)}") from error
    except TApplicationException as error:
        kind = RetriableError if error.type == TApplicationException.INTERNAL_ERROR else ConnectError
        raise kind(f"the Hive Metastore: {_told(error)}") from error
    except TException as error:
        raise ConnectError(f"the Hive Metastore refuses it: {type(error).__name__}: {_told(error)}") from error


def _told(error: BaseException) -> str:
    text = str(getattr(error, "message", None) or error)
    return (text.strip().splitlines() or [type(error).__name__])[0]
