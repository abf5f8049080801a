"""The cost of a sentence for each encoder, in processor time: so that other work on the machine counts less."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from bench.kept import Row
from bench.texts import sentences, turns
from memquorum.ports import Encoder

_ROUNDS = 7


def costs(row: Row, encoders: Mapping[str, Encoder], quick: bool) -> None:
    """Notes the median of several rounds, in which the encoders take turns, and the ratio to the first of them."""
    count = 32 if quick else 256
    texts = {"sentences": sentences(count, 1), "turns": turns(count // 4, 2)}
    for name, some in texts.items():
        for at_once in (1, 256):
            parts = [some[start : start + at_once] for start in range(0, len(some), at_once)]
            spent: dict[str, list[float]] = {kind: [] for kind in encoders}
            for _ in range(_ROUNDS):
                for kind, encoder in encoders.items():
                    began = time.process_time()
                    for part in parts:
                        encoder.encode(part)
                    spent[kind].append((time.process_time() - began) / len(some) * 1e3)
            told = f"{name}, {at_once} at once"
            for kind, found in spent.items():
                row.figure(f"{told}: {kind}", float(np.median(found)), "ms")
            first, *others = encoders
            for kind in others:
                row.figure(
                    f"{told}: {kind} ÷ {first}", row.value(f"{told}: {kind}") / row.value(f"{told}: {first}"), ""
                )
    row.note("processor time on one thread, median of seven rounds in which the encoders take turns")
    row.note("sentences have some 27 tokens, turns some 90")
