"""`python -m tests.verdicts`: compares what the rules say of a corpus with what is frozen. Exit 1 where they differ."""

from __future__ import annotations

import argparse
from itertools import groupby
from operator import attrgetter

from tests.verdicts.frozen import Change, changes, judged, read, write


def changes_in_words(found: list[Change]) -> str:
    """The changes, by kind."""
    lines = list[str]()
    for kind, of_kind in groupby(found, key=attrgetter("kind")):
        these = list(of_kind)
        lines.append(f"{kind}: {len(these)} changed")
        for change in these:
            lines.append(f"  {change.old} → {change.new}")
            lines += [f"    {text!r}" for text in change.about]
    return "\n".join(lines)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.verdicts", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="freeze the verdicts of today")
    parsed = parser.parse_args()
    frozen = read()
    today = judged(frozen)
    found = changes(frozen, today)
    print(changes_in_words(found) or "no verdict changed")
    if parsed.keep:
        write(today)
        return 0
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
