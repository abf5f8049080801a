"""Builds a model for ONNX Runtime node by node and encodes it, without the package `onnx`.

Nodes and tensors are named by their outputs. A tensor is float32, int64, int8 or uint8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memquorum.encoders.protobuf import data, number

Tensor = NDArray[np.float32] | NDArray[np.int64] | NDArray[np.int8]
Attribute = int | float | Sequence[int]

FLOAT, UINT8, _INT8, _INT64 = 1, 2, 3, 7
"""Numbers of kinds of tensors: of float32 and of uint8, for `Cast`."""
_KINDS: Mapping[np.dtype[Any], int] = {
    np.dtype(np.float32): FLOAT, np.dtype(np.int8): _INT8, np.dtype(np.int64): _INT64,
}  # fmt: skip
# By the type of an attribute: the field that holds it, and the number of its kind.
_ATTRIBUTES: Mapping[type, tuple[int, int]] = {float: (2, 1), int: (3, 2)}
_INTS = (8, 7)
_IR_VERSION = 8


class Graph:
    """Nodes in the order in which they run, and their weights."""

    def __init__(self, operators: int = 17) -> None:
        """`operators`: the version of ONNX's set of operators."""
        self._operators = operators
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._ends: list[bytes] = []

    def tensor(self, name: str, values: Tensor) -> str:
        """Adds a constant; returns its name."""
        kind = _KINDS[values.dtype]
        sizes = b"".join(number(1, size) for size in values.shape)
        raw = np.ascontiguousarray(values).tobytes()
        self._tensors.append(sizes + number(2, kind) + data(8, name.encode()) + data(9, raw))
        return name

    def node(self, kind: str, inputs: Sequence[str], outputs: str | Sequence[str], **attributes: Attribute) -> None:
        """Adds an operator of ONNX with its inputs and outputs."""
        made = [outputs] if isinstance(outputs, str) else outputs
        parts = [*(data(1, name.encode()) for name in inputs), *(data(2, name.encode()) for name in made)]
        parts += [data(4, kind.encode()), *(data(5, _attribute(name, of)) for name, of in attributes.items())]
        self._nodes.append(b"".join(parts))

    def takes(self, name: str, kind: type[np.generic], *shape: int | str) -> None:
        """Declares an input; a size that is not fixed has a name."""
        self._ends.append(data(11, _value(name, kind, shape)))

    def gives(self, name: str, kind: type[np.generic], *shape: int | str) -> None:
        """Declares an output."""
        self._ends.append(data(12, _value(name, kind, shape)))

    def written(self) -> bytes:
        """Encodes the model as an ONNX file."""
        parts = [*(data(1, node) for node in self._nodes), data(2, b"graph"), *(data(5, one) for one in self._tensors)]
        operators = data(1, b"") + number(2, self._operators)
        return number(1, _IR_VERSION) + data(7, b"".join([*parts, *self._ends])) + data(8, operators)


def _attribute(name: str, of: Attribute) -> bytes:
    named = data(1, name.encode())
    if isinstance(of, float):
        field, kind = _ATTRIBUTES[float]
        # A float is a field of four bytes.
        return named + bytes([field << 3 | 5]) + np.float32(of).tobytes() + number(20, kind)
    if isinstance(of, int):
        field, kind = _ATTRIBUTES[int]
        return named + number(field, of) + number(20, kind)
    field, kind = _INTS
    return named + b"".join(number(field, one) for one in of) + number(20, kind)


def _value(name: str, kind: type[np.generic], shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(data(1, number(1, size) if isinstance(size, int) else data(2, size.encode())) for size in shape)
    tensor = number(1, _KINDS[np.dtype(kind)]) + data(2, sizes)
    return data(1, name.encode()) + data(2, data(1, tensor))
