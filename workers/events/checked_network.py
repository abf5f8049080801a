"""Connects a webhook's client: looks a name up once, checks the addresses, and connects to one that passed.

The name is not looked up a second time, so an answer that changes in between opens nothing. A whole request has one
deadline: an answer that trickles ends with it.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore

from workers.events.addresses import Network, allowed

Resolve = Callable[[str, int], Sequence[str]]
"""Looks a host up: (host, port) → its addresses. Raises OSError."""


class NotAllowed(httpcore.ConnectError):
    """The host has no address that its target may reach."""


def resolve(host: str, port: int) -> Sequence[str]:
    """Asks the system for the addresses of a host. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


class CheckedNetwork(httpcore.NetworkBackend):
    """The connections of one target. `begin` sets the deadline of the next request."""

    def __init__(self, named: Sequence[Network], *, secure: bool, resolve: Resolve = resolve) -> None:
        """`named`: addresses that may be reached although they are not public. Without TLS (`secure`) only those
        are."""
        self._named, self._secure, self._resolve = named, secure, resolve
        self._plain = httpcore.SyncBackend()
        self._ends = 0.0

    def begin(self, seconds: float) -> None:
        """Gives the next request so many seconds in all."""
        self._ends = time.monotonic() + seconds

    def left(self) -> float:
        """Returns the seconds that the request has left. Raises httpcore.TimeoutException after the deadline."""
        left = self._ends - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the request took too long")
        return left

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:  # fmt: skip
        """Connects to an address of the host that the target may reach. Raises httpcore.ConnectError."""
        try:
            found = self._resolve(host, port)
        except OSError as error:
            raise httpcore.ConnectError(f"its name cannot be looked up ({type(error).__name__})") from None
        passed = [one for one in found if allowed(one, self._named, public=self._secure)]
        if not passed:
            raise NotAllowed("its host has no address that may be reached: public ones by https, or those named")
        failed: Exception = NotAllowed()
        for address in passed:
            try:
                stream = self._plain.connect_tcp(address, port, self.left(), local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _Timed(stream, self)
        raise failed


class _Timed(httpcore.NetworkStream):
    """A connection whose reads and writes end with the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, network: CheckedNetwork) -> None:
        self._stream, self._network = stream, network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._network.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._network.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, self._network.left()), self._network)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
