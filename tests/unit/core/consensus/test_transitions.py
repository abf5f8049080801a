"""The table of phases, read as a graph."""

from __future__ import annotations

import pytest

from memquorum.core.consensus.transitions import TABLE, IllegalStep, Phase, Step, after
from tests import states

LIVE = (Phase.IDLE, Phase.BALLOTING, Phase.PRE_PREPARED, Phase.PREPARED)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("step", Step)
def test_a_step_is_in_the_table_or_is_refused(phase: Phase, step: Step) -> None:
    if step in TABLE[phase]:
        assert after(phase, step) == TABLE[phase][step]
    else:
        with pytest.raises(IllegalStep, match=f"{step} while {phase}"):
            after(phase, step)


def test_every_phase_has_a_row_and_can_be_reached() -> None:
    assert set(TABLE) == set(Phase)
    reached, ahead = {Phase.IDLE}, [Phase.IDLE]
    while ahead:
        for following in TABLE[ahead.pop()].values():
            if following not in reached:
                reached.add(following)
                ahead.append(following)
    assert reached == set(Phase)


def test_the_normal_case_goes_round() -> None:
    phase = Phase.IDLE
    seen = []
    for step in (Step.NOMINATED, Step.PROPOSED, Step.PREPARED, Step.COMMITTED, Step.NEXT):
        phase = after(phase, step)
        seen.append(phase)
    assert seen == [Phase.BALLOTING, Phase.PRE_PREPARED, Phase.PREPARED, Phase.DECIDED, Phase.IDLE]


@pytest.mark.parametrize("phase", [*LIVE, Phase.VIEW_CHANGING])
def test_a_certificate_decides_from_every_phase_and_nothing_that_was_decided_is_left_but_by_the_next(
    phase: Phase,
) -> None:
    assert after(phase, Step.COMMITTED) == Phase.DECIDED
    # A member that asked for another view still waits for it.
    onwards = {Step.NEXT: Phase.IDLE, Step.SUSPECTED: Phase.VIEW_CHANGING, Step.CONFIGURED: Phase.CLOSED}
    assert TABLE[Phase.DECIDED] == onwards
    # Later messages are another configuration's, and no step leads back.
    assert TABLE[Phase.CLOSED] == {Step.BROKEN: Phase.HALTED}


@pytest.mark.parametrize("phase", [*LIVE, Phase.VIEW_CHANGING])
def test_every_phase_can_break_and_nothing_mends(phase: Phase) -> None:
    assert after(phase, Step.BROKEN) == Phase.HALTED
    assert TABLE[Phase.HALTED] == {}


def test_only_a_certificate_leads_to_a_decision() -> None:
    assert {step for row in TABLE.values() for step, to in row.items() if to == Phase.DECIDED} == {Step.COMMITTED}


def test_the_page_shows_the_table() -> None:
    """`python -m tests.states` draws it."""
    page = states.PAGE.read_text()
    assert states.drawn(page) == page
    assert all(phase.value.replace("-", "_") in states.diagram() for phase in Phase if phase != Phase.HALTED)
