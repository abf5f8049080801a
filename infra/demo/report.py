"""The report: what became of the log, in numbers that add up, and one deletion and one promotion in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from infra.demo.cluster import Survey
from infra.demo.driver import Refused
from infra.demo.inputs import Tally
from infra.demo.ledger import GONE, LONG_TERM, SEALED, SHORT_TERM, Epoch, Ledger, percentile
from infra.demo.screen import duration, moment
from infra.demo.sums import Check, Sum, words
from memquorum.core.policy import Policy, to_json

_BARS = "▁▂▃▄▅▆▇█"
_ROWS = 10


def heading(console: Console, text: str) -> None:
    """A section's title."""
    console.print()
    console.print(Text(text, style="bold"))


def show_log(console: Console, path: Path, tally: Tally, found: Survey) -> None:
    """What was read."""
    console.print(f"  {path}", soft_wrap=True)
    what = [f"{tally.messages:,} messages", f"{tally.accesses:,} accesses" if tally.accesses else ""]
    what += [f"{len(tally.empty):,} without text, skipped" if tally.empty else ""]
    what += [f"{len(tally.split)} over 64 KiB, split" if tally.split else ""]
    console.print("  " + ", ".join(filter(None, what)))
    busiest = ", ".join(f"{agent} ({n:,})" for agent, n in found.agents.most_common(4))
    others = f" and {len(found.agents) - 4} more" if len(found.agents) > 4 else ""
    console.print(f"  agents: {busiest}{others}")
    console.print(f"  {moment(found.first or 0)} to {moment(found.last)}, {duration(found.span_ms / 1000)}")


def show_refused(console: Console, refused: Sequence[Refused]) -> None:
    """Why records were refused: the reasons with their counts, and a first example of each."""
    counts = Counter(letter.reason for letter in refused)
    first = {letter.reason: letter for letter in reversed(refused)}
    for reason, n in counts.most_common(5):
        one = first[reason]
        console.print(
            f"  refused, {n:,} x {words(reason)}: {one.event_id}: {one.field or 'record'}: {one.detail}", style="dim"
        )


def show_next(console: Console, kept: Path | None) -> None:
    """What to try now."""
    heading(console, "What to try next")
    if kept is not None:
        here = f"MEMQUORUM_RUN_DIR={kept}"
        lines = [
            f"{here} make psql          SELECT * FROM audit_forgotten LIMIT 5;",
            f"{here} make status",
            f"{here} make down",
        ]
    else:
        lines = [
            "make demo KEEP=1                 the same, and everything stays up to look around",
            "make demo INPUT=PATH             a log of yours: chat transcripts or our own records",
            "make up                          the line on its own, for agents of yours; the README shows how",
        ]
    for line in lines:
        console.print(f"  {line}", soft_wrap=True)


def show_sums(console: Console, found: Sequence[Sum]) -> None:
    """One line for each sum: the whole, its parts, and whether they add up."""
    for one in found:
        name, whole = one.whole
        parts = ""
        for index, (part, n) in enumerate(one.parts):
            sign = " - " if n < 0 else " + " if index else ""
            parts += f"{sign}{abs(n):,} {part}"
        mark = "[green]adds up[/]" if one.holds else "[bold red]DOES NOT ADD UP[/]"
        console.print(Padding(f"{whole:,} {name} = {parts}   {mark}", (0, 2)))


def show_checks(console: Console, found: Sequence[Check]) -> None:
    """One line for each check."""
    for check in found:
        mark = "[green]ok[/]  " if check.holds else "[bold red]FAIL[/]"
        console.print(Padding(Text.from_markup(f"{mark} ") + Text(f"{check.name}: {check.found}"), (0, 2)))


def show_policy(console: Console, policy: Policy) -> None:
    """The settings that differ from the defaults, and the decay's scales as people say them."""
    scales = ", ".join(duration(s) for s in policy.decay.scales_s)
    console.print(f"  decay scales: {scales}, from the log's own length; weights {_list(policy.decay.weights)}")
    own, default = to_json(policy), to_json(Policy())
    for section, values in own.items():
        changed = {k: v for k, v in values.items() if v != default[section][k] and k != "scales_s"}
        if changed:
            console.print(f"  {section}: " + ", ".join(f"{k} {_plain(v)}" for k, v in changed.items()), highlight=False)


def show_time(console: Console, ledger: Ledger) -> None:
    """Tiers and footprint over time: a table of a few moments, and the whole course as a line of bars."""
    moments = ledger.moments
    if not moments:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("at", "recorded", SHORT_TERM, LONG_TERM, f"{SEALED} or {GONE}", "characters kept", "of all"):
        table.add_column(name, justify="left" if name == "at" else "right")
    for one in _sample(moments, _ROWS):
        out = one.tiers[SEALED] + one.tiers[GONE]
        cells = (one.recorded, one.tiers[SHORT_TERM], one.tiers[LONG_TERM], out, one.characters)
        table.add_row(moment(one.as_of), *(f"{n:,}" for n in cells), _share(one.characters, one.everything))
    console.print(Padding(table, (0, 2)))
    kept = [one.tiers[SHORT_TERM] + one.tiers[LONG_TERM] for one in moments]
    console.print(f"  alive over time  {bars(kept, console)}  most {max(kept):,}, now {_now(ledger):,}")


def show_epochs(console: Console, ledger: Ledger) -> None:
    """How many epochs, by what, and how long a decision took."""
    epochs = list(ledger.epochs.values())
    decided = [e for e in epochs if e.decided_at is not None]
    triggers = Counter(e.trigger for e in epochs)
    by = ", ".join(f"{n} by {name}" for name, n in triggers.most_common())
    console.print(f"  {len(epochs)} epochs ({by or 'none'}), {len(decided)} decided")
    times = ledger.latencies()
    if times:
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        console.print(f"  decision latency of {len(times)}: p50 {p50} ms, p99 {p99} ms")
        console.print(
            "  measured from the nomination's timestamp in its topic to that of the decision's journal row: four "
            "ballots, the three phases of PBFT, and the commit in Postgres lie between them",
            style="dim",
        )


def pick(ledger: Ledger, outcome: str) -> tuple[Epoch, str] | None:
    """An epoch and a memory that it ended so: the last decided one, since most had been said by then."""
    found = [(e, r.memory_id) for e in ledger.epochs.values() for r in e.results if r.outcome == outcome]
    return found[-1] if found else None


def bars(values: Sequence[int], console: Console, width: int = 40) -> str:
    """A sparkline; digits where the console's encoding has no bars."""
    marks = _BARS if "utf" in console.encoding.lower() else "01234567"
    most = max(values) or 1
    return "".join(marks[round(v * (len(marks) - 1) / most)] for v in _sample(values, width))


def _sample(values: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the values, evenly, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]


def _now(ledger: Ledger) -> int:
    tiers = ledger.tiers()
    return tiers[SHORT_TERM] + tiers[LONG_TERM]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{v:g}" for v in values)


def _plain(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
