"""A person's receipt is signed page by page, and the journal shows where it says too much or too little."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.accounts.stating import FORMAT, StatedEvent, StatedRecord
from memquorum.core.audit import person_receipts
from memquorum.core.audit.person_receipts import Compared, Statement
from memquorum.core.audit.receipts import BadReceipt, OtherCluster
from memquorum.core.records import Decided, Erased, ErasedEpisode, JournalEntry, Result, Stored
from memquorum.schema_files import load_codec
from tests.builders.erasures import entitled
from tests.builders.genesis import make, seed_of

CODEC, GENESIS = load_codec(), make(**entitled())
SPACE = "greenhouse"
ONE, TWO = (ids.memory_id(SPACE, event) for event in ("e1", "e2"))
HASH = b"h" * 32
STORED = StatedEvent(what="stored", at=10, journal_seq=1, entry=HASH.hex())
FORGOTTEN = StatedEvent(what="forgotten", at=20, journal_seq=2, why="it was not used")
FIRST = StatedRecord(ONE, "sealed", 10, True, None, (), (STORED, FORGOTTEN))
SECOND = StatedRecord(TWO, "erased", 11, True, None, (), (StatedEvent(what="erased", at=30, journal_seq=3),))


def statement(**changes: Any) -> Statement:
    made = Statement(
        cluster=GENESIS.cluster.hex(), namespace=SPACE, shard=0, selector="subject", value="ada", issued_at=99, ends=3,
        records=2, kept_back=0, after=None, through=None, each=(FIRST, SECOND),
    )  # fmt: skip
    return replace(made, **changes)


def receipt(*statements: Statement) -> dict[str, Any]:
    key = seed_of("service:erasure")
    return {"format": FORMAT, "parts": [person_receipts.part(GENESIS, key, one, ()) for one in statements]}


def verify(made: object) -> person_receipts.Person:
    return person_receipts.verify(CODEC, GENESIS, json.dumps(made).encode())


def test_its_pages_are_one_receipt() -> None:
    place = (10, ONE)
    pages = statement(each=(FIRST,), through=place), statement(each=(SECOND,), after=place)
    assert verify(receipt(*pages)).each == verify(receipt(statement())).each == (FIRST, SECOND)
    assert person_receipts.is_one(json.dumps(receipt(statement()), indent=1).encode())


def test_a_page_is_neither_changed_nor_left_out_nor_of_another_person() -> None:
    place = (10, ONE)
    one, two = statement(each=(FIRST,), through=place), statement(each=(SECOND,), after=place)
    changed = receipt(statement())
    changed["parts"][0]["statement"]["each"][0]["events"][1]["why"] = "nobody wanted it"
    for made, told in (
        (changed, "was changed"),
        (receipt(one), "missing"),
        (receipt(two), "does not follow"),
        (receipt(one, one), "does not follow"),
        (receipt(one, replace(two, value="bob")), "another person"),
        (receipt(statement(each=(FIRST,))), "1 of 2 records"),
        ({"format": FORMAT, "parts": []}, "empty"),
        ({"format": FORMAT, "parts": [{"statement": {}, "signature": ""}]}, "cannot be read"),
        ([], "not a receipt"),
    ):
        with pytest.raises(BadReceipt, match=told):
            verify(made)
    with pytest.raises(OtherCluster):
        verify(receipt(statement(cluster="ab" * 32)))


def test_another_key_signs_none() -> None:
    made = {"format": FORMAT, "parts": [person_receipts.part(GENESIS, seed_of("service:journal"), statement(), ())]}
    with pytest.raises(BadReceipt, match="not service:erasure's"):
        verify(made)


def entry(seq: int, effect: str, event: str = "order") -> JournalEntry:
    return JournalEntry(0, seq, seq * 10, effect, event, "memory.accepted.v1", 0, seq, b"", SPACE)


def stored(subject: str = "ada") -> Stored:
    return Stored(
        agent="planner", subject=subject, occurred_at=9, commitment=b"c" * 32, characters=9, outcome="stored",
        salience_ppm=600_000, early=False, accepted_offset=1, scored_offset=1, encoder="e",
    )  # fmt: skip


DECIDED = Decided(1, 0, 1, b"", (), (Result((ONE,), "forget", "forgotten", "unused"),))
ERASED = Erased(b"", 30, 0, 1, 90, (ErasedEpisode(TWO, "long-term", b"c" * 32),))
# The receipt leaves out of the second record that it was stored.
JOURNAL = [(entry(1, "stored", "e1"), stored()), (entry(2, "decided"), DECIDED), (entry(3, "erased"), ERASED)]


def compared(*journal: tuple[JournalEntry, object], **changes: Any) -> list[str]:
    beside = Compared(verify(receipt(statement(**changes))))
    for one, detail in journal:
        beside.take(one, detail, HASH)
    return beside.finish()


def test_the_journal_bears_it_out() -> None:
    assert compared(*JOURNAL) == []
    assert compared(*JOURNAL, (entry(4, "stored", "e9"), stored())) == [], "it came after the receipt"
    assert compared(*JOURNAL, (entry(3, "stored", "e8"), stored("bob"))) == []


@pytest.mark.parametrize(
    ("journal", "changes", "told"),
    [
        (JOURNAL[:2], {}, "ends at entry 2"),
        ([JOURNAL[0], (entry(2, "decided"), None), JOURNAL[2]], {}, "does not say that .* was forgotten"),
        (JOURNAL, {"each": (replace(FIRST, events=(STORED,)), SECOND)}, "leaves out that .* was forgotten"),
        (JOURNAL, {"each": (replace(FIRST, events=(replace(STORED, entry="00"), FORGOTTEN)), SECOND)}, "was stored"),
        ([*JOURNAL[:2], (entry(3, "stored", "e7"), stored()), JOURNAL[2]], {}, "1 records are left out"),
        ([*JOURNAL[:2], (entry(3, "drafted", "e2"), stored()), JOURNAL[2]], {}, "leaves out that .* was drafted"),
    ],
)
def test_the_journal_shows_what_is_wrong(journal: list[Any], changes: dict[str, Any], told: str) -> None:
    assert re.search(told, "\n".join(compared(*journal, **changes)))
