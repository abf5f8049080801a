"""The summaries of a session: their content, their times, and that every maker makes the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.policy import PPM, ConsolidatePolicy, Policy
from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.ports import SessionMemory
from workers.consolidator import making
from workers.consolidator.extractive import Extractive

NOW = 1_750_000_000_000
CLOSED = SessionClosed("e", 1, "plant", "anna", "shift-1", NOW, "ended", accepted_offset=100)
NOTES = (
    "The boiler in hall 3 was serviced by Marta Keller on 12 March and runs at 74 degrees again.",
    "We decided to move the pump test to Thursday 14:00 because the valve arrives on Wednesday.",
    "Lena will send the pressure log to the insurer by Friday.",
    "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
)
MEMORIES = [
    SessionMemory(
        f"m{at}", text, NOW - 60_000 + at, "anna", "anna", bytes([at]) * 32, accepted=10 + at, rank_ppm=800_000
    )
    for at, text in enumerate(NOTES)
]

LOSES = replace(Policy().consolidate, lost_rank_ppm=PPM + 1, share_ppm=350_000)
"""Whatever is worth, it may go."""


def made(
    memories: Sequence[SessionMemory], closed: SessionClosed = CLOSED, policy: ConsolidatePolicy = LOSES
) -> list[EpisodeRecorded]:
    summariser = Extractive()
    parts = making.divided(closed, memories, policy).parts
    made = ((part, summariser.summarise(part.sources, policy.share_ppm)) for part in parts)
    return [making.summary(closed, part, summariser.name, *said) for part, said in made if said is not None]


def test_a_summary_is_as_old_as_what_it_says_and_made_again_it_is_the_same_event() -> None:
    (one,) = made(MEMORIES)
    assert one.occurred_at == MEMORIES[-1].created, "dated later it would make old news new"
    assert one.derives_from == ("m0", "m1", "m2", "m3") and one.subject == "anna"
    (again,) = made(MEMORIES[::-1], replace(CLOSED, event_id="another end", closed_at=NOW + 3_600_000))
    assert again.event_id == one.event_id


def test_what_is_made_anew_of_all_that_is_there_is_another_event() -> None:
    """A summary goes with a source of what was merged into it, and all of its own sources are left."""
    (one,) = made(MEMORIES)
    (anew,) = made(MEMORIES, replace(CLOSED, summary="erased"))
    assert anew.derives_from == one.derives_from and anew.event_id != one.event_id


def test_where_it_is_switched_off_no_session_is_summed_up() -> None:
    off = replace(LOSES, off=f"else {CLOSED.namespace}")
    found = making.divided(CLOSED, MEMORIES, off)
    assert found.parts == () and found.reasons() == {"off": len(MEMORIES)}
    assert made(MEMORIES, policy=replace(LOSES, off="else")) == made(MEMORIES)
    assert made(MEMORIES, replace(CLOSED, summary="erased"), off), "what rests sealed is said again"


def test_what_was_accepted_after_its_end_belongs_to_the_next_session() -> None:
    late = [replace(one, accepted=one.accepted + 90) for one in MEMORIES]
    (one,) = made([*MEMORIES, *(replace(two, memory_id=f"late-{two.memory_id}") for two in late)])
    assert one.derives_from == ("m0", "m1", "m2", "m3")
    assert made(late) == []


def test_the_three_most_important_are_there_whole() -> None:
    tiny = [replace(one, memory_id=f"t{at}", text="ok, will do.") for at, one in enumerate(MEMORIES)]
    used = replace(MEMORIES[2], references=5, text=f"{NOTES[2]} {NOTES[2]}".replace("Lena", "Petra"))
    (one,) = made([*tiny, MEMORIES[0], MEMORIES[1], used])
    lines = one.content.split("\n")
    assert NOTES[0] in lines and NOTES[1] in lines and used.text.split(". ")[1] in lines


TALK = (
    "I hope you had a really lovely weekend with your family and that the weather was as nice over there.",
    "Good morning everyone, I hope you all slept well, it is so good to see you all again today.",
    "Thank you so much for all the help you have given me this week, I really appreciate it, it means a lot to me.",
    "Well, it was really nice talking to you again and I hope we can do this more often.",
)


def taken(prefix: str, texts: Sequence[str]) -> list[SessionMemory]:
    """Memories that say these."""
    given = zip(MEMORIES[: len(texts)], texts, strict=True)
    return [replace(one, memory_id=f"{prefix}{at}", text=text) for at, (one, text) in enumerate(given)]


def test_long_courtesies_do_not_stand_among_the_three_that_are_whole() -> None:
    short = "The door code of hall 3 is 4821.", "The part for pump 7 is KX-88.", "The supplier is Siegrist."
    (one,) = made([*taken("f", short), *taken("t", TALK)], policy=Policy().consolidate)
    assert one.content.split("\n") == list(short), "half of the tokens were left for talk"
    assert len(one.derives_from) == len(short) + len(TALK), "what is worth nothing may be lost, however long"


def test_of_small_talk_alone_there_is_no_summary() -> None:
    talk = taken("t", TALK)
    assert making.divided(CLOSED, talk, LOSES).parts == (), "no model is asked for it"
    (one,) = made([*talk, MEMORIES[0]])
    assert NOTES[0] in one.content.split("\n")


def test_what_is_worth_keeping_and_does_not_fit_stays_a_memory_of_its_own() -> None:
    chat = [
        replace(
            one,
            memory_id=f"t{at}",
            text=f"Well, that was nice to hear from all of you again, number {at} it was.",
            rank_ppm=300_000,
        )
        for at, one in enumerate(MEMORIES * 2)
    ]
    summariser, policy = Extractive(), replace(LOSES, lost_rank_ppm=667_000)
    (part,) = making.divided(CLOSED, [*chat, *MEMORIES], policy).parts
    kept = {one.memory_id for one in part.memories}
    said = summariser.summarise(part.sources, policy.share_ppm)
    assert said is not None and {f"t{at}" for at in range(8)} < kept
    assert {one.memory_id for one in said[1]} >= kept - {one.memory_id for one in chat}, "what goes is quoted"
    assert making.divided(CLOSED, MEMORIES, policy).parts == (), "of facts alone nothing is summed up"


def test_a_long_session_leaves_several_each_of_its_own_part() -> None:
    many = [replace(MEMORIES[0], memory_id=f"m{at:02}", created=NOW + at) for at in range(40)]
    parts = [one.derives_from for one in made(many)]
    assert [len(part) for part in parts] == [13, 13, 14]
    assert [i for part in parts for i in part] == [one.memory_id for one in many]


@pytest.mark.parametrize(
    ("bound", "apart"),
    [
        ({"sensitivity_ppm": 400_000}, True),
        ({"sensitivity_ppm": 100_000}, True),
        ({"purposes": "billing"}, True),
        ({"jurisdictions": "DE"}, True),
        ({"subject": "someone else"}, False),
    ],
)
def test_what_is_bound_otherwise_has_a_summary_of_its_own(bound: dict[str, Any], apart: bool) -> None:
    strict = [replace(one, memory_id=f"s{one.memory_id}", text=f"{one.text} Again.", **bound) for one in MEMORIES]
    both = [one for pair in zip(MEMORIES, strict, strict=True) for one in pair]
    sources = [one.derives_from for one in made(both)]
    each = [tuple(one.memory_id for one in some) for some in (MEMORIES, strict)]
    assert sources == (each if apart else [tuple(sorted(one.memory_id for one in both))])


def test_of_too_few_that_are_bound_otherwise_none_is_made_and_the_others_are_summed_up_without_them() -> None:
    (one,) = made([replace(MEMORIES[0], memory_id="phone", sensitivity_ppm=400_000), *MEMORIES])
    assert one.derives_from == ("m0", "m1", "m2", "m3")


def test_what_ends_for_all_leaves_the_same_summaries_as_if_each_agent_had_ended_it() -> None:
    his = [replace(one, memory_id=f"b{one.memory_id}", agent="bert", subject="bert") for one in MEMORIES]
    both = [one for pair in zip(MEMORIES, his, strict=True) for one in pair]
    each = [*made(MEMORIES), *made(his, replace(CLOSED, agent="bert"))]
    assert made(both, replace(CLOSED, agent=None)) == each and len(each) == 2


def test_what_differs_by_less_than_a_tenth_is_summed_up_together() -> None:
    sensitive = [replace(one, sensitivity_ppm=310_000 + 30_000 * at) for at, one in enumerate(MEMORIES)]
    (one,) = made(sensitive)
    assert len(one.derives_from) == 4


def test_what_rests_sealed_is_made_anew_together() -> None:
    resting = [replace(one, lies=at, sensitivity_ppm=200_000 * at) for at, one in enumerate(MEMORIES)]
    (one,) = made(resting)
    assert len(one.derives_from) == 4, "what is in no summary of it is nowhere"


def test_what_a_vote_brought_back_is_not_summed_up_anew() -> None:
    resting = [replace(one, lies=at) for at, one in enumerate(MEMORIES)]
    back = replace(MEMORIES[0], memory_id="back")
    assert making.resting([*resting, back]) == resting
    assert making.resting([back]) == [back], "of a draft, and in strict determinism, nothing rests"
