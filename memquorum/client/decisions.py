"""The command that lists what members decided about a namespace's memories."""

from __future__ import annotations

import argparse

from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened, page_of, selected, tell_more, times
from memquorum.client.reading import PASSES, passed
from memquorum.commands import NUMBERS, OK, flag, option, titled
from memquorum.core.accounts.decisions import OUTCOMES, VOTED
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Decision
from memquorum.core.api.requests import DecisionsRequest
from memquorum.core.policy import FORGETTING


@command(
    "decisions",
    option("--kind", action="append", choices=tuple(VOTED), help="votes to do this; repeatable"),
    option("--outcome", action="append", choices=OUTCOMES, help="that ended so; repeatable"),
    option("--policy", action="append", choices=FORGETTING, help="proposed by this policy of a budget; repeatable"),
    option("--memory", metavar="ID", help="about this memory"),
    *times("voted on"),
    *page_of(DecisionsRequest),
    flag("--brief", "a line for each: when, how it ended, about which memories, and why it was proposed"),
    NUMBERS,
    titled("only if all its memories pass", *PASSES),
    example="memquorum decisions -n greenhouse --kind evict --policy worth --since 2026-03-01",
)
def _decisions(parsed: argparse.Namespace) -> int:
    """Lists what members decided about memories, the latest first: what, why, and each member's vote; with --numbers
    also weights and scores. A memory that is gone or erased is shown by its id alone. For receipts of erasures see
    `memquorum receipt`."""
    with opened(parsed) as memory:
        page = memory.decisions(
            kinds=parsed.kind, outcomes=parsed.outcome, policies=parsed.policy, memory_id=parsed.memory,
            **selected(parsed), **passed(parsed),
        )  # fmt: skip
    console = terminal.console()
    for at, one in enumerate(page.decisions):
        if parsed.json:
            print(in_json(one))
            continue
        if at and not parsed.brief:
            console.print()
        for line in [_brief(one)] if parsed.brief else one.numbers if parsed.numbers else one.lines:
            console.print(terminal.text(console, line), soft_wrap=True)
    if not page.decisions and not parsed.json:
        console.print(Text(f"nothing that passes was decided in {page.namespace!r}"))
    tell_more(page)
    return OK


def _brief(one: Decision) -> str:
    by = f" by {one.policy}" if one.policy else ""
    ids = ", ".join(memory.memory_id for memory in one.memories)
    proposed = f", {one.proposed}" if one.proposed else ""
    return f"{moment(one.as_of)}  {one.kind}{by}{proposed}: {one.outcome}, {one.why}: {ids}"
