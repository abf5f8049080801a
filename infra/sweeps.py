"""Records the last sweep of an installation and by whom, and computes the next: a file of its state folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from infra.settings import Settings
from memquorum import wholefiles
from memquorum.core.accounts.telling import moment

HAND, TIMER = "hand", "timer"
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Last:
    """The last sweep in milliseconds, by HAND or TIMER; `by` None: not swept yet; the timer counts from `at`."""

    at: int
    by: str | None


def last(settings: Settings) -> Last | None:
    """Returns the last note. None without one."""
    try:
        said = json.loads(_file(settings).read_text(encoding="utf-8"))
        return Last(int(said["at"]), said["by"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def note(settings: Settings, at: int, by: str | None) -> None:
    """Notes a sweep, or the start of the timer. Raises OSError."""
    wholefiles.write(_file(settings), json.dumps({"at": at, "by": by}) + "\n")


def describe(settings: Settings) -> str:
    """A line: when and by whom it was swept last, and when it is swept next."""
    found = last(settings)
    if found is None or found.by is None:
        before, first = "old bytes not yet removed from files", "first time"
    else:
        how = "by hand, `memquorum admin database sweep`" if found.by == HAND else "by its timer"
        before, first = f"old bytes last removed from files at {moment(found.at)} ({how})", "next"
    if not settings.sweep_hours:
        return f"{before}; never by itself (sweep_hours = 0)"
    if found is None:
        return f"{before}; the timer begins to count when the commit worker runs"
    return f"{before}; {first} by itself from {moment(found.at + settings.sweep_hours * _HOUR_MS)} on"


def _file(settings: Settings) -> Path:
    return settings.state_dir / "sweep.json"
