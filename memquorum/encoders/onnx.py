"""The default encoder: all-MiniLM-L6-v2 on ONNX Runtime, on the CPU, with products of whole numbers.

`memquorum.encoders.minilm` makes its model of the published weights, at `make setup`.

Measurements (2 cores with AVX-512 and VNNI, under load):

- A token's activations are rounded by its own row, and products of whole numbers are exact. A text's vector is thus
  bit for bit the same alone, in a batch of any composition, padded to any length, on one thread or two (600 texts of 4
  to 256 tokens, batches of 2 to 64). The contract suite holds it to that.
- Another CPU family computes the same products of whole numbers. Its numbers of float32 differ in the last bits, and
  one between two steps may be rounded to the other step. For 24 texts, 1 - cosine to the vector by an emulated CPU
  without AVX-512 is 0.0013 at most and 0.0004 on average. A store may hold both.
- Cost is 0.12 ms of one core a token, so padding is waste: batches are sorted by length and closed at 256 tokens. A
  sentence of 27 tokens takes 3.2 ms of processor time (7.2 with products of float32), in batches of 64 tokens 3.7.
- A batch is one thread's: threads that share one wait for the slower of them at every layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memquorum.encoders import minilm, pinned
from memquorum.encoders.minilm import DIMENSIONS, TOKENS_MAX

NAME = "minilm-l6-v2-rows8/1"

_BATCH_TOKENS = 256
# Tokenised together, so that memory does not grow with the number of texts asked for at once.
_SLICE = 1024


class OnnxEncoder:
    """Adapter of `memquorum.ports.Encoder`. Safe to call from several threads; one call uses `threads` cores."""

    def __init__(self, threads: int = 2, made: bytes | None = None) -> None:
        """Loads 23 MB in 0.2 to 0.8 s, or `made`, another model of the same inputs. Raises EncoderUnavailable."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # errors
        model, tokenizer = minilm.files()
        self._session = onnxruntime.InferenceSession(made or model, options, providers=["CPUExecutionProvider"])
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder") if threads > 1 else None
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
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
        hidden = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
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
