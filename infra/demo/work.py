"""Shows the fleet's tasks and experience: tasks in which memories helped, one that failed and its lesson, a session
with an outcome, and the memories admitted to experience."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console

from infra.demo.demo_report import line
from infra.demo.driver import Driver
from infra.demo.session_demo import awaited
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory, tasks
from memquorum.core.accounts import admitting
from memquorum.core.api.answers import TaskInShort
from memquorum.core.facets import DIFFUSION
from memquorum.core.identity.membership import Genesis

HELPS = "Prime the valve of bed 4 for 30 seconds before it is opened, at 4.2 bar."
GENERAL = "Prime the valve of bed [number] for [number 2] seconds before it is opened, at [number 3] bar."
IDLE = "The valve of bed 4 was painted green in April."
OPENED = "The valve of bed 4 opened at 4.2 bar after it was primed for 30 seconds."
GOALS = ("Open the valve of bed 4", "Open the valve of bed 4 before noon", "Open the valve of bed 4 after the repair")
FAILS, LESSON = "Open the valve of bed 4 at once", "Prime the valve of bed 4 before it is opened, or it jams."
SESSION, ASKED = "late shift 14", "Which pressure opens the valve of bed 4?"
ELSEWHERE, GENERALLY = "orchard", "How is a valve primed before it is opened?"
_AWAY = "vertumnus"
_AGENTS, _MINUTE_MS = ("juno", "flora", "pomona"), 60_000
_HALF = 0.5


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Finishes four tasks and gives feedback on their memories, ends a session with an outcome, and lists all of it;
    then verifiers try the memories, and members vote."""

    def works(agent: str, namespace: str = namespace) -> Memory:
        return Memory(namespace=namespace, agent=agent, kafka=now.bootstrap, url=now.retrieval_url)

    with works(_AGENTS[0]) as memory:
        helps, idle = (
            memory.add(text, wait=True, explicit=True, occurred_at=driver.as_of, purposes=(DIFFUSION,)).memory_id
            for text in (HELPS, IDLE)
        )
        for goal, agent in zip(GOALS, _AGENTS, strict=True):
            with works(agent) as other:
                _finish(other, goal, (helps, idle), driver.as_of)
        try:
            with memory.task(FAILS, finished_at=driver.as_of) as failed:
                failed.tool("valve", "no answer in 20 seconds")
                lesson = failed.lesson(LESSON, explicit=True, occurred_at=driver.as_of)
                raise TimeoutError
        except TimeoutError:
            pass
        memory.add(ASKED, wait=True, session=SESSION, role="user", occurred_at=driver.as_of)
        memory.context(ASKED, 160, session=SESSION, peek=True)
        over = memory.end_session(SESSION, outcome="succeeded", outputs="It opens at 4.2 bar.", wait=True)
        driver.run([Tick(driver.as_of + _MINUTE_MS)], beat)
        found = memory.tasks(limit=len(GOALS) + 2).tasks
        line(console, f"memquorum experience list -n {namespace}", style="dim")
        for told in tasks.short(found):
            line(console, told)
        yield from _judged(memory, found, (helps, idle, lesson), over.task.memory_id if over.task else None)
        _tried(driver, memory, made, beat, (helps, idle))
        yield from _admitted(console, memory, (helps, idle))
        yield from _generalised(console, driver, memory, made, beat, helps)
    with works(_AWAY, ELSEWHERE) as other:
        yield _diffused(console, other)


def _tried(driver: Driver, memory: Memory, made: Genesis, beat: Callable[[], None], ids: tuple[str, str]) -> None:
    """Waits until verifiers have tried both memories, and members have voted on them by the following epoch."""
    for expected in (("agreed", "rejected"), ("admitted", "rejected")):

        def stand(expected: tuple[str, str] = expected) -> bool | None:
            return tuple(memory.experience(one).status for one in ids) == expected or None

        driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
        awaited(stand, beat)


