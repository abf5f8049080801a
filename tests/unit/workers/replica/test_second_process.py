"""The records that show that another process signs as this member."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.identity.messages import sign
from tests.builders.genesis import make, seed_of
from workers.replica.second_process import TwinRuns, Twins

ME = 2


def seat(*, live: bool = True, fresh: bool = True, speaks: bool = False) -> Any:
    core = SimpleNamespace(silence=SimpleNamespace(fresh=fresh), speaks=speaks)
    return SimpleNamespace(shard=1, live=live, core=core, genesis=make())


def said(codec: Codec, member: int, key: int | None = None) -> bytes:
    """A message in a member's name. `key`: of another one, that signs it."""
    signed = sign(make().cluster, f"member:{member}", seed_of(f"member:{member if key is None else key}"), b"body")
    return codec.encode(signed)


def later() -> int:
    return time.time_ns() // 1_000_000 + 5_000


def test_a_message_of_its_own_that_was_written_after_its_start_is_a_twins(codec: Codec) -> None:
    with pytest.raises(TwinRuns, match="another process signs as member 2 in shard 1"):
        Twins(codec, ME).heard(seat(), said(codec, ME), later())


@pytest.mark.parametrize(
    "about",
    [
        {"fresh": False},  # it knows what it has signed
        {"live": False},  # it reads what is old
        {"speaks": True},
    ],
)
def test_a_member_that_knows_what_it_signed_hears_itself(codec: Codec, about: dict[str, bool]) -> None:
    Twins(codec, ME).heard(seat(**about), said(codec, ME), later())


def test_other_records_prove_nothing(codec: Codec) -> None:
    twins = Twins(codec, ME)
    # Sent before the start, of another member, in its name by another key, and no message at all.
    twins.heard(seat(), said(codec, ME), later() - 3_600_000)
    twins.heard(seat(), said(codec, ME + 1), later())
    twins.heard(seat(), said(codec, ME, ME + 1), later())
    twins.heard(seat(), b"nonsense", later())
    with pytest.raises(TwinRuns):
        twins.heard(seat(), said(codec, ME), later())
