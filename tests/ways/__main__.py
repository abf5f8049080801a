r"""`python -m tests.ways`: every interface against every other, on one installation that is started for them.

A memory written through each is read through every other that can read it, as the same memory, and explained in the
same words. Then each is tried with all that somebody knows of another namespace, and of another path in the same one:
nothing is shown, and nothing changes. `--only`: some of the interfaces. Exit 0 where all holds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from infra import settings
from memquorum.client import Memory
from tests import ROOT, scratch
from tests.builders.unused import unused
from tests.support.waiting import until
from tests.upstream import Environment, installation
from tests.ways.table import MAIN, UNREADABLE, WAYS
from tests.ways.way import AGENT, PATH, SUBJECT, Known

SPACE, HOME, ELSEWHERE = "ways", "home", "elsewhere"
SECRET = "quokka"
Ask = Callable[..., Any]


def main() -> int:
    """Holds them against each other."""
    parser = argparse.ArgumentParser(prog="python -m tests.ways")
    parser.add_argument("--only", choices=WAYS, action="append", help="some of them; repeatable")
    ways = [name for name in WAYS if name in (parser.parse_args().only or WAYS)]
    for name in sorted({WAYS[name].environment for name in ways} - {MAIN}):
        if not Environment(name).ready:
            print(f"ways: NOT RUN through those of `make {name}`, whose packages are not there")
            ways = [one for one in ways if WAYS[one].environment != name]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ways-", dir=scratch.root()) as folder, ExitStack() as open:
        run_dir = open.enter_context(installation(Path(folder) / "line", clock="wall", tick_ms=500))
        asks = {name: open.enter_context(_child(name, run_dir)) for name in {WAYS[one].environment for one in ways}}
        line = settings.load({}, run_dir)

        def ask(name: str, at: str, do: str, **said: Any) -> Any:
            return asks[WAYS[name].environment](name=name, space=at, do=do, said=said)

        def client(space: str) -> Memory:
            return open.enter_context(
                Memory(namespace=space, agent=AGENT, kafka=line.bootstrap, url=line.retrieval_url)
            )

        pairs, apart = _pairs(ask, ways, client(SPACE))
        tried, found = _apart(ask, ways, client(HOME))
    for wrong in apart + found:
        print(f"FAILED: {wrong}")
    print(f"ways: {pairs} pairs of {len(ways)} ways, {tried} probes; took {time.monotonic() - began:.0f} s")
    print(f"{pairs + tried - len(apart) - len(found)} passed, {len(apart) + len(found)} failed")
    return 1 if apart or found else 0


class _child(ExitStack):
    """A process in an environment, which does what it is asked."""

    def __init__(self, environment: str, run_dir: Path) -> None:
        super().__init__()
        self._environment, self._run_dir = environment, run_dir

    def __enter__(self) -> Ask:  # type: ignore[override]
        python = sys.executable if self._environment == MAIN else Environment(self._environment).python
        known = {name: value for name, value in os.environ.items() if not name.startswith("MEMQUORUM_")}
        known |= {"PYTHONPATH": str(ROOT), "MEMQUORUM_RUN_DIR": str(self._run_dir)}
        known |= {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
        started = subprocess.Popen(
            [python, "-m", "tests.ways.child"],
            cwd=ROOT, env=known, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.enter_context(started)
        assert started.stdin is not None and started.stdout is not None
        asking, answering = started.stdin, started.stdout

        def ask(**what: Any) -> Any:
            print(json.dumps(what), file=asking, flush=True)
            told = json.loads(answering.readline() or '{"error": "it ended"}')
            if "error" in told:
                raise RuntimeError(f"{what['name']}: {what['do']}: {told['error']}")
            return told["answer"]

        return ask


def _pairs(ask: Ask, ways: Sequence[str], memory: Memory) -> tuple[int, list[str]]:
    """Compares each interface with every other; returns the number of pairs, and the problems."""
    texts = {name: WAYS[name].text for name in ways}
    for name, text in texts.items():
        ask(name, SPACE, "write", key=f"by-{name}", text=text)
    listed = until(lambda: _all(memory, len(texts)), "what was written is not there")
    ids = {name: next(one.memory_id for one in listed if text in one.text) for name, text in texts.items()}
    paths = {one.memory_id: one.path for one in listed}
    told = {one: unused(str(memory.explain(one))) for one in ids.values()}
    count, wrong = 0, []
    for reader in ways:
        found = {path: ask(reader, SPACE, "read", path=path, texts=list(texts.values())) for path in {*paths.values()}}
        explained = ask(reader, SPACE, "explain", memory_ids=list(ids.values()))
        for writer in ways:
            if (writer, reader) in UNREADABLE or writer == reader:
                continue
            count += 1
            memory_id = ids[writer]
            seen = [shown for shown, text in found[paths[memory_id]] if texts[writer] in text]
            if len(seen) != 1 or seen[0] not in (None, memory_id):
                wrong.append(f"{reader} reads of what {writer} wrote {seen}, and it is {memory_id}")
            if unused(explained[memory_id]) != told[memory_id]:
                wrong.append(f"{reader} explains what {writer} wrote in other words: {explained[memory_id]}")
    return count, wrong


def _all(memory: Memory, count: int) -> list[Any]:
    found = [one for one in memory.memories(limit=100).memories if one.text is not None]
    return found if len(found) >= count else []


def _apart(ask: Ask, ways: Sequence[str], memory: Memory) -> tuple[int, list[str]]:
    """Probes foreign memories through each interface; returns the number of probes, and what they found or changed."""
    said: dict[str, Any] = {"explicit": True, "subject": SUBJECT, "attributes": {"kind": "animal"}, "wait": True}
    first = memory.add("The quokka is kept in bay 9.", key="where", path=PATH, **said)
    memory.add("The quokka answers to Mo.", key="name", path=PATH, **said)
    cursor = memory.memories(limit=1).next
    pin = memory.pin(memory.add("The quokka has a passport.", key="passport", path=PATH, **said).memory_id)
    assert cursor is not None and first.memory_id is not None
    known = asdict(Known(HOME, first.memory_id, "where", cursor, first.token, pin.order_id))
    before, tried, wrong = _state(memory), 0, []
    for way in ways:
        for space, do in ((ELSEWHERE, "probes"), (HOME, "beside")):
            for what, answered, told in ask(way, space, do, **known):
                tried += 1
                if SECRET in told.casefold() or (do == "probes" and answered and PATH in told):
                    wrong.append(f"{way}, {do}: {what} shows {told}")
            if (now := _state(memory)) != before:
                wrong.append(f"{way}, {do}: something was changed: {list(_differing(before, now))}")
                before = now
    return tried, wrong


def _state(memory: Memory) -> dict[str, Any]:
    """Returns the state that nobody else may change: the memories, with how often each was used, and the pins."""
    found = {one.memory_id: (one.text, one.tier, one.accesses) for one in memory.memories(limit=100).memories}
    return found | {"pins": [one.memory_id for one in memory.pins().pins]}


def _differing(before: dict[str, Any], now: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in before | now:
        if before.get(name) != now.get(name):
            yield name, before.get(name), now.get(name)


if __name__ == "__main__":
    sys.exit(main())
