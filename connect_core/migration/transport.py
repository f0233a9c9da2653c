"""HTTP to an address that somebody else chose: only to allowed hosts, bounded in bytes and in time.

The addresses of a host are checked at every connection, and that same address is connected to, so that a name cannot
come to mean another one in between (DNS rebinding). The time limit is that of everything: a server that sends its
headers byte by byte does not extend it.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from connect_core.api.allowed_host import allowed_addresses
from connect_core.api.connector import WorkerLimits
from connect_core.errors import ConnectError

__all__ = ["BoundedTransport", "Bounds"]

_LARGEST_ANSWER = 16 << 20
_CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """The hosts that may be called, and when everything has to be over: seconds of ``time.monotonic``.

    ``key``: the name of the address, for messages.
    """

    limits: WorkerLimits
    until: float
    key: str = "url"

    def left(self, timeout: float | None) -> float:
        """Return the seconds that are left, at most ``timeout``. Raise ReadTimeout if there are none."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the time limit for all calls is exceeded")
        return left if timeout is None else min(left, timeout)


class BoundedTransport(httpx.BaseTransport):
    """Follows no redirects and uses no proxy; reads a whole response before it is returned."""

    def __init__(self, bounds: Bounds, tls: ssl.SSLContext | None = None) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=tls, max_connections=1, network_backend=_CheckedNetwork(bounds, httpcore.SyncBackend())
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raise ConfigError for a host that may not be called, httpx's TransportError without a response in time, and
        ConnectError for one that is too large or compressed.
        """
        url = request.url
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.read(),
            extensions=request.extensions,
        )
        try:
            answer = self._pool.handle_request(asked)
            try:
                body = _body(answer, str(url))
            finally:
                answer.close()
        except httpcore.TimeoutException as error:
            raise httpx.ReadTimeout(str(error)) from error
        except httpcore.ConnectError as error:
            raise httpx.ConnectError(str(error)) from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
            raise httpx.NetworkError(str(error)) from error
        return httpx.Response(answer.status, headers=answer.headers, content=body)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def _body(answer: httpcore.Response, url: str) -> bytes:
    encodings = [value.lower() for name, value in answer.headers if name.lower() == b"content-encoding"]
    if any(one != b"identity" for one in encodings):
        # A compressed body may expand a thousandfold.
        raise ConnectError(f"{url} returned a compressed body, which was not requested: is there a proxy in between?")
    body = bytearray()
    assert isinstance(answer.stream, Iterable)
    for part in answer.stream:
        body += part
        if len(body) > _LARGEST_ANSWER:
            raise ConnectError(
                f"The answer of {url} has more than {_LARGEST_ANSWER >> 20} MiB: use the command line, which has no "
                "such limit"
            )
    return bytes(body)


class _CheckedNetwork(httpcore.NetworkBackend):
    """Connects to the addresses of a host that were checked."""

    def __init__(self, bounds: Bounds, network: httpcore.NetworkBackend) -> None:
        self._bounds = bounds
        self._network = network

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *given: Any, **more: Any) -> Any:
        """Connect to the first address that answers. Raise ConfigError if one of them may not be called."""
        addresses = allowed_addresses(self._bounds.key, host, self._bounds.limits)
        error: httpcore.NetworkError | httpcore.TimeoutException = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            seconds = self._bounds.left(min(timeout or _CONNECT_SECONDS, _CONNECT_SECONDS))
            try:
                stream = self._network.connect_tcp(address, port, seconds, *given, **more)
            except (httpcore.NetworkError, httpcore.TimeoutException) as failure:
                error = failure
            else:
                return _BoundedStream(self._bounds, stream)
        raise error


class _BoundedStream(httpcore.NetworkStream):
    """A connection of which no read or write lasts beyond the bounds."""

    def __init__(self, bounds: Bounds, stream: httpcore.NetworkStream) -> None:
        self._bounds = bounds
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what there is."""
        return self._stream.read(max_bytes, self._bounds.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all."""
        self._stream.write(buffer, self._bounds.left(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """Begin TLS with the host's name, not its address."""
        stream = self._stream.start_tls(ssl_context, server_hostname, self._bounds.left(timeout))
        return _BoundedStream(self._bounds, stream)

    def get_extra_info(self, info: str) -> Any:
        """Return what the connection knows of itself."""
        return self._stream.get_extra_info(info)
