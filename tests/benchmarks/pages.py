"""Draws every page of measurements from what was kept; measures nothing."""

from __future__ import annotations

from argparse import Namespace

from tests.benchmarks import kept, measured, page
from tests.benchmarks.consolidation import page as consolidation
from tests.benchmarks.experience import page as experience
from tests.benchmarks.fifa import page as fifa
from tests.benchmarks.forgetting import page as forgetting
from tests.benchmarks.forgetting.command import RESULTS
from tests.benchmarks.kept import Outcome
from tests.benchmarks.languages import page as languages
from tests.benchmarks.peers import page as peers
from tests.benchmarks.policies import page as policies
from tests.benchmarks.right import page as right
from tests.benchmarks.vm import page as validation
from tests.simulation import scalepage


def run(given: Namespace) -> Outcome:
    """Draws them all."""
    page.draw()
    peers.draw()
    measured.draw()
    for file in forgetting.draw(forgetting.latest(forgetting.kept_runs(RESULTS))):
        print(file.relative_to(kept.ROOT))
    right.draw()
    languages.draw()
    validation.draw()
    consolidation.draw()
    fifa.draw()
    policies.draw()
    experience.draw()
    scalepage.draw()
    return Outcome([], 0)
