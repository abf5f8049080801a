"""The chain: whatever is altered, left out, moved or taken from another chain breaks it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.journal import hash_chain
from memquorum.core.journal.hash_chain import BrokenChain
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.schema_files import load_codec

CODEC = load_codec()
CLUSTER = bytes(range(32))


def entry(seq: int, as_of: int = 5, shard: int = 2, detail: bytes = b"d") -> JournalEntry:
    return JournalEntry(shard, seq, as_of, "ticked", f"e{seq}", "topic", shard, seq, detail)


def chain(times: list[int]) -> tuple[ShardState, list[JournalAppended]]:
    state, appended = hash_chain.beginning(CLUSTER, 2), []
    for seq, as_of in enumerate(times, start=1):
        one = entry(seq, as_of)
        appended.append(hash_chain.append(CODEC, state, one))
        state = hash_chain.advance(state, one, appended[-1])
    return state, appended


def walk(appended: list[JournalAppended], codec: Codec = CODEC) -> ShardState:
    state = hash_chain.beginning(CLUSTER, 2)
    for link in appended:
        state = hash_chain.advance(state, hash_chain.check_link(codec, state, link), link)
    return state


def test_the_hash_is_what_the_decision_says() -> None:
    state = hash_chain.beginning(CLUSTER, 2)
    assert state.hash == hashlib.sha256(b"memquorum/journal/0" + CLUSTER + b"\0\0\0\2").digest()
    link = hash_chain.append(CODEC, state, entry(1))
    assert link.hash == hashlib.sha256(b"memquorum/journal/1" + state.hash + link.entry).digest()


def test_shards_and_clusters_have_their_own_beginnings() -> None:
    assert (
        len(
            {
                hash_chain.genesis_hash(CLUSTER, 0),
                hash_chain.genesis_hash(CLUSTER, 1),
                hash_chain.genesis_hash(b"x" * 32, 0),
            }
        )
        == 3
    )


@given(st.lists(st.integers(0, 2**40), max_size=8).map(sorted))
def test_a_chain_leads_to_where_it_was_written(times: list[int]) -> None:
    state, appended = chain(times)
    assert walk(appended) == state
    assert state.seq == len(times)


@given(st.lists(st.integers(0, 100), min_size=2, max_size=6).map(sorted), st.data())
def test_any_damage_breaks_the_chain(times: list[int], data: st.DataObject) -> None:
    _, appended = chain(times)
    at = data.draw(st.integers(0, len(appended) - 1))
    damage = data.draw(st.sampled_from(["entry", "previous_hash", "hash", "remove", "swap", "repeat"]))
    damaged = list(appended)
    if damage in ("entry", "previous_hash", "hash"):
        old = getattr(appended[at], damage)
        place = data.draw(st.integers(0, len(old) - 1))
        new = old[:place] + bytes([old[place] ^ (1 << data.draw(st.integers(0, 7)))]) + old[place + 1 :]
        damaged[at] = replace(appended[at], **{damage: new})
    elif damage == "remove":
        at = min(at, len(appended) - 2)  # a cut tail is the signed heads' matter
        del damaged[at]
    elif damage == "swap":
        at = min(at, len(appended) - 2)
        damaged[at], damaged[at + 1] = damaged[at + 1], damaged[at]
    else:
        damaged.insert(at, appended[at])
    with pytest.raises(BrokenChain):
        walk(damaged)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (entry(3), "sequence 3"),
        (entry(1), "sequence 1"),
        (entry(2, shard=1), "of shard 1"),
        (entry(2, as_of=4), "time 4 lies before 5"),
    ],
)
def test_what_is_not_next_is_not_appended(wrong: JournalEntry, complaint: str) -> None:
    state, _ = chain([5])
    with pytest.raises(BrokenChain, match=complaint):
        hash_chain.append(CODEC, state, wrong)
    # Nor accepted when somebody else has appended it with a hash that fits.
    data = CODEC.encode(wrong)
    with pytest.raises(BrokenChain, match=complaint):
        hash_chain.check_link(CODEC, state, JournalAppended(data, state.hash, hash_chain.entry_hash(state.hash, data)))


def test_bytes_that_are_no_entry_are_named() -> None:
    state, _ = chain([])
    with pytest.raises(BrokenChain, match="cannot be read"):
        hash_chain.check_link(CODEC, state, JournalAppended(b"?", state.hash, hash_chain.entry_hash(state.hash, b"?")))


def test_a_walk_ends_before_the_link_that_does_not_follow_and_says_why() -> None:
    whole, appended = chain([5, 6, 7])
    begins = hash_chain.beginning(CLUSTER, 2)
    assert hash_chain.walk(CODEC, begins, appended) == (whole, None)
    assert hash_chain.walk(CODEC, begins, []) == (begins, None)
    state, problem = hash_chain.walk(CODEC, begins, [appended[0], appended[2]])
    assert (state, problem is not None and "follows" in problem) == (walk(appended[:1]), True)
