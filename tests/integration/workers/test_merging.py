"""Sessions that end in the same summary, on a running installation: a day later there is one, by vote; and back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra import checks
from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from tests.support.sessions import DAY, NOTES, Plant, plant

SAME = (NOTES[0].replace("The boiler", "A boiler"), NOTES[1].replace("We decided", "We have decided"), *NOTES[2:])
OTHER = (NOTES[0].replace("hall 3", "hall 4"), *SAME[1:])
SUMMARIES = "SELECT id::text, tier FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL ORDER BY created, id"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """The whole fleet with a driven clock."""
    with plant(tmp_path_factory.mktemp("plant")) as running:
        yield running


def summaries(fleet: Plant, namespace: str) -> dict[str, str]:
    """The tier of each summary."""
    return dict(fleet.rows(SUMMARIES, n=namespace))


def alive(fleet: Plant, namespace: str) -> list[str]:
    return [i for i, tier in summaries(fleet, namespace).items() if tier == "short-term"]


def session(fleet: Plant, memory: Memory, name: str, notes: tuple[str, ...]) -> str:
    """A session is lived, ends, and leaves its summary, whose id is answered."""
    before = set(summaries(fleet, memory.namespace))
    fleet.live(memory, name, notes)
    memory.end_session(name)
    (made,) = fleet.until(lambda: set(summaries(fleet, memory.namespace)) - before)
    fleet.later(lambda: summaries(fleet, memory.namespace)[made] == "short-term")
    return made


def test_two_that_say_the_same_become_one_and_the_third_stays(
    fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with fleet.client("plant") as memory:
        other = session(fleet, memory, "shift-0", OTHER)
        one = session(fleet, memory, "shift-1", NOTES)
        two = session(fleet, memory, "shift-2", SAME)
        assert sorted(alive(fleet, "plant")) == sorted([other, one, two])
        memory.search("When is the pump test?")
        uses = "SELECT accesses FROM strength JOIN memory m ON m.id = memory_id WHERE m.namespace = 'plant'"
        fleet.until(lambda: fleet.rows(uses) == [(1,)] * 3)
        fleet.turn(DAY)
        fleet.later(lambda: len(alive(fleet, "plant")) == 2)
        # Of equal importance the later one has faded less.
        assert summaries(fleet, "plant") == {other: "short-term", one: "sealed", two: "short-term"}
        assert sorted(fleet.rows(uses)) == [(1,), (2,)], "one has the uses of both"
        found = {hit.memory_id for hit in memory.search("When is the pump test?", peek=True)}
        assert found == {other, two}

        went, stays = str(memory.explain(one)), str(memory.explain(two))
        assert f"sealed, since {two} says what is to be kept of it" in went
        assert f"This was merged into {two}" in went and f"{one} was merged into this" in stays
        ((source,),) = fleet.rows("SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        traced = str(memory.explain(source))
        assert f"sealed, since {two} says what is to be kept of it" in traced, "its own summary is gone"
        assert f"{one} was merged into {two}" in traced

        # A source of what went comes back, and is not served beside the one that stays.
        memory.restore(source, timeout=0.1)
        fleet.later(lambda: fleet.rows("SELECT FROM strength WHERE memory_id = %(i)s", i=source))
        ids = {hit.memory_id for hit in memory.search(memory.get(source).text, peek=True)}
        assert len(ids & {source, two}) == 1

        # Within the grace time a vote brings the summary back, and it is not merged again.
        memory.restore(one, timeout=0.1)
        fleet.later(lambda: one in alive(fleet, "plant"))
        fleet.turn(DAY)
        for _ in range(3):
            fleet.turn()
        assert sorted(alive(fleet, "plant")) == sorted([other, one, two])
        found = {hit.memory_id for hit in memory.search("When is the pump test?", peek=True)}
        assert len(found & {source, one, two}) == 1
        assert "it came back since" in str(memory.explain(one))
    assert checks.rebuilt(fleet.line, "merged_again")["equal"]
    monkeypatch.chdir(fleet.line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_who_erases_a_source_of_what_went_finds_the_summary_that_stays(fleet: Plant) -> None:
    with fleet.client("erased") as memory:
        one = session(fleet, memory, "shift-1", NOTES)
        two = session(fleet, memory, "shift-2", SAME)
        fleet.turn(DAY)
        fleet.later(lambda: len(alive(fleet, "erased")) == 1)
        ((source,),) = fleet.rows("SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        memory.erase(memory_id=source, dry_run=False)
        assert {one: "gone", two: "gone"}.items() <= summaries(fleet, "erased").items()
        assert not memory.search("When is the pump test?", peek=True)
        # Both are made anew of what is left of their own sources: of what stayed nobody has erased any.
        fleet.until(lambda: [*summaries(fleet, "erased").values()].count("draft") == 2)
        fleet.later(lambda: len(alive(fleet, "erased")) == 2)
        told = """SELECT m.renews::text, p.parent::text FROM memory m JOIN provenance p ON p.child = m.id
            WHERE m.namespace = 'erased' AND m.tier = 'short-term' AND NOT p.merged"""
        made_of = "SELECT parent::text FROM provenance WHERE child = %(i)s AND NOT merged"
        left = {(i, s) for i in (one, two) for (s,) in fleet.rows(made_of, i=i)} - {(one, source)}
        assert set(fleet.rows(told)) == left and len(left) == 9
