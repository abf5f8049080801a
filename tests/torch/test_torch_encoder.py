"""The encoder `torch` on models of its own making: small ones with random weights, and every way to be wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed here: make test-torch runs this")
transformers = pytest.importorskip("transformers")

from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402

from memquorum.encoders import EncoderUnavailable  # noqa: E402
from memquorum.encoders.torch import TorchEncoder  # noqa: E402
from tests import ROOT  # noqa: E402
from tests.torch import devices  # noqa: E402

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "valve", "opens", "at", "four", "bar", "tank", "Tank", "query:"]
TEXTS = ["the valve opens at four bar", "tank", "", "Tank the " * 400, "unknown words only"]


def model(folder: Path, *, positions: int = 64, kind: str = "bert", **pooled: Any) -> Path:
    """A model of 16 dimensions, made of one seed, with the files that the keywords describe."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    sizes = {"vocab_size": len(WORDS), "max_position_embeddings": positions, "pad_token_id": 0}
    if kind == "distilbert":
        config = transformers.DistilBertConfig(**sizes, dim=16, n_layers=2, n_heads=2, hidden_dim=32)
        made = transformers.DistilBertModel(config)
    else:
        config = transformers.BertConfig(
            **sizes, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
        )
        made = transformers.BertModel(config)
    made.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 64, "pad_token": "[PAD]"})
    )
    if pooled:
        steps = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling")]
        listed = [{"name": name, "path": path, "type": f"sentence_transformers.models.{k}"} for name, path, k in steps]
        (folder / "modules.json").write_text(json.dumps(listed))
        (folder / "1_Pooling").mkdir(exist_ok=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooled))
    return folder


Make = Callable[[Path], TorchEncoder]


@pytest.fixture(params=devices.each())
def encoder(request: pytest.FixtureRequest) -> Make:
    """Makes an encoder of a folder, on each device that the machine has."""
    return lambda folder: TorchEncoder(folder, device=request.param, threads=1)


def plainly(folder: Path, text: str, pooling: str) -> np.ndarray:
    """The vector of a text by the model alone: no buckets, no batch, no masks."""
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids[:64]
    made = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        hidden = made(input_ids=torch.tensor([ids])).last_hidden_state[0]
    vector = hidden[0] if pooling == "cls" else hidden.mean(dim=0)
    return (vector / vector.norm()).numpy()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_vectors_are_the_models_own(encoder: Make, tmp_path: Path, kind: str, pooling: str) -> None:
    folder = model(tmp_path / "m", kind=kind, **{f"pooling_mode_{pooling}_token{'s' * (pooling == 'mean')}": True})
    found = encoder(folder).encode(TEXTS[:3])
    for text, vector in zip(TEXTS, found, strict=False):
        assert np.allclose(vector, plainly(folder, text, pooling), atol=1e-5)
    assert not np.allclose(found[0], plainly(folder, TEXTS[0], {"mean": "cls", "cls": "mean"}[pooling]), atol=1e-3)


def test_a_text_has_one_vector_whatever_comes_with_it(encoder: Make, tmp_path: Path) -> None:
    made = encoder(model(tmp_path / "m"))
    alone = np.concatenate([made.encode([text]) for text in TEXTS])
    many = made.encode([text for text in TEXTS for _ in range(37)])
    assert np.array_equal(np.repeat(alone, 37, axis=0), many)


def test_a_folder_without_a_pooling_step_is_averaged(encoder: Make, tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    assert np.allclose(encoder(folder).encode(TEXTS[:1])[0], plainly(folder, TEXTS[0], "mean"), atol=1e-5)


def test_what_the_model_was_made_for_is_done_to_the_text(encoder: Make, tmp_path: Path) -> None:
    plain = encoder(model(tmp_path / "plain"))
    folder = model(tmp_path / "lower")
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 5, "do_lower_case": True}))
    (folder / "config_sentence_transformers.json").write_text(
        json.dumps({"prompts": {"query": "query: "}, "default_prompt_name": "query"})
    )
    made = encoder(folder)
    assert made.tokens == 5 and plain.tokens == 64
    assert np.array_equal(made.encode(["Tank the the the bar"]), plain.encode(["query: tank the"]))


