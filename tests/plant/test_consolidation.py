"""A session on a running installation: its end, its summary, the vote, and what is served before and after."""

from __future__ import annotations

from memquorum.client import Memory
from tests.support.sessions import MINUTE, NOTES, Plant


def lived(fleet: Plant, namespace: str) -> Memory:
    """A client in a namespace in which a session has been lived."""
    memory = fleet.client(namespace)
    fleet.live(memory)
    return memory


def test_a_session_that_ends_leaves_its_summary(fleet: Plant) -> None:
    with lived(fleet, "plant") as memory:
        said = fleet.now
        before = memory.search("Who measured the inlet of pump 7?", peek=True)
        memory.end_session("shift-1")
        fleet.until(lambda: fleet.summaries("plant", "draft"))
        assert all(hit.made_by is None for hit in memory.search("pump 7", peek=True)), "served before its vote"
        fleet.later(lambda: fleet.summaries("plant"))
        assert fleet.tiers("plant") == {"anna sealed": 5, "extractive/1 short-term": 1}
        (hit,) = memory.search("Who measured the inlet of pump 7?", peek=True)
        assert hit.made_by == "extractive/1" and hit.agent == "consolidator"
        assert len(before) == 5 and before[0].text in hit.text.split("\n"), "what was asked for was lost"
        assert hit.occurred_at == said, "a summary is as old as what it says"

        explained = memory.explain(hit.memory_id).in_numbers()
        quotes = fleet.rows("SELECT source::text, start, finish FROM quote WHERE summary = %(i)s", i=hit.memory_id)
        assert quotes and all(f"characters {a} to {b} of {source}" in explained for source, a, b in quotes)
        assert all(line in explained for line in hit.text.split("\n")), "without what the sentences say"
        source = quotes[0][0]
        assert f"sealed, since {hit.memory_id} says what is to be kept of it" in memory.explain(source).in_numbers()

        # Within the grace time a vote brings a source back, and is not served beside its summary.
        assert memory.restore(source, timeout=0.1).status is not None
        fleet.later(lambda: fleet.tiers("plant").get("anna short-term"))
        assert len(memory.search("Who measured the inlet of pump 7?", peek=True)) == 1


def test_a_summary_is_found_by_whose_words_it_has(fleet: Plant) -> None:
    with lived(fleet, "whose") as memory, fleet.client("whose", "bert") as other:
        memory.end_session("shift-1")
        fleet.later(lambda: fleet.summaries("whose"))
        (made,) = fleet.summaries("whose")
        (his,) = fleet.live(other, "shift-2", ("Bert replaced the inlet gauge of pump 9.",))
        question = "Who measured the inlet of pump 7?"
        for asked, found in (
            ({"agents": ["anna"]}, {made}), ({"sessions": ["shift-1"]}, {made}), ({"agents": ["consolidator"]}, {made}),
            ({"agents": ["anna"], "sessions": ["shift-1"]}, {made}), ({"agents": ["bert"]}, {his}),
            ({"sessions": ["shift-2"]}, {his}), ({"agents": ["anna"], "sessions": ["shift-2"]}, set()),
        ):  # fmt: skip
            assert {one.memory_id for one in memory.search(question, peek=True, **asked)} == found, asked
            assert {one.memory_id for one in memory.retrieve(question, peek=True, **asked).items} == found, asked
            assert {one.memory_id for one in memory.memories(**asked).memories} == found, asked
        assert [one.memory_id for one in memory.memories(subjects=["anna"]).memories] == [made]
        (hit,) = memory.search(question, peek=True, sessions=["shift-1"])
        assert (hit.agent, hit.made_by) == ("consolidator", "extractive/1"), "who made it is told all the same"


def test_a_session_without_activity_is_over_and_strict_namespaces_keep_all(fleet: Plant) -> None:
    with lived(fleet, "strict-plant") as memory:
        fleet.turn(20 * MINUTE)
        fleet.later(lambda: fleet.tiers("strict-plant").get("extractive/1 short-term"))
        assert fleet.tiers("strict-plant") == {"anna short-term": 5, "extractive/1 short-term": 1}
        hits = {hit.memory_id: hit.made_by for hit in memory.search("Who measured the inlet of pump 7?", peek=True)}
        found = fleet.rows("SELECT summary::text, source::text FROM quote WHERE namespace = 'strict-plant'")
        assert hits and not any(summary in hits and source in hits for summary, source in found), "served beside it"


def test_a_consolidator_that_is_killed_makes_each_summary_once(fleet: Plant) -> None:
    with lived(fleet, "killed") as memory:
        memory.end_session("shift-1")
        fleet.kill("consolidator")
        memory.end_session("shift-1")
        fleet.later(lambda: fleet.summaries("killed"))
        assert fleet.tiers("killed") == {"anna sealed": 5, "extractive/1 short-term": 1}


def test_what_one_source_says_is_erased_with_its_summary(fleet: Plant) -> None:
    with lived(fleet, "erased") as memory:
        said = fleet.now
        memory.end_session("shift-1")
        fleet.later(lambda: fleet.summaries("erased"))
        ((source,),) = fleet.rows(
            "SELECT id::text FROM memory WHERE namespace = 'erased' AND created = %(at)s AND agent = 'anna'",
            at=said,
        )  # fmt: skip
        memory.erase(memory_id=source, dry_run=False)
        assert fleet.tiers("erased")["extractive/1 gone"] == 1
        assert not memory.search("Who measured the inlet of pump 7?", peek=True)


def test_what_is_said_again_afterwards_strengthens_the_summary(fleet: Plant) -> None:
    with lived(fleet, "said-again") as memory:
        memory.end_session("shift-1")
        fleet.later(lambda: fleet.summaries("said-again"))
        (summary,) = fleet.summaries("said-again")
        receipt = memory.add(NOTES[4], session="shift-2", occurred_at=fleet.now, wait=True)
        assert (receipt.outcome, receipt.memory_id) == ("reinforced", summary)
        assert fleet.rows("SELECT reinforced FROM strength WHERE memory_id = %(s)s", s=summary) == [(1,)]
        assert "said again once" in memory.explain(summary).in_numbers()
        memory.erase(memory_id=fleet.sources(summary)[0], dry_run=False)
        assert fleet.tiers("said-again")["extractive/1 gone"] == 1, "what repeats a summary does not keep it"
