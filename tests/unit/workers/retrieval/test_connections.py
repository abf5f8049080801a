"""Connections that stand still are ended, and no others."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import uvicorn

from memquorum.core.retrieval.bounds import Bounds
from workers.retrieval import serving
from workers.retrieval.crowd import Crowd, Uncrowded, peer_of


async def app(scope: Any, receive: Any, send: Any) -> None:
    """/big: 32 MB; /slow: after a second; else `ok`."""
    assert scope["type"] == "http"
    if scope["path"] == "/slow":
        await asyncio.sleep(1)
    body = b"x" * (32 << 20 if scope["path"] == "/big" else 2)
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def server() -> Iterator[uvicorn.Server]:
    bounds = Bounds(head_ms=400, take_ms=1500)
    server = uvicorn.Server(serving.configured(app, "127.0.0.1", 0, bounds))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def port(server: uvicorn.Server) -> int:
    return server.servers[0].sockets[0].getsockname()[1]


def held(server: uvicorn.Server, count: int) -> bool:
    """Tells whether the server comes to hold so many connections within ten seconds."""
    end = time.monotonic() + 10
    while len(server.server_state.connections) != count and time.monotonic() < end:
        time.sleep(0.01)
    return len(server.server_state.connections) == count


HEAD = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def read(connection: socket.socket) -> bytes:
    """What comes; nothing where the connection was ended, gently or not."""
    try:
        return connection.recv(1 << 20)
    except ConnectionResetError:
        return b""


def test_idle_connections_keep_nobody_out() -> None:
    """Clients without a key open far more connections than there may be; others ask meanwhile."""
    most = 60
    bounds = Bounds(connections=most, working=10, working_of_one=10, head_ms=60_000)
    server = uvicorn.Server(serving.configured(app, "127.0.0.1", 0, bounds))  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    place = ("127.0.0.1", server.servers[0].sockets[0].getsockname()[1])
    idle = list[socket.socket]()
    try:
        with socket.create_connection(place, timeout=10) as working:
            working.send(HEAD % b"/slow")
            for at in range(3 * most):
                idle.append(socket.create_connection(place, timeout=10))
                idle[-1].send(b"" if at % 2 else HEAD[:-2] % b"/livez" + b"X: ")
                if at % 20 == 0:
                    with socket.create_connection(place, timeout=10) as connection:
                        connection.send(HEAD % b"/livez")
                        assert answer(connection).startswith(b"HTTP/1.1 200")
            assert held(server, most // 2 + 1) or held(server, most // 2)
            # A connection with a request is not idle, however long ago that was.
            assert answer(working).startswith(b"HTTP/1.1 200")
        assert read(idle[0]) == b""
        idle[-1].send(b"\r\n\r\n" if (3 * most - 1) % 2 == 0 else HEAD % b"/")
        assert answer(idle[-1]).startswith(b"HTTP/1.1 200")
    finally:
        for one in idle:
            one.close()
        server.should_exit = True
        thread.join(10)


class Held:
    """A connection of a test's, which notes that it was ended."""

    def __init__(self) -> None:
        self.ended = False

    def end(self) -> None:
        self.ended = True


def test_the_peer_that_has_most_gives_way() -> None:
    crowd = Crowd(8)
    hers, theirs = [Held()], [Held() for _ in range(9)]
    crowd.idles("ada", hers[0])
    for one in theirs:
        crowd.idles("eve", one)
    assert [one.ended for one in theirs] == [True] * 6 + [False] * 3 and not hers[0].ended
    # A request makes room, and its connection goes behind the others.
    crowd.asks("eve", theirs[6])
    crowd.idles("eve", theirs[6])
    crowd.idles("eve", Held())
    assert (theirs[7].ended, theirs[6].ended) == (True, False)


async def test_where_all_are_busy_only_liveness_is_answered() -> None:
    crowd = Crowd(2)
    for _ in range(3):
        crowd.come()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=Uncrowded(app, crowd)), base_url="http://127.0.0.1"
    ) as http:
        assert (await http.get("/livez")).status_code == 200
        busy = await http.get("/")
        assert (busy.status_code, busy.headers["retry-after"], busy.json()["error"]) == (503, "1", "busy")
        crowd.gone("eve", Held())
        assert (await http.get("/")).status_code == 200


@pytest.mark.parametrize(
    ("address", "peer"),
    [
        (("203.0.113.7", 80), "203.0.113.7"),
        (("2001:db8:1:2:3:4:5:6", 80, 0, 0), peer_of(("2001:db8:1:2::9", 1, 0, 0))),
        (("fe80::1%eth0", 80, 0, 2), peer_of(("fe80::2%eth0", 1, 0, 2))),
        (None, ""),
    ],
)
def test_a_peer_is_an_address_or_a_network(address: object, peer: str) -> None:
    assert peer_of(address) == peer


def answer(connection: socket.socket) -> bytes:
    found = part = read(connection)
    while part and not found.endswith(b"xx"):
        part = read(connection)
        found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD[:-2] % b"/" + b"X: "])
def test_who_asks_nothing_is_not_waited_for(port: int, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        for byte in sent:  # each may come in time, and all of them not
            connection.send(bytes([byte]))
        assert read(connection) == b""


def test_half_a_second_request_is_not_waited_for_either(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=3) as connection:
        connection.send(HEAD % b"/")
        assert answer(connection).startswith(b"HTTP/1.1 200")
        connection.send(b"GET /")
        assert read(connection) == b""


def test_an_answer_that_is_not_taken_is_dropped(server: uvicorn.Server, port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.send(HEAD % b"/big")
        assert held(server, 1)
        time.sleep(0.8)  # longer than a request may take, and not as long as an answer
        assert held(server, 1)
        assert held(server, 0)
        taken = 0
        while part := read(connection):
            taken += len(part)
        assert taken < 32 << 20


def test_who_waits_for_an_answer_and_asks_again_in_time_is_served(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        for path in (b"/slow", b"/", b"/slow", b"/"):
            connection.send(HEAD % path)
            assert answer(connection).startswith(b"HTTP/1.1 200")
            time.sleep(0.1)
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.send(HEAD % b"/big")
        taken = 0
        while taken < 32 << 20:
            taken += len(read(connection))
