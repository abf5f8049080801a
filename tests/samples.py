"""The samples of the pages: what a stranger types, and beneath it what came of it.

`python -m tests.samples` starts an installation, types what the pages say, and writes what came of it into them. A test
does the same and compares (`tests/integration/test_samples.py`).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from infra import settings, supervisor

ROOT = Path(__file__).parents[1]
# In this order: the second finds what the first has stored.
PAGES = tuple(ROOT / page for page in ("README.md", "docs/use/agents.md", "docs/start/first-ten-minutes.md"))
_PYTHON = re.compile(r"(?P<typed>```python\n(?P<code>.*?)```\n\n```\n)(?P<told>.*?)(?P<end>```)", re.DOTALL)
_SHELL = re.compile(r"^\$ memquorum (?P<rest>[^\n]*)\n(?P<told>.*?)(?=^\$ |^```)", re.DOTALL | re.MULTILINE)


@contextmanager
def installation() -> Iterator[Path]:
    """The run folder of an installation as `make up` starts it, for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="samples-") as folder:
        wanted = replace(settings.load({}, Path(folder)), throwaway=True)
        with supervisor.started(wanted) as running:
            yield running.run_dir


def rerun_page(page: str, run_dir: Path) -> str:
    """A page whose first block of Python, and whose lines that begin with `$ memquorum`, were just run."""
    page = _PYTHON.sub(lambda found: found["typed"] + ran(run_dir, "-c", found["code"]) + found["end"], page, count=1)
    return _SHELL.sub(lambda found: f"$ memquorum {found['rest']}\n{_told(run_dir, found['rest'])}", page)


def plain(page: str) -> str:
    """The page without what is otherwise each time: ids, times, and places in the journal."""
    for pattern, name in (
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "TIME"),
        (r"\d{1,2} [A-Z][a-z]{2} \d{4}(, \d\d:\d\d UTC)?", "TIME"),
        (r"\d+(\.\d+)? (ms|s|min|h|d)( \d+ (s|min|h))?\b", "SPAN"),
        (r"(entry|offset) \d+", r"\1 N"),
        (r"D = .* ≥", "D ≥"),
        # Its last places are the processor's.
        (r"^( ?0\.\d)\d\d\b", r"\1"),
    ):
        page = re.sub(pattern, name, page, flags=re.MULTILINE)
    return page


def _told(run_dir: Path, rest: str) -> str:
    words = [word.strip('"') for word in re.findall(r'"[^"]*"|\S+', rest)]
    return ran(run_dir, "-m", "memquorum", *words)


def ran(run_dir: Path, *arguments: str) -> str:
    """Returns what this Python prints for arguments, beside an installation. Raises AssertionError where it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings.PREFIX)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=kept | {"MEMQUORUM_RUN_DIR": str(run_dir)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def main() -> None:
    with installation() as run_dir:
        for page in PAGES:
            page.write_text(rerun_page(page.read_text(), run_dir))
            print(page)


if __name__ == "__main__":
    main()
