"""Shows the demo's progress: live on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from infra.demo.entry_counts import Ledger
from memquorum.core.vote.kinds import KINDS

_PLAIN_EVERY_S = 10.0

READY = "ready"

Say = Callable[[str], None]


class Screen:
    """Draws phases and the progress of publishing on a console."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live = console.is_terminal and not console.is_dumb_terminal

    @contextmanager
    def phases(self) -> Iterator[Say]:
        """Yields a function to call at the start of each phase; each phase ends with a line that says how long it
        took."""
        clock = _Clock()
        if not self._live:
            yield lambda title: self._turn(clock, title)
        else:
            with self.console.status("") as status:

                def say(title: str) -> None:
                    self._turn(clock, title)
                    status.update(title)

                yield say
        self._turn(clock, "")

    def _turn(self, clock: _Clock, title: str) -> None:
        # "processes: waiting for commit" is the phase "processes", with a detail that changes.
        phase = title.partition(":")[0]
        if phase == clock.phase:
            return
        if clock.phase and clock.phase != READY:
            took = f" {time.monotonic() - clock.since:.1f} s"
            self.console.print(Text.assemble("  ", ("done", "green"), f" {clock.phase}", (took, "dim")))
        clock.phase, clock.since = phase, time.monotonic()

    @contextmanager
    def publishing(self, total: int) -> Iterator[Callable[[int, int, Ledger], None]]:
        """Yields a function to call with (published, as_of, ledger), as often as one likes."""
        if self._live:
            text = TextColumn("{task.description}", markup=False)
            columns = (SpinnerColumn(), text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            with Progress(*columns, console=self.console) as progress:
                task = progress.add_task("publishing", total=total)
                yield lambda done, as_of, ledger: progress.update(
                    task, completed=done, description=summary(as_of, ledger)
                )
            return
        last = time.monotonic()

        def line(done: int, as_of: int, ledger: Ledger) -> None:
            nonlocal last
            if time.monotonic() - last >= _PLAIN_EVERY_S:
                last = time.monotonic()
                self.console.print(f"  {done:,} of {total:,} published · {summary(as_of, ledger)}")

        yield line


class _Clock:
    def __init__(self) -> None:
        self.phase, self.since = "", time.monotonic()


def summary(as_of: int, ledger: Ledger) -> str:
    """One line about the state of the fleet."""
    ends = ledger.outcomes()
    decided = sum(epoch.decided_at is not None for epoch in ledger.epochs.values())
    words = dict.fromkeys(kind.outcome for kind in KINDS.values() if kind.tiers)
    told = ", ".join(f"{ends[word]} {word}" for word in words if ends[word])
    return " · ".join(filter(None, [moment(as_of), f"epoch {decided}", told]))


def moment(as_of: int) -> str:
    """A time of the log, in words."""
    return datetime.fromtimestamp(as_of / 1000, UTC).strftime("%Y-%m-%d %H:%M") if as_of else "before the log"


def duration(seconds: float) -> str:
    """A duration in its largest fitting unit: 45 s, 58 min, 11.6 h, 7.8 d."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            value = seconds / length
            return f"{value:.1f} {unit}" if value < 100 and unit != "min" else f"{value:.0f} {unit}"
    return f"{seconds:.0f} s"
