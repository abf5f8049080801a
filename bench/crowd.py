"""A store full of memories for questions that read: texts of words as rare as in speech, vectors of real sentences.

A text has 8 to 40 words of 20,000 that are made up of syllables; the n-th is 1/n as frequent as the first (Zipf). A
vector is that of a sentence by the default encoder, moved towards those of two others, so that no two are the same and
each has near ones: to encode 100,000 texts takes minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import psycopg
from numpy.typing import NDArray

from bench.texts import sentences
from db import copying
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Memory, Strength
from memquorum.encoders.onnx import OnnxEncoder

START = 1_700_000_000_000
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "il", "os", "um")]
_WORDS, _SHORTEST, _LONGEST = 20_000, 8, 40
_SENTENCES, _MOVED = 1_500, 0.55


@dataclass(frozen=True, eq=False)
class Crowd:
    """Texts, and beside each its vector; `encoder`: the name that the vectors stand under."""

    encoder: str
    texts: Sequence[str]
    vectors: NDArray[np.float32]

    def questions(self, count: int, seed: int) -> tuple[list[str], NDArray[np.float32]]:
        """Returns questions of 3 to 10 words of a text, common ones too; their vectors are made as the others were."""
        dice = np.random.default_rng(seed)
        asked = []
        for text in dice.choice(len(self.texts), count):
            words = self.texts[text].split()
            asked.append(" ".join(dice.choice(words, min(len(words), int(dice.integers(3, 11))), replace=False)))
        return asked, _moved(self._base, count, dice)

    @property
    def _base(self) -> NDArray[np.float32]:
        return self.vectors[:_SENTENCES]


def crowd(count: int, encoder: OnnxEncoder, seed: int = 5) -> Crowd:
    """So many memories."""
    dice = np.random.default_rng(seed)
    base = encoder.encode(sentences(min(count, _SENTENCES), seed))
    vectors = np.vstack([base, _moved(base, count - len(base), dice)]) if count > len(base) else base
    return Crowd(encoder.name, _texts(count, dice), vectors)


def _moved(base: NDArray[np.float32], count: int, dice: np.random.Generator) -> NDArray[np.float32]:
    """Each a sentence's vector moved towards those of two others, and a little anywhere; of unit length."""
    one, two, three = (base[dice.integers(0, len(base), count)] for _ in range(3))
    noise = dice.standard_normal((count, base.shape[1]), dtype=np.float32) * (0.2 / base.shape[1] ** 0.5)
    shares = dice.random((2, count, 1), dtype=np.float32) * _MOVED
    mixed = one + shares[0] * two + shares[1] * three + noise
    unit: NDArray[np.float32] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit


def _texts(count: int, dice: np.random.Generator) -> list[str]:
    syllables = dice.integers(0, len(_SYLLABLES), (_WORDS, 3))
    words = ["".join(_SYLLABLES[s] for s in row[: 2 + at % 2]) for at, row in enumerate(syllables.tolist())]
    frequency = 1 / np.arange(1, _WORDS + 1)
    lengths = dice.integers(_SHORTEST, _LONGEST + 1, count)
    picked = dice.choice(_WORDS, int(lengths.sum()), p=frequency / frequency.sum()).tolist()
    ends = np.cumsum(lengths).tolist()
    return [" ".join(words[w] for w in picked[end - n : end]) for end, n in zip(ends, lengths.tolist(), strict=True)]


def fill(dsn: str, people: Crowd, namespaces: Sequence[str]) -> None:
    """Brings them into a migrated store by COPY, the i-th to the i-th namespace and round again, so that tenants' rows
    lie between each other's as they do where all write. Half are long-term; sessions of twenty."""
    count = len(people.texts)
    spaces = [namespaces[i % len(namespaces)] for i in range(count)]
    named = [memory_id(spaces[i], f"e{i}") for i in range(count)]
    ids = [copying.raw_id(one) for one in named]
    tiers = ["short-term" if i % 2 else "long-term" for i in range(count)]
    with psycopg.connect(dsn, autocommit=True) as connection:
        put = partial(copying.copy, connection)
        put("memory_copy", (
            copying.raw(Memory(
                m, 0, spaces[i], "ada", "ada", f"e{i}", tiers[i], START + i,
                len(people.texts[i]), bytes(32), people.encoder, False, None, START, None, i,
                session=f"s{i // len(namespaces) // 20}",
            ))
            for i, m in enumerate(named)
        ))  # fmt: skip
        put("content_copy", zip(ids, people.texts, spaces, strict=True))
        put("embedding_copy", (
            (m, spaces[i], copying.raw_vector(people.vectors[i]), people.encoder) for i, m in enumerate(ids)
        ))  # fmt: skip
        put("strength_copy", (
            copying.raw(Strength(m, 0, tiers[i], 450_000, START, START, 0)) for i, m in enumerate(named)
        ))  # fmt: skip
        connection.execute("VACUUM ANALYZE")
