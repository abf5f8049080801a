"""What the command holds against a run: each rule broken by hand is told as a problem."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.hostile.drive import LIAR, LIMIT_S, Met, _judge
from tests.hostile.table import page


def certificate(outcome: str, *yes: bool) -> Any:
    ballots = tuple(SimpleNamespace(member=m, opinions=(SimpleNamespace(yes=y),)) for m, y in enumerate(yes))
    checked = SimpleNamespace(ballots=ballots, outcomes=(SimpleNamespace(memory_id="m", outcome=outcome),))
    return SimpleNamespace(checked=checked)


def judged(
    behaviour: str, decision: Any, *, convicted: int | None = None, took: float = 0.1, truth: Met | None = None
) -> Met:
    met = Met(behaviour, nominated=1, took_s=[took])
    proof = [SimpleNamespace(verdict="proven", accused=convicted, what="two ballots")] if convicted is not None else []
    lied = behaviour != "none"
    _judge(met, SimpleNamespace(found={(0, 1): decision}), proof, lied, truth)  # type: ignore[arg-type]
    return met


def test_a_good_run_has_no_problems() -> None:
    truth = judged("none", certificate("forgotten", True, True, True, True))
    met = judged("two-ballots", certificate("forgotten", True, True, True), convicted=LIAR, truth=truth)
    assert (truth.problems, met.problems, met.proven) == ([], [], 1)


def test_where_all_agreed_another_outcome_is_told_and_where_they_did_not_it_is_not() -> None:
    kept = certificate("kept", True, True, False)
    agreed = judged("none", certificate("forgotten", True, True, True, True))
    assert judged("silent", kept, truth=agreed).different == 1
    divided = judged("none", certificate("forgotten", True, True, True, False))
    assert judged("silent", kept, truth=divided).problems == []


@pytest.mark.parametrize(
    ("met", "told"),
    [
        (judged("silent", certificate("kept", True, True)), "2 ballots"),
        (judged("silent", certificate("kept", True, True, True), took=LIMIT_S + 1), "longer than 5 s"),
        (judged("silent", certificate("kept", True, True, True), convicted=0), "honest member 0 is convicted"),
        (judged("none", certificate("kept", True, True, True), convicted=LIAR), "honest member 1 is convicted"),
        (judged("twins", certificate("kept", True, True, True)), "nobody has proven it"),
    ],
)
def test_what_breaks_a_rule_is_a_problem(met: Met, told: str) -> None:
    (problem,) = met.problems
    assert told in problem


def test_the_page_tells_the_problems() -> None:
    row = judged("twins", certificate("kept", True, True, True)).row()
    story = {"rows": [row], "machine": {"cores": 2, "processor": "some", "commit": "c" * 40}}
    told = page(story, "somewhere")
    assert "| twins | 1 | 100.0 % |" in told
    assert "- twins: it said two things, and nobody has proven it" in told
