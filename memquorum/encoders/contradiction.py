"""A cross-encoder that estimates whether one text contradicts another: the optional adapter of `ports.Contradiction`.

An operator provides a folder with `model.onnx`, `tokenizer.json` and `config.json`, in Hugging Face's layout of a model
of natural language inference, and the SHA-256 of the three files concatenated: `cat model.onnx tokenizer.json
config.json | sha256sum`. None is shipped (docs/measured/right.md).
"""

from __future__ import annotations

import hashlib
import json
import logging
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from memquorum.core.policy import PPM
from memquorum.encoders import EncoderUnavailable

FILES = ("model.onnx", "tokenizer.json", "config.json")
_TOKENS_MAX = 256
_LOG = logging.getLogger("memquorum.contradiction")


class OnnxContradiction:
    """Adapter of `memquorum.ports.Contradiction`, on one thread of the CPU."""

    def __init__(self, folder: Path, sha256: str) -> None:
        """Raises EncoderUnavailable if a file is missing, or their digest differs."""
        data = files(folder, sha256)
        self.digest = sha256
        try:
            self._label = _label(data[2])
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            self._session = onnxruntime.InferenceSession(data[0], options, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_buffer(data[1])
        except Exception as error:
            raise EncoderUnavailable(
                f"{folder} holds no model of natural language inference that works: {error}"
            ) from None
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS_MAX)
        self._inputs = {one.name for one in self._session.get_inputs()}

    def contradicts_ppm(self, earlier: str, later: str) -> int:
        """The probability that the later text contradicts the earlier one, in millionths; 0 if the model fails on
        them."""
        try:
            first, second = (text.encode("utf-8", "replace").decode() for text in (earlier, later))
            pair = self._tokenizer.encode(first, second)
            told = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
            feed = {name: np.array([values], np.int64) for name, values in told.items() if name in self._inputs}
            logits = np.asarray(self._session.run(None, feed)[0], np.float64).reshape(-1)
            likely = np.exp(logits - logits.max())
            return round(float(likely[self._label] / likely.sum()) * PPM)
        except Exception as error:
            # The error's words may hold content. Without an answer the rules decide alone.
            _LOG.error("the model of contradictions failed on a pair of texts: %s", type(error).__name__)
            return 0


def files(folder: Path, sha256: str) -> list[bytes]:
    """The model's three files. Raises EncoderUnavailable if one is missing, or their digest differs."""
    data = [_read(folder / name) for name in FILES]
    found = hashlib.sha256(b"".join(data)).hexdigest()
    if found != sha256:
        told = f"{', '.join(FILES)} in {folder} have together sha256 {found}, expected {sha256 or 'none'}"
        raise EncoderUnavailable(f"{told}: put the right files there, or name the digest that you trust")
    return data


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise EncoderUnavailable(f"{file}: {error.strerror}; see contradiction_path") from None


def _label(config: bytes) -> int:
    """The index of the logit of a contradiction."""
    names = {int(place): str(name).lower() for place, name in json.loads(config)["id2label"].items()}
    found = [place for place, name in names.items() if name.startswith("contradict")]
    if len(found) != 1:
        raise ValueError(f"config.json names no label `contradiction`: {sorted(names.values())}")
    return found[0]
