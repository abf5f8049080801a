"""Shows one roll-up: the sentences about a thing across sessions, what a later sentence adds, and its earlier state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console

from infra.demo.demo_report import line
from infra.demo.driver import Driver
from infra.demo.session_demo import A_WHILE_MS, AGENT, MINUTE_MS, NOTES, TOPIC, awaited, rolled_up
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory, rollups
from memquorum.core.api.answers import Rollup

SESSION = "morning shift 13"
FIRST = next(note for note in NOTES if "2.1 bar" in note)
SINCE = "Correction: pump 7 runs at 2.4 bar now."


def carry_out(
    console: Console, driver: Driver, now: Settings, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Contradicts an earlier session, and shows the roll-up of the thing now and as of before."""
    with Memory(namespace=namespace, agent=AGENT, kafka=now.bootstrap, url=now.retrieval_url) as memory:
        before = driver.as_of
        line(console, f'{AGENT} says in the session {SESSION!r}: "{SINCE}"')
        memory.add(SINCE, wait=True, session=SESSION, occurred_at=before + MINUTE_MS)
        driver.run([Tick(before + A_WHILE_MS)], beat)
        found = awaited(lambda: _with(memory, SINCE), beat)
        yield Check("a roll-up takes up what is said in another session", found is not None, f"of {TOPIC}")
        if found is None:
            return
        then = memory.rollup(TOPIC, as_of=before)
        _show(console, f'memquorum rollup show -n {namespace} "{TOPIC}" --history', found)
        _show(console, f'memquorum rollup show -n {namespace} "{TOPIC}" --as-of {before}', then)
        ops = [one.op for one in found.history if one.text == SINCE]
        beside = ops == ["add"] and FIRST in _texts(found) and SINCE not in _texts(then) and FIRST in _texts(then)
        yield Check("a correction in words stands beside what it corrects, and behind it", beside, ", ".join(ops))


def _with(memory: Memory, sentence: str) -> Rollup | None:
    """The roll-up, once it has a sentence."""
    found = rolled_up(memory)
    return None if found is None or sentence not in _texts(found) else found


def _texts(found: Rollup) -> list[str]:
    return [one.text for one in found.sentences]


def _show(console: Console, command: str, found: Rollup) -> None:
    line(console, command, style="dim")
    for told in rollups.lines(found):
        line(console, f"  {told}")
