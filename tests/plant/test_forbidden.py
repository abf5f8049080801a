"""Six hundred attempts to read what profiles forbid, by every way in: none succeeds."""

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
from tests.support.waiting import PATIENCE_S

PRIVATE, BOUND, NAMED = "marmalade", "periwinkle", "Hesperia Quince"
"""Words that nothing says but a memory in private mode, one without consent, and a name that is never kept."""
QUERIES = ("who keeps what in the cellar?", PRIVATE, BOUND, NAMED, "cellar jars and the neighbour")
GATES: tuple[dict[str, Any], ...] = ({}, {"purpose": "ads"}, {"redact": True}, {"sensitivity_max": 1.0})
LEAST = 600


def test_nothing_that_a_profile_forbids_is_read_by_any_way_in(fleet: Plant) -> None:
    with fleet.client("forbidden") as memory:
        begin = round(time.time() * 1000) - HOUR
        ids = published(memory)
        for way in (probes(memory, fleet, ids), over_mcp(fleet, ids), over_mem0(fleet, ids)):
            control = [told(probe) for probe in way]
            assert all(any(word in one for one in control) for word in (PRIVATE, BOUND, NAMED)), "they can be read"
        memory.set_profile("ida", private_until=round(time.time() * 1000) + HOUR, timeout=20)
        memory.set_profile("jon", consents={"care": 0}, timeout=20)
        memory.set_profile("kim", never=[NAMED], timeout=20)
        named = [*probes(memory, fleet, ids), *over_mcp(fleet, ids), *over_mem0(fleet, ids)]
        noted = [*records(memory, ids, begin), *outcomes(fleet)]
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
        found = memory.add(text, subject=subject, session="cellar", event_id=f"of-{subject}", wait=True).memory_id
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


def over_mcp(fleet: Plant, ids: dict[str, str]) -> Iterator[Callable[[], object]]:
    """Yields attempts by the tools of MCP that read, over HTTP. Their questions name nothing that is forbidden."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for query in (QUERIES[0], QUERIES[-1]):
        calls += [
            ("search_memories", {"query": query, "top_k": 50}),
            ("search_memories", {"query": query, "top_k": 50, "filters": {"purpose": "ads"}}),
            ("retrieve_context", {"query": query, "budget_tokens": 2_000}),
            ("recall_memories", {"query": query}),
            ("search", {"query": query}),
        ]
    calls += [("get_memories", {"limit": 50}), ("get_experience", {}), ("get_tasks", {})]
    for own in ids.values():
        calls += [(tool, {"memory_id": own}) for tool in ("get_memory", "explain_memory", "recall_memories")]
        calls.append(("fetch", {"id": own}))
    for tool, arguments in calls:
        said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        yield lambda said=said: asked(fleet, "POST", "/mcp/forbidden", said)["result"]


def over_mem0(fleet: Plant, ids: dict[str, str]) -> Iterator[Callable[[], object]]:
    """Yields attempts by the wire of mem0's client."""
    for query in (QUERIES[0], QUERIES[-1]):
        for subject in ids:
            body = {"query": query, "top_k": 50, "filters": {"user_id": subject}}
            yield lambda body=body: asked(fleet, "POST", "/mem0/forbidden/v3/memories/search/", body)
    for subject, own in ids.items():
        listed = {"filters": {"user_id": subject}}
        yield lambda listed=listed: asked(fleet, "POST", "/mem0/forbidden/v3/memories/", listed)
        yield lambda own=own: asked(fleet, "GET", f"/mem0/forbidden/v1/memories/{own}/")


def outcomes(fleet: Plant) -> Iterator[Callable[[], object]]:
    """Yields attempts by the outcome of an event, and by the namespace's reports."""
    for subject in ("ida", "jon", "kim", "leo"):
        yield lambda subject=subject: asked(fleet, "GET", f"/events/forbidden/of-{subject}?agent=anna")
    yield lambda: asked(fleet, "GET", "/namespaces/forbidden")


def asked(fleet: Plant, method: str, path: str, body: object = None) -> Any:
    """Asks over HTTP, without the client. Raises MemquorumError where that is refused."""
    headers = {"Authorization": "Token any"} if path.startswith("/mem0") else {}
    headers["Accept"] = "application/json, text/event-stream"
    answer = httpx.request(method, fleet.line.retrieval_url + path, json=body, headers=headers, timeout=PATIENCE_S)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400 or answer.json().get("result", {}).get("isError"):
        raise MemquorumError(answer.text)
    return answer.json()


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
