"""`python tests/langgraph/cost.py COUNT`: what the store costs beside the client, on the installation of
`MEMQUORUM_RUN_DIR`. Prints JSON: of `get` and `put` the median of so many by the store, and by the client alone, in ms.

Runs in the environment of `make langgraph`, started by `make bench ONLY=ways`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from memquorum.client import Memory
from memquorum.langgraph import MemquorumStore

SPACE = "langgraph-cost"


def main(count: int) -> dict[str, list[float]]:
    """Each call by the store and by the client in turn."""
    with MemquorumStore(namespace=SPACE, agent="host") as store, Memory(namespace=SPACE, agent="host") as memory:
        store.put(("cost",), "k", {"text": "The gate is open."})
        assert store.get(("cost",), "k") is not None
        ways: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
            "get": (
                lambda _: store.get(("cost",), "k", refresh_ttl=False),
                lambda _: memory.slot("k", "cost"),
            ),
            "put": (
                lambda at: store.put(("cost",), f"p{at}", {"text": f"gate {at}"}),
                lambda at: memory.add(f"gate {at}", explicit=True, key=f"c{at}", path="cost"),
            ),
        }
        return {name: _medians(pair, count) for name, pair in ways.items()}


def _medians(pair: tuple[Callable[[int], Any], ...], count: int) -> list[float]:
    taken: tuple[list[float], ...] = tuple([] for _ in pair)
    for at in range(count):
        for do, times in zip(pair, taken, strict=True):
            began = time.perf_counter()
            do(at)
            times.append((time.perf_counter() - began) * 1_000)
    return [statistics.median(times) for times in taken]


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
