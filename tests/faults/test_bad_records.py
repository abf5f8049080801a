"""The generator against the wall alone, many seeds wide: quick, where the flood of a fleet is thorough."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.identity import signatures
from memquorum.core.intake import Origin, Refusal
from memquorum.core.records import IntakeRefused
from memquorum.schema_files import load_codec
from tests.builders import genesis
from tests.faults import badrecords, flood, load
from tests.faults.publications import EITHER, KEPT, PUBLIC, REFUSED, SIGNED, SIGNER, START, TURNED_AWAY, Publication

CLUSTER = genesis.make(agent_keys={SIGNER: PUBLIC}, signed=[SIGNED])
CODEC = load_codec()


def judged(publication: Publication) -> tuple[str, str | None, str | None]:
    found = [value for name, value in publication.headers if name == signatures.HEADER]
    signature = None if not found else (found[0] or b"" if len(found) == 1 else b"")
    origin = Origin(publication.topic, 0, 0, time.time_ns() // 1_000_000)
    answer = intake.accept(CODEC, publication.value, origin, START, True, genesis=CLUSTER, signature=signature)
    return (REFUSED, answer.reason, answer.field) if isinstance(answer, Refusal) else (KEPT, None, None)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_every_record_meets_its_end(seed: int) -> None:
    wrong = Counter(
        (p.kind, judged(p))
        for p in badrecords.traffic(seed, 3_000, cluster=CLUSTER.cluster)
        if p.end not in (TURNED_AWAY, EITHER) and judged(p) != (p.end, p.reason, p.field)
    )
    assert not wrong


def test_a_seed_gives_the_same_records_with_every_kind_among_them() -> None:
    first, again = (list(badrecords.traffic(7, 300, cluster=CLUSTER.cluster)) for _ in range(2))
    assert first == again
    assert {p.kind for p in first} == set(badrecords.KINDS)
    assert first != list(badrecords.traffic(8, 300, cluster=CLUSTER.cluster))


def test_the_account_sees_what_is_lost_doubled_or_refused_wrongly() -> None:
    here, there = (topics.EPISODES, 0, 7), (topics.EPISODES, 0, 8)
    good = Publication("good", topics.EPISODES, b'{"content": "c"}', event=("n", "e"))
    bad = Publication("bad", topics.EPISODES, b"x", REFUSED, "bad_json")

    def letter(reason: str) -> IntakeRefused:
        return IntakeRefused(*there, reason, "", 0, "", b"")

    def account(found: flood.Found) -> str:
        return "; ".join(flood.account([flood.Sent(good, here), flood.Sent(bad, there)], found))

    def found(**changes: object) -> flood.Found:
        sound = {
            "refused": {there: letter("bad_json")}, "refused_times": Counter({there: 1}), "accesses": set(),
            "episodes": Counter({here: 1}), "events": {("n", "e"): ("stored", "c")}, "repeated": 0,
        }  # fmt: skip
        return flood.Found(**(sound | changes))  # type: ignore[arg-type]

    clock = (topics.CLOCK, 0, 7)
    again = {place: IntakeRefused(*place, "clock_backwards", "", 0, "", b"") for place in (clock, (topics.CLOCK, 0, 8))}
    twice = found(refused=again, ticks={ids.origin_event_id(None, *clock)})
    assert [load.let_in_before(twice, place) for place in again] == [True, False], "a tick that came to intake twice"
    assert account(found()) == ""
    assert "good" in account(found(events={}))
    assert "unscored" in account(found(events={("n", "e"): ("unscored", None)}))
    assert "another content" in account(found(events={("n", "e"): ("stored", "d")}))
    assert "came in 2 times" in account(found(episodes=Counter({here: 2})))
    assert "was not refused" in account(found(refused={}))
    assert "was not refused" in account(found(episodes=Counter({here: 1, there: 1})))
    assert "bad_utf8" in account(found(refused={there: letter("bad_utf8")}))
    assert "2 dead letters" in account(found(refused_times=Counter({there: 2})))
    assert "where nothing stands" in account(
        found(refused={there: letter("bad_json"), (topics.CLOCK, 0, 0): letter("")})
    )
    assert "repeated" in account(found(repeated=1))
