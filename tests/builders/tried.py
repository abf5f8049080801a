"""What verifiers of the test cluster find, and a shard that takes it in."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from db.standing import Clear
from memquorum import topics
from memquorum.core.commit import applying
from memquorum.core.experience.texts import Texts
from memquorum.core.experience.trial import Statistics
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Change
from memquorum.core.records import TrialMade
from tests.builders import votes
from tests.builders.genesis import public_key
from tests.builders.shard import NAMESPACE, Shard
from workers.verifier.trying import Made
from workers.verifier.worker import recorded

VERIFIERS = tuple(f"verifier-{at}" for at in (1, 2, 3))


def entitled(verifiers: tuple[str, ...] = VERIFIERS) -> dict[str, Any]:
    """The services of a genesis that names verifiers."""
    return {"services": {name: public_key(f"service:{name}") for name in ("nomination", "journal", *verifiers)}}


def told(genesis: Genesis, statistics: Statistics, verifier: str, namespace: str = NAMESPACE) -> TrialMade:
    """What a verifier says that it found."""
    return recorded(Made(0, namespace, verifier, statistics, genesis))


def tell(into: Shard, made: Made | TrialMade, *, offset: int | None = None, signer: str = "") -> Change | Exception:
    """A trial comes to the shard: what it changes, or why it changes nothing."""
    said = recorded(made) if isinstance(made, Made) else made
    data = votes.signed(into.rules.codec, into.rules.genesis, signer or f"service:{said.verifier}", said)
    before = sum(change.entry.effect == "tried" for change in into.changes)
    place = applying.Place(topics.TRIALS, into.rows.state.shard, before if offset is None else offset)
    found = applying.apply_tried(into.rules, into.rows, place, data)
    return into._absorb(found) if isinstance(found, Change) else found


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
