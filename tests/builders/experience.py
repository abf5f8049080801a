"""Finished tasks, memories of an experience and vectors for the tests of `core.experience`."""

from __future__ import annotations

from typing import Any

import numpy as np

from memquorum.core.experience.context import Context
from memquorum.core.experience.view import Held


def vector(*numbers: float) -> bytes:
    """Encodes numbers as the little-endian float16 that a context carries."""
    return np.array(numbers, "<f2").tobytes()


def context(**given: Any) -> Context:
    """Builds the context of a finished task."""
    told: dict[str, Any] = {
        "id": "c1", "namespace": "team", "agent": "ann", "goal": "Which port does the gateway use?", "inputs": "",
        "outputs": "The gateway uses port 8443.", "tools": ("read gateway.yaml: port 8443",),
        "retrieved": ("m1", "m2"), "outcome": "succeeded", "said_by": "ann", "configuration": bytes(32), "seed": 7,
        "encoder": "mini", "vector": vector(0.6, 0.8), "occurred_at": 1_790_000_000_000,
    }  # fmt: skip
    return Context(**{**told, **given})


def held(id_: str = "m1", text: str = "The gateway uses port 8443.", *numbers: float, **given: Any) -> Held:
    """Builds a memory; without numbers its vector is that of the context."""
    return Held(id_, text, given.pop("encoder", "mini"), vector(*(numbers or (0.6, 0.8))), **given)


def tasks(count: int, **given: Any) -> list[Context]:
    """Builds so many finished tasks with one outcome, each a little farther from the first than the one before."""
    return [context(id=f"c{at}", vector=vector(0.6 + at / 100, 0.8), **given) for at in range(1, count + 1)]
