"""The footprint on the paper's set-up: how much smaller the store is after 500 epochs, and what reads still find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memquorum.core.policy import Policy
from tests.benchmarks.forgetting import footprint
from tests.benchmarks.kept import Row
from tests.benchmarks.right.frame import Material, Measure


def measure(material: Material) -> Row:
    """The vote and the caps as shipped, 500 epochs of 100 interactions, five seeds."""
    row = Row("footprint", "footprint on the paper's set-up, the vote and its caps as shipped")
    epochs, seeds = (60, 1) if material.quick else (footprint.EPOCHS, footprint.SEEDS)
    scripts = [footprint.Script.of(seed, epochs) for seed in range(seeds)]
    smaller, found = [], []
    for seed, script in enumerate(scripts):
        said = footprint.texts(material.meetings, material.vectors, seed, footprint.FIRST + sum(script.new))
        course = footprint.run(script, said, "as it is", PACE_S, Policy())
        smaller.append(1 - course.alive[-1] / script.made[-1])
        found.append(1 - course.vain.sum() / sum(map(len, script.asked)))
    row.figure(f"smaller after {epochs} epochs", 100 * float(np.mean(smaller)), "%")
    row.figure("reads that found it", 100 * float(np.mean(found)), "%")
    row.at_least(f"smaller after {epochs} epochs", 52)
    row.at_least("reads that found it", 95)
    return row


PACE_S = 30.0
ROWS: Mapping[str, Measure] = {"footprint": measure}
