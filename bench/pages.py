"""Draws every page of measurements from what was kept; measures nothing."""

from __future__ import annotations

from argparse import Namespace

from bench import kept, measured, page
from bench.console import page as console
from bench.consolidation import page as consolidation
from bench.experience import page as experience
from bench.fifa import page as fifa
from bench.forgetting import page as forgetting
from bench.forgetting.command import RESULTS
from bench.kept import Outcome
from bench.languages import page as languages
from bench.peers import page as peers
from bench.policies import page as policies
from bench.right import page as right
from bench.use import page as use
from bench.vm import page as validation
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
    console.draw()
    use.draw()
    scalepage.draw()
    return Outcome([], 0)