def _admitted(console: Console, memory: Memory, ids: tuple[str, str]) -> Iterator[Check]:
    """Prints the admission of both, and asks experience a question."""
    line(console, "S is how much better tasks went with a memory than without it; from a least S on it is admitted.")
    for one, status, did in zip(ids, ("admitted", "rejected"), ("helped", "did not help"), strict=True):
        found = memory.experience(one)
        line(console, f"memquorum experience why -n {found.namespace} {one}", style="dim")
        for told in admitting.lines(found):
            line(console, told)
        score = "" if found.score is None else f"S = {admitting.number(found.score)}"
        yield Check(f"what {did} is {status}", found.status == status, score)
    given = [one.text for one in memory.retrieve(ASKED, experience=True, peek=True).items]
    line(console, f"{ASKED} Experience says: {' '.join(given)}")
    yield Check("what was admitted answers a question, and nothing refused", given == [HELPS], ASKED)


def _generalised(  # noqa: PLR0917
    console: Console, driver: Driver, memory: Memory, made: Genesis, beat: Callable[[], None], helps: str
) -> Iterator[Check]:
    """Waits until the general form of the memory that helped in three tasks is published and members have admitted
    it."""
    form = awaited(lambda: memory.experience(helps).general, beat)

    def there() -> str | None:
        told = memory.experiences(statuses=("admitted",)).memories
        return next((one.text for one in told if one.memory_id == form and one.weight == _HALF), None)

    driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
    text = awaited(there, beat)
    line(console, f"Its general form, at half of the weight: {text}")
    yield Check("what helps again and again has a general form", text == GENERAL, f"weight {_HALF}")


def _diffused(console: Console, elsewhere: Memory) -> Check:
    """Asks from another namespace, which is given the general form, and no memory that it was derived from."""
    kept = elsewhere.retrieve(GENERALLY, experience=True, peek=True).items
    given = [one.text for one in elsewhere.retrieve(GENERALLY, diffusion=True, peek=True).items]
    line(console, f"{GENERALLY} {elsewhere.namespace} is told: {' '.join(given)}")
    return Check("another namespace is given it where it asks for that", not kept and given == [GENERAL], GENERALLY)


def _finish(memory: Memory, goal: str, given: tuple[str, str], at: int) -> None:
    """Publishes a task in which the first of two memories helped, and the second did not."""
    with memory.task(goal, finished_at=at) as task:
        task.given(*given)
        task.tool("valve", "open, 4.2 bar")
        task.done(success=True, outputs=OPENED)
    assert task.receipt is not None
    memory.outcome(task.receipt)
    memory.give_feedback(task.id, helped=given[:1], did_not_help=given[1:], wait=True)


def _judged(
    memory: Memory, found: tuple[TaskInShort, ...], ids: tuple[str, str, str], session: str | None
) -> Iterator[Check]:
    helps, idle, lesson = ids
    ended = {one.goal: one.outcome for one in found}
    expected = dict.fromkeys(GOALS, "succeeded") | {FAILS: "failed", ASKED: "succeeded"}
    yield Check("finished tasks are told of as they ended", ended == expected, f"{len(found)} tasks")
    helped = sum(one.helped == (helps,) and one.did_not_help == (idle,) for one in found)
    yield Check("what helped in a task is told beside it", helped == len(GOALS), f"of {helped} tasks")
    hit = memory.search("Why does the valve of bed 4 jam?", k=1, peek=True)[0]
    failed = next((one.task for one in found if one.goal == FAILS), "")
    made_of = f"made of {failed}" in str(memory.explain(lesson))
    yield Check("a lesson is found, and is of its task", hit.memory_id == lesson and made_of, f'"{hit.text}"')
    own = next((one for one in found if one.task == session), None)
    given = own is not None and helps in own.retrieved
    yield Check("a session that came to something is a task", given, ASKED)
