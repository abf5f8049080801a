"""The latest statement is served first on a running installation: A, then B, then A again; and imported history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client

from memquorum.client import Memory
from tests.support.sessions import DAY, HOUR, Plant

FIRST, SECOND = "The locker of the crew is number 4.", "The locker of the crew is number 9."
ASKED = "Which number is the locker of the crew?"


def add(fleet: Plant, memory: Memory, text: str, gap: int = 1_000, **said: Any) -> str:
    """Says something so many milliseconds later; what it became."""
    fleet.now += gap
    receipt = memory.add(text, wait=True, **{"occurred_at": fleet.now} | said)
    assert receipt.outcome in ("stored", "reinforced")
    return receipt.outcome


def served(memory: Memory, first: str, second: str) -> None:
    """Every read has the one before the other, and says that they contradict each other."""
    hits = [hit for hit in memory.search(ASKED, peek=True) if hit.text in (first, second)]
    assert [hit.text for hit in hits] == [first, second]
    assert [hit.conflicts_with for hit in hits] == [(hits[1].memory_id,), (hits[0].memory_id,)]
    items = [one.text for one in memory.retrieve(ASKED, peek=True).items if one.text in (first, second)]
    assert items == [first, second]
    text = memory.context(ASKED, peek=True).text
    assert text.index(second) < text.index(first), "a context tells what was said as it happened"
    listed = [one for one in memory.memories().memories if one.text in (first, second)]
    assert [one.text for one in listed] == [second, first], "a list goes by time"
    assert [one.contradicts for one in listed] == [(), (listed[0].memory_id,)], "the later one contradicts the earlier"


def test_what_no_encoder_tells_apart_goes_by_when_it_was_said(fleet: Plant) -> None:
    """No rule finds a contradiction between two emoji, and neither text is nearer to the question."""
    with fleet.client("again-unseen") as memory:
        became = [add(fleet, memory, f"Status of the press {sign}") for sign in "✅❌✅"]
        assert became == ["stored", "stored", "reinforced"]
        for asked in ("What is the status of the press?", "press"):
            assert [hit.text[-1] for hit in memory.search(asked, peek=True)] == ["✅", "❌"]
            assert [item.text[-1] for item in memory.retrieve(asked, peek=True).items] == ["✅", "❌"]


@pytest.mark.parametrize("gap", [0, 500, 2_000])
@pytest.mark.parametrize("explicit", [False, True])
def test_what_is_said_again_comes_first(fleet: Plant, gap: int, explicit: bool) -> None:
    with fleet.client(f"again-{gap}-{explicit}".lower()) as memory:
        became = [add(fleet, memory, text, gap, explicit=explicit) for text in (FIRST, SECOND, FIRST)]
        assert became == ["stored", "stored", "reinforced"]
        served(memory, FIRST, SECOND)
        fleet.turn(2 * HOUR)
        add(fleet, memory, SECOND, explicit=explicit)
        first = memory.search(ASKED, peek=True)[0]
        assert first.text == SECOND, "and once more the other way round"


def test_in_one_batch_the_last_is_first(fleet: Plant) -> None:
    with fleet.client("again-batch") as memory:
        receipts = memory.add_all([{"content": text} for text in (FIRST, SECOND, FIRST)])
        assert [memory.outcome(one).outcome for one in receipts] == ["stored", "stored", "reinforced"]
        served(memory, FIRST, SECOND)


def test_of_two_agents_the_one_who_spoke_last_is_first(fleet: Plant) -> None:
    with fleet.client("again-two") as memory:
        for text, agent in ((FIRST, "anna"), (SECOND, "ben"), (FIRST, "anna")):
            add(fleet, memory, text, agent=agent)
        hits = memory.search(ASKED, peek=True)
        assert [(hit.text, hit.agent) for hit in hits] == [(FIRST, "anna"), (SECOND, "ben")]


def test_a_stranger_moves_nothing_nor_does_what_is_delivered_again(fleet: Plant) -> None:
    with fleet.client("again-strange") as memory:
        add(fleet, memory, FIRST, subject="crew", event_id="e-1")
        add(fleet, memory, SECOND, subject="crew")
        assert add(fleet, memory, FIRST, subject="crew", agent="ben") == "reinforced"
        served(memory, SECOND, FIRST)
        add(fleet, memory, FIRST, subject="crew", event_id="e-1")
        served(memory, SECOND, FIRST)
        assert add(fleet, memory, FIRST, subject="crew") == "reinforced"
        served(memory, FIRST, SECOND)


def test_imported_history_stands_behind_what_is_newer(fleet: Plant) -> None:
    with fleet.client("again-imported") as memory:
        add(fleet, memory, SECOND)
        assert add(fleet, memory, FIRST, occurred_at=fleet.now - 900 * DAY) == "stored"
        served(memory, SECOND, FIRST)
        assert [one.text for one in memory.memories(since=fleet.now - DAY).memories] == [SECOND]


def test_a_fact_of_long_ago_that_is_said_again_is_of_today(fleet: Plant) -> None:
    with fleet.client("again-today") as memory:
        then = fleet.now - 900 * DAY
        add(fleet, memory, FIRST, occurred_at=then)
        assert memory.memories(since=fleet.now - DAY).memories == ()
        assert add(fleet, memory, FIRST) == "reinforced"
        (found,) = memory.memories(since=fleet.now - DAY).memories
        assert (found.occurred_at, found.first_at) == (fleet.now, then)
        assert [hit.text for hit in memory.search(ASKED, peek=True, since=fleet.now - DAY)] == [FIRST]
        assert [hit.text for hit in memory.search(ASKED, peek=True, until=then + 1)] == [FIRST], "it was so then, too"
        assert memory.search(ASKED, peek=True, until=then) == []
        assert "Its agent said it again at" in memory.explain(found.memory_id).in_numbers()
        assert memory.get(found.memory_id).occurred_at == fleet.now


def test_over_mcp_what_is_said_last_is_first(fleet: Plant) -> None:
    async def spoken() -> list[str]:
        async with Client(f"{fleet.line.retrieval_url}/mcp/again-mcp?agent=anna") as tools:
            for text in (FIRST, SECOND, FIRST):
                done = await tools.call_tool("add_memory", {"content": text, "wait": True})
                assert not done.is_error
            found = await tools.call_tool("search_memories", {"query": ASKED})
            return [hit["text"] for hit in found.structured_content["hits"]]

    assert asyncio.run(spoken())[:2] == [FIRST, SECOND]
