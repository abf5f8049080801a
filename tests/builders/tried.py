"""What verifiers of the test cluster find, and a shard that takes it in."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from db.standing import Clear
from memquorum.core.experience.texts import Texts
from memquorum.core.journal.rows import Change
from tests.builders import trials, votes
from tests.builders.shard import Shard
from workers.verifier.trying import Made
from workers.verifier.worker import recorded

VERIFIERS = trials.VERIFIERS[:3]


def entitled(verifiers: tuple[str, ...] = VERIFIERS) -> dict[str, Any]:
    """The services of a genesis that names as many verifiers as an installation of four members."""
    return trials.entitled(verifiers=verifiers)


def tell(into: Shard, made: Made, *, offset: int | None = None, signer: str = "") -> Change | Exception:
    """What a verifier found comes to the shard: what it changes, or why it changes nothing."""
    said = recorded(made)
    data = votes.signed(into.rules.codec, into.rules.genesis, signer or f"service:{said.verifier}", said)
    before = sum(change.entry.effect == "tried" for change in into.changes)
    return trials.tell(into, data, before if offset is None else offset)


def lie(made: Made) -> Made:
    """The same, but what helped a judge is said to have helped nobody, and what did not to have been all it needed."""
    most = 1_000_000 * made.statistics.runs
    judged = tuple(
        replace(one, reward_without=0, reward_with=0 if one.reward_with > 0 else most) for one in made.statistics.judged
    )
    return replace(made, statistics=replace(made.statistics, judged=judged))


def clear(text: str, *numbers: float, goal: str = "") -> Clear:
    """A text with a vector; with a goal what a finished task says, the text being its outputs."""
    said = Texts(goal, "", text).content if goal else text
    return Clear(said, np.array(numbers or (0.6, 0.8), np.float32))
