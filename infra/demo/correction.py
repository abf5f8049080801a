"""Shows two corrections: one in words alone, which is only marked, and one that names the memory it corrects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console

from infra.demo.demo_report import line
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.core.identity.membership import Genesis
from memquorum.core.tiers import SUPERSEDED

BEFORE, HEARD, SINCE, ASKED = (
    "The door code is 4821.",
    "The door code was changed to 7150.",
    "The door code is 9930.",
    "What is the door code?",
)
_AGENT, _OTHER, _AN_HOUR_MS = "juno", "remy", 3_600_000


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Publishes a fact, has another agent contradict it, then corrects it by name; searches before and after the votes,
    and shows why the older one was superseded."""

    def client(agent: str) -> Memory:
        return Memory(namespace=namespace, agent=agent, kafka=now.bootstrap, url=now.retrieval_url)

    with client(_AGENT) as memory, client(_OTHER) as other:
        old = memory.add(BEFORE, wait=True, occurred_at=driver.as_of - _AN_HOUR_MS)
        heard = other.add(HEARD, wait=True, occurred_at=driver.as_of)
        line(console, f'{_AGENT} says "{BEFORE}", and an hour later {_OTHER} says "{HEARD}"')
        driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
        both = [heard.memory_id, old.memory_id]
        yield from _asked(
            console, memory, both, "words alone take nothing: both are served and marked, also after a vote"
        )
        new = memory.add(SINCE, wait=True, occurred_at=driver.as_of, explicit=True, supersedes=[old.memory_id])
        line(console, f'{_AGENT} names its own memory and says "{SINCE}"')
        driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
        yield from _asked(console, memory, [new.memory_id, heard.memory_id], "what it named is served no more")
        why, tier = memory.explain(old.memory_id), memory.get(old.memory_id).tier
        for told_so in why.lines:
            line(console, told_so) if told_so else console.print()
        yield Check("what was corrected on purpose is superseded", tier == SUPERSEDED, f'"{BEFORE}" is {tier}')


def _asked(console: Console, memory: Memory, expected: list[str], when: str) -> Iterator[Check]:
    """Asks for the code, and shows the answers that bear on it."""
    hits = memory.search(ASKED, k=3, peek=True)
    shown = [hit for hit in hits if hit.text in (BEFORE, HEARD, SINCE)]
    line(console, f"{ASKED} {when[0].upper()}{when[1:]}:")
    for place, hit in enumerate(shown, 1):
        marked = ", marked: another memory says otherwise" if hit.conflicts_with else ""
        line(console, f'  {place}. "{hit.text}"{marked}')
    found = [hit.memory_id for hit in shown]
    right = sorted(found) == sorted(expected) and all(hit.conflicts_with for hit in shown)
    yield Check(when, right, f"{len(shown)} found, each marked")
