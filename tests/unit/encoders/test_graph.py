"""Models written byte by byte: ONNX Runtime reads them, and broken messages are reported."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.encoders import protobuf
from memquorum.encoders.graph import Graph

FIELDS = st.lists(st.tuples(st.integers(1, 5_000), st.integers(0, 2**63) | st.binary(max_size=300)), max_size=8)


def test_the_runtime_runs_what_was_built() -> None:
    made = Graph()
    made.takes("x", np.float32, "rows", 4)
    made.node("Split", ["x"], ["left", "right"], axis=1)
    made.node("Gemm", ["left", made.tensor("w", np.array([[1, 2], [3, 4]], np.float32)), "right"], "y", beta=0.5)
    made.node("ReduceSum", ["y", made.tensor("axes", np.array([1], np.int64))], "z", keepdims=0)
    made.gives("z", np.float32, "rows")
    session = onnxruntime.InferenceSession(made.written(), providers=["CPUExecutionProvider"])
    x = np.array([[1, 0, 2, 2], [0, 1, 0, 4]], np.float32)
    assert session.run(None, {"x": x})[0].tolist() == [5, 9]


@given(FIELDS)
def test_what_is_written_is_read(fields: list[tuple[int, int | bytes]]) -> None:
    message = b"".join(
        protobuf.number(field, of) if isinstance(of, int) else protobuf.data(field, of) for field, of in fields
    )
    found = [(field, of if isinstance(of, int) else bytes(of)) for field, of in protobuf.fields(message)]
    assert found == fields


@given(st.binary(max_size=60))
def test_other_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        list(protobuf.fields(data))
    except ValueError as error:
        assert str(error).startswith("no message")


@pytest.mark.parametrize("data", [b"\x0a\x05ab", b"\x80", b"\x0b", b"\x0d\x00"])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no message"):
        list(protobuf.fields(data))
