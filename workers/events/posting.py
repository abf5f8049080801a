"""Posts an event to a target, once: signed, without following a redirect, with bounds on time and answer."""

from __future__ import annotations

import ssl

import httpcore

from workers.events import signing
from workers.events.checked_network import CheckedNetwork, NotAllowed, Resolve, resolve
from workers.events.targets import Target

_TIMEOUT_S = 10.0
_ANSWER_BYTES_MAX = 64 * 1024
_IDLE_S = 30.0


class Posting:
    """The client of one target. Close it."""

    def __init__(self, target: Target, *, resolve: Resolve = resolve, timeout_s: float = _TIMEOUT_S) -> None:
        """`timeout_s`: for a whole request. Raises OSError or ssl.SSLError if the target's `ca` cannot be read."""
        self._target, self._timeout_s = target, timeout_s
        self._network = CheckedNetwork(target.addresses, secure=target.secure, resolve=resolve)
        # httpcore follows no redirect and takes no proxy from the environment.
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(cafile=target.ca), max_connections=1, keepalive_expiry=_IDLE_S,
            network_backend=self._network,
        )  # fmt: skip

    def post(self, event_id: str, body: bytes, at_s: int) -> str | None:
        """Posts an event at a time in seconds since the epoch. Returns why the target has not taken it; None if it
        has. The reason holds no part of address or answer."""
        signed = signing.headers(self._target.keys, event_id, at_s, body)
        headers = [("content-type", "application/json"), ("user-agent", "memquorum"), *signed]
        self._network.begin(self._timeout_s)
        try:
            with self._pool.stream("POST", self._target.url, headers=_encoded(headers), content=body) as response:
                size = 0
                for chunk in response.iter_stream():
                    size += len(chunk)
                    if size > _ANSWER_BYTES_MAX:
                        break  # which closes the connection
                return _told(response.status)
        except NotAllowed as error:
            return str(error)
        except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError) as error:
            return type(error).__name__

    def close(self) -> None:
        """Closes the connection."""
        self._pool.close()


def _told(status: int) -> str | None:
    if 200 <= status < 300:
        return None
    return f"status {status}" + (", a redirect, which is not followed" if 300 <= status < 400 else "")


def _encoded(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers]
