"""Ids as one parameter: what Postgres reads as an array, and nothing else."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.arrays import uuids


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
