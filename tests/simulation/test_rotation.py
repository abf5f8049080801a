"""Members propose in turn: no member holds a shard's proposals for ever, and an absent one costs one time
limit a turn.
"""

from __future__ import annotations

import re

import pytest

from memquorum.core.identity import membership
from tests.simulation.plan import CALM, Plan
from tests.simulation.runs import Size, run_with_story
from tests.simulation.signatures import Signatures
from tests.simulation.world import Outcome, simulate

_PROPOSES = re.compile(r"member (\d) says PRE-PREPARE in view (\d+) for sequence (\d+)")


def run(epochs: int, *liars: tuple[int, tuple[str, ...]]) -> tuple[Outcome, list[tuple[int, int, int]]]:
    """Returns the outcome, and every proposal: (sequence, view, member)."""
    plan = Plan(seed=1, n=4, shard=0, epochs=epochs, heal_by=600_000_000, gap=0, liars=liars, network=CALM)
    outcome, lines = run_with_story(plan, Size(cheap=True))
    return outcome, [(int(s), int(v), int(m)) for m, v, s in _PROPOSES.findall("\n".join(map(str, lines)))]


def test_members_propose_in_turn_without_a_view_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "TURN", 2)
    outcome, proposals = run(10)
    assert outcome.violation is None
    assert proposals == [(seq, 0, (seq - 1) // 2 % 4) for seq in range(1, 11)]


def test_who_is_gone_costs_one_time_limit_a_turn_and_not_one_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "TURN", 4)
    outcome, proposals = run(28, (0, ("silent",)))
    assert (outcome.violation, outcome.highest_view) == (None, 3)
    # Its turns begin at 1 and, with the resulting views, at 13 and 25: one member of the others less.
    assert sorted({seq for seq, _, _ in proposals}) == list(range(1, 29))
    assert 0 not in {member for _, _, member in proposals}
    views = {seq: view for seq, view, _ in proposals}
    assert [seq for seq in range(2, 29) if views[seq] != views[seq - 1]] == [13, 25]


@pytest.mark.parametrize("seed", range(40))
def test_no_rule_is_broken_where_every_sequence_has_another_primary(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership, "TURN", 1)
    assert simulate(Size(cheap=True).plan(seed), Signatures(True)).violation is None
