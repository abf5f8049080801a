"""Limits the time that a connection may stand still: one that sends no request, and one that does not take its answer.

uvicorn ends a connection that is silent after an answer. It does not end one that never sends a request, sends it in
crumbs or never reads, so a client that opens enough of them, with a key or without, would keep all others out. `crowd`
bounds the number that may wait for a request at once.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from workers.retrieval.crowd import Crowd, peer_of


class Patient(H11Protocol):
    """HTTP/1.1 with an end to patience. Bodies and answers have one of their own: `Endpoint.limit_s`."""

    # For the head of a request, from the connection's beginning or the last answer on; and for the peer to take what is
    # written to it, once that does not fit into the network's buffers.
    ask_s, take_s = DEFAULTS.head_ms / 1000, DEFAULTS.take_ms / 1000
    crowd = Crowd(DEFAULTS.connections)

    _asking: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection was made."""
        super().connection_made(transport)
        self._peer = peer_of(transport.get_extra_info("peername"))
        self.crowd.come()
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """It ended."""
        _stop(self._asking)
        _stop(self._taking)
        self.crowd.gone(self._peer, self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        super().data_received(data)
        self._await_request()

    def on_response_complete(self) -> None:
        """An answer was given."""
        super().on_response_complete()
        self._await_request()

    def pause_writing(self) -> None:
        """The peer takes less than is written."""
        super().pause_writing()
        _stop(self._taking)
        self._taking = self.loop.call_later(self.take_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The peer has taken it."""
        _stop(self._taking)
        super().resume_writing()
        self._await_request()

    def end(self) -> None:
        """Ends the connection at once."""
        self.transport.abort()

    def _await_request(self) -> None:
        # A client that is still reading a finished answer gets the time for that, not the time for the next request.
        busy = self.flow.write_paused or (self.cycle is not None and not self.cycle.response_complete)
        if busy or self.transport.is_closing():
            _stop(self._asking)
            self._asking = None
            self.crowd.asks(self._peer, self)
        elif self._asking is None:
            self._asking = self.loop.call_later(self.ask_s, self.transport.abort)
            self.crowd.idles(self._peer, self)


def patient(bounds: Bounds, crowd: Crowd) -> type[Patient]:
    """The protocol with an installation's own patience: uvicorn makes one for each connection. `crowd`: of the server's
    connections."""
    own = {"ask_s": bounds.head_ms / 1000, "take_s": bounds.take_ms / 1000, "crowd": crowd}
    return type("Patient", (Patient,), own)


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
