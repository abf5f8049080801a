"""Five hundred attempts to read what profiles forbid, by every way in: none succeeds."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import msgspec

from memquorum.client import Memory, MemquorumError
from tests.support.sessions import HOUR, Plant

PRIVATE, BOUND, NAMED = "marmalade", "periwinkle", "Hesperia Quince"
"""Words that nothing says but a memory in private mode, one without consent, and a name that is never kept."""
QUERIES = ("who keeps what in the cellar?", PRIVATE, BOUND, NAMED, "cellar jars and the neighbour")
GATES: tuple[dict[str, Any], ...] = ({}, {"purpose": "ads"}, {"redact": True}, {"sensitivity_max": 1.0})
LEAST = 500


def test_nothing_that_a_profile_forbids_is_read_by_any_way_in(fleet: Plant) -> None:
    with fleet.client("forbidden") as memory:
        begin = round(time.time() * 1000) - HOUR
        ids = published(memory)
        control = [told(probe) for probe in probes(memory, fleet, ids)]
        assert all(any(word in one for one in control) for word in (PRIVATE, BOUND, NAMED)), "they can be read"
        memory.set_profile("ida", private_until=round(time.time() * 1000) + HOUR, timeout=20)
        memory.set_profile("jon", consents={"care": 0}, timeout=20)
        memory.set_profile("kim", never=[NAMED], timeout=20)
        named, noted = list(probes(memory, fleet, ids)), list(records(memory, ids, begin))
        ways = itertools.cycle([(True, one) for one in named] + [(False, one) for one in noted])
        tried = 0
        for of_memories, probe in itertools.islice(ways, LEAST):
            tried += 1
            found = told(probe)
            for word in (PRIVATE, BOUND, NAMED, *((ids["ida"], ids["made"], ids["jon"]) if of_memories else ())):
                assert word not in found, (word, found)
        assert tried == LEAST


def published(memory: Memory) -> dict[str, str]:
    """Publishes a memory of each subject, and one that an agent made of the first; returns their ids."""
    said = {
        "ida": f"Ida keeps jars of {PRIVATE} in the cellar.",
        "jon": f"Jon keeps {BOUND} seeds in the cellar.",
        "kim": f"Kim's neighbour {NAMED} keeps jars in the cellar.",
        "leo": "Leo keeps potatoes in the cellar.",
    }
    ids = {}
    for subject, text in said.items():
        found = memory.add(text, subject=subject, session="cellar", wait=True).memory_id
        assert found is not None
        ids[subject] = found
    made = memory.add(f"The cellar has {PRIVATE}.", subject="cellar", derives_from=[ids["ida"]], wait=True).memory_id
    assert made is not None
    return ids | {"made": made}


def probes(memory: Memory, fleet: Plant, ids: dict[str, str]) -> Iterator[Callable[[], object]]:
    """Yields attempts: each way in, with every question, filter and id."""
    for query, gates in itertools.product(QUERIES, GATES):
        yield lambda query=query, gates=gates: memory.search(query, k=50, **gates)
        yield lambda query=query, gates=gates: memory.retrieve(query, budget_tokens=2_000, **gates)
        yield lambda query=query, gates=gates: memory.recall(query=query, **gates)
        yield lambda query=query, gates=gates: memory.context(query, session="cellar", budget_tokens=2_000, **gates)
    for subject, gates in itertools.product(ids, GATES):
        own = ids[subject]
        yield lambda own=own, gates=gates: memory.get(own, **gates)
        yield lambda own=own, gates=gates: memory.explain(own, **gates)
        yield lambda own=own, gates=gates: memory.recall(own, **gates)
        yield lambda subject=subject, gates=gates: memory.report(subject=subject, **gates)
        yield lambda subject=subject, gates=gates: memory.memories(subjects=[subject], limit=50, **gates)
    yield from (
        lambda: memory.memories(limit=50), lambda: memory.memories(tiers=["short-term"], limit=50), memory.rollups,
        memory.conflicts, memory.sessions, lambda: memory.session("cellar"), memory.tasks, memory.experiences,
        memory.paths, lambda: memory.report(agent="anna"),
        lambda: httpx.get(f"{fleet.line.retrieval_url}/metrics").text,
    )  # fmt: skip


def records(memory: Memory, ids: dict[str, str], begin: int) -> Iterator[Callable[[], object]]:
    """Yields attempts at what was recorded of memories: the record of a use names ids, and no word of a memory."""
    yield from (
        memory.decisions,
        memory.journal,
        lambda: memory.diff(begin),
        lambda: memory.journal(effects=["stored"]),
    )
    for own in ids.values():
        yield lambda own=own: memory.journal(memory_id=own)
        yield lambda own=own: memory.trace(own)
        yield lambda own=own: memory.decisions(memory_id=own)


def told(probe: Callable[[], object]) -> str:
    """Returns the whole answer as JSON; nothing where it is refused, since an error repeats what was asked."""
    try:
        found = probe()
    except MemquorumError:
        return ""
    named = json.loads(msgspec.json.encode(found, enc_hook=str))
    # The answer repeats the question.
    return json.dumps(without_asked(named), ensure_ascii=False)


def without_asked(value: Any) -> Any:
    """Returns an answer without the fields that repeat the request."""
    if isinstance(value, dict):
        return {name: without_asked(one) for name, one in value.items() if name not in ("query", "value", "anchor")}
    return [without_asked(one) for one in value] if isinstance(value, list) else value
