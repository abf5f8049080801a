"""Twins in experience: also of two agents, where neither speaks of itself; never across keys or bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memquorum.core.consolidation.twins import difference, groups, same
from memquorum.core.merging import Marks
from memquorum.core.policy import Policy
from memquorum.core.reading.agreement import ComparedText
from memquorum.ports import Candidate, Peer

NOW = 1_700_000_000_000
SAID = "The ledger export runs at 23:15 from host atlas-4."


def peer(name: str, text: str = SAID, agent: str = "ada", *, weight: int = 600_000, **marks: Any) -> Peer:
    one = Candidate(name, "n", "short-term", NOW - 1_000, NOW, 600_000, False)
    marks.setdefault("subject", agent)
    return Peer(one, text, np.array([1, 0], np.float32), Marks(**marks), weight, agent)


def twin_groups(*peers: Peer) -> list[list[str]]:
    told = [[one.candidate.memory_id for one in group] for group in groups(peers, Policy(), 8, NOW)]
    # Members judge by the order in which they are named.
    by_name = {one.candidate.memory_id: one for one in peers}
    assert all(same([by_name[name] for name in group]) for group in told)
    return told


def kept_apart(one: Peer, other: Peer) -> str | None:
    return difference(one, ComparedText(one.text), other, ComparedText(other.text))


def test_two_agents_that_name_no_subject_say_the_same_and_the_higher_weight_stays() -> None:
    assert twin_groups(peer("a"), peer("b", agent="ben", weight=700_000)) == [["b", "a"]]
    assert twin_groups(peer("a", subject="atlas-4"), peer("b", agent="ben", subject="atlas-4")) == [["a", "b"]]


@pytest.mark.parametrize("text", ["I run on host atlas-4.", "We run on host atlas-4.", "You run on host atlas-4."])
def test_what_two_agents_say_of_themselves_stays_two(text: str) -> None:
    assert twin_groups(peer("a", text), peer("b", text, agent="ben")) == []
    assert twin_groups(peer("a", text), peer("b", text)) == [["a", "b"]], "one agent is the same"
    assert "of themselves" in str(kept_apart(peer("a", text), peer("b", text, agent="ben")))


def test_what_has_a_key_or_is_filed_stays_for_what_has_none() -> None:
    keyed, filed = peer("b", slot="k", weight=1), peer("c", label="l", weight=1)
    assert twin_groups(peer("a"), keyed) == [["b", "a"]] and twin_groups(peer("a"), filed) == [["c", "a"]]
    assert not same([peer("a"), keyed]) and not same([peer("a"), filed]), "members take no other order"
    assert twin_groups(peer("a", slot="k"), keyed, peer("c", slot="l"), peer("d")) == [["a", "b", "d"]]


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (peer("b", subject="atlas-5"), "they are about different subjects"),
        (peer("b", agent="ben", subject="atlas-4"), "they are about different subjects"),
        (peer("b", source="manual.pdf"), "they are from different sources"),
        (peer("b", slot="other"), "each has a key of its own"),
        (peer("b", label="other"), "each has a path or attributes of its own"),
        (peer("b", sensitivity_ppm=1, slot="k", label="l"), "their use is not bound alike"),
        (peer("b", purposes="billing", slot="k", label="l"), "their use is not bound alike"),
        (peer("b", jurisdictions="DE", slot="k", label="l"), "their use is not bound alike"),
        (peer("b", SAID.replace("4", "5"), agent="ben"), "their words do not say the same for sure"),
    ],
)  # fmt: skip
def test_what_differs_stays_two_and_is_told(other: Peer, reason: str) -> None:
    one = peer("a", slot="k", label="l")
    assert twin_groups(one, other) == []
    assert kept_apart(one, other) == reason


def test_what_is_unknown_stays_apart() -> None:
    class Unknown:
        text, vector, marks, agent = SAID, None, None, "ada"

    assert difference(Unknown(), ComparedText(SAID), peer("a"), ComparedText(SAID)) == "what binds them is not known"
    assert not same([peer("a"), Unknown()])
