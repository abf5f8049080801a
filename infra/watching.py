"""Sees the processes of an installation for the retrieval service: their numbers, their problems, and their traces.

It reads the run folder, and asks each process that has announced itself there for its metrics, as `fleet status` does.
Two answers that are a moment apart give rates. However many people look, the processes are asked every four seconds,
and what they said is worked out once.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infra import process_telemetry as telemetry
from infra import run_folder
from infra.settings import Settings
from memquorum.core.api.answers import Fleet, FleetProcess, FleetStage, TraceSpan

if TYPE_CHECKING:
    from infra.status import Scrape

_AGAIN_S, _FIRST_S, _WITHIN_S = 4.0, 0.1, 3.0
_WINDOW = 6
_SPANS_MOST = 500
_MIB = 1024 * 1024
_RUNNING = "running"


class Watched:
    """The processes of the installation that a service belongs to (`workers.retrieval.following.Watch`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._seen: deque[dict[str, Scrape]] = deque(maxlen=_WINDOW)
        self._at = 0.0
        self._told = Fleet("unknown", "", ())

    def fleet(self) -> Fleet:
        """Returns the state of the processes. May take a second, or longer where one does not answer."""
        with self._lock:
            if time.monotonic() - self._at >= _AGAIN_S:
                self._look()
                self._told = self._tell()
            return self._told

    def trace(self, memory_id: str) -> tuple[TraceSpan, ...]:
        """Returns the recorded steps of a memory, the first ones of many."""
        from memquorum.telemetry import reading

        trace_id = reading.normal(memory_id)
        folder = telemetry.traces_dir(self._settings.run_dir)
        return () if trace_id is None else reading.steps(reading.find(folder, trace_id), _SPANS_MOST)

    def _tell(self) -> Fleet:
        found = run_folder.read_pids(self._settings.run_dir)
        processes = found.get("processes") or {name: {} for name in self._seen[-1]}
        told = tuple(self._process(name, process) for name, process in processes.items())
        state = str(found.get("state", "unknown"))
        return Fleet(state, str(found.get("step", "another supervisor runs its processes")), told, self._genesis_file())

    def _genesis_file(self) -> str:
        """The genesis file: as seen from the folder that the installation was started in, if it lies in there."""
        file = self._settings.genesis_file.absolute()
        return str(file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file)

    def _look(self) -> None:
        """Asks all processes."""
        from infra import status

        # Rates over a window that ended long ago would be of another time.
        if time.monotonic() - self._at > _AGAIN_S * 5 * _WINDOW:
            self._seen.clear()
        if not self._seen:
            self._seen.append(status.scrapes(self._settings, _WITHIN_S))
            time.sleep(_FIRST_S)
        self._seen.append(status.scrapes(self._settings, _WITHIN_S))
        self._at = time.monotonic()

    def _process(self, name: str, process: Mapping[str, Any]) -> FleetProcess:
        from infra import status

        now = self._seen[-1].get(name, status.Scrape())
        problem = "; ".join(filter(None, [status.unusual(process) if process else "", now.says]))
        return FleetProcess(
            name=name,
            state=str(process.get("state", _RUNNING if now.values else "unknown")),
            pid=process.get("pid"),
            starts=int(process.get("starts") or 1),
            mib=round(now.total("process_resident_memory_bytes") / _MIB),
            problem=problem,
            alarm="ALARM" in problem,
            notes=dict(now.notes),
            stages=tuple(_stage(line) for line in status.lines(name, list(self._seen))),
        )


def _stage(line: Any) -> FleetStage:
    return FleetStage(
        line.stage, round(line.taken, 1), round(line.sent, 1), line.lag, line.p50, line.p99, line.open, line.refused
    )
