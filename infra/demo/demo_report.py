"""Prints the report: the results of the log in numbers that add up, and one deletion and one promotion in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from infra.demo.cluster import Survey
from infra.demo.driver import Refused
from infra.demo.entry_counts import Ledger, percentile
from infra.demo.inputs import Tally
from infra.demo.screen import duration, moment
from infra.demo.sums import Check, Sum, words
from infra.settings import Settings, console_url
from memquorum.core.policy import NO_CAPS, Policy, to_json
from memquorum.core.tiers import GONE, LONG_TERM, SEALED, SHORT_TERM, SUPERSEDED

_BARS = "▁▂▃▄▅▆▇█"
_ROWS = 10

_STOPPED = (
    ("make demo KEEP=1", "the same, and everything stays up, with the console: a page to look around"),
    ("make demo INPUT=PATH", "a log of yours: chat transcripts or our own records"),
    ("make up", "the line on its own, for agents of yours; the README shows how"),
)
_KEPT = (
    ("{console}", "look at it: who voted what, and why; the namespace is {namespace}"),
    ('.venv/bin/memquorum search --peek -n {namespace} "..."', "what the fleet still knows"),
    (".venv/bin/memquorum explain ID", "why a memory is where it is; search tells the ids"),
    ("make psql", "then: SELECT * FROM audit_forgotten LIMIT 5;"),
    ("make verify", "check everything again"),
    ("make down", "stop it"),
)


def line(console: Console, text: str | Text, style: str = "") -> None:
    """Prints a line of a section, indented by two blanks; the rest of a long one by four."""
    body = Text(text) if isinstance(text, str) else text
    blanks = 2 + len(body.plain) - len(body.plain.lstrip())
    body = body[blanks - 2 :]
    for index, part in enumerate(body.wrap(console, max(20, console.width - blanks - 2))):
        part.rstrip()
        console.print(Text(" " * (blanks + 2 * (index > 0))) + part, style=style, soft_wrap=True)


def heading(console: Console, text: str) -> None:
    """A section's title."""
    console.print()
    console.print(Text(text, style="bold"))


def show_log(console: Console, path: Path, tally: Tally, found: Survey) -> None:
    """Prints the facts about the log."""
    line(console, str(path))
    what = [f"{tally.messages:,} messages", f"{tally.accesses:,} accesses" if tally.accesses else ""]
    what += [f"{len(tally.empty):,} without text, skipped" if tally.empty else ""]
    what += [f"{len(tally.split)} over 64 KiB, split" if tally.split else ""]
    line(console, ", ".join(filter(None, what)))
    busiest = ", ".join(f"{agent} ({n:,})" for agent, n in found.agents.most_common(4))
    others = f" and {len(found.agents) - 4} more" if len(found.agents) > 4 else ""
    line(console, f"agents: {busiest}{others}")
    line(console, f"{moment(found.first or 0)} to {moment(found.last)}, {duration(found.span_ms / 1000)}")


def show_refused(console: Console, refused: Sequence[Refused]) -> None:
    """Prints the reasons of refusals with their counts, and a first example of each."""
    counts = Counter(letter.reason for letter in refused)
    first = {letter.reason: letter for letter in reversed(refused)}
    for reason, n in counts.most_common(5):
        one = first[reason]
        text = f"refused, {n:,} x {words(reason)}: {one.event_id}: {one.field or 'record'}: {one.detail}"
        line(console, text, style="dim")


def show_next(console: Console, kept: Settings | None, namespace: str) -> None:
    """Prints commands to try next. `kept`: the settings of an installation that still runs."""
    heading(console, "What to try next")
    if kept is not None:
        console.print(f"  export MEMQUORUM_RUN_DIR={kept.run_dir}", soft_wrap=True)
    page = "" if kept is None else f"{console_url(kept)}#/decisions?ns={quote(namespace)}"
    for command, what in _KEPT if kept is not None else _STOPPED:
        text = f"  {command.format(namespace=namespace, console=page):<48}  {what.format(namespace=namespace)}"
        console.print(text, soft_wrap=True)


def show_sums(console: Console, found: Sequence[Sum]) -> None:
    """Prints one line for each sum: the whole, its parts, and whether they add up. Leaves out empty sums."""
    for one in found:
        if one.holds and not one.whole[1]:
            continue
        name, whole = one.whole
        parts = ""
        for index, (part, n) in enumerate(one.parts):
            sign = " - " if n < 0 else " + " if index else ""
            parts += f"{sign}{abs(n):,} {part}"
        mark = ("adds up", "green") if one.holds else ("DOES NOT ADD UP", "bold red")
        line(console, Text.assemble(f"{whole:,} {name} = {parts}   ", mark))


