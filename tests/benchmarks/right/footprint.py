"""The footprint on the paper's set-up, by the policy that is shipped: caps, scales of an hour, a day and two weeks.

The set-up is that of `tests.benchmarks.forgetting.footprint`: 1,000 memories, 10 to 20 more in each of 500 epochs of
100 interactions, reads by Zipf's law, five seeds. The paper does not say how long an interaction takes. Here it is
30 s, as SPEC B has it for logs without times, so that 500 epochs are 17 days; nothing was fitted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from memquorum.core.policy import Policy
from tests.benchmarks.forgetting import footprint
from tests.benchmarks.kept import Row
from tests.benchmarks.right.frame import Material, Measure

PACE_S = 30.0


def measure(material: Material) -> Row:
    """The vote and the caps as shipped."""
    row = Row("footprint", "footprint on the paper's set-up, policy as shipped, an interaction each 30 s")
    epochs, seeds = (60, 1) if material.quick else (footprint.EPOCHS, footprint.SEEDS)
    smaller, found = [], []
    for seed in range(seeds):
        script = footprint.Script.of(seed, epochs)
        said = footprint.texts(material.meetings, material.vectors, seed, footprint.FIRST + sum(script.new))
        course = footprint.run(script, said, "as it is", PACE_S, Policy())
        smaller.append(100 * (1 - course.alive[-1] / script.made[-1]))
        found.append(100 * (1 - course.vain.sum() / sum(map(len, script.asked))))
        print(f"  seed {seed}: {smaller[-1]:.1f} % smaller, {found[-1]:.1f} % of reads found", flush=True)
    size = f"smaller after {epochs} epochs"
    row.figure(size, float(np.mean(smaller)), "%")
    row.at_least(size, 52)
    row.figure("reads that found it", float(np.mean(found)), "%")
    row.at_least("reads that found it", 95)
    row.figure(f"{size}, least of the seeds", float(min(smaller)), "%")
    row.figure("reads that found it, least of the seeds", float(min(found)), "%")
    return row


ROWS: Mapping[str, Measure] = {"footprint": measure}
