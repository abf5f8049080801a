"""Sealed things open with their own key, for their own purpose, unaltered; nothing else does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.sealing import (
    SealError,
    commitment,
    open_text,
    open_vector,
    open_vectors,
    seal,
    seal_text,
    seal_vector,
    unwrap,
    wrap,
)

KEY, OTHER, NONCE = b"k" * 32, b"o" * 32, b"n" * 12


@given(st.text())
def test_text_comes_back(text: str) -> None:
    assert open_text(KEY, seal_text(KEY, NONCE, text, "m1"), "m1") == text


def test_sealed_text_shows_nothing_of_itself() -> None:
    assert b"valve" not in seal_text(KEY, NONCE, "valve 3", "m1")


def test_many_vectors_open_as_each_alone_and_those_that_are_none_are_left_out() -> None:
    vectors = {"m1": [1.0, 0.5], "m2": [0.25, -1.0], "longer": [1.0, 2.0, 3.0], "nan": [np.nan, 0.0], "empty": []}
    sealed = {i: seal_vector(KEY, NONCE, np.array(v, np.float32), i) for i, v in vectors.items()}
    odd = seal(KEY, NONCE, b"abc", b"memquorum/embedding/1/odd")
    foreign = [("m1 under another key", OTHER, sealed["m1"]), ("of m1", KEY, sealed["m1"]), ("odd", KEY, odd)]
    found = open_vectors([*((i, KEY, data) for i, data in sealed.items()), *foreign, ("short", KEY, b"x")])
    assert {i: vector.tolist() for i, vector in found.items()} == {i: vectors[i] for i in ("m1", "m2", "longer")}
    assert all(vector.dtype == np.float32 for vector in found.values())


@given(st.integers(0, 30), st.integers(0, 7))
def test_any_altered_bit_is_refused(position: int, bit: int) -> None:
    sealed = bytearray(seal_text(KEY, NONCE, "abc", "m1"))
    sealed[position % len(sealed)] ^= 1 << bit
    with pytest.raises(SealError):
        open_text(KEY, bytes(sealed), "m1")


@pytest.mark.parametrize(("key", "memory"), [(OTHER, "m1"), (KEY, "m2")])
def test_another_key_or_memory_is_refused(key: bytes, memory: str) -> None:
    with pytest.raises(SealError):
        open_text(key, seal_text(KEY, NONCE, "abc", "m1"), memory)


def test_a_vector_is_not_taken_for_content() -> None:
    with pytest.raises(SealError):
        open_text(KEY, seal_vector(KEY, NONCE, np.ones(4, np.float32), "m1"), "m1")


def test_too_short_to_be_sealed_is_refused() -> None:
    with pytest.raises(SealError):
        open_text(KEY, b"short", "m1")


def test_vectors_come_back_as_the_store_keeps_them() -> None:
    vector = np.linspace(-1, 1, 384, dtype=np.float32)
    opened = open_vector(KEY, seal_vector(KEY, NONCE, vector, "m1"), "m1")
    assert opened.dtype == np.float32
    assert np.array_equal(opened, vector.astype(np.float16).astype(np.float32))


def test_a_commitment_needs_the_key() -> None:
    assert commitment(KEY, "yes") == commitment(KEY, "yes")
    assert commitment(KEY, "yes") != commitment(OTHER, "yes") != commitment(OTHER, "no")
    assert len(commitment(KEY, "yes")) == 32


def test_wrapped_keys_come_back_for_their_owner_only() -> None:
    wrapped = wrap(OTHER, NONCE, KEY, "memory/m1")
    assert unwrap(OTHER, wrapped, "memory/m1") == KEY
    with pytest.raises(SealError):
        unwrap(OTHER, wrapped, "memory/m2")
