"""Draws the pages of the console for docs/operate/console.md: `python -m tests.shots [RUN_FOLDER]`.

It looks at an installation that runs, by default the one that `make demo KEEP=1` leaves, in both themes, and writes
docs/operate/console/NAME-THEME.jpg. Look at each one before you commit it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra import genesis, settings
from memquorum.client import Memory
from memquorum.core import access
from memquorum.core.access import Keys
from memquorum.encoders.hashing import HashingEncoder
from memquorum.schema_files import load_codec
from tests import ROOT
from tests.support import browser
from workers.retrieval.app import app
from workers.retrieval.door import Door

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
    "sessions": "conflicts?tab=sessions",
    "evidence": "orders?tab=evidence",
    "keys": "keys",
}
"""Each picture and the page that it shows."""
PRESSED = {"evidence": "Check all entries now"}
"""What is clicked before a picture is taken."""
OWNERS = {"planner": ["read", "publish"], "review board": ["read", "audit"], "privacy desk": ["erase", "audit"]}
"""The keys that the page of keys shows, beside the reader's own."""
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


@contextmanager
def keyed(line: settings.Settings) -> Iterator[tuple[str, str]]:
    """A second service over the same store that wants keys, and a key that makes keys: without any there is no page of
    keys."""
    made = [
        access.make(bytes([at] * 6), bytes([at] * 32), name=name, namespaces=[NAMESPACE], rights=rights,
                    now_ms=1_767_225_600_000 + at * 86_400_000)
        for at, (name, rights) in enumerate([*OWNERS.items(), ("operator", list(access.RIGHTS))], 1)
    ]  # fmt: skip
    with TemporaryDirectory() as folder:
        file = Path(folder) / "keys.json"
        file.write_bytes(access.dump(Keys([stored for _, stored in made])))
        service = app(
            door=Door(file), memory_dsn=line.memory_dsn, bootstrap=line.bootstrap, genesis=genesis.read(line),
            codec=load_codec(), encoder=HashingEncoder(), cache_memories=0,
        )  # fmt: skip
        with browser.served(service) as url:
            yield url, made[-1][0]


def draw(url: str, named: Mapping[str, str], pages: Mapping[str, str], key: str = "", folder: Path = FOLDER) -> None:
    """Draws pages in both themes."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser.started() as chromium:
        for theme in THEMES:
            with browser.looking(chromium, url, theme=theme, key=key) as look:
                for name, place in pages.items():
                    whole = place.format(**named)
                    look.open(f"{whole}{'&' if '?' in whole else '?'}ns={NAMESPACE}")
                    if name in PRESSED:
                        look.page.get_by_role("button", name=PRESSED[name]).click()
                        look.page.get_by_text("Checked by the service").wait_for()
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
        named = places(memory)
    draw(parsed.url or line.retrieval_url, named, {name: place for name, place in PAGES.items() if name != "keys"})
    with keyed(line) as (url, key):
        draw(url, named, {"keys": PAGES["keys"]}, key)


if __name__ == "__main__":
    main()
