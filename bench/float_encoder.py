"""The default encoder with products of float32: what the cost of everything else is divided by.

Its weights are drawn at random, since the published ones are removed at setup. The time of a product does not depend on
its numbers; the vectors say nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memquorum.encoders.minilm import DIMENSIONS, Floats, Model, model
from memquorum.encoders.onnx import OnnxEncoder

_LAYERS, _INNER, _WORDS, _PLACES = 6, 1536, 30_522, 512


@dataclass(frozen=True)
class Cost:
    """The cost of a text for an encoder. `ms`: of processor time; `rate`: texts a second."""

    ms: float
    rate: float


class _Float(Model):
    """The same model, whose products are of float32."""

    def product(self, name: str, rows: str, columns: Floats, offset: Floats) -> str:
        """Rows times columns (width, numbers), with an offset."""
        found = self.op("MatMul", rows, self.tensor(f"{name}.columns", columns.T.copy()), name=f"{name}.product")
        return self.op("Add", found, self.tensor(f"{name}.offset", offset), name=f"{name}.found")


def float_encoder(threads: int = 2) -> OnnxEncoder:
    """The encoder. Takes 90 MB."""
    return OnnxEncoder(threads, model(_drawn(), _Float))


def cost(encoder: OnnxEncoder, texts: Sequence[str]) -> Cost:
    """Encodes the texts once, after some to get warm."""
    encoder.encode(texts[:64])
    used, began = time.process_time(), time.perf_counter()
    encoder.encode(texts)
    return Cost((time.process_time() - used) / len(texts) * 1e3, len(texts) / (time.perf_counter() - began))


def _drawn() -> dict[str, Floats]:
    """Weights under the names and in the shapes of the published ones."""
    dice = np.random.default_rng(1)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (_WORDS, DIMENSIONS),
        "embeddings.position_embeddings.weight": (_PLACES, DIMENSIONS),
        "embeddings.token_type_embeddings.weight": (2, DIMENSIONS),
    }
    norms = ["embeddings.LayerNorm"]
    for at in range(_LAYERS):
        layer = f"encoder.layer.{at}"
        own = [*(f"attention.self.{part}" for part in ("query", "key", "value")), "attention.output.dense"]
        dense = dict.fromkeys(own, (DIMENSIONS, DIMENSIONS))
        dense |= {"intermediate.dense": (_INNER, DIMENSIONS), "output.dense": (DIMENSIONS, _INNER)}
        for name, shape in dense.items():
            shapes |= {f"{layer}.{name}.weight": shape, f"{layer}.{name}.bias": shape[:1]}
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    shapes |= {f"{norm}.bias": (DIMENSIONS,) for norm in norms}
    made = {name: dice.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    return made | {f"{norm}.weight": np.ones(DIMENSIONS, np.float32) for norm in norms}
