"""`python -m tests.inventory`: compares what users can name with the frozen list. Exit 1 where they differ."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.inventory.items import differences, frozen, items, views, write
from tests.support import lent


def main() -> int:
    """Compares, and with `--keep` freezes the list of today."""
    parser = argparse.ArgumentParser(prog="python -m tests.inventory", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="freeze the list of today")
    parsed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, lent.started(Path(folder) / "postgres") as server:
        now = items() | views(server.dsn(f"template_{name}") for name in lent.TEMPLATES)
    found = differences(frozen(), now)
    print(found or "nothing is gone, nothing is new")
    if parsed.keep:
        write(now)
        return 0
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
