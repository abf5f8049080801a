"""An erasure of memories that say the same depends on their content, and not on the order in which they came."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import pytest

from memquorum.core.journal.naming import Alike, Kin, Names, matching
from memquorum.core.journal.rows import Memory, Provenance
from memquorum.core.orders.erase import AGE, SOURCE, SUBJECT
from memquorum.core.tiers import SHORT_TERM

Said = tuple[str, str, str | None]
"""Agent, subject, source."""

SAYINGS: list[Said] = [
    ("alice", "ada", "mail"), ("alice", "alice", None), ("alice", "bob", "crm"), ("bob", "ada", "crm"),
    ("bob", "bob", None), ("bob", "alice", None), ("bob", "ada", "mail"),
]  # fmt: skip


def table(said: tuple[Said, ...], selector: str, value: str) -> set[int]:
    """Returns the erased memories by docs/use/erasing.md's table: of united ones, all or nothing."""
    goes = {n for n, (agent, subject, source) in enumerate(said)
            if matching(selector, value)(Names("", agent, subject, source, None, None))}  # fmt: skip

    def taken(agent: str, subject: str, source: str | None) -> bool:
        mine = [said[n][1:] for n in goes if said[n][0] == agent]
        return any(
            subject in (whom, agent) and (selector == SUBJECT or source in (whence, None)) for whom, whence in mine
        )

    while True:
        more = {
            n for n, (_, *marks) in enumerate(said)
            if all(taken(one[0], one[1], one[2]) for one in said if list(one[1:]) == marks)
        }  # fmt: skip
        if more <= goes:
            return goes
        goes |= more


def remembered(own: str, agent: str, subject: str, source: str | None) -> Memory:
    return Memory(
        own, 0, "greenhouse", agent, subject, own, SHORT_TERM, 1, 9, b"", "hashing", False, None, 1,
        None, 1, source=source,
    )  # fmt: skip


def arrived(said: list[tuple[int, Said]], nearest: int) -> tuple[Kin, dict[str, Memory]]:
    """They came in that order. Each was found to repeat the memory that it may become one with, else the `nearest` of
    those that there were."""
    kin, memories = Kin(), dict[str, Memory]()
    for number, (agent, subject, source) in said:
        own = str(number)
        known = list(memories.values())
        one = next((m for m in known if (m.subject, m.source) == (subject, source)), None)
        if one is None:
            memories[own] = remembered(own, agent, subject, source)
        if known:
            parent = one or known[nearest % len(known)]
            kin.add(Provenance(0, 1, "greenhouse", own, parent.id, True, one is not None, agent))
    return kin, memories


@pytest.mark.parametrize(("selector", "value"), [(SUBJECT, "ada"), (SOURCE, "mail"), (SOURCE, "crm")])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_what_goes_is_what_was_said_and_not_when(selector: str, value: str, count: int) -> None:
    for said in combinations_with_replacement(SAYINGS, count):
        expected = table(said, selector, value)
        roots = [
            str(n) for n, (agent, subject, source) in enumerate(said)
            if matching(selector, value)(Names(str(n), agent, subject, source, None, None))
        ]  # fmt: skip
        for order, nearest in product(permutations(enumerate(said)), range(count - 1)):
            kin, memories = arrived(list(order), nearest)
            went = {int(own) for own in kin.taken(selector, roots, memories, ())}
            assert went == expected, (order, nearest)


def test_what_stays_says_why_over_any_number_of_repetitions() -> None:
    said: list[Said] = [
        ("alice", "ada", "mail"), ("bob", "ada", "crm"), ("alice", "bob", None), ("alice", "ada", "chat"),
        ("carol", "ada", "mail"), ("alice", "alice", None), ("carol", "alice", None),
    ]  # fmt: skip
    alike, (_, memories) = Alike(), arrived(list(enumerate(said)), 0)
    for number in range(1, 4):  # each says again the one before it
        alike.add(str(number), str(number - 1), said[number][0])
    alike.add("4", "0", "carol")
    alike.add("5", "3", "alice")
    alike.add("6", "5", "carol")
    assert alike.staying({"0"}, memories, SOURCE) == {
        "1": "another agent said it: bob",
        "2": "it is about another: bob",
        "3": "it has another source: chat",
        "5": "another agent has repeated it",
    }
    assert alike.unsupported({"0"}, memories, (), False) == {}
    assert alike.unsupported({"0", "4"}, memories, {"6"}, False) == {"5": "0"}


def test_by_age_goes_what_is_as_old_and_what_was_made_of_it_and_nothing_that_says_the_same() -> None:
    """1 was made of 0, and 3 of 2 and 0; 4 says 0 again and became one with it, 5 is a memory of its own."""
    kin, memories = Kin(), {str(n): remembered(str(n), "ada", "ada", None) for n in range(6)}
    for child, parent in (("1", "0"), ("3", "2"), ("3", "0")):
        kin.add(Provenance(0, 1, "n", child, parent, False, True, "ada"))
    kin.add(Provenance(0, 1, "n", "4", "0", True, True, "ada"))
    kin.add(Provenance(0, 1, "n", "5", "0", True, False, "ada"))
    assert kin.taken(AGE, ["0"], memories, ()) == {"0", "1", "3", "4"}
    assert kin.taken(SUBJECT, ["0"], memories, ()) == {"0", "1", "3", "4", "5"}
    # A held memory stays with all its sources, and everything that depends on them.
    assert kin.taken(AGE, ["0", "2"], memories, (), ["1"]) == {"2", "3"}
    assert kin.taken(AGE, ["0", "2"], memories, (), ["3"]) == set()
    assert kin.taken(AGE, ["0", "2"], memories, (), ["5"]) == {"0", "1", "2", "3", "4"}
    assert kin.taken(SUBJECT, ["0"], memories, (), ["1"]) >= {"1"}, "any other order is withheld instead"


def test_an_age_is_of_some_types_and_of_no_summary() -> None:
    named = matching(AGE, "episodic before 1970-01-01T00:00:00.050Z")
    assert named(Names("0", "ada", "ada", None, "episodic", 49))
    assert not named(Names("0", "ada", "ada", None, "episodic", 50))
    assert not named(Names("0", "ada", "ada", None, "task", 49))
    assert not named(Names("0", "consolidator", "ada", None, "episodic", 49))
