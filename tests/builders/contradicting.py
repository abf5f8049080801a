"""A model of contradictions in three small files: it finds one wherever the word "not" stands. Written byte by byte,
as ONNX lays out its messages, since nothing here can make a model."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

WORDS = {"[UNK]": 0, "not": 1}
_INT64, _FLOAT = 7, 1


def written(folder: Path, labels: tuple[str, ...] = ("entailment", "neutral", "CONTRADICTION")) -> str:
    """Writes the three files; their digest."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    files = {
        "model.onnx": _model(),
        "tokenizer.json": tokenizer.to_str().encode(),
        "config.json": json.dumps({"id2label": dict(enumerate(labels))}).encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return hashlib.sha256(b"".join(files.values())).hexdigest()


def _model() -> bytes:
    """Of token ids [1, n]: logits [1, 3], of which the last is the highest where an id is 1."""
    weights = _tensor("w", np.array([[-8, 0, 8]], np.float32)), _tensor("b", np.array([4, 0, -4], np.float32))
    nodes = (
        _node("Equal", ["input_ids", "one"], "same"),
        _node("Cast", ["same"], "float", _message(1, b"to") + _number(3, _FLOAT) + _number(20, 2)),
        _node("ReduceMax", ["float"], "found", _message(1, b"axes") + _number(8, 1) + _number(20, 7)),
        _node("MatMul", ["found", "w"], "times"),
        _node("Add", ["times", "b"], "logits"),
    )
    graph = b"".join(_message(1, node) for node in nodes) + _message(2, b"g")
    graph += b"".join(_message(5, one) for one in (_tensor("one", np.array([1], np.int64)), *weights))
    graph += _message(11, _value("input_ids", _INT64, 1, "n")) + _message(12, _value("logits", _FLOAT, 1, 3))
    return _number(1, 8) + _message(7, graph) + _message(8, _message(1, b"") + _number(2, 13))


def _varint(value: int) -> bytes:
    found = b""
    while value > 0x7F:
        found, value = found + bytes([value & 0x7F | 0x80]), value >> 7
    return found + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _node(kind: str, inputs: list[str], output: str, attribute: bytes = b"") -> bytes:
    found = b"".join(_message(1, name.encode()) for name in inputs) + _message(2, output.encode())
    return found + _message(4, kind.encode()) + (_message(5, attribute) if attribute else b"")


def _tensor(name: str, values: np.ndarray[tuple[int, ...], np.dtype[np.generic]]) -> bytes:
    kind = _INT64 if values.dtype == np.int64 else _FLOAT
    dims = b"".join(_number(1, size) for size in values.shape)
    return dims + _number(2, kind) + _message(8, name.encode()) + _message(9, values.tobytes())


def _value(name: str, kind: int, *dims: int | str) -> bytes:
    shape = b"".join(
        _message(1, _number(1, one) if isinstance(one, int) else _message(2, one.encode())) for one in dims
    )
    return _message(1, name.encode()) + _message(2, _message(1, _number(1, kind) + _message(2, shape)))
