"""What comes of a session, as its rows tell it and in words."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy
from memquorum.core.retrieval.sessions import Member, SessionShard, lines, told
from memquorum.ports import SessionMemory
from tests.builders.notes import NOTES

NOW = 1_750_000_000_000
SHARD = SessionShard(NOW, 3, NOW - 1_800_000)
PLAIN = Member("anna", "m0", "short-term", NOW, False, None, False, False, None, None, None)
LOSES = Policy()
LOSES = replace(LOSES, consolidate=replace(LOSES.consolidate, lost_rank_ppm=PPM + 1, share_ppm=350_000))


def free(count: int, agent: str = "anna") -> list[SessionMemory]:
    return [
        SessionMemory(f"{agent}{at}", NOTES[at], NOW - 60_000 + at, agent, agent, bytes(32), rank_ppm=800_000)
        for at in range(count)
    ]


def rows(some: list[SessionMemory]) -> list[Member]:
    return [replace(PLAIN, agent=one.agent, memory_id=one.memory_id) for one in some]


def test_a_summary_that_waits_is_told_with_its_epoch() -> None:
    drafted = [replace(PLAIN, memory_id=f"m{at}", summary="sum", summary_tier="draft") for at in range(4)]
    wanted = replace(PLAIN, memory_id="w", explicit=True)
    found = told(("plant", "shift-1"), [*drafted, wanted], [], SHARD, LOSES)
    assert list(lines(found)) == [
        "anna: 5 memories",
        "  summary sum of 4 of them waits for its vote",
        "  1 wanted on purpose",
        "Members vote in epoch 4, at 2025-06-15 15:36:40 UTC at the latest, or 100 interactions after the last one "
        "(episodes and uses in the shard).",
    ]
    due = told(("plant", "shift-1"), drafted, [], replace(SHARD, as_of=NOW + 1_800_000), LOSES)
    assert list(lines(due))[-1] == "Members vote in epoch 4, as soon as the shard's clock moves on."
    (kept,) = told(("plant", "s"), [replace(one, kept_in=2) for one in drafted], [], SHARD, LOSES).parts
    assert kept.waiting[0].kept_in == 2


def test_what_is_not_made_yet_is_no_nought() -> None:
    some = free(5)
    found = told(("plant", "s"), rows(some), some, SHARD, LOSES)
    assert list(lines(found)) == ["anna: 5 memories", "  a summary of 5 of them is not made yet"]


def test_why_no_summary_is_made_is_told_of_each_agent() -> None:
    few, facts = free(2, "bert"), free(4)
    found = told(("plant", "s"), rows([*few, *facts]), [*few, *facts], SHARD, Policy())
    assert list(lines(found)) == [
        "anna: 4 memories",
        "  no summary is made of it",
        "  4 worth more than a summary would say of them, or too little to be summed up",
        "bert: 2 memories",
        "  no summary is made of it",
        "  2 too few to be summed up, as fewer than 3 are bound alike",
    ]
    assert next(iter(lines(found, "bert"))) == "bert: 2 memories"


def test_what_became_of_the_rest_is_told_once() -> None:
    kept = [
        replace(PLAIN, memory_id="p", tier="long-term"), replace(PLAIN, memory_id="g", protected=True),
        replace(PLAIN, memory_id="c", contradicted=True), replace(PLAIN, memory_id="o", tier="sealed", told_by="sum"),
        replace(PLAIN, memory_id="f", tier="sealed"), replace(PLAIN, memory_id="e", tier="gone"),
        replace(PLAIN, memory_id="s", summary="over", summary_tier="short-term"),
    ]  # fmt: skip
    (part,) = told(("plant", "s"), kept, [], SHARD, LOSES).parts
    assert (part.memories, part.sealed, set(part.summaries)) == (4, 1, {"sum", "over"})
    assert part.staying == {"promoted": 1, "protected": 1, "contradicted": 1}
    gone = told(("plant", "s"), kept[5:6], [], SHARD, LOSES)
    assert list(lines(gone)) == ["anna: nothing is left of it"]
