"""A request whose connection ends before the answer is sent once more if it only reads."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from memquorum.client import wire
from memquorum.client.errors import Unreachable


async def asked(method: str, drops: int) -> tuple[int, str]:
    """Sends a request to a server that drops so many connections; returns how many it saw, and the outcome."""
    seen = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        await reader.readuntil(b"\r\n\r\n")
        if seen > drops:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server, httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as http:
        try:
            answer = await wire.sent(http, wire.request(http, method, "/", headers={}))
        except Unreachable as error:
            return seen, str(error)
        return seen, answer.text


@pytest.mark.parametrize(
    ("method", "drops", "connections", "outcome"),
    [("GET", 0, 1, "{}"), ("GET", 1, 2, "{}"), ("GET", 2, 2, "does not answer"), ("POST", 1, 1, "does not answer")],
)
async def test_only_what_reads_is_sent_once_more(method: str, drops: int, connections: int, outcome: str) -> None:
    seen, found = await asked(method, drops)
    assert (seen, outcome in found) == (connections, True), found
    assert "()" not in found
