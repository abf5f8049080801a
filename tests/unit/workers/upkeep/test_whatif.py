"""A replay in processes of its own comes to what one process comes to."""

from __future__ import annotations

import os

from memquorum.core.policy import FORGETTING, BudgetPolicy
from memquorum.core.whatif.replaying import Trial
from memquorum.core.whatif.report import compare
from tests.builders.courses import wild
from workers.upkeep.replay_data import spreading

COURSES = [wild(seed, name) for seed, name in enumerate(("farm", "attic", "barn"))]
TRIAL = Trial(BudgetPolicy())


def test_namespaces_that_are_replayed_in_processes_come_to_the_same() -> None:
    told = list[tuple[int, int]]()
    alone = compare(COURSES, FORGETTING, 200, TRIAL, suggesting=True)
    with spreading(COURSES, least=1) as spread:
        assert (spread is not map) == (len(os.sched_getaffinity(0)) > 1)
        found = compare(COURSES, FORGETTING, 200, TRIAL, lambda *at: told.append(at), suggesting=True, spread=spread)
    assert found == alone
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_short_history_begins_no_process() -> None:
    with spreading(COURSES) as spread:
        assert spread is map
