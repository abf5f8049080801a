"""The demo's sums: each one fails when anything is lost or counted twice."""

from collections import Counter
from dataclasses import replace

import pytest

from infra.demo.driver import Refused
from infra.demo.entry_counts import AGAIN, Epoch, Ledger
from infra.demo.inputs import Tally
from infra.demo.sums import Stored, checks, sums
from memquorum.core.records import Result
from memquorum.schema_files import load_codec

REFUSED = [Refused("episode", "e9", "empty_value", "content", "blank")]


def run() -> tuple[Tally, Counter, Ledger]:
    tally = Tally(files=1, messages=9, accesses=3, episodes=9, empty=["x"], split=[("y", 2)])
    ledger = Ledger(load_codec())
    ledger.effects.update(stored=4, reinforced=1, dropped=2, repeated=1, accessed=1, asked=1)
    ledger.effects[AGAIN] = 1
    ledger.reasons.update(below_threshold=1, unsure=1)
    for memory, tier in {"A": "gone", "B": "sealed", "C": "long-term", "D": "short-term"}.items():
        ledger._move(memory, tier)
    ends = ("forgotten", "forgotten", "promoted", "kept", "forgotten", "restored")
    results = tuple(Result((m,), "forget", end, "quorum") for m, end in zip("ABCDDD", ends, strict=True))
    ledger.epochs[0, 1] = Epoch(0, 1, 7, "interval", 6, 1000, 1250, results)
    ledger.epochs[0, 2] = Epoch(0, 2, 8, "interval", 3, 2000)
    return tally, Counter(episodes=9, accesses=3), ledger


def stored() -> Stored:
    return Stored(
        events={"stored": 4, "reinforced": 1, "below_threshold": 1, "unsure": 1, "accessed": 2},
        tiers={"gone": 1, "sealed": 1, "long-term": 1, "short-term": 1},
        outcomes={"forgotten": 3, "promoted": 1, "kept": 1, "restored": 1},
    )


def test_everything_adds_up():
    tally, published, ledger = run()
    assert all(s.holds for s in sums(tally, published, REFUSED, ledger))
    assert all(c.holds for c in checks(tally, published, ledger, stored()))


@pytest.mark.parametrize(
    ("whole", "spoil"),
    [
        ("episodes to publish", lambda t, p, book: t.empty.append("z")),
        ("episodes published", lambda t, p, book: p.update(episodes=1)),
        ("episodes published", lambda t, p, book: book.effects.update(stored=1)),
        ("accesses published", lambda t, p, book: book.effects.update(accessed=1)),
        ("accesses published", lambda t, p, book: book.effects.update(asked=1)),
        (
            "proposals nominated",
            lambda t, p, book: book.epochs.update({(0, 1): replace(book.epochs[0, 1], proposals=5)}),
        ),
        ("memories stored", lambda t, p, book: book._move("E", "gone")),
        ("memories forgotten", lambda t, p, book: book._move("A", "short-term")),
    ],
)
def test_what_is_lost_or_counted_twice_shows(whole, spoil):
    tally, published, ledger = run()
    spoil(tally, published, ledger)
    assert whole in [s.whole[0] for s in sums(tally, published, REFUSED, ledger) if not s.holds]


@pytest.mark.parametrize("part", ["events", "tiers", "outcomes"])
def test_a_database_that_says_something_else_shows(part):
    found = stored()
    wrong = replace(found, **{part: {**getattr(found, part), "stored": 99}})
    assert [c.name for c in checks(*run(), wrong) if not c.holds] == [
        {
            "events": "Postgres holds the journal's events",
            "tiers": "Postgres holds the journal's memories by tier",
            "outcomes": "Postgres holds the journal's outcomes",
        }[part]
    ]


def test_a_log_published_in_part_shows():
    tally, published, ledger = run()
    published["accesses"] -= 1
    assert "the whole log was published" in [c.name for c in checks(tally, published, ledger, stored()) if not c.holds]
