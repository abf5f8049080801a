"""A session is divided once: nothing more is made of the remaining memories, whoever looks and whenever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consolidation.parting import FEW, MOST, SAVES, TALK, UNREAL, WORTH, divide
from memquorum.core.policy import Policy
from memquorum.ports import SessionMemory
from tests import examples
from tests.builders.notes import NOTES

POLICY = Policy().consolidate
NOW = 1_750_000_000_000
CHAT = (
    "You know how it is with all of this, so we just go on.",
    "I am fine, thank you, and I hope that you are too.",
    "OK, then we can go on with what we have to do today.",
)
IDLE = (
    *CHAT, "It was really nice that we all had the time for this today.",
    "Well, it was so nice talking to you again, and I hope we can do this more often.",
)  # fmt: skip
FACTS = "The lift in block C is out of order.", "Block C has 14 flats."
SAID = (
    *NOTES, *CHAT, *FACTS, "The door code of hall 3 is 4821.", "Oh wait, the supplier is not Siegrist.",
    f"{CHAT[1]} {NOTES[0]} {CHAT[0]} {CHAT[2]}", f"{NOTES[4]} {CHAT[2]} {NOTES[5]} {CHAT[1]} {CHAT[0]}",
)  # fmt: skip


def session_memories(*texts: str, prefix: str = "m", **more: Any) -> list[SessionMemory]:
    given = {"rank_ppm": 800_000} | more
    return [
        SessionMemory(f"{prefix}{at:02}", text, NOW + 60_000 * at, "anna", "anna", bytes(32), **given)
        for at, text in enumerate(texts)
    ]


def left(memories: Sequence[SessionMemory]) -> list[SessionMemory]:
    gone = {one.memory_id for part in divide(memories, POLICY).parts for one in part.memories}
    return [one for one in memories if one.memory_id not in gone]


def test_what_is_bound_otherwise_does_not_wait_for_another_end() -> None:
    """The three most important of all that an agent said were those of the first group: the facts of the second had to
    be said beside them, found no room, and had it at the next end."""
    billing = session_memories(*NOTES[:3], *CHAT[1:], prefix="b", purposes="billing", jurisdictions="DE")
    both = [*billing, *(replace(one, created=one.created + 600_000) for one in session_memories(*FACTS, CHAT[0]))]
    assert [len(part.memories) for part in divide(both, POLICY).parts] == [5, 3]


def test_what_the_first_parts_leave_over_is_divided_again() -> None:
    six = session_memories(*(f"{NOTES[at]} {NOTES[at + 1]}" for at in range(6)))
    assert [len(part.memories) for part in divide(six, POLICY).parts] == [3, 3]


MEMORY = st.tuples(
    st.sampled_from(SAID), st.sampled_from((0, 0, 0, 300_000)), st.sampled_from((100_000, 640_000, 900_000, None)),
    st.sampled_from(("anna", "anna", "bert")), st.integers(0, 6), st.integers(0, 20 * 3_600_000), st.booleans(),
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(MEMORY, max_size=40))
def test_of_what_is_left_over_no_summary_is_made(given: list[tuple[Any, ...]]) -> None:
    memories = sorted(
        (
            SessionMemory(
                f"m{at:02}", text, NOW + after, agent, agent, bytes(32), references, tenth, positive=good, rank_ppm=rank
            )
            for at, (text, tenth, rank, agent, references, after, good) in enumerate(given)
        ),
        key=lambda one: (one.created, one.memory_id),
    )
    made, rest = divide(memories, POLICY), left(memories)
    assert divide(rest, POLICY).parts == ()
    assert all(3 <= len(part.memories) <= MOST for part in made.parts)
    assert set(made.staying) == {one.memory_id for one in rest}


def test_why_a_memory_is_in_no_summary() -> None:
    cases = {
        FEW: session_memories(*NOTES[:2]),
        TALK: session_memories(*CHAT),
        SAVES: session_memories(*NOTES[:5]),
        WORTH: session_memories(*(f"{NOTES[at]} {NOTES[at + 2]} {IDLE[at]}" for at in range(5)), rank_ppm=None),
    }
    for why, memories in cases.items():
        found = divide(memories, POLICY)
        assert (found.parts, found.reasons()) == ((), {why: len(memories)})


def test_what_was_left_over_beside_a_summary_is_not_too_few() -> None:
    two = session_memories(*NOTES[:2])
    assert divide(two, POLICY, {one.memory_id for one in two}).reasons() == {WORTH: 2}
    assert divide(session_memories(CHAT[0]), POLICY, {"m00"}).reasons() == {TALK: 1}
    assert divide(two, POLICY).reasons() == {FEW: 2}


def test_what_is_not_so_by_its_own_words_is_in_no_summary() -> None:
    notes = session_memories(*(f"{NOTES[at]} {NOTES[at + 1]}" for at in range(6)))
    joke = session_memories("Just kidding, the door code of hall 3 is 0000.", prefix="j")
    found = divide([*notes, *joke], POLICY)
    assert {one.memory_id for part in found.parts for one in part.memories} == {one.memory_id for one in notes}
    assert found.staying == {"j00": UNREAL}
    resting = [replace(one, lies=1) for one in [*notes, *joke]]
    assert "j00" not in divide(resting, POLICY).staying, "its text would be nowhere"
