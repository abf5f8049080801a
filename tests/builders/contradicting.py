"""A model of contradictions in three small files: it finds one in every text with the word "not"."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers

from memquorum.encoders.graph import Graph

WORDS = {"[UNK]": 0, "not": 1}
_FLOAT = 1  # numbers of tensor types in ONNX


def written(folder: Path, labels: tuple[str, ...] = ("entailment", "neutral", "CONTRADICTION")) -> str:
    """Writes the three files; returns their digest."""
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
    """Builds a model from token ids [1, n] to logits [1, 3]; the last logit is the highest where an id is 1."""
    made = Graph()
    made.takes("input_ids", np.int64, 1, "n")
    made.node("Equal", ["input_ids", made.tensor("one", np.array([1], np.int64))], "same")
    made.node("Cast", ["same"], "float", to=_FLOAT)
    made.node("ReduceMax", ["float"], "found", axes=(1,))
    made.node("MatMul", ["found", made.tensor("w", np.array([[-8, 0, 8]], np.float32))], "times")
    made.node("Add", ["times", made.tensor("b", np.array([4, 0, -4], np.float32))], "logits")
    made.gives("logits", np.float32, 1, 3)
    return made.written()
