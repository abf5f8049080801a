"""Finished tasks, memories of an experience and vectors, as the tests of `core.experience` need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from memquorum.core.experience.context import Context
from memquorum.core.experience.view import Held


def vector(*numbers: float) -> bytes:
    """Numbers as the little-endian float16 that a context carries."""
    return np.array(numbers, "<f2").tobytes()


def context(**given: Any) -> Context:
    """A finished task."""
    told: dict[str, Any] = {
        "id": "c1", "namespace": "team", "agent": "ann", "goal": "Which port does the gateway use?", "inputs": "",
        "outputs": "The gateway uses port 8443.", "tools": ("read gateway.yaml: port 8443",),
        "retrieved": ("m1", "m2"), "outcome": "succeeded", "said_by": "ann", "configuration": bytes(32), "seed": 7,
        "encoder": "mini", "vector": vector(0.6, 0.8), "occurred_at": 1_790_000_000_000,
    }  # fmt: skip
    return Context(**{**told, **given})


def held(id_: str = "m1", text: str = "The gateway uses port 8443.", *numbers: float, **given: Any) -> Held:
    """A memory; without numbers its vector is that of the context."""
    return Held(id_, text, given.pop("encoder", "mini"), vector(*(numbers or (0.6, 0.8))), **given)


def tasks(count: int, **given: Any) -> list[Context]:
    """So many finished tasks that came to the same, one a little farther from the first than the other."""
    return [context(id=f"c{at}", vector=vector(0.6 + at / 100, 0.8), **given) for at in range(1, count + 1)]
