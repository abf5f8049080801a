"""Recognisers of sensitive data that take a model, for intake to judge by beside the rules (docs/use/privacy.md).

`names`: persons and places, by the model of the extra `ner`; `meaning`: kinds of data that a sentence tells of, by the
encoder. Their verdict travels in the record of the episode as one label with its version, and nobody computes it again.
"""

from __future__ import annotations

from memquorum.core.privacy import meant
from memquorum.core.privacy.masking import Second
from memquorum.core.privacy.sensitivity import Recogniser
from memquorum.ports import Encoder

NAMES, MEANING = "names", "meaning"
RECOGNISERS = (NAMES, MEANING)


def by_names(model: Second) -> Recogniser:
    """Returns the recogniser of persons and places. `model`: as `memquorum.encoders.names` loads it."""
    return Recogniser(f"{NAMES}-1", lambda text: {one.kind for one in model(text)})


def by_meaning(encoder: Encoder) -> Recogniser:
    """Returns the recogniser of what sentences tell of."""
    listed = encoder.encode(meant.TOLD)

    def kinds(text: str) -> set[str]:
        told = meant.read(text)
        return meant.kinds_near(encoder.encode(told), listed) if told else set()

    return Recogniser(f"{MEANING}-1", kinds)
