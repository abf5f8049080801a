"""The lessons of the demo's agents, beside its text about them."""

from __future__ import annotations

from infra.demo import work
from memquorum.core.experience.abstract import abstracted


def test_what_the_demo_promotes_has_the_general_form_that_the_demo_waits_for() -> None:
    assert abstracted(work.HELPS) == work.GENERAL
