r"""The footprint on the paper's set-up, by the shipped policy: caps, scales of an hour, a day and two weeks.

The set-up is that of `bench.forgetting.footprint`: 1,000 memories, 10 to 20 more in each of 500 epochs of 100
interactions, reads by Zipf's law, five seeds. The paper does not say how long an interaction takes. Here it is 30 s, as
SPEC B has it for logs without times, so that 500 epochs are 17 days, and a minute beside it; no parameter was fitted.
The members' earlier vote stands beside the shipped one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bench.forgetting import footprint
from bench.kept import Row
from bench.right.frame import Material, Measure
from memquorum.core.policy import Policy

PACE_S = 30.0
RUNS = {"": ("as it is", PACE_S), ", before": ("before", PACE_S), ", a minute each": ("as it is", 2 * PACE_S)}
"""The suffix of its figures → how members vote, and how long an interaction takes."""


def measure(material: Material) -> Row:
    """The vote and the caps as shipped."""
    row = Row("footprint", "footprint on the paper's set-up, policy as shipped, an interaction each 30 s")
    epochs, seeds = (60, 1) if material.quick else (footprint.EPOCHS, footprint.SEEDS)
    smaller: dict[str, list[float]] = {name: [] for name in RUNS}
    found: dict[str, list[float]] = {name: [] for name in RUNS}
    for seed in range(seeds):
        script = footprint.Script.of(seed, epochs)
        said = footprint.texts(material.meetings, material.vectors, seed, footprint.FIRST + sum(script.new))
        for name, (rule, pace) in RUNS.items():
            course = footprint.run(script, said, rule, pace, Policy())
            smaller[name].append(100 * (1 - course.alive[-1] / script.made[-1]))
            found[name].append(100 * (1 - course.vain.sum() / sum(map(len, script.asked))))
        print(f"  seed {seed}: {smaller[''][-1]:.1f} % smaller, {found[''][-1]:.1f} % of reads found", flush=True)
    size, reads = f"smaller after {epochs} epochs", "reads that found it"
    for name in RUNS:
        row.figure(f"{size}{name}", float(np.mean(smaller[name])), "%")
        row.figure(f"{reads}{name}", float(np.mean(found[name])), "%")
    row.at_least(size, 52)
    row.at_least(reads, 95)
    row.figure(f"{size}, least of the seeds", min(smaller[""]), "%")
    row.figure(f"{reads}, least of the seeds", min(found[""]), "%")
    return row


ROWS: Mapping[str, Measure] = {"footprint": measure}
