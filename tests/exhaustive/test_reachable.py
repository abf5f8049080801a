"""The exploration on small instances, that it finds what is broken, and that its graphs hold all that members say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.voice import Voice
from memquorum.core.identity.membership import Genesis
from tests.exhaustive.alphabet import Alphabet
from tests.exhaustive.cluster import Cluster
from tests.exhaustive.member import Member
from tests.exhaustive.singles import followed, run


def explored(alphabet: Alphabet, *members: int) -> dict[int, Member]:
    found = {}
    for me in members:
        found[me] = Member(alphabet, me)
        found[me].explore()
    return found


@pytest.fixture(scope="module")
def two_views() -> Iterator[dict[int, Member]]:
    """Decisions do not travel in view changes, and the primary of view 0 proposes A if it is honest: a tenth of what
    `python -m tests.exhaustive` explores."""
    alphabet = Alphabet(proofs=False, left_out=[("grace",)])
    with alphabet.signatures.installed():
        yield explored(alphabet, 0, 1, 2)


@pytest.mark.parametrize("liar", [0, 1, 2])
def test_without_a_view_change_no_two_members_decide_differently(liar: int) -> None:
    alphabet = Alphabet(views=1, proofs=False)
    with alphabet.signatures.installed():
        found = Cluster(alphabet, explored(alphabet, 0, 1, 2), liar).explore()
    assert found.violation is None
    assert found.decided > 40


@pytest.mark.parametrize("liar", [0, 1, 2])
def test_a_view_change_loses_nothing_whoever_opens_it(two_views: dict[int, Member], liar: int) -> None:
    found = Cluster(two_views[0].alphabet, two_views, liar).explore()
    assert found.violation is None
    assert found.decided > 100
    assert found.entered > 100


def test_whatever_single_messages_make_a_member_say_is_in_its_graph(two_views: dict[int, Member]) -> None:
    heard = 0
    for seed in range(300):
        member = two_views[seed % 3]
        words, there = run(member, seed)
        assert followed(member, words, there), (member.me, seed, words)
        heard += len(words)
    assert heard > 300


# It finds what is broken ----------------------------------------------------------------------------------------------


def quorum_less_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Genesis, "quorum", property(lambda genesis: (genesis.n + genesis.f + 2) // 2 - 1))


def no_certificate_in_view_changes(patch: pytest.MonkeyPatch) -> None:
    says = Voice.view_change
    patch.setattr(Voice, "view_change", lambda self, view, seq, commits, _: says(self, view, seq, commits, None))


def who_asked_acts_on(patch: pytest.MonkeyPatch) -> None:
    asks = ShardReplica._ask

    def ask(self: Any, view: int) -> None:
        before = self.phase
        asks(self, view)
        self._effects += self._speech.speak(self.phase, self._commits)
        self.phase = before

    patch.setattr(ShardReplica, "_ask", ask)


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], int, int]] = {
    "a quorum less one": (quorum_less_one, 1, 0),
    "no certificate in view changes": (no_certificate_in_view_changes, 2, 1),
    "who asked acts on": (who_asked_acts_on, 2, 1),
}


# In the small instance that this takes, the primary of view 0 proposes A alone.
NO_B_IN_VIEW_0 = [
    *((kind, 0, "B") for kind in ("pre-prepare", "prepares", "commits")),
    *((kind, "B") for kind in ("view-changes", "new-view")),
    ("grace",),
]  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_broken_is_found_and_told(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    breaks, views, liar = BROKEN[what]
    breaks(monkeypatch)
    alphabet = Alphabet(views=views, proofs=False, left_out=NO_B_IN_VIEW_0 if views > 1 else ())
    with alphabet.signatures.installed():
        found = Cluster(alphabet, explored(alphabet, *{0, 1, 2} - {liar}), liar, openings=False).explore()
    assert found.violation in ("two members decided differently", "there are commits that prove both proposals")
    assert 2 < len(found.story) < 14
    assert found.story[0] == f"member {liar} lies"
