"""Finished tasks on a running installation: told, kept for trials alone, listed, held against what they were given, and
gone with it."""

from __future__ import annotations

import json

import httpx
import pytest

from memquorum import cli
from memquorum.client import Invalid, NotFound
from memquorum.core.ids import memory_id
from tests.support.sessions import Plant

NOTES = ("Valve 3 opens at 4.0 bar.", "Rosa keeps the spare gaskets in drawer 12.")


def test_a_task_is_told_kept_and_goes_with_what_it_was_given(fleet: Plant) -> None:
    with fleet.client("works") as memory:
        valve, gasket = fleet.live(memory, notes=NOTES)
        with memory.task("Open valve 3", inputs="4.0 bar", seed=3) as task:
            found = memory.search("At what pressure does valve 3 open?", k=1)
            task.tool("valve", "opened at 4.0 bar")
            task.given(memory_id("works", "never"))
            task.done(success=True, outputs="Valve 3 opens at 4.0 bar.", by="bert")
        assert task.receipt is not None and [one.memory_id for one in found] == [valve]
        assert memory.outcome(task.receipt).outcome == "finished_succeeded"

        (short,) = memory.tasks(memory_id=valve).tasks
        assert (short.task, short.goal, short.outcome, short.said_by) == (task.id, "Open valve 3", "succeeded", "bert")
        never = memory_id("works", "never")
        assert (short.retrieved, short.unknown) == ((valve, never), (never,))
        assert memory.tasks(memory_id=gasket).tasks == () and memory.tasks(outcomes=["failed"]).tasks == ()
        hits = memory.search("Open valve 3", peek=True)
        assert {one.memory_id for one in hits} == {valve, gasket}, "a task is served"
        assert fleet.tiers("works") == {"anna short-term": 2, "anna finished": 1}
        assert "a finished task, which succeeded, says bert" in memory.explain(task.id).in_numbers()

        assert memory.give_feedback(task.id, helped=[valve], wait=True).outcome == "assessed"
        with pytest.raises(Invalid, match="never retrieved in the task"):
            memory.give_feedback(task.id, helped=[gasket], wait=True)
        with pytest.raises(Invalid, match="said to have succeeded before"):
            memory.finish_task("Open valve 3", "failed", event_id=task.event_id, wait=True)
        memory.give_feedback(task.id, helped=[valve])
        whole = memory.finished_task(task.id)  # as it is once that counts
        assert [(one.memory_id, one.helped) for one in whole.feedback] == [(valve, True)], "said twice, shown once"
        memory.give_feedback(task.id, did_not_help=[valve])
        whole = memory.finished_task(task.id)
        assert [(one.memory_id, one.helped) for one in whole.feedback] == [(valve, False)], "what was said last counts"
        assert (whole.helped, whole.did_not_help) == ((), (valve,))
        (short,) = memory.tasks(memory_id=valve).tasks
        assert (short.helped, short.did_not_help) == ((), (valve,))
        assert (whole.inputs, whole.tools, whole.seed) == ("4.0 bar", ("valve: opened at 4.0 bar",), 3)

        about = {"retrieved": [gasket], "jurisdiction": "DE"}
        other = memory.finish_task("Count the gaskets", "unknown", **about).memory_id
        assert memory.finished_task(other, jurisdictions=["DE"]).said_by is None
        with pytest.raises(NotFound):
            memory.finished_task(other, jurisdictions=["US"])
        assert [one.task for one in memory.tasks(jurisdictions=["US"]).tasks] == [task.id]
        memory.erase(memory_id=valve, dry_run=False)
        fleet.until(lambda: not memory.tasks(memory_id=valve).tasks)
        with pytest.raises(NotFound):
            memory.finished_task(task.id)
        assert fleet.rows("SELECT memory_id::text FROM experience WHERE namespace = 'works'") == [(other,)]
        assert [one.task for one in memory.tasks().tasks] == [other]


