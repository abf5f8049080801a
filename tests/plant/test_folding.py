"""On a running installation: what differs is stored, one event of many agents is one hit, what was read back makes no
memory, and what asks not to be remembered is not kept."""

from __future__ import annotations

from tests.support.sessions import Plant

EVENT = "The sluice of basin 4 was opened at dawn."
PAIRS = (
    ("The brine tank is at −18 °C.", "The brine tank is at 18 °C."),
    ("Check of the sluice ✅", "Check of the sluice ❌"),
    ("The hatch code is kQ7w.", "The hatch code is Kq7w."),
    ("if (!shut) drain();", "if (shut) drain();"),
    ("Our mixer is down.", "Our mixers are down."),
)


def test_what_differs_is_stored_and_found(fleet: Plant) -> None:
    with fleet.client("differs") as memory:
        said = [memory.add(text, wait=True) for pair in PAIRS for text in pair]
        assert {one.outcome for one in said} == {"stored"}
        for pair in PAIRS:
            hits = memory.search(pair[0], k=10, peek=True)
            assert set(pair) <= {hit.text for hit in hits}
        again = memory.add("the brine tank is at 18 °C", wait=True)
        assert (again.outcome, again.memory_id) == ("reinforced", said[1].memory_id)


def test_one_event_of_many_agents_is_one_hit_and_keyed_twins_are_two(fleet: Plant) -> None:
    for number in range(6):
        with fleet.client("crowd", f"agent-{number}") as memory:
            assert memory.add(EVENT, wait=True).outcome == "stored"
    with fleet.client("crowd", "reader") as memory:
        for key in ("north", "south"):
            memory.add("The gate is painted green.", explicit=True, key=key, wait=True)
        hits = memory.search(EVENT, peek=True)
        (one,) = [hit for hit in hits if hit.text == EVENT]
        assert {one.agent, *one.also_by} == {f"agent-{number}" for number in range(6)}
        assert [hit.key for hit in hits if hit.key] and len([hit for hit in hits if hit.key]) == 2
        (item,) = [each for each in memory.retrieve(EVENT, peek=True).items if each.text == EVENT]
        assert len(item.folded) == len(item.also_by) == 5
        told = memory.context(EVENT, peek=True)
        assert str(told).count(EVENT) == 1
        # The prompt comes back, whole and line by line.
        alive = len(memory.memories().memories)
        for text in (str(told), str(told).splitlines()[-1], f"Got it. {EVENT}", f'"{EVENT}"'):
            assert memory.add(text, wait=True).outcome == "below_threshold"
        assert len(memory.memories().memories) == alive
        assert all(memory.get(i).reinforced == 0 for i in (one.memory_id, *one.folded))


def test_who_repeats_a_lie_under_another_name_hides_no_fact(fleet: Plant) -> None:
    """A folded hit takes no place from another hit."""
    true, false = "The moat of the castle is 12 metres wide.", "The moat of the castle is 3 metres wide."
    for agent, text in (("anna", true), ("ben", false), ("cyd", false), ("dora", false)):
        with fleet.client("moat", agent) as memory:
            assert memory.add(text, wait=True).outcome == "stored"
    with fleet.client("moat", "reader") as memory:
        for asked in ("How wide is the moat?", true, false):
            hits = memory.search(asked, k=2, peek=True)
            assert {hit.text for hit in hits} == {true, false}, asked
            assert len(hits) == 2


def test_what_asks_not_to_be_remembered_is_not_kept_and_facts_are(fleet: Plant) -> None:
    with fleet.client("asked") as memory:
        unkept = memory.add("Please don't save this: the vault code is 17.", wait=True)
        assert unkept.outcome == "below_threshold"
        assert "asked not to be remembered" in memory.explain(unkept.memory_id).in_numbers()
        for text in ("Let's go with Go", "Roger is back", "🍕🍕", "Forget the blue paint and buy red paint."):
            assert memory.add(text, wait=True).outcome == "stored"
        assert memory.add("ok thanks!", wait=True).outcome == "below_threshold"
