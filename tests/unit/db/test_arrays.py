"""Ids as one parameter: what Postgres reads as an array, and nothing else; vectors as pgvector reads them."""

from __future__ import annotations

from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.arrays import halfvec, uuids


@given(st.lists(st.uuids().map(str)))
def test_ids_are_an_array_of_postgres(ids: list[str]) -> None:
    text = uuids(iter(ids))
    assert isinstance(text, str)
    assert [str(UUID(each)) for each in text[1:-1].split(",") if each] == ids
    assert (text[0], text[-1]) == ("{", "}")


@pytest.mark.parametrize("strange", ['x"}', "NULL", "{}", "é", str(UUID(int=1)) + "," + str(UUID(int=2))])
def test_what_is_no_id_stays_an_element(strange: str) -> None:
    assert uuids([strange]) == [strange]
    assert uuids([str(UUID(int=3)), strange]) == [str(UUID(int=3)), strange]


@given(st.lists(st.floats(-65_504, 65_504, width=16), min_size=1, max_size=40))
def test_a_vector_is_read_as_the_float16s_that_it_is_rounded_to(numbers: list[float]) -> None:
    text = halfvec(np.array(numbers, np.float32))
    assert (text[0], text[-1]) == ("[", "]")
    assert [np.float16(each) for each in text[1:-1].split(",")] == [np.float16(number) for number in numbers]
