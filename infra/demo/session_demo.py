"""Shows one session: an agent's notes, the summary made at its end, and search results before and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from rich.console import Console

from infra.demo.demo_report import line
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.demo.sums import Check
from infra.settings import Settings
from memquorum.client import Memory, NotFound
from memquorum.core.accounts.telling import span
from memquorum.core.api.answers import Rollup
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.policy import PPM, Policy
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import ALIVE, DRAFT, GONE, SEALED

T = TypeVar("T")

SESSION, TOPIC = "night shift 12", "pump 7"
# Two questions: the summary answers the first, a memory that stays on its own the second.
ASKED = ("Who replaced the gasket of pump 7?", "Who pays for the second gasket set?")
# Facts and small talk of a night; the summary has no room for all of the facts.
NOTES = (
    "Good evening, the night shift is here.",
    "Rosa Lindqvist replaced the gasket of pump 7 at 02:10 and tightened it to 35 newton metres.",
    "It is all quiet here now, and I like that at night.",
    "Pump 7 runs at 2.1 bar, as Tomas Berger measured at 03:00.",
    "The coffee is cold again, as it was last night.",
    "We decided to move the pressure test of pump 7 to Thursday 14:00.",
    "I looked at all of the beds once more, and they are well.",
    "It is still unclear who pays for the second gasket set, 480 euros.",
    "The moon is out, so I turned the light down a little.",
    "Lena Brandt will send the log of the whole night to the insurer in Ulm by Friday.",
    "There is nothing new to say at this hour.",
    "The night went by faster than I thought it would.",
)
AGENT, MINUTE_MS = "juno", 60_000
A_WHILE_MS = 6 * MINUTE_MS
"""Longer than the consolidator waits before it updates roll-ups."""
_PATIENCE_S, _LOOK_S, _EPOCHS = 60.0, 0.1, 3


@dataclass(frozen=True, slots=True)
class Note:
    """The fate of a note: its tier, the rank of its worth in millionths, whether the summary quotes it, and whether the
    summary replaces it."""

    text: str
    tier: str
    rank_ppm: int
    said: bool
    replaced: bool


def carry_out(
    console: Console, driver: Driver, now: Settings, made: Genesis, beat: Callable[[], None], *, namespace: str
) -> Iterator[Check]:
    """Notes what happened in a session, ends it, and asks before and after the members' vote on its summary."""
    with Memory(namespace=namespace, agent=AGENT, kafka=now.bootstrap, url=now.retrieval_url) as memory:
        began = driver.as_of - len(NOTES) * MINUTE_MS
        ids = [
            memory.add(note, wait=True, session=SESSION, occurred_at=began + at * MINUTE_MS).memory_id
            for at, note in enumerate(NOTES)
        ]
        driver.run([Tick(driver.as_of + A_WHILE_MS)], beat)
        # A patch quotes existing memories: without a grace time these are gone after the vote.
        awaited(lambda: rolled_up(memory), beat)
        line(console, f"{AGENT} notes {len(NOTES)} things in the session {SESSION!r}, and ends it")
        _ask(console, memory, "before the vote")
        memory.end_session(SESSION)
        drafted = awaited(lambda: _drafted(now, namespace), beat)
        yield Check("a session that is over has a summary", drafted is not None, f"drafted by {CONSOLIDATOR}")
        if drafted is None:
            return
        for _ in range(_EPOCHS):
            driver.run([Tick(driver.as_of + made.policy.epoch.interval_ms)], beat)
            if memory.get(drafted).tier != DRAFT:
                break
        served = memory.get(drafted).text or ""
        line(console, "The summary, on which the members voted:")
        for told in served.split("\n"):
            line(console, f"  {told}")
        _ask(console, memory, "after the vote")
        why, notes = memory.explain(drafted), _became(memory, drafted, ids)
        _fates(console, notes, made.policy)
        for told in why.lines:
            line(console, told) if told else console.print()
        yield from _judged(notes, served, made.policy)


