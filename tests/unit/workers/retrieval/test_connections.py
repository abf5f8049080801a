"""Connections that stand still are ended, and no others."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from memquorum.core.retrieval.bounds import Bounds
from workers.retrieval import serving


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


def answer(connection: socket.socket) -> bytes:
    found = read(connection)
    while not found.endswith(b"xx"):
        found += read(connection)
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
