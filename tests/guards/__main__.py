"""`python -m tests.guards`: removes every guard in turn and says whether its killer noticed. Exit 1 if one did not."""

from __future__ import annotations

import argparse
import json

from rich.console import Console

from tests.guards.removal import load, try_all


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.guards", description=__doc__)
    parser.add_argument("--only", metavar="WORD", default="", help="the guards whose name, stage or file has the word")
    parser.add_argument("--json", action="store_true", help="a line of JSON each")
    parsed = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    wanted = [g for g in load() if parsed.only in f"{g.name} {g.stage} {g.file}"]
    unnoticed = 0
    for removal in try_all(wanted):
        unnoticed += not removal.noticed
        if parsed.json:
            print(json.dumps({"name": removal.guard.name, "told": removal.told()}), flush=True)
        else:
            told = f"{removal.told():12} {removal.seconds:4.1f} s  {removal.guard.stage:10} {removal.guard.name}"
            console.print(told, style=None if removal.noticed else "bold red")
    if not parsed.json:
        console.print(f"{len(wanted)} guards removed in turn, {unnoticed} not noticed")
    return 1 if unnoticed or not wanted else 0


if __name__ == "__main__":
    raise SystemExit(main())
