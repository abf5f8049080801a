"""Draws the pages of the console for docs/operate/console.md: `python -m tests.shots [RUN_FOLDER]`.

It looks at an installation that runs, by default the one that `make demo KEEP=1` leaves, in both themes, and writes
docs/operate/console/NAME-THEME.jpg. Look at each one before you commit it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from infra import settings
from memquorum.client import Memory
from tests import ROOT
from tests.support import browser

FOLDER = ROOT / "docs" / "operate" / "console"
NAMESPACE = "glasshouse"
PAGES: Mapping[str, str] = {
    "now": "now",
    "journal": "journal",
    "browse": "memories",
    "ask": "ask?q=Which pressure opens the valve of bed 4?",
    "memory": "memory/{promoted}",
    "votes": "decisions",
    "epoch": "epoch/{epoch}",
    "next": "experience?tab=next",
    "conflicts": "conflicts",
    "experience": "experience/{admitted}",
    "members": "members",
    "orders": "orders/{order}",
}
"""Each picture and the page that it shows."""
THEMES = ("light", "dark")


def places(memory: Memory) -> dict[str, str]:
    """Returns what the pages are about: a promoted memory, a vote that forgot some, experience, and an erasure."""
    promoted = memory.decisions(outcomes=["promoted"], limit=1).decisions[0]
    forgotten = memory.decisions(outcomes=["forgotten"], limit=1).decisions[0]
    return {
        "promoted": promoted.memories[0].memory_id,
        "epoch": f"{forgotten.shard}/{forgotten.epoch}",
        "admitted": memory.experiences(statuses=["admitted"]).memories[0].memory_id,
        "order": memory.orders(kinds=["erase"]).orders[0].order_id,
    }


def draw(url: str, named: Mapping[str, str], folder: Path = FOLDER) -> None:
    """Draws all pages in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser.started() as chromium:
        for theme in THEMES:
            with browser.looking(chromium, url, theme=theme) as look:
                for name, place in PAGES.items():
                    whole = place.format(**named)
                    look.open(f"{whole}{'&' if '?' in whole else '?'}ns={NAMESPACE}")
                    look.page.screenshot(path=str(folder / f"{name}-{theme}.jpg"), type="jpeg", quality=70)
                    print(folder / f"{name}-{theme}.jpg")


def main() -> None:
    """Draws the pages of a running installation."""
    parser = argparse.ArgumentParser(prog="python -m tests.shots", description=__doc__)
    parser.add_argument("run_dir", nargs="?", type=Path, default=ROOT / ".memquorum" / "demo")
    parser.add_argument("--url", help="of another service over the same store")
    parsed = parser.parse_args()
    line = settings.load({}, parsed.run_dir)
    with Memory(url=line.retrieval_url, namespace=NAMESPACE) as memory:
        draw(parsed.url or line.retrieval_url, places(memory))


if __name__ == "__main__":
    main()
