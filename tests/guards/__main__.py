"""`python -m tests.guards`: removes every guard in turn and says whether its killer noticed. Exit 1 if one did not."""

from __future__ import annotations

import argparse
import json

from rich.console import Console

from tests.guards.page import LIMIT_S, PAGE, page
from tests.guards.removal import Removal, load, mismatches, try_all


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.guards", description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="guards whose name, stage or anchor has the word")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="one of every N guards (default: 1)")
    parser.add_argument("--first", metavar="N", type=int, default=0, help="the first of them, from 0 on (default: 0)")
    parser.add_argument("--json", action="store_true", help="a line of JSON each")
    parser.add_argument("--page", action="store_true", help="only check the anchors and write docs/measured/guards.md")
    parsed = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    try:
        guards = load()
    except ValueError as error:
        parser.error(str(error))
    wanted = [g for g in guards if parsed.only in f"{g.name} {g.stage} {g.at}"]
    wanted = wanted[max(0, parsed.first) :: max(1, parsed.every)]
    if wrong := mismatches(wanted):
        parser.error("\n".join(wrong))
    if parsed.page:
        PAGE.write_text(page(guards), encoding="utf-8")
        return 0
    removals = list[Removal]()
    for removal in try_all(wanted):
        removals.append(removal)
        if parsed.json:
            print(json.dumps({"name": removal.guard.name, "told": removal.told()}), flush=True)
        else:
            told = f"{removal.told():12} {removal.killer_s:5.2f} s  {removal.guard.stage:10} {removal.guard.name}"
            console.print(told, style=None if removal.noticed else "bold red")
    unnoticed, slow = sum(not r.noticed for r in removals), [r for r in removals if r.killer_s > LIMIT_S]
    if not parsed.json:
        for removal in slow:
            console.print(f"longer than {LIMIT_S} s: {removal.guard.name}, {removal.killer_s:.1f} s", style="bold red")
        console.print(f"{len(wanted)} guards removed in turn, {unnoticed} not noticed")
    return 1 if unnoticed or not wanted else 0


if __name__ == "__main__":
    raise SystemExit(main())
