"""Ingest where many namespaces speak by turns, beside one namespace: the salience stage alone, with its encoder."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.texts import sentences
from memquorum.core.policy import from_json
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder
from memquorum.schema_files import load_codec
from streams.stage import Arrival
from tests.builders.salience import Line

_BATCH = 128
# A thousand namespaces of a thousand memories among the 200,000 that streams holds are a fifth; each counts once for
# itself and once for what it claims.
_SHARE = 0.2


@dataclass
class _Told:
    """Vectors that were computed before, and the encoder for all else."""

    encoder: Encoder
    known: dict[str, NDArray[np.float32]]

    @property
    def name(self) -> str:
        """The encoder's."""
        return self.encoder.name

    @property
    def dimensions(self) -> int:
        """The encoder's."""
        return self.encoder.dimensions

    @property
    def batch(self) -> int:
        """The encoder's."""
        return self.encoder.batch

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Returns vectors, shape (len(texts), d)."""
        if all(text in self.known for text in texts):
            return np.stack([self.known[text] for text in texts])
        return self.encoder.encode(texts)


def measure(quick: bool) -> Row:
    """Fills namespaces, and then times new episodes of namespaces drawn at random."""
    row = Row("namespaces", "ingest by a thousand namespaces of a thousand memories in random order, scaled")
    many, each, more = (6, 100, 256) if quick else (40, 1_000, 2_560)
    encoder = OnnxEncoder()
    held = int(many * each * _SHARE)
    packed = _rate(encoder, many, each, more, vectors_max=held, resting_max=1 << 30)
    one = _rate(encoder, 1, each, more, vectors_max=200_000, resting_max=0)
    row.figure(f"{many} namespaces, those not held rest", packed, "episodes/s")
    row.figure("one namespace", one, "episodes/s")
    row.figure("many ÷ one", packed / one, "")
    row.at_least("many ÷ one", 0.7)
    row.compare(f"{many} namespaces, those not held rest", "one namespace", one, "episodes/s")
    row.note(f"the salience stage alone in one process, batches of {_BATCH}; {held:,} memories and claims are held of "
             f"{many * each:,} memories, as 200,000 of a million would be; keys and journal are in memory")  # fmt: skip
    return row


def _rate(encoder: Encoder, many: int, each: int, more: int, **bounds: int) -> float:
    """New episodes a second, once `many` namespaces hold `each` memories."""
    old, new = sentences(many * each, 11), sentences(more, 12)
    known = dict(zip(old, encoder.encode(old), strict=True))
    line = Line(load_codec(), from_json(STORE_ALL), encoder=_Told(encoder, known), **bounds)
    for at in range(0, len(old), _BATCH):
        some = enumerate(old[at : at + _BATCH], at)
        line.stage.process([line.episode(text, namespace=f"n{place // each}") for place, text in some])
    dice = random.Random(13)
    arrivals: list[Arrival] = [line.episode(text, namespace=f"n{dice.randrange(many)}") for text in new]
    began = time.perf_counter()
    for at in range(0, more, _BATCH):
        line.stage.process(arrivals[at : at + _BATCH])
    return more / (time.perf_counter() - began)
