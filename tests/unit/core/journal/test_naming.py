"""What an erasure takes of what says the same depends on what was said, and not on the order in which it came."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import pytest

from memquorum.core.journal.naming import Alike, Kin, matches
from memquorum.core.journal.rows import Memory, Provenance
from memquorum.core.orders.erase import SOURCE, SUBJECT
from memquorum.core.tiers import SHORT_TERM

Said = tuple[str, str, str | None]
"""Agent, subject, source."""

SAYINGS: list[Said] = [
    ("alice", "ada", "mail"), ("alice", "alice", None), ("alice", "bob", "crm"), ("bob", "ada", "crm"),
    ("bob", "bob", None), ("bob", "alice", None), ("bob", "ada", "mail"),
]  # fmt: skip


def table(said: tuple[Said, ...], selector: str, value: str) -> set[int]:
    """What goes, as docs/erasing.md's table has it: of what became one, all or nothing."""
    goes = {n for n, (agent, subject, source) in enumerate(said)
            if matches(selector, value, id="", agent=agent, subject=subject, source=source)}  # fmt: skip

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


def arrived(said: list[tuple[int, Said]], nearest: int) -> tuple[Kin, dict[str, Memory]]:
    """They came in that order. Each was found to repeat the memory that it may become one with, else the `nearest` of
    those that there were."""
    kin, memories = Kin(), dict[str, Memory]()
    for number, (agent, subject, source) in said:
        own = str(number)
        known = list(memories.values())
        one = next((m for m in known if (m.subject, m.source) == (subject, source)), None)
        if one is None:
            memories[own] = Memory(
                own, 0, "greenhouse", agent, subject, own, SHORT_TERM, 1, 9, b"", "hashing", False, None, 1,
                None, 1, source=source,
            )  # fmt: skip
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
            if matches(selector, value, id=str(n), agent=agent, subject=subject, source=source)
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
