"""Findings of the test cluster's verifiers, and a shard that applies them."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from db.standing import Clear
from memquorum.core.experience.texts import Texts
from memquorum.core.journal.rows import Change
from tests.builders import trials, votes
from tests.builders.shard import Shard
from workers.verifier.verifier_turn import Made
from workers.verifier.worker import recorded

VERIFIERS = trials.VERIFIERS[:3]


def entitled(verifiers: tuple[str, ...] = VERIFIERS) -> dict[str, Any]:
    """Returns the services of a genesis that names as many verifiers as an installation of four members."""
    return trials.entitled(verifiers=verifiers)


def tell(into: Shard, made: Made, *, offset: int | None = None, signer: str = "") -> Change | Exception:
    """Applies a verifier's finding to the shard; returns the change, or why there is none."""
    said = recorded(made)
    data = votes.signed(into.rules.codec, into.rules.genesis, signer or f"service:{said.verifier}", said)
    before = sum(change.entry.effect == "tried" for change in into.changes)
    return trials.tell(into, data, before if offset is None else offset)


def lie(made: Made) -> Made:
    """Returns the trial with false gains: where a judge was helped it says nobody was, and the reverse."""
    most = 1_000_000 * made.statistics.runs
    judged = tuple(
        replace(one, reward_without=0, reward_with=0 if one.reward_with > 0 else most) for one in made.statistics.judged
    )
    return replace(made, statistics=replace(made.statistics, judged=judged))


def clear(text: str, *numbers: float, goal: str = "") -> Clear:
    """Builds a text with a vector; with a goal it is a finished task whose outputs are the text."""
    said = Texts(goal, "", text).content if goal else text
    return Clear(said, np.array(numbers or (0.6, 0.8), np.float32))