def test_the_name_follows_what_decides_a_vector(encoder: Make, tmp_path: Path) -> None:
    one, same = encoder(model(tmp_path / "a" / "m")), encoder(model(tmp_path / "b" / "n"))
    assert one.name == same.name and one.name.startswith("bert-")
    other = model(tmp_path / "c" / "m", pooling_mode_cls_token=True)
    assert encoder(other).name != one.name
    weights = tmp_path / "b" / "n" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert encoder(tmp_path / "b" / "n").name != one.name


def test_weights_that_lack_a_part_are_refused(encoder: Make, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = model(tmp_path / "m") / "model.safetensors"
    parts = load_file(file)
    del parts["encoder.layer.1.output.dense.weight"]
    save_file(parts, file, {"format": "pt"})
    with pytest.raises(EncoderUnavailable, match=r"lack 1 parts, of them encoder\.layer\.1\.output"):
        encoder(tmp_path / "m")


def test_a_model_that_gives_no_numbers_is_refused(encoder: Make, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    file = model(tmp_path / "m") / "model.safetensors"
    parts = load_file(file)
    parts["embeddings.word_embeddings.weight"][:] = float("inf")
    save_file(parts, file, {"format": "pt"})
    with pytest.raises(EncoderUnavailable, match="numbers that are not finite"):
        encoder(tmp_path / "m")


def test_a_model_shorter_than_it_says_is_refused(encoder: Make, tmp_path: Path) -> None:
    folder = model(tmp_path / "m", positions=8)
    config = json.loads((folder / "config.json").read_text())
    assert encoder(folder).tokens == 8
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 16}))
    with pytest.raises(EncoderUnavailable, match=r"cannot be loaded|cannot be run on .* with 16 tokens"):
        encoder(folder)


def test_code_in_the_folder_is_not_run(encoder: Make, tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    del config["model_type"]
    own = {"auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}, "architectures": ["Model"]}
    (folder / "config.json").write_text(json.dumps(config | own))
    (folder / "own.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n")
    with pytest.raises(EncoderUnavailable):
        encoder(folder)
    assert not (tmp_path / "ran").exists()


def test_cuda_where_there_is_none_is_refused(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("a CUDA card is here")
    with pytest.raises(EncoderUnavailable, match=r"asked to run on cuda, and torch .* finds no card"):
        TorchEncoder(model(tmp_path / "m"), device="cuda")
    assert TorchEncoder(tmp_path / "m", device="auto").device == "cpu"


_OFFLINE = """
import socket, sys
from pathlib import Path
def refuse(*_):
    raise AssertionError("the network was asked")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
from memquorum.encoders.torch import TorchEncoder
print(TorchEncoder(Path(sys.argv[1]), device="cpu").encode(["a tank"]).shape)
"""


def test_the_network_is_never_asked(tmp_path: Path) -> None:
    folder = model(tmp_path / "m", pooling_mode_mean_tokens=True)
    environment = {
        "HF_HUB_OFFLINE": "0",
        "HOME": str(tmp_path),
        "PATH": "",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", _OFFLINE, str(folder)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "(1, 16)\n", done.stderr


@devices.NO_CARD
def test_a_card_gives_the_same_vectors_but_for_rounding(tmp_path: Path) -> None:
    folder = model(tmp_path / "m")
    card, plain = (TorchEncoder(folder, device=device, threads=1) for device in ("cuda", "cpu"))
    assert card.device == "cuda:0" and card.name == plain.name
    assert np.abs(card.encode(TEXTS) - plain.encode(TEXTS)).max() < 1e-5


@devices.NO_CARD
def test_a_card_that_is_not_there_is_refused(tmp_path: Path) -> None:
    number = torch.cuda.device_count()
    with pytest.raises(EncoderUnavailable, match=rf"asked to run on cuda:{number}, and there "):
        TorchEncoder(model(tmp_path / "m"), device=f"cuda:{number}")
