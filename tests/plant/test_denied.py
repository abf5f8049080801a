"""A memory that denies a sentence of a summary: it is noticed each time, and stands before that sentence
and no other.
"""

from __future__ import annotations

from memquorum.client import Memory
from tests.support.sessions import Plant

TOMAS, ROSA, KEY, TEST = NOTES = (
    "Tomas measured 3.8 bar at the inlet of pump 7.",
    "Rosa ordered a new gasket for pump 7.",
    "The pump house key is in drawer 14.",
    "We decided to test pump 7 on Thursday at 14:00.",
)
TALK = [
    f"It is really nice that we all {did} today, and we will just go on with it as we had it before, I think."
    for did in ("had the time for this", "could sit together", "came in so early", "were here for once", "had a coffee")
]
FRIDAY, NO_GASKET, MOVED = DENIALS = (
    "We decided to test pump 7 on Friday at 14:00.",
    "No, Rosa ordered no gasket for pump 7.",
    "The pump house key is in drawer 9 now.",
)
ASKED = {
    "Who measured the inlet of pump 7?": TOMAS,
    "Did Rosa order a gasket?": ROSA,
    "Where is the pump house key?": KEY,
}


def summed_up(fleet: Plant, memory: Memory) -> tuple[str, list[str]]:
    """A summary that says all that was noted, and the notes."""
    for chat in TALK:
        fleet.now += 1_000
        memory.add(chat, session="shift-1", occurred_at=fleet.now, wait=True)
    sources = fleet.live(memory, notes=NOTES)
    memory.end_session("shift-1")
    fleet.later(lambda: fleet.summaries(memory.namespace))
    (summary,) = fleet.summaries(memory.namespace)
    text = memory.get(summary).text or ""
    assert [note for note in NOTES if note not in text] == []
    return summary, sources


def test_each_sentence_that_is_denied_is_served_behind_what_denies_it_and_the_others_stand(fleet: Plant) -> None:
    with fleet.client("denied") as memory:
        summary, _ = summed_up(fleet, memory)
        friday, no_gasket, moved = found = fleet.live(memory, "shift-2", DENIALS)
        noted = fleet.rows("SELECT newer::text FROM conflict WHERE older = %(s)s ORDER BY seq", s=summary)
        assert [one for (one,) in noted] == found, "each denial is noticed"
        listed = {one.memory_id: one.contradicts for one in memory.memories().memories}
        assert listed == {summary: ()} | dict.fromkeys(found, (summary,))

        for asked, against in zip(ASKED, (None, no_gasket, moved), strict=True):
            hits = memory.search(asked, peek=True, k=20)
            by_id = {hit.memory_id: hit for hit in hits}
            others = {friday, no_gasket, moved} - {against}
            said = by_id[summary].text.split("\n")
            assert ASKED[asked] in said
            denied = {moved: KEY, no_gasket: ROSA, friday: TEST}
            expected = {one for one, sentence in denied.items() if sentence in said}
            assert set(by_id[summary].conflicts_with) == expected, asked
            for one in {*others, against} - {None}:
                assert by_id[one].conflicts_with == ((summary,) if one in expected else ()), asked
            order = list(by_id)
            assert all(order.index(one) < order.index(summary) for one in expected), asked
            for item in memory.retrieve(asked, peek=True).items:
                if item.memory_id == summary:
                    given = item.text.split("\n")
                    assert set(item.conflicts_with) == {one for one in denied if denied[one] in given}, asked

        # A sentence without a denial pulls nothing in.
        first = memory.search("Who measured 3.8 bar at the inlet?", peek=True, k=1)
        assert [(hit.text, hit.conflicts_with) for hit in first] == [(TOMAS, ())]
        told = memory.explain(summary).in_numbers()
        assert "the same agent or source said it since" in told and "another agent said it" not in told

        before = fleet.rows("SELECT salience_ppm FROM strength WHERE memory_id = %(s)s", s=summary)
        memory.use(summary)
        used = "SELECT 1 FROM strength WHERE memory_id = %(s)s AND accesses > 0"
        fleet.until(lambda: fleet.rows(used, s=summary))
        fleet.turn()
        fleet.infra("memories", "rehearse", "-n", "denied")
        after = "SELECT salience_ppm, doubts FROM strength WHERE memory_id = %(s)s AND rehearsed > 0"
        fleet.until(lambda: fleet.rows(after, s=summary))
        raised = min(1_000_000, before[0][0] * 11 // 10)
        assert fleet.rows(after, s=summary) == [(raised, 0)], "what was inferred is no doubt"


def test_a_context_says_what_was_summed_up_once(fleet: Plant) -> None:
    with fleet.client("context") as memory:
        summary, sources = summed_up(fleet, memory)
        for session in ("shift-1", None):
            (item,) = memory.context(session=session, peek=True).items
            assert (item.memory_id, item.why, all(note in item.text for note in NOTES)) == (summary, "buffer", True)
        assert memory.context(session="shift-9", peek=True).items == ()
        with fleet.client("context", "ben") as other:
            assert other.context(session="shift-1", peek=True).items == (), "it is what another agent said"

        memory.restore(sources[1], timeout=0.1)
        fleet.later(lambda: fleet.tiers("context").get("anna short-term"))
        receipt = memory.add(TOMAS, session="shift-2", occurred_at=fleet.now, wait=True)
        assert (receipt.outcome, receipt.memory_id) == ("reinforced", summary)
        for query in (None, "Did Rosa order a gasket?"):
            found = memory.context(query, peek=True)
            assert [one.memory_id for one in found.items] == [summary], query
            assert str(found).count(ROSA) == 1
