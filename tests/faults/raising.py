"""Rules over texts that raise in a running installation, for as long as a test wants, on texts that hold a word."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra import run_folder, status
from infra.settings import Settings
from memquorum.telemetry import metrics

_INJECTED = Path(__file__).with_name("injected")
_FILE = "rules-raise-on"


@contextmanager
def prepared(run_dir: Path) -> Iterator[None]:
    """Processes that are started in the block, and by those, can be told that rules raise."""
    named = {"PYTHONPATH": str(_INJECTED), "RULES_RAISE_ON": str(run_dir / _FILE)}
    before = {name: os.environ.get(name) for name in named}
    os.environ.update(named)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def raising(run_dir: Path, word: str) -> Iterator[None]:
    """In the block, rules of `prepared` processes raise on every text that holds the word."""
    file = run_dir / _FILE
    file.with_suffix(".new").write_text(word, encoding="utf-8")
    file.with_suffix(".new").replace(file)  # nobody reads half a word
    try:
        yield
    finally:
        file.unlink()


def failed(running: Settings) -> dict[str, int]:
    """Counts the failures of rules in each process that reports them."""
    told = {name: int(one.total(metrics.FAILED_RULES.name)) for name, one in status.scrapes(running).items()}
    return {name: count for name, count in told.items() if count}


def starts(running: Settings) -> dict[str, int]:
    """Counts the starts of each process."""
    processes = run_folder.read_pids(running.run_dir)["processes"]
    return {name: one["starts"] for name, one in processes.items() if "starts" in one}
