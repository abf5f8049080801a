"""Rows of SPEC B's table, on claims made up for it: figures that can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.forgetting.meetings import Act, Meeting
from bench.forgetting.said import Said as SaidMeeting
from bench.right.frame import Material
from bench.sets import Absent
from bench.vm import apart, claims, command, page
from bench.vm.fleet import AGENTS, Said, vote
from memquorum.core.policy import Policy
from memquorum.encoders.hashing import HashingEncoder
from tests.simulation import scale

VECTORS = HashingEncoder().encode
CLAIM = Said("c", "ann", "Pump 3 runs at 40 bar.", 1)
OTHER = "Pump 3 runs at 50 bar."


def by(who: str, text: str = CLAIM.text) -> Said:
    return Said(f"{who}/{text}", who, text, 2)


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    assert claims.upper(0, 5_990) == pytest.approx(0.0005, rel=1e-3)
    assert claims.upper(0, 5_980) > 0.0005
    assert claims.upper(1, 10) == pytest.approx(0.3942, abs=1e-4)
    assert claims.upper(10, 10) == 1


def test_a_claim_on_its_own_word_is_not_promoted_and_what_others_say_is() -> None:
    assert not vote(VECTORS, [CLAIM], []).promoted.any()
    borne_out = vote(VECTORS, [CLAIM], [by(who) for who in AGENTS[1:]])
    assert borne_out.promoted.all() and borne_out.yes.all()


def test_two_who_know_better_outvote_one_who_errs_too() -> None:
    voted = vote(VECTORS, [CLAIM], [by("bob"), by("cy", OTHER), by("dee", OTHER)])
    assert not voted.promoted.any() and voted.yes[:, 0].tolist() == [True, True, False, False]


def test_a_member_may_be_silent_and_a_liar_alone_promotes_nothing() -> None:
    all_said = [by(who) for who in AGENTS[1:]]
    assert vote(VECTORS, [CLAIM], all_said, silent=(0,)).promoted.all()
    assert not vote(VECTORS, [CLAIM], all_said, silent=(0, 1)).promoted.any()
    assert not vote(VECTORS, [CLAIM], [], liars=(3,)).promoted.any()


def test_of_two_that_contradict_one_is_promoted_at_most_and_of_others_both() -> None:
    both = [CLAIM, Said("d", "bob", OTHER, 2)]
    assert vote(VECTORS, both, [by("cy"), by("dee", OTHER)], liars=(3,)).promoted.sum() == 1
    unlike = [CLAIM, Said("d", "bob", "Cold store 7 is kept at 4 degrees.", 2)]
    assert vote(VECTORS, unlike, [by("cy"), by("dee", unlike[1].text)]).promoted.all()


def test_the_knowledge_base_is_read_from_two_sets_and_their_absence_is_said(tmp_path: Path) -> None:
    with pytest.raises(Absent):
        list(claims.chosen(tmp_path))
    for name, record in (
        (claims.FEVER, {"claim": "A", "evidence": "B", "label": "SUPPORTS"}),
        (claims.FM2, {"text": "C", "gold_evidence": [{"text": "D"}, {"text": "E"}], "label": "REFUTES"}),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "dev.jsonl").write_text(json.dumps(record) + "\n")
    assert list(claims.chosen(tmp_path)) == [("A", "B", True), ("C", "D E", False)]


def test_an_epoch_that_is_not_decided_is_no_figure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def measure(*_: object, **__: object) -> None:
        raise scale.Undecided("epoch 2")

    monkeypatch.setattr(scale, "measure", measure)
    monkeypatch.setattr(command, "vote", lambda _, *rest, **named: vote(VECTORS, *rest, **named))
    material = Material(tmp_path, tmp_path, quick=True)
    monkeypatch.setattr(material, "vectors", type("Vectors", (), {"of": VECTORS}), raising=False)
    row = command.lively(material)
    assert [goal.met for goal in row.goals] == [False, True, True, True, True]


def _heard(count: int = 60) -> apart.Heard:
    things = ("pump", "valve", "boiler", "gate")
    acts = tuple(
        Act(
            "ABCD"[at % 4],
            10_000 * at,
            10_000 * at + 5,
            f"The {things[at % 4]} {at} holds {at * 7 % 90} bar.",
            True,
            (),
        )
        for at in range(count)
    )
    meeting = Meeting("M", "M", ("A", "B", "C", "D"), acts, ())
    return apart.Heard(SaidMeeting(meeting, VECTORS([act.text for act in acts]), Policy()))


def test_the_ways_differ_from_the_shipped_rule_in_what_they_say_alone() -> None:
    heard = _heard()
    ranks, shares = heard.shipped()
    due = heard.said.opinions
    assert (ranks == due.halves[0]).all() and (shares == due.halves[1]).all()
    for way in (apart.Heard.drawn, apart.Heard.joined):
        other = way(heard)
        assert (other[0] == ranks).all() and (other[1] != shares).any()
    assert (heard.joined()[1][0] == shares[0]).all()
    encoded = heard.encoded()[1]
    assert (encoded[:2] == shares[:2]).all()
    moved = heard.jittered()
    assert all(0 < np.abs(a - b).max() <= 150_000 for a, b in zip(moved, (ranks, shares), strict=True))
    own = heard.ranked()[0]
    assert (own != ranks).any() and len({tuple(row) for row in own.tolist()}) > 1


def test_members_that_vote_the_same_are_wholly_alike() -> None:
    votes = np.array([[True, False, True], [True, False, True], [False, True, False], [True, True, True]])
    assert list(apart.correlations(votes)) == pytest.approx([1, -1, -1])
    shipped = apart.WAYS["as shipped: members by agent"][1]
    assert shipped == Policy() and len(apart.WAYS) > apart.ALLOWED


def test_every_row_has_its_place_on_the_page() -> None:
    assert set(command.ROWS) <= set(page.ORDER)
