"""Measures the rows that are asked for, or all: `make bench WHAT=console ONLY="ROW …"`.

The line is one that `make up` starts, but for the encoder, which is the hashing one: 10,000 memories are published as
agents publish them, and it takes five times as many a second. The browser is the system's Chromium, without a cache
and without Playwright between it and the service.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from bench import rows
from bench.console import page
from bench.ingest import STORE_ALL, publish, send, wait
from bench.kept import Outcome, Row
from bench.parts import AGENTS, WHOLE, Parts, difference, parts
from bench.reference import quantile, round_trip_ms
from bench.texts import sentences
from memquorum.client import AsyncMemory, Memory
from memquorum.core.records import EpisodeRecorded
from tests.support import browser

_NAMESPACE = "looked-at"
_FORGOTTEN_S = 61.0
"""After so long without a reader the service asks the processes twice before it answers how they are."""
_BETWEEN_S = 10.0
_FLEET_S, _STATE_S = 5, 10
_PATHS = ("/fleet", f"/namespaces/{_NAMESPACE}", "/journal/list", f"/journal/{_NAMESPACE}/feed")
"""The paths that the page Now asks for. Seconds between two questions: `_FLEET_S`, `_STATE_S`."""
_USABLE = """
(() => {
  const there = () => document.querySelector("h1") && !document.querySelector(".waiting, [aria-busy=true]");
  window.usable = null;
  new MutationObserver(() => {
    if (!there()) window.usable = null;
    else window.usable ??= performance.now();
  }).observe(document, {subtree: true, childList: true, attributes: true});
})();
"""
"""Keeps the time at which nothing of the page is awaited any more, in milliseconds since the navigation began."""
_SEEN = """
new MutationObserver((changes) => {
  const added = changes.flatMap((one) => [...one.addedNodes]).filter((one) => one.nodeName === "TR");
  if (added.some((one) => one.closest("section[aria-label='What happens']"))) console.log(`seen ${Date.now()}`);
}).observe(document, {subtree: true, childList: true});
"""
"""Tells each entry that the page shows, with the time."""


@dataclass(frozen=True)
class Material:
    """The sizes of a run."""

    memories: int = 10_000
    loads: int = 20
    cold: int = 3
    events: int = 200
    pages: int = 50
    minutes: float = 10.0


SMALL = Material(500, 3, 1, 10, 5, 0.5)


def run(given: Namespace) -> Outcome:
    """Measures, and keeps the figures; 1 where a row could not be measured."""
    if lacks := browser.missing():
        print(f"not measured: {lacks}", file=sys.stderr)
        return Outcome([], 1)
    return rows.measure(given, ROWS, SMALL if given.quick else Material(), page.RESULTS, page.draw)


@contextmanager
def _line(memories: int) -> Iterator[Parts]:
    """The whole line with so many memories in one namespace, each published and stored."""
    with parts(*WHOLE, policy=STORE_ALL, encoder="hashing") as running:
        now = time.time_ns() // 1_000_000
        texts = sentences(memories, 17)
        send(running, (
            EpisodeRecorded(agent=list(AGENTS)[at % len(AGENTS)], content=text, namespace=_NAMESPACE,
                            event_id=f"e-{at}", occurred_at=now)
            for at, text in enumerate(texts)
        ))  # fmt: skip
        wait(running, memories, seconds=1_800)
        yield running


@contextmanager
def _tab(chromium: Any, running: Parts, script: str) -> Iterator[browser.Look]:
    """A tab of its own, with nothing in its cache."""
    width, height = browser.SIZES["wide"]
    context = chromium.new_context(viewport={"width": width, "height": height})
    context.add_init_script(script)
    look = browser.Look(context.new_page(), running.settings.retrieval_url)
    look.page.on("request", lambda one: look.requests.append(one))  # noqa: PLW0108 - of a built-in it keeps no note
    try:
        yield look
    finally:
        context.close()


# The first page -------------------------------------------------------------------------------------------------------


def _first(material: Material) -> Row:
    row = Row("first", f"the first page, Now, of a namespace with {material.memories:,} memories")
    with _line(material.memories) as running, browser.started() as chromium:
        sent, asked = _transferred(chromium, running)
        row.figure("transferred, gzipped", sent / 1_000, "kB")
        row.figure("requests", asked, "")
        bare = _bare_ms(chromium, running, material.loads)
        idle = [_usable_s(chromium, running) for _ in range(material.loads)]
        cold = []
        for _ in range(material.cold):
            time.sleep(_FORGOTTEN_S)
            cold.append(_usable_s(chromium, running))
        with _busy(running):
            busy = [_usable_s(chromium, running) for _ in range(material.loads)]
    for name, taken in {"idle": idle, "the first reader for a minute": cold, "busy": busy}.items():
        row.figure(f"usable, {name}: p50", quantile(taken, 0.5), "s")
        row.figure(f"usable, {name}: slowest", max(taken), "s")
    row.at_most("transferred, gzipped", 120)
    row.at_most("requests", 25)
    row.at_most("usable, busy: p50", 1.5)
    row.at_most("usable, the first reader for a minute: p50", 1.5)
    row.compare("usable, idle: p50", "the same browser opens a file of the service", bare / 1_000, "s")
    row.note(
        "usable: from the navigation until all parts of the page have their answers, with an empty cache. Busy: "
        "episodes come faster than the line stores them, on all cores"
    )
    return row


def _open(look: browser.Look) -> None:
    look.page.goto(f"{look.base}/console/#/now?ns={_NAMESPACE}")
    look.there()


def _transferred(chromium: Any, running: Parts) -> tuple[int, int]:
    """Bytes and requests of a first page, what it asks of the endpoints included."""
    with _tab(chromium, running, _USABLE) as look:
        done = list[Any]()
        look.page.on("requestfinished", lambda one: done.append(one))  # noqa: PLW0108 - of a built-in it keeps no note
        _open(look)
        asked = len(look.requests)
        sizes = [one.sizes() for one in done]
        return sum(one["responseBodySize"] + one["responseHeadersSize"] for one in sizes), asked


def _usable_s(chromium: Any, running: Parts) -> float:
    with _tab(chromium, running, _USABLE) as look:
        _open(look)
        return float(look.page.evaluate("window.usable")) / 1_000


def _bare_ms(chromium: Any, running: Parts, tries: int) -> float:
    """Median of opening one small file of the service, in milliseconds."""
    taken = []
    for _ in range(tries):
        with _tab(chromium, running, "") as look:
            look.page.goto(f"{look.base}/console/icon.svg")
            taken.append(look.page.evaluate("performance.getEntriesByType('navigation')[0].duration"))
    return quantile(taken, 0.5)


@contextmanager
def _busy(running: Parts) -> Iterator[None]:
    """Publishes more than the line can store, in other namespaces."""
    stop = threading.Event()

    def flood() -> None:
        turn = 0
        while not stop.is_set():
            publish(running, f"busy-{turn}", sentences(2_000, 1_000 + turn))
            turn += 1
            stop.wait(1.0)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# An event -------------------------------------------------------------------------------------------------------------


def _seen(material: Material) -> Row:
    row = Row("seen", "an episode, from the begin of its publishing to its entry on the page Now, idle")
    taken = []
    with _line(100) as running, browser.started() as chromium, _tab(chromium, running, _SEEN) as look:
        trip = round_trip_ms(running)
        settings = running.settings
        with Memory(namespace=_NAMESPACE, agent="ada", kafka=running.bootstrap, url=settings.retrieval_url) as memory:
            _open(look)
            look.page.get_by_text("live", exact=True).wait_for()
            for at, text in enumerate(sentences(material.events + 20, 5)):
                with look.page.expect_console_message(lambda one: one.text.startswith("seen ")) as told:
                    began = time.time()
                    memory.add(text)
                if at >= 20:  # connections and compilers are slow at first
                    taken.append(float(told.value.text.split()[1]) - began * 1_000)
    row.figure("p50", quantile(taken, 0.5), "ms")
    row.figure("p95", quantile(taken, 0.95), "ms")
    row.at_most("p50", 300)
    row.compare("p50", "produce → consume of one record by the line's own client settings", trip, "ms")
    row.note("the service gathers what comes within 100 ms before it asks the store, once for all who follow")
    return row


# Many pages -----------------------------------------------------------------------------------------------------------


def _open_pages(material: Material) -> Row:
    row = Row("open", f"{material.pages} pages Now, open for {material.minutes:g} minutes")
    with _line(1_000) as running:
        # The service keeps some objects after its first reader: they are no growth.
        with browser.started() as chromium, _tab(chromium, running, "") as look:
            _open(look)
            look.page.wait_for_timeout(2_500 * _STATE_S)
            asked = {urlsplit(one.url).path for one in look.requests}
        assert {path for path in asked if not path.startswith("/console/")} == {"/access", *_PATHS}, asked
        alone, _ = asyncio.run(_lived(running, 0, min(1.0, material.minutes)))
        before = running.memory_mib()["retrieval"]
        beside, course = asyncio.run(_lived(running, material.pages, material.minutes))
    row.figure("service: processor", beside, "% of a core")
    row.figure("service: processor, nobody looks", alone, "% of a core")
    row.figure("service: growth", course[-1] - before, "MiB")
    row.figure("service: growth, second half", course[-1] - course[len(course) // 2], "MiB")
    row.at_most("service: processor", 5)
    row.at_most("service: growth", 20)
    row.compare("service: processor", "the same service while nobody looks", max(alone, 0.01), "% of a core")
    row.note(
        f"fifty browsers do not fit beside the line: each reader is a client that asks what a page asks, which is held "
        f"against a real one. It follows the journal, and asks for the processes every {_FLEET_S} s and for the "
        f"namespace every {_STATE_S} s. An episode is published every {_BETWEEN_S:g} s. Growth: since before the first "
        f"reader came"
    )
    return row


async def _lived(running: Parts, pages: int, minutes: float) -> tuple[float, list[float]]:
    """The service's processor in per cent of a core while so many pages are open, and its memory on the way."""
    url, course = running.settings.retrieval_url, list[float]()
    limits = httpx.Limits(max_connections=None)
    async with (
        AsyncMemory(namespace=_NAMESPACE, agent="ada", kafka=running.bootstrap, url=url) as memory,
        httpx.AsyncClient(base_url=url, verify=False, limits=limits, timeout=None) as client,
    ):
        seen = [0] * pages
        readers = [asyncio.create_task(_reader(client, at, seen)) for at in range(pages)]
        await asyncio.sleep(min(1.0, pages) * _BETWEEN_S)
        before, began, rounds = running.cpu_s(), time.perf_counter(), max(1, round(minutes * 60 / _BETWEEN_S))
        for at in range(rounds):
            await memory.add(f"Gate {at} was closed at {time.time():.0f}, says hall {pages}.")
            await asyncio.sleep(_BETWEEN_S)
            course.append(round(running.memory_mib()["retrieval"], 1))
            for one in readers:
                if one.done():
                    one.result()  # it ended, so something went wrong
        lasted, used = time.perf_counter() - began, difference(before, running.cpu_s())["retrieval"]
        for one in readers:
            one.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    assert all(number >= rounds for number in seen), f"of {rounds} entries the readers have seen {seen}"
    return 100 * used / lasted, course


