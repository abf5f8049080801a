"""What the demo lets agents learn, beside what it says of it."""

from __future__ import annotations

from infra.demo import work
from memquorum.core.experience.abstract import abstracted


def test_what_the_demo_promotes_has_the_general_form_that_the_demo_waits_for() -> None:
    assert abstracted(work.HELPS) == work.GENERAL
