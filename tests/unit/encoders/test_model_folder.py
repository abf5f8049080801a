"""The reading of a model's folder, and texts as calls: all of the encoder `torch` that needs no torch."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.encoders import EncoderUnavailable
from memquorum.encoders.folder import read
from memquorum.encoders.torch import TorchEncoder, bucket_of, calls, rows_of
from tests.builders.models import folder


def pooled(place: Path, said: dict[str, Any]) -> Path:
    made = folder(place, [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")])
    (made / "1_Pooling").mkdir()
    (made / "1_Pooling" / "config.json").write_text(json.dumps(said))
    return made


@pytest.mark.parametrize(
    ("said", "pooling"),
    [
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}, "mean"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": ["mean"]}, "mean"),
    ],
)
def test_pooling_is_the_models_own(tmp_path: Path, said: dict[str, Any], pooling: str) -> None:
    assert read(pooled(tmp_path / "m", said)).pooling == pooling


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
        {"pooling_mode": "lasttoken"},
    ],
)
def test_another_pooling_is_refused(tmp_path: Path, said: dict[str, Any]) -> None:
    with pytest.raises(EncoderUnavailable, match=r"1_Pooling/config\.json: pooling by .*known are mean, cls"):
        read(pooled(tmp_path / "m", said))


def test_a_step_that_is_not_done_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="a step 'Dense' is not known"):
        read(folder(tmp_path / "m", [("Transformer", ""), ("Dense", "2_Dense")]))
    with pytest.raises(EncoderUnavailable, match=r"leads out of the folder"):
        read(folder(tmp_path / "n", [("Transformer", "../m")]))
    with pytest.raises(EncoderUnavailable, match="names a pooling step"):
        read(folder(tmp_path / "o", [("Transformer", ""), ("Pooling", "1_Pooling")]))


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="is no folder"):
        read(tmp_path / "nothing")
    place = folder(tmp_path / "m")
    (place / "config.json").unlink()
    with pytest.raises(EncoderUnavailable, match=r"no config\.json"):
        read(place)
    place = folder(tmp_path / "n")
    (place / "model.safetensors").unlink()
    with pytest.raises(EncoderUnavailable, match=r"no \*\.safetensors file$"):
        read(place)
    (place / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(EncoderUnavailable, match=r"pytorch_model\.bin is a pickle, which may run code"):
        read(place)
    with pytest.raises(EncoderUnavailable, match="max_seq_length = '9'"):
        read(folder(tmp_path / "o", sentence_bert_config={"max_seq_length": "9"}))
    (folder(tmp_path / "p") / "modules.json").write_text("{")
    with pytest.raises(EncoderUnavailable, match=r"modules\.json cannot be read as JSON"):
        read(tmp_path / "p")


def test_a_plain_folder_and_one_with_everything(tmp_path: Path) -> None:
    plain = read(folder(tmp_path / "m"))
    assert (plain.pooling, plain.tokens, plain.lower, plain.prefix, plain.weights) == (
        "mean",
        None,
        False,
        "",
        tmp_path / "m",
    )
    whole = folder(
        tmp_path / "n",
        [("Transformer", "0_Transformer")],
        config_sentence_transformers={"prompts": {"q": "query: "}, "default_prompt_name": "q"},
    )
    folder(whole / "0_Transformer", sentence_bert_config={"max_seq_length": 9, "do_lower_case": True})
    found = read(whole)
    assert (found.tokens, found.lower, found.prefix, found.weights) == (9, True, "query: ", whole / "0_Transformer")


def test_names_differ_where_vectors_would(tmp_path: Path) -> None:
    first = read(folder(tmp_path / "a" / "m")).name
    assert first.startswith("model-") and read(folder(tmp_path / "b" / "n")).name == first
    (tmp_path / "b" / "n" / "model.safetensors").write_bytes(b"weighty")
    assert read(tmp_path / "b" / "n").name != first
    assert read(folder(tmp_path / "c" / "m", sentence_bert_config={"max_seq_length": 9})).name != first


@given(st.lists(st.integers(1, 256), max_size=60), st.sampled_from([128, 8_192]))
def test_every_text_is_in_one_call_whose_shape_is_its_own(lengths: list[int], call_tokens: int) -> None:
    made = list(calls(lengths, 256, call_tokens))
    assert sorted(row for _, rows in made for row in rows) == list(range(len(lengths)))
    for bucket, rows in made:
        assert 1 <= len(rows) <= rows_of(bucket, call_tokens)
        assert {bucket_of(lengths[row]) for row in rows} == {bucket}
        assert all(lengths[row] <= bucket < lengths[row] + 32 for row in rows)


def test_no_call_is_longer_than_the_model() -> None:
    assert list(calls([99, 100], 100, 128)) == [(100, [0]), (100, [1])]


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed here")
def test_without_torch_it_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(EncoderUnavailable, match=r"not installed \(torch, transformers, safetensors\): `make torch`"):
        TorchEncoder(folder(tmp_path / "m"))