def show_checks(console: Console, found: Sequence[Check]) -> None:
    """One line for each check."""
    for check in found:
        mark = ("ok  ", "green") if check.holds else ("FAIL", "bold red")
        line(console, Text.assemble(mark, f" {check.name}: {check.found}"))


def show_policy(console: Console, policy: Policy) -> None:
    """The settings that differ from the defaults, and the decay's scales as people say them."""
    scales = ", ".join(duration(s) for s in policy.decay.scales_s)
    weights = ", ".join(f"{w:g}" for w in policy.decay.weights)
    line(console, f"decay: scales {scales}, from the log's own length, with weights {weights}")
    own, default = to_json(policy), to_json(Policy())
    for section, values in own.items():
        changed = {k: v for k, v in values.items() if v != default[section][k] and k != "scales_s"}
        if changed:
            line(console, f"{section}: " + ", ".join(_setting(k, v) for k, v in changed.items()))
    if policy.caps == NO_CAPS:
        usual = Policy().caps
        shares = f"{float(usual.epoch_share):.0%} an epoch and {float(usual.day_share):.0%} a day"
        line(console, f"so nothing is held back here; elsewhere a namespace loses {shares} at most")


def show_time(console: Console, ledger: Ledger) -> None:
    """Tiers and footprint over time: a table of a few moments, and the whole course as a line of bars."""
    moments = ledger.moments
    if not moments:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in (
        "at",
        "recorded",
        SHORT_TERM,
        LONG_TERM,
        SUPERSEDED,
        f"{SEALED} or {GONE}",
        "characters kept",
        "of all",
    ):
        table.add_column(name, justify="left" if name == "at" else "right", no_wrap=name in ("at", "of all"))
    for one in _sample(moments, _ROWS):
        out = one.tiers[SEALED] + one.tiers[GONE]
        alive = (one.tiers[SHORT_TERM], one.tiers[LONG_TERM])
        cells = (one.recorded, *alive, one.tiers[SUPERSEDED], out, one.characters)
        table.add_row(moment(one.as_of), *(f"{n:,}" for n in cells), _share(one.characters, one.everything))
    console.print(Padding(table, (0, 0, 0, 2), expand=False))
    kept = [one.tiers[SHORT_TERM] + one.tiers[LONG_TERM] for one in moments]
    line(console, f"alive over time  {bars(kept, console)}  most {max(kept):,}, now {_now(ledger):,}")


def show_epochs(console: Console, ledger: Ledger) -> None:
    """Prints the number of epochs by trigger, and the latency of decisions."""
    epochs = list(ledger.epochs.values())
    decided = [e for e in epochs if e.decided_at is not None]
    triggers = Counter(e.trigger for e in epochs)
    by = ", ".join(f"{n} by {name}" for name, n in triggers.most_common())
    line(console, f"{len(epochs)} epochs ({by or 'none'}), {len(decided)} decided")
    times = ledger.latencies()
    if times:
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        line(console, f"decision latency of {len(times)}: p50 {p50} ms, p99 {p99} ms")
        how = (
            "measured from the nomination's timestamp in its topic to that of the decision's journal row: four "
            "ballots, the three phases of PBFT, and the commit in Postgres lie between them"
        )
        line(console, how, style="dim")
    line(console, f"fingerprint of all outcomes {ledger.fingerprint()}: the same log decides the same again")


def bars(values: Sequence[int], console: Console, width: int = 40) -> str:
    """A sparkline; digits if the console's encoding has no bars."""
    marks = _BARS if "utf" in console.encoding.lower() else "01234567"
    most = max(values) or 1
    return "".join(marks[round(v * (len(marks) - 1) / most)] for v in _sample(values, width))


def _sample(values: Sequence[Any], most: int) -> list[Any]:
    """Picks at most `most` of the values, evenly, the first and the last among them."""
    if len(values) <= most:
        return list(values)
    return [values[round(i * (len(values) - 1) / (most - 1))] for i in range(most)]


def _now(ledger: Ledger) -> int:
    tiers = ledger.tiers()
    return tiers[SHORT_TERM] + tiers[LONG_TERM]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _setting(name: str, value: Any) -> str:
    if name.endswith("_ms") and value:
        return f"{name.removesuffix('_ms')} {duration(value / 1000)}"
    return f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}"
