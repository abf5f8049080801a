"""One session: what an agent notes, the summary that is left when it is over, what a search finds before and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psycopg
from rich.console import Console

from infra.demo.driver import Driver
from infra.demo.report import line
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.tiers import DRAFT, GONE, SEALED

SESSION, ASKED = "night shift 12", "Who measured the outlet of pump 7?"
NOTES = (
    "Rosa Lindqvist replaced the gasket of boiler 4 at 02:10 and tightened it to 35 newton metres.",
    "We decided to move the pressure test of line 9 to Thursday 14:00.",
    "Tomas Berger measured 2.1 bar at the outlet of pump 7.",
    "It is still unclear who pays for the second gasket set, 480 euros.",
    "Lena will send the pressure log to the insurer by Friday.",
)
_AGENT, _MINUTE_MS = "juno", 60_000
_PATIENCE_S, _LOOK_S, _EPOCHS = 60.0, 0.1, 3


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Notes what happened in a session, ends it, and asks before and after the members' vote on its summary."""
    with Memory(namespace=namespace, agent=_AGENT, kafka=now.bootstrap, url=now.retrieval_url) as memory:
        began = driver.as_of - len(NOTES) * _MINUTE_MS
        notes = [
            memory.add(note, wait=True, session=SESSION, occurred_at=began + at * _MINUTE_MS)
            for at, note in enumerate(NOTES)
        ]
        line(console, f"{_AGENT} notes {len(NOTES)} things in the session {SESSION!r}, and ends it")
        _ask(console, memory, "before the vote")
        memory.end_session(SESSION)
        drafted = _drafted(now, namespace, beat)
        yield Check("a session that is over has a summary", drafted is not None, f"drafted by {CONSOLIDATOR}")
        if drafted is None:
            return
        for _ in range(_EPOCHS):
            driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
            if memory.get(drafted).tier != DRAFT:
                break
        _ask(console, memory, "after the vote")
        why, tiers = memory.explain(drafted), {memory.get(note.memory_id).tier for note in notes}
        for told in why.lines:
            line(console, told) if told else console.print()
        served = memory.get(drafted).text or ""
        told = f"{sum(map(len, NOTES))} characters became {len(served)}"
        yield Check("its summary is in their place", bool(served) and tiers <= {SEALED, GONE}, told)


def _ask(console: Console, memory: Memory, when: str) -> None:
    line(console, f"{ASKED} {when[0].upper()}{when[1:]}:")
    (hit,) = memory.search(ASKED, k=1, peek=True)
    for at, told in enumerate(hit.text.split("\n")):
        line(console, f"  {'a summary says' if hit.made_by else 'found'}: {told}" if at == 0 else f"    {told}")


def _drafted(now: Settings, namespace: str, beat: Callable[[], None]) -> str | None:
    """The summary that waits for its vote, as soon as it is there; None where it does not come."""
    wanted = "SELECT id::text FROM memory WHERE namespace = %s AND tier = %s"
    until = time.monotonic() + _PATIENCE_S
    with psycopg.connect(now.memory_dsn, autocommit=True) as connection:
        while time.monotonic() < until:
            beat()
            if (row := connection.execute(wanted, (namespace, DRAFT)).fetchone()) is not None:
                return str(row[0])
            time.sleep(_LOOK_S)
    return None
