"""Reads a folder with a Hugging Face encoder: its files, and how to make its vectors.

It reads the files that `sentence-transformers` writes beside a model: `modules.json` names the steps, the pooling
step's `config.json` says which tokens count, `sentence_bert_config.json` how many are used. A folder without them is
taken as a plain encoder: the mean over the tokens, of unit length. It does not need torch, and downloads nothing.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from memquorum.encoders import EncoderUnavailable

Pooling = Literal["mean", "cls"]

# The limit even for models that could use more: the cost of a text grows with it, and an episode is short.
TOKENS_MOST = 512
_READ = 1 << 20
_STEPS = ("Transformer", "Pooling", "Normalize")
_POOLINGS: dict[str, Pooling] = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}
_OLD_KEY = "pooling_mode_"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model that can be loaded.

    `weights`: the folder with config, tokenizer and weights. `tokens`: the number of a text's tokens that are used, if
    the folder says so. `lower`: texts are lower-cased first. `prefix`: put before every text. `name` is the model's
    kind and a digest of all that determines a vector: different models have different names, and a model in another
    folder keeps its own.
    """

    weights: Path
    pooling: Pooling
    tokens: int | None
    lower: bool
    prefix: str
    name: str


def read(folder: Path) -> ModelFolder:
    """Reads a folder. Raises EncoderUnavailable if it cannot be loaded safely, or is not understood."""
    if not folder.is_dir():
        raise EncoderUnavailable(f"{folder} is no folder: name one that holds a Hugging Face model (config.json, …)")
    steps = _steps(folder)
    weights = folder / steps.get("Transformer", "")
    files = _weights(weights)
    pooling = _pooling(folder / steps["Pooling"] / "config.json") if "Pooling" in steps else "mean"
    said = _json(weights / "sentence_bert_config.json") or {}
    prompts = _json(folder / "config_sentence_transformers.json") or {}
    prefix = str((prompts.get("prompts") or {}).get(prompts.get("default_prompt_name") or "", "") or "")
    tokens, lower = said.get("max_seq_length"), bool(said.get("do_lower_case"))
    if tokens is not None and (not isinstance(tokens, int) or tokens < 3):
        raise EncoderUnavailable(f"{weights / 'sentence_bert_config.json'}: max_seq_length = {tokens!r} is no length")
    decides = [weights / "config.json", weights / "tokenizer.json", weights / "vocab.txt", *files]
    made = hashlib.sha256(json.dumps([pooling, tokens, lower, prefix]).encode())
    for file in decides:
        _digest(file, made)
    kind = (_json(weights / "config.json") or {}).get("model_type") or "model"
    return ModelFolder(weights, pooling, tokens, lower, prefix, f"{kind}-{made.hexdigest()[:12]}/1")


def _steps(folder: Path) -> dict[str, str]:
    """The model's steps by kind, each with its folder."""
    listed = _json(folder / "modules.json")
    if listed is None:
        return {}
    try:
        kinds = [(str(step["type"]).rsplit(".", 1)[-1], str(step["path"])) for step in listed]
    except (TypeError, KeyError):
        raise EncoderUnavailable(f"{folder / 'modules.json'} is not sentence-transformers' list of steps") from None
    for kind, path in kinds:
        if kind not in _STEPS:
            raise EncoderUnavailable(
                f"{folder / 'modules.json'}: a step {kind!r} is not known here; known are {', '.join(_STEPS)}. "
                "Without it the vectors would differ from the model's"
            )
        if not (folder / path).resolve().is_relative_to(folder.resolve()):
            raise EncoderUnavailable(f"{folder / 'modules.json'}: {path!r} leads out of the folder")
    return dict(kinds)


def _weights(folder: Path) -> list[Path]:
    if not (folder / "config.json").is_file():
        raise EncoderUnavailable(f"{folder} holds no config.json: it is no Hugging Face model")
    found = sorted(folder.glob("*.safetensors"))
    if found:
        return found
    pickled = sorted(f.name for pattern in ("*.bin", "*.pt", "*.pth", "*.ckpt") for f in folder.glob(pattern))
    also = f"; {pickled[0]} is a pickle, which may run code when it is read: convert it first" if pickled else ""
    raise EncoderUnavailable(f"{folder} holds no weights: no *.safetensors file{also}")


def _pooling(file: Path) -> Pooling:
    said = _json(file)
    if said is None:
        raise EncoderUnavailable(f"{file} is missing: modules.json names a pooling step")
    mode = said.get("pooling_mode")
    if mode is None:
        modes = [key.removeprefix(_OLD_KEY) for key, on in said.items() if key.startswith(_OLD_KEY) and on is True]
    else:
        modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise EncoderUnavailable(
            f"{file}: pooling by {' and '.join(map(str, modes)) or 'nothing'}; known are mean, cls"
        )
    return _POOLINGS[modes[0]]


def _json(file: Path) -> Any:
    """The content of a JSON file; None if it does not exist."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EncoderUnavailable(f"{file} cannot be read as JSON: {error}") from None


def _digest(file: Path, into: Any) -> None:
    """Adds the file, if it exists, to the digest: its name and its content."""
    if not file.is_file():
        return
    inner = hashlib.sha256()
    with file.open("rb") as data:
        while block := data.read(_READ):
            inner.update(block)
    into.update(file.name.encode() + b"\0" + inner.digest())