async def _reader(client: httpx.AsyncClient, at: int, seen: list[int]) -> None:
    """Asks what the page Now asks, until it is cancelled; counts the entries that it is told."""
    await asyncio.sleep(at * 0.1)
    async with asyncio.TaskGroup() as group:
        group.create_task(_follow(client, at, seen))
        group.create_task(_repeat(client, "/fleet", _FLEET_S))
        group.create_task(_repeat(client, f"/namespaces/{_NAMESPACE}", _STATE_S))


async def _repeat(client: httpx.AsyncClient, path: str, every_s: float) -> None:
    while True:
        # The server ends a connection that rests; a browser asks again then.
        with suppress(httpx.TransportError):
            (await client.get(path)).raise_for_status()
            await asyncio.sleep(every_s)


async def _follow(client: httpx.AsyncClient, at: int, seen: list[int]) -> None:
    page = await client.post("/journal/list", json={"namespace": _NAMESPACE, "limit": 30})
    cursor = page.raise_for_status().json()["latest"]
    while True:
        with suppress(httpx.TransportError):
            async with client.stream("GET", f"/journal/{_NAMESPACE}/feed", params={"cursor": cursor}) as answer:
                async for line in answer.raise_for_status().aiter_lines():
                    if line.startswith("id: "):
                        cursor, seen[at] = line.removeprefix("id: "), seen[at] + 1


ROWS: Mapping[str, Any] = {"first": _first, "seen": _seen, "open": _open_pages}
ONLY = tuple(ROWS)
