"""Every way of tampering with the chain or its heads is found, and named by its kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import Rules
from memquorum.core.records import JournalAppended, Signed, Standing, Ticked
from tests.builders import genesis
from tests.builders.published import GENESIS, STORED, Published, kinds, lively, publish, resign, signed_head
from tests.builders.shard import Shard


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


# The chain ----------------------------------------------------------------------------------------------------------


def flip(data: bytes, at: int, bits: int = 1) -> bytes:
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]


def alter_entry(public: Published) -> None:
    public.relink(STORED, entry=flip(public.link(STORED).entry, -1 % len(public.link(STORED).entry)))


def swap(public: Published) -> None:
    public.entries[3], public.entries[4] = public.entries[4], public.entries[3]


def insert_junk(public: Published) -> None:
    public.entries.insert(4, b"junk")


def insert_foreign(public: Published) -> None:
    entry = public.rules.codec.encode(replace(public.entry(4), shard=1, seq=5))
    link = JournalAppended(entry, public.link(3).hash, hash_chain.entry_hash(public.link(3).hash, entry))
    public.entries.insert(4, public.rules.codec.encode(link))


def fork(public: Published) -> None:
    entry = public.rules.codec.encode(replace(public.entry(4), event_id="other"))
    link = JournalAppended(entry, public.link(3).hash, hash_chain.entry_hash(public.link(3).hash, entry))
    public.entries.insert(5, public.rules.codec.encode(link))


def repeat_altered(public: Published) -> None:
    """Published again under its own hash, with other bytes: what a reader who skips repetitions would take as read."""
    link = public.link(4)
    altered = public.rules.codec.encode(replace(public.entry(4), event_id="other"))
    public.entries.insert(9, public.rules.codec.encode(replace(link, entry=altered)))


def overwrite_with_junk(public: Published) -> None:
    public.entries[4] = b"junk"


def drop_the_beginning(public: Published) -> None:
    del public.entries[:3], public.heads[:3]


def leap(public: Published) -> None:
    entry = public.rules.codec.encode(replace(public.entry(16), seq=2**40))
    link = JournalAppended(entry, public.link(16).hash, hash_chain.entry_hash(public.link(16).hash, entry))
    public.entries.append(public.rules.codec.encode(link))


@pytest.mark.parametrize(
    ("tamper", "expected", "seq"),
    [
        pytest.param(alter_entry, [Kind.HASH_WRONG], 2, id="an entry's byte altered"),
        pytest.param(lambda p: p.relink(4, hash=bytes(32)), [Kind.HASH_WRONG], 5, id="a hash altered"),
        pytest.param(lambda p: p.relink(4, previous_hash=bytes(32)), [Kind.LINK_BROKEN], 5, id="a link altered"),
        pytest.param(lambda p: p.entries.pop(4), [Kind.ENTRY_MISSING], 5, id="an entry removed"),
        pytest.param(lambda p: p.entries.__delitem__(slice(4, 8)), [Kind.ENTRY_MISSING], 5, id="four removed"),
        pytest.param(drop_the_beginning, [Kind.ENTRY_MISSING], 1, id="the beginning removed"),
        pytest.param(swap, [Kind.ENTRY_MISSING, Kind.ENTRY_REORDERED], 4, id="two swapped"),
        pytest.param(insert_junk, [Kind.UNREADABLE], None, id="junk inserted"),
        pytest.param(overwrite_with_junk, [Kind.UNREADABLE], None, id="an entry overwritten"),
        pytest.param(lambda p: p.relink(4, entry=b""), [Kind.HASH_WRONG], 5, id="an entry emptied"),
        pytest.param(insert_foreign, [Kind.FOREIGN_ENTRY], 5, id="another shard's entry inserted"),
        pytest.param(fork, [Kind.ENTRY_FORKED], 5, id="a second entry of one sequence"),
        pytest.param(repeat_altered, [Kind.ENTRY_FORKED], 5, id="a repetition with other bytes"),
        pytest.param(leap, [Kind.ENTRY_MISSING], 18, id="a sequence far ahead"),
        pytest.param(lambda p: p.entries.pop(), [Kind.TAIL_CUT], 17, id="the tail cut"),
        pytest.param(lambda p: p.entries.__delitem__(slice(5, None)), [Kind.TAIL_CUT], 6, id="a long tail cut"),
        pytest.param(lambda p: p.entries.clear(), [Kind.TAIL_CUT], 1, id="everything cut"),
    ],
)
def test_a_tampered_chain_is_named(
    public: Published, tamper: Callable[[Published], object], expected: list[Kind], seq: int | None
) -> None:
    tamper(public)
    report = public.audit()
    assert kinds(report) == expected
    assert report.findings[0].seq == seq


def test_what_follows_a_break_is_still_checked(public: Published) -> None:
    broken = public.detail(16)
    public.forge(16, replace(broken, commits=broken.commits[:1]))
    del public.entries[4]
    report = public.audit()
    assert kinds(report) == [Kind.ENTRY_MISSING, Kind.CERTIFICATE_INVALID]
    assert report.judged == 4 and report.seq == 17


def test_an_unreadable_entry_in_a_chain_that_was_made_anew(public: Published) -> None:
    link = public.link(16)
    public.relink(16, entry=b"no entry", hash=hash_chain.entry_hash(link.previous_hash, b"no entry"))
    public.heads[-1] = signed_head(public.rules, 17, public.link(16).hash, 200_500)
    assert kinds(public.audit()) == [Kind.UNREADABLE]


def test_a_chain_of_another_cluster_or_shard_is_not_taken(shard: Shard, codec: Codec) -> None:
    public = publish(shard)
    # The same members with other weights are another cluster: nothing of it is this one's.
    other = genesis.make(weights=(1000, 1000, 1000, 1000), policy=GENESIS.policy)
    public.rules = Rules(codec, other)
    found = kinds(public.audit())
    assert found[0] == Kind.LINK_BROKEN and found.count(Kind.HEAD_FORGED) == 17
    assert found.count(Kind.CERTIFICATE_INVALID) == 2


# Heads --------------------------------------------------------------------------------------------------------------


def rewrite_without_the_key(public: Published) -> None:
    """All hashes made anew, as anybody can who may write to the topic; the heads are the old ones."""
    heads = public.heads
    public.rewrite(STORED, event_id="b")
    public.heads = heads


def append_without_the_key(public: Published) -> None:
    last = public.link(16)
    # Flawless but for the missing head.
    tick = public.rules.codec.encode(Ticked(200_500, Standing(2, 200_500, interactions=0, alive=3)))
    entry = public.rules.codec.encode(replace(public.entry(13), seq=18, source_offset=99, detail=tick))
    link = JournalAppended(entry, last.hash, hash_chain.entry_hash(last.hash, entry))
    public.entries.append(public.rules.codec.encode(link))


def head(public: Published, at: int, **changes: Any) -> None:
    link, entry = public.link(at), public.entry(at)
    values = {"state_seq": entry.seq, "digest": link.hash, "as_of": entry.as_of} | changes
    public.heads[at] = signed_head(public.rules, **values)


def body(public: Published, at: int) -> bytes:
    return public.rules.codec.decode_as(Signed, public.heads[at]).body


def forge_head(public: Published, at: int, signer: str, key: str) -> None:
    public.heads[at] = resign(public.rules, signer, key, body(public, at))


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (lambda p: forge_head(p, 3, "service:journal", "member:0"), [Kind.HEAD_FORGED]),
        (lambda p: forge_head(p, 3, "member:0", "member:0"), [Kind.HEAD_FORGED]),
        (lambda p: p.heads.__setitem__(3, b"junk"), [Kind.HEAD_FORGED]),
        (lambda p: head(p, 3, shard=1), [Kind.HEAD_FORGED]),
        (lambda p: head(p, 3, digest=bytes(32)), [Kind.HEAD_CONTRADICTED]),
        (lambda p: head(p, 3, as_of=7), [Kind.HEAD_CONTRADICTED]),
        (lambda p: p.heads.append(signed_head(p.rules, 5, bytes(32), 2_000)), [Kind.HEAD_CONTRADICTED]),
        (lambda p: p.heads.append(signed_head(p.rules, 19, bytes(32), 2_000)), [Kind.TAIL_CUT]),
        (lambda p: p.heads.pop(), [Kind.TAIL_UNSIGNED]),
        (lambda p: p.heads.clear(), [Kind.TAIL_UNSIGNED]),
        (append_without_the_key, [Kind.TAIL_UNSIGNED]),
    ],
)
def test_tampered_heads_are_named(
    public: Published, tamper: Callable[[Published], object], expected: list[Kind]
) -> None:
    tamper(public)
    assert kinds(public.audit()) == expected


def test_a_chain_made_anew_contradicts_the_heads(public: Published) -> None:
    rewrite_without_the_key(public)
    found = kinds(public.audit())
    assert found.count(Kind.HEAD_CONTRADICTED) == 16  # all but the head before the altered entry
