"""The results of a session, in its rows and in words."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.accounts.sessions import Made, Member, SessionShard, lines, session_state
from memquorum.core.policy import PPM, Policy
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
    found = session_state(("plant", "shift-1"), [*drafted, wanted], [], [], SHARD, policy=LOSES)
    assert list(lines(found)) == [
        "A summary of the session waits for the members' vote.",
        "anna: 5 memories in use",
        "  summary sum of 4 of them waits for the members' vote",
        "  1 not summed up: saved on purpose, and what is wanted stays as it is",
        "Next: the members vote by 15 Jun 2025, 15:36 UTC at the latest.",
    ]
    assert list(lines(found, numbers=True))[-1] == (
        "  in numbers: epoch 4, at 2025-06-15 15:36:40 UTC at the latest, or 100 interactions after the last one "
        "(episodes and uses in the shard)"
    )
    due = session_state(("plant", "shift-1"), drafted, [], [], replace(SHARD, as_of=NOW + 1_800_000), policy=LOSES)
    assert list(lines(due))[-1] == "Next: the members vote at once."
    (kept,) = session_state(
        ("plant", "s"), [replace(one, kept_in=2) for one in drafted], [], [], SHARD, policy=LOSES
    ).parts
    assert kept.waiting[0].kept_in == 2


def test_what_is_not_made_yet_is_no_nought() -> None:
    some = free(5)
    found = session_state(("plant", "s"), rows(some), [], some, SHARD, policy=LOSES)
    now = "`memquorum end-session -n plant s` ends it now"
    assert list(lines(found)) == [
        "The session is not over yet; a summary of it is made once it is.",
        "anna: 5 memories in use",
        "  a summary of 5 of them is made once the session is over",
        f"Next: it is over by 15 Jun 2025, 15:20 UTC, unless somebody speaks in it before; {now}.",
    ]
    made = [
        "The session is over, and a summary of it is about to be made.",
        "anna: 5 memories in use",
        "  a summary of 5 of them is about to be made",
    ]
    assert list(lines(found, ended=True)) == made
    idle = replace(SHARD, as_of=NOW + LOSES.consolidate.idle_ms)
    assert list(lines(session_state(("plant", "s"), rows(some), [], some, idle, policy=LOSES))) == made


OLD, NEW = (
    Made("old", "anna", "gone", None, "old", False, True),
    Made("new", "anna", "draft", "old", "new", False, False),
)
RESTS = replace(PLAIN, tier="sealed", told_by="old", sealed_until=NOW + 86_400_000)


def test_a_summary_that_is_erased_is_not_told_to_be_served() -> None:
    rest = [replace(RESTS, memory_id="a"), replace(RESTS, memory_id="b", sealed_until=NOW + 3_600_000)]
    (part,) = session_state(("plant", "s"), rest, [OLD], [], SHARD, policy=LOSES).parts
    assert (part.memories, part.sealed, part.unsaid) == (0, 0, 2)
    back = "`memquorum restore ID` asks for each back until 15 Jun 2025, 16:06 UTC"
    erased = f"is erased; 2 put away that it said: {back}"
    assert list(lines(session_state(("plant", "s"), rest, [OLD], [], SHARD, policy=LOSES))) == [
        "The session was summed up, and its summary is gone.",
        "anna: 2 put away that no summary says any more",
        f"  summary old {erased}",
    ]
    # Made anew, and waiting for its vote.
    waits = [replace(one, summary="new", summary_tier="draft") for one in rest]
    shown = list(lines(session_state(("plant", "s"), waits, [OLD, NEW], [], SHARD, policy=LOSES)))
    place = "in the place of old, which was erased"
    waiting = f"  summary new of 2 of them waits for the members' vote, {place}"
    assert shown[2:4] == [f"  summary old {erased}", waiting]
    # Served: of the old one nothing is to be told any more.
    served = [replace(one, told_by="new", summary="new", summary_tier="short-term") for one in rest]
    made = [OLD, replace(NEW, tier="short-term", alive=True)]
    assert list(lines(session_state(("plant", "s"), served, made, [], SHARD, policy=LOSES))) == [
        "The session is summed up, and searches find its summary.",
        "anna: 2 put away, since a summary says what is to be kept of them",
        f"  summary new is in use: searches find it, {place}",
    ]


def test_a_summary_that_became_one_with_another_is_told_with_it() -> None:
    merged = replace(OLD, tier="sealed", says="other", alive=True, erased=False)
    found = session_state(("plant", "s"), [RESTS], [merged], [], SHARD, policy=LOSES)
    assert list(lines(found))[2:] == ["  summary old was merged into other, which searches find"]
    assert found.parts[0].sealed == 1, "the other says what is to be kept"
    both = session_state(("plant", "s"), [RESTS], [replace(merged, alive=False, erased=True)], [], SHARD, policy=LOSES)
    assert (both.parts[0].unsaid, both.parts[0].summaries[0].status) == (1, "erased")
    let_go = session_state(("plant", "s"), [RESTS], [replace(OLD, erased=False)], [], SHARD, policy=LOSES)
    assert let_go.parts[0].summaries[0].status == "forgotten"


def test_what_was_left_over_beside_a_summary_is_not_too_few() -> None:
    summed = [replace(RESTS, memory_id=f"s{at}", told_by="sum", seq=20, summed_seq=10) for at in range(3)]
    some = free(2)
    served = Made("sum", "anna", "short-term", None, "sum", True, False)
    for seq, why in ((5, {"worth": 2}), (12, {"few": 2})):
        mine = [replace(one, seq=seq) for one in rows(some)]
        (part,) = session_state(("plant", "s"), [*summed, *mine], [served], some, SHARD, policy=Policy()).parts
        assert part.staying == why
    apart = [replace(one, seq=5, sensitivity_ppm=300_000) for one in rows(some)]
    (part,) = session_state(("plant", "s"), [*summed, *apart], [served], some, SHARD, policy=Policy()).parts
    assert part.staying == {"few": 2}, "they are bound otherwise"


def test_why_no_summary_is_made_is_told_of_each_agent() -> None:
    few, facts = free(2, "bert"), free(4)
    found = session_state(
        ("plant", "s"), rows([*few, *facts]), [], [*few, *facts], replace(SHARD, as_of=NOW + 900_000), policy=Policy()
    )
    assert list(lines(found)) == [
        "No summary is made of the session.",
        "anna: 4 memories in use",
        "  4 not summed up: so dense that a summary would be no shorter",
        "bert: 2 memories in use",
        "  2 not summed up: too few: it takes three that may be used alike",
    ]
    assert list(lines(found, "bert"))[1] == "bert: 2 memories in use"


def test_what_became_of_the_rest_is_told_once() -> None:
    kept = [
        replace(PLAIN, memory_id="p", tier="long-term"), replace(PLAIN, memory_id="g", protected=True),
        replace(PLAIN, memory_id="c", contradicted=True), replace(PLAIN, memory_id="o", tier="sealed", told_by="sum"),
        replace(PLAIN, memory_id="f", tier="sealed"), replace(PLAIN, memory_id="e", tier="gone"),
        replace(PLAIN, memory_id="s", summary="over", summary_tier="short-term"),
    ]  # fmt: skip
    made = [Made(one, "anna", "short-term", None, one, True, False) for one in ("sum", "over")]
    (part,) = session_state(("plant", "s"), kept, made, [], SHARD, policy=LOSES).parts
    assert (part.memories, part.sealed, {one.memory_id for one in part.summaries}) == (4, 1, {"sum", "over"})
    assert part.staying == {"promoted": 1, "protected": 1, "contradicted": 1}
    gone = session_state(("plant", "s"), kept[5:6], [], [], SHARD, policy=LOSES)
    assert list(lines(gone)) == ["Nothing is left of the session.", "anna: nothing is left"]
