"""One correction: a fact, what replaces it, what a search finds before the members vote and after, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Console

from infra.demo.driver import Driver
from infra.demo.report import line
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.core.identity.membership import Genesis
from memquorum.core.tiers import SUPERSEDED

BEFORE, SINCE, ASKED = "The door code is 4821.", "The door code was changed to 9930.", "What is the door code?"
_AGENT, _AN_HOUR_MS = "juno", 3_600_000


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Says a fact and then what has become of it, asks before and after the vote, and tells why the older one went."""
    with Memory(namespace=namespace, agent=_AGENT, kafka=now.bootstrap, url=now.retrieval_url) as memory:
        old = memory.add(BEFORE, wait=True, occurred_at=driver.as_of - _AN_HOUR_MS)
        new = memory.add(SINCE, wait=True, occurred_at=driver.as_of)
        line(console, f'{_AGENT} says "{BEFORE}", and an hour later "{SINCE}"')
        yield from _asked(console, memory, [new.memory_id, old.memory_id], "before the members vote both are kept")
        driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
        yield from _asked(console, memory, [new.memory_id], "after their vote the newer one alone is served")
        why, tier = memory.explain(old.memory_id), memory.get(old.memory_id).tier
        for told in why.lines:
            line(console, told) if told else console.print()
        yield Check("what was corrected is superseded", tier == SUPERSEDED, f'"{BEFORE}" is {tier}')


def _asked(console: Console, memory: Memory, expected: list[str], when: str) -> Iterator[Check]:
    """Asks for the code, and shows the answers that bear on it."""
    hits = memory.search(ASKED, k=3, peek=True)
    shown = [hit for hit in hits if hit.text in (BEFORE, SINCE)]
    line(console, f"{ASKED} {when[0].upper()}{when[1:]}:")
    for place, hit in enumerate(shown, 1):
        marked = ", marked: another memory says otherwise" if hit.conflicts_with else ""
        line(console, f'  {place}. "{hit.text}"{marked}')
    yield Check(when, [hit.memory_id for hit in hits[: len(expected)]] == expected, f"{len(shown)} found, in order")