def test_a_copy_of_what_is_kept_of_somebody_has_their_tasks(fleet: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    with fleet.client("copied") as memory:
        (valve, gasket) = fleet.live(memory, notes=NOTES)
        about = {
            "subject": "ada",
            "inputs": "Ada is at home from 3 pm.",
            "outputs": "She was there.",
            "tools": ["call"],
        }
        task = memory.finish_task("Visit Ada", "succeeded", retrieved=[valve, memory_id("copied", "x")], **about)
        other = memory.finish_task("Count the gaskets", "unknown", retrieved=[gasket])
        memory.give_feedback(task.memory_id, helped=[valve], wait=True)
        memory.finished_task(other.memory_id)
        (one,) = memory.tasks(subjects=["ada"]).tasks
        assert (one.task, one.subject) == (task.memory_id, "ada")

        asked = ["export", "-n", "copied", "--url", fleet.line.retrieval_url]
        assert cli.main([*asked, "--subject", "ada"]) == 0
        (node,) = json.loads(capsys.readouterr().out)["@graph"]
        assert node.pop("occurredAt")
        assert node == {
            "id": f"urn:uuid:{task.memory_id}", "type": "FinishedTask", "namespace": "copied", "agent": "anna",
            "subject": "ada", "goal": "Visit Ada", "inputs": "Ada is at home from 3 pm.", "outputs": "She was there.",
            "tools": ["call"], "outcome": "succeeded", "saidBy": "anna", "derivesFrom": [f"urn:uuid:{valve}"],
            "helped": [f"urn:uuid:{valve}"],
        }  # fmt: skip
        for said, of_all in (((), 2), (("--type", "task"), 2), (("--type", "episodic"), 0), (("--session", "s"), 0)):
            assert cli.main([*asked, *said]) == 0
            told = json.loads(capsys.readouterr().out)["@graph"]
            assert sum(each["type"] == "FinishedTask" for each in told) == of_all, said


def test_a_lesson_is_found_as_any_memory_and_goes_with_its_task(fleet: Plant) -> None:
    with fleet.client("learns") as memory:
        (valve, gasket) = fleet.live(memory, notes=NOTES)
        with pytest.raises(KeyError), memory.task("Open valve 3", sensitivity=0.7) as task:
            task.given(valve)
            lesson = task.lesson("Valve 3 has to be greased before it is opened in winter.", explicit=True)
            raise KeyError("jammed")
        assert task.receipt is not None and [one.memory_id for one in task.receipt.lessons] == [lesson]
        assert memory.outcome(task.receipt.lessons[0]).outcome == "stored"
        assert memory.finished_task(task.id).outcome == "failed"
        assert lesson in {one.memory_id for one in memory.search("Valve 3 has to be greased in winter.", peek=True)}
        assert not [one for one in memory.search("greased", peek=True, sensitivity_max=0.6) if one.memory_id == lesson]
        assert f"made of {task.id}" in memory.explain(lesson).in_numbers()
        around = memory.recall(lesson, peek=True)
        assert task.id not in {one.memory_id for one in around.items}, "a task is served"
        memory.erase(memory_id=valve, dry_run=False)
        fleet.until(lambda: [one.memory_id for one in memory.memories().memories] == [gasket])
        assert memory.tasks().tasks == ()
        with pytest.raises(NotFound):
            memory.finished_task(task.id)


def test_a_session_that_came_to_something_is_a_finished_task(fleet: Plant) -> None:
    with fleet.client("came") as memory:
        (valve, gasket) = fleet.live(memory, notes=NOTES)
        ask = memory.add("At what pressure do we open valve 3 today?", session="s", role="user", wait=True).memory_id
        given = [one.memory_id for one in memory.context("valve 3", session="s").items]
        assert valve in given
        over = memory.end_session("s", outcome="succeeded", outputs="It opens at 4.0 bar.", by="rosa", wait=True)
        assert over.task is not None
        whole = memory.finished_task(over.task.memory_id)
        assert (whole.goal, whole.outcome, whole.said_by) == (
            "At what pressure do we open valve 3 today?", "succeeded", "rosa",
        )  # fmt: skip
        assert set(whole.retrieved) == {*given, ask} and whole.unknown == ()
        with pytest.raises(Invalid, match="said to have succeeded before"):
            memory.end_session("s", outcome="failed", wait=True)
        assert [one.task for one in memory.tasks().tasks] == [over.task.memory_id]
        with pytest.raises(Invalid, match="say what was to be done"):
            memory.end_session("nobody was here", outcome="failed")
        memory.erase(memory_id=ask, dry_run=False)
        fleet.until(lambda: memory.tasks().tasks == ())
        assert gasket in [one.memory_id for one in memory.memories().memories]


@pytest.mark.parametrize("by_http", [False, True])
def test_a_session_ends_after_what_another_process_added(fleet: Plant, by_http: bool) -> None:
    session, goal = f"after-{by_http}", f"Which pump feeds {'the boiler' if by_http else 'tank 5'}?"
    with fleet.client("came", "bob") as bob, fleet.client("came", "bob") as other:
        said = bob.add(goal, session=session, role="user")
        if by_http:
            told = {"session": session, "namespace": "came", "agent": "bob", "outcome": "succeeded"}
            end = f"{fleet.line.retrieval_url}/sessions/end"
            task = (
                httpx.post(end, params={"after": said.token}, json=told).raise_for_status().json()["task"]["memory_id"]
            )
            fleet.until(lambda: task in [one.task for one in other.tasks().tasks])
        else:
            over = other.end_session(session, outcome="succeeded", after=said.token, wait=True)
            assert over.task is not None
            task = over.task.memory_id
        whole = other.finished_task(task)
        assert (whole.goal, whole.retrieved) == (goal, (said.memory_id,))
