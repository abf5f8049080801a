"""Sessions that end in the same summary, on a running installation: a day later there is one, by vote; and back."""

from __future__ import annotations

from memquorum.client import Memory
from tests.support.sessions import DAY, HOUR, NOTES, Plant

OTHER = (NOTES[0].replace("hall 3", "hall 4"), *NOTES[1:])
SUMMARIES = "SELECT id::text, tier FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL ORDER BY created, id"


def summaries(fleet: Plant, namespace: str) -> dict[str, str]:
    """The tier of each summary."""
    return dict(fleet.rows(SUMMARIES, n=namespace))


def alive(fleet: Plant, namespace: str) -> list[str]:
    return [i for i, tier in summaries(fleet, namespace).items() if tier == "short-term"]


def session(fleet: Plant, memory: Memory, name: str, notes: tuple[str, ...]) -> str:
    """A session is lived, ends, and leaves its summary, whose id is answered. It has a source of its own, or what it
    says would strengthen the summary that says it already."""
    before = set(summaries(fleet, memory.namespace))
    fleet.live(memory, name, notes, source=name)
    memory.end_session(name)
    (made,) = fleet.until(lambda: set(summaries(fleet, memory.namespace)) - before)
    fleet.later(lambda: summaries(fleet, memory.namespace)[made] == "short-term")
    return made


def test_two_that_say_the_same_become_one_and_the_third_stays(fleet: Plant) -> None:
    with fleet.client("alike") as memory:
        other = session(fleet, memory, "shift-0", OTHER)
        one = session(fleet, memory, "shift-1", NOTES)
        two = session(fleet, memory, "shift-2", NOTES)
        assert sorted(alive(fleet, "alike")) == sorted([other, one, two])
        for name in ("shift-0", "shift-1", "shift-2"):
            memory.search("When is the pump test?", sessions=[name])  # asked for at once, the same is one hit
        uses = "SELECT accesses FROM strength JOIN memory m ON m.id = memory_id WHERE m.namespace = 'alike'"
        fleet.until(lambda: fleet.rows(uses) == [(1,)] * 3)
        fleet.turn(DAY)
        fleet.later(lambda: len(alive(fleet, "alike")) == 2)
        # At equal importance the later one has faded less.
        assert summaries(fleet, "alike") == {other: "short-term", one: "sealed", two: "short-term"}
        assert sorted(fleet.rows(uses)) == [(1,), (2,)], "one has the uses of both"
        # Content that both share is one hit.
        (hit,) = memory.search("When is the pump test?", peek=True)
        assert {hit.memory_id, *hit.folded} == {other, two}
        found = {hit.memory_id for hit in memory.search("When is the pump test?", peek=True, sessions=["shift-1"])}
        assert found == {two}, "it says what the session of the other left"

        went, stays = memory.explain(one).in_numbers(), memory.explain(two).in_numbers()
        assert f"sealed, since {two} says what is to be kept of it" in went
        assert f"This was merged into {two}" in went and f"{one} was merged into this" in stays
        ((source,),) = fleet.rows("SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        traced = memory.explain(source).in_numbers()
        assert f"sealed, since {two} says what is to be kept of it" in traced, "its own summary is gone"
        assert f"{one} was merged into {two}" in traced

        # A source of what went comes back, and is not served beside the one that stays.
        memory.restore(source, timeout=0.1)
        fleet.later(lambda: fleet.rows("SELECT FROM strength WHERE memory_id = %(i)s", i=source))
        (hit,) = memory.search(memory.get(source).text, k=1, peek=True)
        assert len({hit.memory_id, *hit.folded} & {source, two}) == 1

        # Within the grace time a vote brings the summary back, and it is not merged again.
        memory.restore(one, timeout=0.1)
        fleet.later(lambda: one in alive(fleet, "alike"))
        fleet.turn(DAY)
        for _ in range(3):
            fleet.turn()
        assert sorted(alive(fleet, "alike")) == sorted([other, one, two])
        assert sum(hit.made_by is not None for hit in memory.search("When is the pump test?", peek=True)) == 1
        assert "it came back since" in memory.explain(one).in_numbers()


def test_who_erases_a_source_of_what_went_finds_the_summary_that_stays(fleet: Plant) -> None:
    with fleet.client("alike-erased") as memory:
        one = session(fleet, memory, "shift-1", NOTES)
        two = session(fleet, memory, "shift-2", NOTES)
        fleet.turn(DAY)
        # Other tests' memories may have used up the room of that day's vote; the next day's has room.
        fleet.later(lambda: len(alive(fleet, "alike-erased")) == 1, by=4 * HOUR)
        ((source,),) = fleet.rows("SELECT min(source::text) FROM quote WHERE summary = %(i)s", i=one)
        memory.erase(memory_id=source, dry_run=False)
        assert {one: "gone", two: "gone"}.items() <= summaries(fleet, "alike-erased").items()
        assert not memory.search("When is the pump test?", peek=True)
        # Both are made anew of what is left of their own sources: of what stayed nobody has erased any.
        fleet.until(lambda: [*summaries(fleet, "alike-erased").values()].count("draft") == 2)
        fleet.later(lambda: len(alive(fleet, "alike-erased")) == 2)
        told = """SELECT m.renews::text, p.parent::text FROM memory m JOIN provenance p ON p.child = m.id
            WHERE m.namespace = 'alike-erased' AND m.tier = 'short-term' AND NOT p.merged"""
        made_of = "SELECT parent::text FROM provenance WHERE child = %(i)s AND NOT merged"
        left = {(i, s) for i in (one, two) for (s,) in fleet.rows(made_of, i=i)} - {(one, source)}
        assert set(fleet.rows(told)) == left and len(left) == 9