def awaited(asked: Callable[[], T | None], beat: Callable[[], None]) -> T | None:
    """Repeats a question until it has an answer; None if it has none in time."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        beat()
        if (found := asked()) is not None:
            return found
        time.sleep(_LOOK_S)
    return None


def rolled_up(memory: Memory) -> Rollup | None:
    """Returns the roll-up of `TOPIC`, once there is one."""
    try:
        return memory.rollup(TOPIC, history=True)
    except NotFound:
        return None


def _became(memory: Memory, summary: str, ids: list[str]) -> list[Note]:
    """Returns the fate of each note, from `explain` of the note and of the summary."""
    born = memory.explain(summary).account["born"]
    quoted = {quote["memory_id"] for quote in born["summary"]["quotes"]}
    found = []
    for text, own in zip(NOTES, ids, strict=True):
        account = memory.explain(own).account
        rank_ppm = account["born"]["rank_ppm"]
        found.append(Note(text, account["tier"], rank_ppm, own in quoted, own in born["derives_from"]))
    return found


def _fates(console: Console, notes: list[Note], policy: Policy) -> None:
    """Prints which notes were sealed and which stay, each with its rank, and why."""
    share, rank = policy.consolidate.share_ppm * 100 // PPM, policy.consolidate.lost_rank_ppm / PPM
    console.print()
    line(console, "Sealed, as the summary says it, each with the rank of its worth:")
    _ranked(console, [one for one in notes if one.replaced and one.said])
    line(
        console,
        f"Sealed, and in no summary: its rank is under {rank:.2f}, so by default a vote lets it go:",
    )
    _ranked(console, [one for one in notes if one.replaced and not one.said])
    line(
        console,
        f"Still a memory of its own: its rank is higher, and a summary of {share} % of the length had no room for it:",
    )
    _ranked(console, [one for one in notes if not one.replaced])
    if not policy.forget.grace_ms:
        days = span(Policy().forget.grace_ms)
        line(
            console,
            f"Here what is sealed loses its key at once; by default a vote can bring it back for {days}.",
            "dim",
        )
    console.print()


def _ranked(console: Console, notes: list[Note]) -> None:
    for one in notes:
        line(console, f"  {one.rank_ppm / PPM:.2f}  {one.text}")


def _judged(notes: list[Note], served: str, policy: Policy) -> Iterator[Check]:
    gone = [one for one in notes if one.replaced]
    kept = [one for one in notes if not one.replaced]
    before = sum(len(one.text) for one in notes)
    after = len(served) + sum(len(one.text) for one in kept)
    there = bool(served) and all(one.text in served for one in gone if one.said)
    sealed = {one.tier for one in gone} <= {SEALED, GONE}
    yield Check("its summary is in their place", there and sealed, f"{before} characters became {after}")
    worthless = all(one.rank_ppm < policy.consolidate.lost_rank_ppm for one in gone if not one.said)
    alive = all(one.tier in ALIVE for one in kept)
    told = f"of {many(len(notes), 'note')} {len(kept)} stayed a memory of its own"
    yield Check("nothing is lost that a vote would keep", worthless and alive and bool(kept), told)


def _ask(console: Console, memory: Memory, when: str) -> None:
    line(console, f"{when[0].upper()}{when[1:]}:")
    for asked in ASKED:
        (hit,) = memory.search(asked, k=1, peek=True)
        line(console, f"  {asked} {'A summary says' if hit.made_by else 'A memory says'}:")
        for told in hit.text.split("\n"):
            line(console, f"    {told}")


def _drafted(now: Settings, namespace: str) -> str | None:
    """Returns the summary that waits for its vote."""
    wanted = "SELECT id::text FROM memory WHERE namespace = %s AND tier = %s"
    with psycopg.connect(now.memory_dsn, autocommit=True) as connection:
        row = connection.execute(wanted, (namespace, DRAFT)).fetchone()
    return None if row is None else str(row[0])
