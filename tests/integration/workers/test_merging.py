"""Sessions that end in the same summary, on a running installation: a day later there is one, by vote; and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from infra import checks
from infra.settings import Settings
from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from tests.support.clock import tick
from tests.support.sessions import NOTES, configured, driven, rows
from tests.support.waiting import until

START = 1_750_000_000_000
HOUR, DAY = 3_600_000, 24 * 3_600_000
SAME = (NOTES[0].replace("The boiler", "A boiler"), NOTES[1].replace("We decided", "We have decided"), *NOTES[2:])
OTHER = (NOTES[0].replace("hall 3", "hall 4"), *SAME[1:])
SUMMARIES = "SELECT id::text, tier FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL ORDER BY created, id"


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START."""
    with driven(configured(tmp_path_factory.mktemp("line"))) as running:
        yield running


class Clock:
    """Time goes on by an hour at a time, so that each tick opens an epoch."""

    now = START

    @classmethod
    def turn(cls, line: Settings, more: int = HOUR) -> None:
        cls.now += more
        tick(line, cls.now)


def summaries(line: Settings, namespace: str) -> dict[str, str]:
    """The tier of each summary."""
    return dict(rows(line, SUMMARIES, n=namespace))


def alive(line: Settings, namespace: str) -> list[str]:
    return [i for i, tier in summaries(line, namespace).items() if tier == "short-term"]


def session(line: Settings, memory: Memory, name: str, notes: tuple[str, ...], **said: Any) -> str:
    """A session is lived, ends, and leaves its summary, whose id is answered."""
    before = set(summaries(line, memory.namespace))
    for at, note in enumerate(notes):
        receipt = memory.add(note, session=name, occurred_at=Clock.now + at * 1_000, wait=True, **said)
        assert receipt.outcome == "stored", note
    memory.end_session(name)
    until(lambda: set(summaries(line, memory.namespace)) - before)
    (made,) = set(summaries(line, memory.namespace)) - before
    until(lambda: (Clock.turn(line), summaries(line, memory.namespace)[made] == "short-term")[1])
    return made


def client(line: Settings, namespace: str) -> Memory:
    return Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent="anna")


def test_two_that_say_the_same_become_one_and_the_third_stays(
    line: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(line, "plant") as memory:
        other = session(line, memory, "shift-0", OTHER)
        one = session(line, memory, "shift-1", NOTES)
        two = session(line, memory, "shift-2", SAME)
        assert sorted(alive(line, "plant")) == sorted([other, one, two])
        memory.search("When is the pump test?")
        uses = "SELECT accesses FROM strength JOIN memory m ON m.id = memory_id WHERE m.namespace = 'plant'"
        until(lambda: rows(line, uses) == [(1,)] * 3)
        Clock.turn(line, DAY)
        until(lambda: (Clock.turn(line), len(alive(line, "plant")) == 2)[1])
        # Of equal importance the later one has faded less.
        assert summaries(line, "plant") == {other: "short-term", one: "sealed", two: "short-term"}
        assert sorted(rows(line, uses)) == [(1,), (2,)], "one has the uses of both"
        found = {hit.memory_id for hit in memory.search("When is the pump test?", peek=True)}
        assert found == {other, two}

        went, stays = str(memory.explain(one)), str(memory.explain(two))
        assert f"sealed, since {two} says what is to be kept of it" in went
        assert f"This was merged into {two}" in went and f"{one} was merged into this" in stays
        ((source,),) = rows(line, "SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        traced = str(memory.explain(source))
        assert f"sealed, since {two} says what is to be kept of it" in traced, "its own summary is gone"
        assert f"{one} was merged into {two}" in traced

        # A source of what went comes back, and is not served beside the one that stays.
        memory.restore(source, timeout=0.1)
        until(lambda: (Clock.turn(line), rows(line, "SELECT FROM strength WHERE memory_id = %(i)s", i=source))[1])
        ids = {hit.memory_id for hit in memory.search(memory.get(source).text, peek=True)}
        assert len(ids & {source, two}) == 1

        # Within the grace time a vote brings the summary back, and it is not merged again.
        memory.restore(one, timeout=0.1)
        until(lambda: (Clock.turn(line), one in alive(line, "plant"))[1])
        Clock.turn(line, DAY)
        for _ in range(3):
            Clock.turn(line)
        assert sorted(alive(line, "plant")) == sorted([other, one, two])
        found = {hit.memory_id for hit in memory.search("When is the pump test?", peek=True)}
        assert len(found & {source, one, two}) == 1
        assert "it came back since" in str(memory.explain(one))
    assert checks.rebuilt(line, "merged_again")["equal"]
    monkeypatch.chdir(line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_who_erases_a_source_of_what_went_finds_the_summary_that_stays(line: Settings) -> None:
    with client(line, "erased") as memory:
        one = session(line, memory, "shift-1", NOTES)
        two = session(line, memory, "shift-2", SAME)
        Clock.turn(line, DAY)
        until(lambda: (Clock.turn(line), len(alive(line, "erased")) == 1)[1])
        ((source,),) = rows(line, "SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        memory.erase(memory_id=source, dry_run=False)
        assert {one: "gone", two: "gone"}.items() <= summaries(line, "erased").items()
        assert not memory.search("When is the pump test?", peek=True)
        # Both are made anew of what is left of their own sources: of what stayed nobody has erased any.
        until(lambda: [*summaries(line, "erased").values()].count("draft") == 2)
        until(lambda: (Clock.turn(line), len(alive(line, "erased")) == 2)[1])
        told = """SELECT m.renews::text, p.parent::text FROM memory m JOIN provenance p ON p.child = m.id
            WHERE m.namespace = 'erased' AND m.tier = 'short-term' AND NOT p.merged"""
        made_of = "SELECT parent::text FROM provenance WHERE child = %(i)s AND NOT merged"
        left = {(i, s) for i in (one, two) for (s,) in rows(line, made_of, i=i)} - {(one, source)}
        assert set(rows(line, told)) == left and len(left) == 9
