"""A client on a second event loop, on a loop in a thread, and in a forked process works; nothing waits for ever."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.context import ForkContext
from typing import Any

import pytest

from memquorum.client import AsyncMemory, Closed, Memory

_FOUND: dict[str, object] = {
    "namespace": "n",
    "hits": [],
    "used": 0,
    "served_from": "store",
    "compared": "all",
    "cached": 0,
    "answerable": True,
}
_FOUND["left_out"] = {}
_S = 30


class _Service(BaseHTTPRequestHandler):
    """Answers every search with nothing, and takes every episode."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(_FOUND if self.path.startswith("/search") else {"memory_id": "m"}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)


def _client(url: str) -> AsyncMemory:
    return AsyncMemory(namespace="n", agent="a", url=url)


async def _use(memory: AsyncMemory) -> bool:
    found = await asyncio.wait_for(memory.search("valve", peek=True), _S)
    await asyncio.wait_for(memory.add("The valve opens at 3 bar."), _S)
    return found == []


def test_a_second_and_a_third_event_loop_work(url: str) -> None:
    memory = _client(url)
    assert [asyncio.run(_use(memory)) for _ in range(3)] == [True] * 3
    asyncio.run(memory.close())
    assert asyncio.run(_use(memory))  # it connects again when it is needed
    asyncio.run(memory.close())


def test_two_event_loops_at_once_work_and_one_of_them_closes_both(url: str) -> None:
    memory, began, done = _client(url), threading.Event(), threading.Event()

    async def other() -> bool:
        used = await _use(memory)
        began.set()
        await asyncio.to_thread(done.wait, _S)
        return used

    with ThreadPoolExecutor() as pool:
        there = pool.submit(asyncio.run, other())
        assert began.wait(_S)

        async def here() -> bool:
            used = await _use(memory)
            await asyncio.wait_for(memory.close(), _S)
            return used

        assert asyncio.run(here())
        done.set()
        assert there.result(_S)


def _in_child(fork: ForkContext, do: Callable[[], object]) -> object:
    """Returns the result of a call in a forked process."""
    reads, writes = fork.Pipe(duplex=False)
    child = fork.Process(target=lambda: writes.send(do()))
    child.start()
    try:
        assert reads.poll(_S), "the child hangs"
        found: object = reads.recv()
        child.join(_S)
        assert child.exitcode == 0
        return found
    finally:
        child.kill()
        child.join()


def test_a_fork_uses_its_parents_client_and_so_does_the_parent_afterwards(url: str) -> None:
    fork = multiprocessing.get_context("fork")
    with Memory(namespace="n", agent="a", url=url) as memory:
        assert memory.search("valve", peek=True) == []

        def use() -> tuple[object, str]:
            found = memory.search("valve", peek=True)
            return found, memory.add("The valve opens at 3 bar.").namespace

        assert _in_child(fork, use) == ([], "n")
        assert memory.search("valve", peek=True) == []

        def close() -> str:
            memory.close()
            with pytest.raises(Closed):
                memory.search("valve")
            return "closed"

        assert _in_child(fork, close) == "closed"
        assert memory.search("valve", peek=True) == []
    with pytest.raises(Closed, match="closed"):
        memory.add("The valve opens at 3 bar.")
    assert _in_child(fork, lambda: _closed(memory)) is True


def _closed(memory: Memory) -> bool:
    with pytest.raises(Closed):
        memory.search("valve")
    return True


def test_a_fork_uses_an_asynchronous_client_of_its_parent(url: str) -> None:
    memory = _client(url)
    assert asyncio.run(_use(memory))
    assert _in_child(multiprocessing.get_context("fork"), lambda: asyncio.run(_use(memory))) is True
    assert asyncio.run(_use(memory))
    asyncio.run(memory.close())
