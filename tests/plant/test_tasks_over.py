"""Tasks on a running installation: one that is over leaves a note, and its steps go by a vote; one with a deadline is
kept until then; and what a budget and a namespace say of types holds.
"""

from __future__ import annotations

from memquorum.client import Memory
from tests.support.sessions import DAY, MINUTE, NOTES, Plant

ALIVE = "SELECT id::text FROM memory WHERE namespace = %(n)s AND tier IN ('short-term', 'long-term')"
VOTED = "SELECT outcome FROM outcome WHERE memory_id = %(id)s AND kind IN ('forget', 'demote')"
TOKENS = """
SELECT m.type, sum((octet_length(c.body) + 3) / 4)::int FROM memory m JOIN content c ON c.memory_id = m.id
WHERE m.namespace = %(n)s AND m.tier IN ('short-term', 'long-term') GROUP BY m.type
"""


def _alive(fleet: Plant, namespace: str) -> set[str]:
    return {one for (one,) in fleet.rows(ALIVE, n=namespace)}


def _task(memory: Memory, text: str, at: int, key: str | None = None, **payload: object) -> str:
    told = memory.add(
        text, type="task", explicit=True, key=key, attributes={"@payload": payload}, occurred_at=at, wait=True
    )
    assert told.outcome == "stored" and told.memory_id is not None
    return told.memory_id


def test_of_a_task_that_is_over_the_note_stays_and_its_steps_go_by_a_vote(fleet: Plant) -> None:
    with fleet.client("tasks-a", "planner") as planner, fleet.client("tasks-a", "worker") as worker:
        task = _task(planner, "Ship release 1.4 of the pump firmware.", fleet.now, "ship", status="open",
                     deadline=fleet.now + 5 * DAY)  # fmt: skip
        steps = fleet.live(worker, notes=NOTES[:2], links=[{"kind": "partOf", "to": task}])
        (wanted,) = fleet.live(worker, notes=NOTES[2:3], links=[{"kind": "partOf", "to": task}], explicit=True)
        (beside,) = fleet.live(worker, notes=NOTES[3:4])
        (pinned,) = fleet.live(worker, notes=NOTES[4:5], links=[{"kind": "partOf", "to": task}])
        worker.pin(pinned)
        fleet.turn()
        fleet.turn()
        assert _alive(fleet, "tasks-a") == {task, *steps, wanted, beside, pinned}
        note = _task(planner, "Ship release 1.4 of the pump firmware: shipped.", fleet.now, "ship", status="done",
                     outcome="Shipped on 15 June, a day early.")  # fmt: skip
        fleet.later(lambda: _alive(fleet, "tasks-a") == {note, wanted, beside, pinned}, "its steps are there")
        told = planner.explain(steps[0]).in_numbers()
        assert "because it was a step of a task that is over" in told and "its time is over" in told
        found = planner.search("What became of release 1.4?")[0]
        assert found.memory_id == note and found.payload.outcome == "Shipped on 15 June, a day early."


def test_a_task_is_not_voted_on_before_its_deadline(fleet: Plant) -> None:
    with fleet.client("dated-a") as memory:
        dated = _task(memory, "Renew the certificate of the gateway.", fleet.now, deadline=fleet.now + 12 * DAY)
        plain = _task(memory, "Sweep the yard behind the gateway.", fleet.now)
        fleet.turn(10 * DAY)
        fleet.later(lambda: fleet.rows(VOTED, id=plain), "nobody votes on what has decayed")
        assert fleet.rows(VOTED, id=dated) == []
        fleet.turn(13 * DAY)
        fleet.later(lambda: fleet.rows(VOTED, id=dated), "its deadline has passed long ago")


def test_people_that_nobody_asks_about_fade_sooner_where_the_namespace_says_so(fleet: Plant) -> None:
    with fleet.client("faded-a") as memory:
        (person,) = fleet.live(memory, notes=NOTES[:1], type="social")
        (known,) = fleet.live(memory, notes=NOTES[1:2], type="social")
        (fact,) = fleet.live(memory, notes=NOTES[2:3], type="semantic")
        fleet.turn(2 * DAY - 10 * MINUTE)
        memory.use(known)
        fleet.later(lambda: person not in _alive(fleet, "faded-a"), "it stays")
        assert _alive(fleet, "faded-a") == {known, fact}
        told = memory.explain(person).in_numbers()
        assert "because nobody had used it for as long as its namespace allows for its type" in told


def test_a_budget_leaves_each_type_its_floor(fleet: Plant) -> None:
    """Tasks are worth least here and would all go; of 100 tokens they keep 40."""
    with fleet.client("floored-a") as memory:
        for at in range(8):
            _task(memory, f"See to it again, number {at}.", fleet.now + at)
        fleet.live(memory)

        def held() -> dict[str, int]:
            told = dict(fleet.rows(TOKENS, n="floored-a"))
            return told if sum(told.values()) <= 100 else {}

        assert 40 <= fleet.later(held, by=2 * MINUTE)["task"] < 50
