"""The demo's ledger: sums from the journal alone, whatever order journal and nominations are read in."""

import itertools

import pytest

from infra.demo.entry_counts import Ledger, percentile
from memquorum.core.ids import memory_id
from memquorum.core.records import (
    ASKS,
    MISSED,
    Decided,
    Destroyed,
    JournalEntry,
    NominationProposed,
    Proposal,
    Result,
    Standing,
    Stored,
    Ticked,
)
from memquorum.core.vote.kinds import KINDS
from memquorum.schema_files import load_codec
from tests.builders.used import used

CODEC = load_codec()
SEQ = itertools.count(1)
NOWHERE = Standing(0, 0, 0, 0)


def entry(effect: str, detail: object, event: str = "e", memory: str | None = None, as_of: int = 7) -> JournalEntry:
    return JournalEntry(0, next(SEQ), as_of, effect, event, "t", 0, 0, CODEC.encode(detail), "n", memory)


def stored(outcome: str = "stored", characters: int = 10) -> Stored:
    return Stored(
        agent="a", subject="a", occurred_at=1, commitment=b"", characters=characters, outcome=outcome, salience_ppm=5,
        early=False, accepted_offset=0, scored_offset=0, encoder="enc",
    )  # fmt: skip


def nomination(epoch: int, *memories: str) -> NominationProposed:
    proposals = tuple(Proposal((m,), "n", "forget", "decayed", 1, 1, 5) for m in memories)
    return NominationProposed(b"", 0, 0, epoch, 7, 0, "interval", proposals)


def decided(epoch: int, **ends: str) -> Decided:
    of = {kind.outcome: kind.name for kind in KINDS.values()}
    results = tuple(Result((m,), of.get(end, "forget"), end, "quorum") for m, end in ends.items())
    return Decided(epoch, 0, epoch, b"", (), results)


def test_effects_tiers_and_characters():
    ledger = Ledger(CODEC)
    for event, memory in (("e1", "A"), ("e2", "B"), ("e3", "C")):
        ledger.entry(entry("stored", stored(), event, memory), 0)
    ledger.entry(entry("reinforced", stored("reinforced", 3), "e4", "A"), 0)
    ledger.entry(entry("dropped", stored("below_threshold", 4), "e5", "E"), 0)
    ledger.entry(entry("repeated", stored(), "e1", "A"), 0)
    ledger.entry(entry("accessed", used("A"), "e6"), 0)
    ledger.entry(entry("accessed", used("Z", outcome=MISSED), "e7"), 0)
    ledger.entry(entry("ticked", Ticked(7, NOWHERE)), 0)
    assert ledger.effects == {"stored": 3, "reinforced": 1, "dropped": 1, "repeated": 1, "accessed": 2, "ticked": 1}
    assert ledger.reasons == {"below_threshold": 1}
    assert (ledger.recorded(), ledger.idle_accesses) == (5, 1)
    assert ledger.memory(memory_id("n", "e4")) == "A"
    assert ledger.memory("B") == "B"
    (moment,) = ledger.moments
    assert (moment.tiers["short-term"], moment.characters, moment.everything) == (3, 30, 37)


@pytest.mark.parametrize("journal_first", [True, False])
def test_an_epoch_whichever_topic_is_read_first(journal_first):
    ledger = Ledger(CODEC)
    for memory in "ABCD":
        ledger.entry(entry("stored", stored(), memory, memory), 0)

    def journal():
        ends = {"A": "forgotten", "B": "promoted", "C": "kept", "D": "voided"}
        ledger.entry(entry("decided", decided(1, **ends)), 1250)
        ledger.entry(entry("destroyed", Destroyed(("A", "X"))), 1260)

    if journal_first:
        journal()
    ledger.nominated(nomination(1, *"ABCD"), 1000)
    ledger.nominated(nomination(1, *"ABCD"), 1100)  # sent again: the first counts
    if not journal_first:
        journal()
    assert ledger.tiers() == {"short-term": 2, "long-term": 1, "sealed": 0, "superseded": 0, "gone": 1}
    assert ledger.outcomes() == {"forgotten": 1, "promoted": 1, "kept": 1, "voided": 1, "open": 0}
    assert (ledger.nominations(), ledger.latencies()) == (4, [250])
    ledger.entry(entry("ticked", Ticked(7, NOWHERE)), 0)
    assert ledger.moments[-1].characters == 30


def test_what_is_restored_is_in_short_term_memory():
    ledger = Ledger(CODEC)
    for memory in "AB":
        ledger.entry(entry("stored", stored(), memory, memory), 0)
    for epoch, ends in enumerate(({"A": "promoted"}, {"A": "demoted"}, {"A": "forgotten", "B": "forgotten"}), 1):
        ledger.entry(entry("decided", decided(epoch, **ends)), 0)
    ledger.entry(entry("asked", used("A", outcome=ASKS), "e"), 0)
    assert ledger.idle_accesses == 0
    ledger.entry(entry("decided", decided(4, A="restored", B="restored")), 0)
    assert ledger.tiers() == {"short-term": 2, "long-term": 0, "sealed": 0, "superseded": 0, "gone": 0}


def test_the_last_moment_speaks_of_what_its_tick_led_to():
    ledger = Ledger(CODEC)
    ledger.settle()
    ledger.entry(entry("stored", stored(), "A", "A"), 0)
    ledger.entry(entry("ticked", Ticked(7, NOWHERE)), 0)
    ledger.entry(entry("decided", decided(1, A="forgotten")), 0)
    ledger.settle()
    assert [(m.as_of, m.tiers["sealed"], m.characters) for m in ledger.moments] == [(7, 1, 0)]


def test_what_was_published_again_is_counted_once():
    ledger = Ledger(CODEC)
    first, second = entry("stored", stored(), "e1", "A"), entry("stored", stored(), "e2", "B")
    assert [ledger.entry(e, 0) for e in (first, second, first, second)] == [True, True, False, False]
    assert ledger.effects == {"stored": 2}


def test_what_is_not_decided_is_open():
    ledger = Ledger(CODEC)
    ledger.nominated(nomination(1, *"AB"), 1000)
    assert ledger.outcomes()["open"] == ledger.nominations() == 2
    assert ledger.latencies() == []


def test_shards_that_tick_together_are_one_moment():
    ledger = Ledger(CODEC)
    for as_of in (1, 1, 1, 2):
        ledger.entry(entry("ticked", Ticked(as_of, NOWHERE), as_of=as_of), 0)
    assert [m.as_of for m in ledger.moments] == [1, 2]


def test_the_fingerprint_is_of_the_outcomes_and_not_of_their_times():
    def fingerprint_of(end: str, at: int) -> str:
        ledger = Ledger(CODEC)
        ledger.nominated(nomination(1, "A"), at)
        ledger.entry(entry("decided", decided(1, A=end)), at + 5)
        return ledger.fingerprint()

    assert fingerprint_of("kept", 1000) == fingerprint_of("kept", 2000) != fingerprint_of("promoted", 1000)


def test_percentiles_by_nearest_rank():
    assert percentile([], 0.5) == 0
    assert [percentile([10, 20, 30, 40], p) for p in (0.25, 0.5, 0.51, 0.99, 1)] == [10, 20, 30, 40, 40]
