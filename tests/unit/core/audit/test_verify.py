"""An intact journal passes, alone, beside a database and on a living system; no altered byte passes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Counts, Kind, VerifyReport
from memquorum.core.audit.verify import verify_shard
from memquorum.core.avro import Codec
from memquorum.core.journal import hash_chain
from memquorum.core.records import Decided
from tests import examples
from tests.builders import votes
from tests.builders.published import GENESIS, A, Published, kinds, lively, publish, resign
from tests.builders.shard import Shard


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_a_whole_journal_is_found_whole(shard: Shard, batch: int) -> None:
    public = publish(shard, batch)
    report = public.audit(store=True)
    assert kinds(report) == []
    assert (report.seq, report.judged, report.as_of) == (17, 17, 200_500)
    assert report.hash == shard.rows.state.hash
    heads = len(public.heads)
    counts = report.counts
    assert (counts.entries, counts.heads, counts.decisions, counts.ballots) == (17, heads, 2, 8)
    assert counts.signatures == heads + 2 * (1 + 1 + 4 + 4)  # nomination, pre-prepare, ballots, commits
    assert counts.rows == sum(len(rows) for rows in public.tables.values())


def test_the_topics_are_enough(public: Published) -> None:
    report = public.audit()
    assert kinds(report) == [] and report.counts.rows == 0


def test_an_empty_shard_is_whole(codec: Codec) -> None:
    report = publish(Shard(codec, GENESIS)).audit(store=True)
    assert kinds(report) == [] and report.hash == hash_chain.genesis_hash(GENESIS.cluster, 0)


def test_a_database_that_knows_nothing_of_an_empty_shard_is_right(codec: Codec) -> None:
    public = publish(Shard(codec, GENESIS))
    public.tables["shard"].clear()
    assert kinds(public.audit(store=True)) == []


def test_publishing_twice_is_no_fault(public: Published) -> None:
    public.entries[9:9] = public.entries[4:9]
    public.heads[9:9] = public.heads[4:9]
    report = public.audit(store=True)
    assert kinds(report) == [] and (report.counts.entries, report.counts.repeats) == (17, 5)


def test_progress_is_told(public: Published) -> None:
    seen: list[int] = []
    verify_shard(public.rules, 0, entries=_source(public.entries, 17), heads=_source([], 0), progress=seen.append)
    assert seen == list(range(1, 18))


def test_many_findings_are_counted_and_not_all_kept(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for at in range(120):
        shard.tick(at)
    public = publish(shard)
    public.heads = [resign(public.rules, "service:journal", "member:1", head) for head in public.heads]
    report = public.audit()
    assert kinds(report) == [Kind.HEAD_FORGED] * 100 + [Kind.TAIL_UNSIGNED] and report.more == 20
    whole = VerifyReport((report, report), store_compared=False)
    assert not whole.ok and len(whole.findings) == 202 and whole.counts.entries == 240
    assert VerifyReport((), store_compared=True).counts == Counts()


# A living system: the witnesses were not looked at in the same instant ------------------------------------------------


def _source(data: list[bytes], settled: int, asked: list[int] | None = None) -> Source:
    """`settled` of the records were there at first; `asked` collects the offsets that were read beyond."""

    def records() -> Iterator[Record]:
        for at, value in enumerate(data):
            if asked is not None and at >= settled:
                asked.append(at)
            yield Record(at, value)

    return Source(records(), settled)


@pytest.mark.parametrize(
    ("heads", "entries", "rows"),
    [
        (17, 17, 17),
        (10, 12, 14),  # as an auditor of a busy shard reads: heads first, then entries, then the database
        (0, 12, 14),
        (10, 12, 12),
        (0, 0, 17),
        (0, 0, 0),
    ],
)
def test_witnesses_that_grow_meanwhile_agree(codec: Codec, heads: int, entries: int, rows: int) -> None:
    whole = lively(Shard(codec, GENESIS))
    public = publish(whole)
    asked: list[int] = []
    report = verify_shard(
        public.rules, 0, entries=_source(public.entries, entries, asked), heads=_source(public.heads, heads),
        store=publish(_at(whole, rows)).store(),
    )  # fmt: skip
    assert kinds(report) == []
    assert report.seq == max(entries, rows)
    assert asked == list(range(entries, rows))  # no more than it takes: asking for what is not there would wait


def test_a_later_head_covers_earlier_entries(shard: Shard) -> None:
    """The entries up to the next head are newer than the database's snapshot, and change memories that it shows."""
    public = publish(shard, batch=100)  # one head, after the last entry
    asked: list[int] = []
    report = verify_shard(
        public.rules, 0, entries=_source(public.entries, 9, asked), heads=_source(public.heads, 0),
        store=publish(_at(shard, 9)).store(),
    )  # fmt: skip
    assert kinds(report) == [] and report.seq == 17 and asked == list(range(9, 17))


def _at(shard: Shard, entries: int) -> Shard:
    """The shard as it was after so many entries."""
    earlier = Shard(shard.rules.codec, GENESIS)
    for change in shard.changes[:entries]:
        earlier.work.absorb(change)
        earlier.changes.append(change)
    return earlier


def test_rows_that_never_reach_the_topic_are_named(public: Published) -> None:
    del public.entries[14:], public.heads[14:]
    assert kinds(public.audit(store=True)) == [Kind.ROWS_UNPUBLISHED]


# No altered byte passes -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(codec: Codec) -> Published:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(10_500)
    shard.destroy(A)
    return publish(shard, batch=2)


def _flip(data: bytes, at: int, bit: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


BYTE, BIT = st.integers(0, 10**6), st.integers(0, 7)


@settings(max_examples=examples(400), deadline=None)
@given(record=st.integers(0, 7), at=BYTE, bit=BIT)
def test_no_byte_of_the_topics_can_be_altered(small: Published, record: int, at: int, bit: int) -> None:
    entries, heads = list(small.entries), list(small.heads)
    values, index = (entries, record) if record < len(entries) else (heads, record - len(entries))
    values[index] = _flip(values[index], at, bit)
    assert not replace(small, entries=entries, heads=heads).audit().ok


@settings(max_examples=examples(400), deadline=None)
@given(part=st.integers(0, 4), at=BYTE, bit=BIT)
def test_no_byte_of_a_certificate_can_be_altered(small: Published, part: int, at: int, bit: int) -> None:
    """Not even by one who holds the journal's key, and makes hashes and heads anew."""
    public = replace(small)
    decided = public.detail(2)
    assert isinstance(decided, Decided)
    if part == 4:
        forged = replace(decided, pre_prepare=_flip(decided.pre_prepare, at, bit))
    else:
        commits = list(decided.commits)
        commits[part] = _flip(commits[part], at, bit)
        forged = replace(decided, commits=tuple(commits))
    public.forge(2, forged)
    assert kinds(public.audit())[0] == Kind.CERTIFICATE_INVALID
