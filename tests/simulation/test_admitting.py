"""Only memories that help are admitted, whoever lies, and so are only their general forms; each protection is noticed
when it is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from db.view_experience import ViewExperience
from memquorum.core.experience import admission
from memquorum.core.identity import messages
from memquorum.core.journal import generals, trials
from memquorum.core.policy import PPM
from memquorum.core.records import TrialMade
from memquorum.core.vote.kinds import generalise
from tests.simulation import generalising
from tests.simulation.admitting import ACTS, MEMBERS, VERIFIERS, VOTES, Trials
from workers.replica import casting, repeated_trials, seat

Run = Callable[..., Trials]
Patch = pytest.MonkeyPatch


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    made = list[Trials]()

    def one(seed: int, lying: Mapping[str | int, str]) -> Trials:
        made.append(Trials(tmp_path / str(len(made)), seed, lying))
        made[-1].run()
        return made[-1]

    yield one
    for each in made:
        each.close()


def test_what_helps_is_admitted_and_what_does_not_is_kept_with_its_numbers(run: Run) -> None:
    fleet = run(1, {})
    assert (fleet.faults(), fleet.differ()) == ([], {})
    assert (len(fleet.named("admitted")), len(fleet.named("rejected"))) == (4, 4)
    back, *lost = sorted(fleet.lost[one] for one in fleet.helps)
    assert all(fleet.lost[one] >= 100_000 for one in fleet.forms.taken), "by their own use"
    assert len(fleet.forms.taken) == 3, "of what helps, but for what the consolidator lies about"
    assert min(lost) >= 100_000, "weights moved while others were still tried and voted on"
    assert back < 100_000, "one was rolled back"


@pytest.mark.parametrize("at", range(len(ACTS)), ids=ACTS)
def test_one_lying_verifier_of_three_and_one_lying_member_of_four_change_no_admission(run: Run, at: int) -> None:
    liar, member = VERIFIERS[at % len(VERIFIERS)], at % MEMBERS
    honest = run(at, {})
    fleet = run(at, {liar: ACTS[at], member: VOTES[at % len(VOTES)]})
    assert fleet.faults() == [] and set(fleet.differ()) <= {liar}
    assert (
        fleet.weights == honest.weights
        and fleet.statuses == honest.statuses
        and fleet.forms.taken == honest.forms.taken
    )


@pytest.mark.parametrize("act", ["false", "denies", "mutated", "forged"])
def test_who_tells_otherwise_is_shown(run: Run, act: str) -> None:
    (first, *_) = run(1, {VERIFIERS[0]: act}).differ()
    assert first == VERIFIERS[0]


def test_what_two_of_three_verifiers_lie_about_alike_members_do_not_admit(run: Run) -> None:
    """More liars than allowed: helpful memories wait, and no unhelpful one is admitted."""
    fleet = run(2, {VERIFIERS[0]: "false", VERIFIERS[1]: "false"})
    assert "what helps nobody is not" not in fleet.faults()
    assert fleet.voted_down > 0


# Guards removed -------------------------------------------------------------------------------------------------------


def one_verifier_is_enough(patch: Patch) -> None:
    patch.setattr(admission, "needed", lambda _: 1)


def whoever_signs(patch: Patch) -> None:
    patch.setattr(trials, "opened", lambda codec, genesis, data: messages.unsigned(codec, data, TrialMade))


def members_try_nothing_again(patch: Patch) -> None:
    patch.setattr(repeated_trials, "tried_again", lambda *_: True)


def members_make_no_general_form_again(patch: Patch) -> None:
    patch.setattr(generalise, "_terms", lambda *_: (PPM, PPM))


def members_keep_no_general_form(patch: Patch) -> None:
    patch.setattr(ViewExperience, "generalise", lambda *_: None)


def nobody_asks_what_it_was_made_of(patch: Patch) -> None:
    """Members vote for a false general form by mistake; the journal voids it."""
    patch.setattr(generalise, "committed", lambda _: ANY)
    patch.setattr(generals, "fits", lambda *_: True)


def members_keep_nothing(patch: Patch) -> None:
    patch.setattr(seat, "settle", lambda *_: None)


@dataclass(frozen=True)
class Sabotage:
    """A guard to remove, the rule that notices, and the liar."""

    carry_out: Callable[[Patch], Any]
    rule: str
    lying: Mapping[str | int, str]


SABOTAGES = (
    Sabotage(one_verifier_is_enough, "what helps is admitted", {VERIFIERS[0]: "denies"}),
    Sabotage(whoever_signs, "what helps is admitted", {VERIFIERS[0]: "forged"}),
    Sabotage(members_try_nothing_again, "what helps nobody is not", {who: "false" for who in VERIFIERS[:2]}),
    Sabotage(members_make_no_general_form_again, generalising.IN_EXPERIENCE, {}),
    Sabotage(nobody_asks_what_it_was_made_of, generalising.IN_EXPERIENCE, {}),
    Sabotage(members_keep_no_general_form, generalising.KNOWN, {}),
    Sabotage(members_keep_nothing, "members have the experience that the journal has", {}),
)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.carry_out.__name__)
def test_a_guard_that_is_gone_is_noticed(sabotage: Sabotage, run: Run, monkeypatch: Patch) -> None:
    sabotage.carry_out(monkeypatch)
    assert sabotage.rule in run(2, sabotage.lying).faults()


def test_members_who_believe_that_an_old_request_stands_roll_back_twice(run: Run, monkeypatch: Patch) -> None:
    monkeypatch.setattr(casting.Casting, "_stands", lambda *_: True)
    assert run(2, {}).faults() == ["one weight is rolled back, once"]
