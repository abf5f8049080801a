"""Shows the rewards that agents got for their changes to the fleet's memory."""

from __future__ import annotations

import argparse

from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened
from memquorum.commands import OK
from memquorum.core.api.answers import Rewarded


@command("rewards", example="memquorum rewards -n greenhouse --agent planner")
def _rewards(parsed: argparse.Namespace) -> int:
    """Adds up the rewards of a namespace's agents for their changes to its memory, or of one --agent."""
    with opened(parsed) as memory:
        found = memory.rewards(parsed.agent)
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    if not found.agents:
        console.print(Text(f"nobody was given anything in {found.namespace!r} yet"))
    for one in found.agents:
        console.print(Text(line(one, found.weight)))
    if found.more:
        console.print("and more agents: name one with --agent")
    return OK


def line(one: Rewarded, weight: float) -> str:
    """An agent's sum, its weight beside other rewards, and the counts of its rewards."""
    counts = ", ".join(f"{kind} {count}" for kind, count in one.counts.items())
    return f"{one.agent}  {one.sum:+.2f}, weighted {weight:.2f} · {one.sum:+.2f} = {one.weighted:+.3f}: {counts}"
