r"""Rounds of faults: an installation under load, one fault after the other, and after each the wait for recovery.

Recovery is measured from the end of a fault to the moment at which everything that was published until then is in the
journal, every epoch that was open then is decided, every process works and a search is answered again.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, Literal

from infra import checks, genesis, roles, run_folder, settings, supervisor
from infra.settings import Settings
from memquorum.core.policy import UNCAPPED
from memquorum.schema_files import load_codec
from tests.faults import raising
from tests.faults.library import Fault, NotAsExpected, Site, disks
from tests.faults.load import Load, Rates
from tests.faults.witness import Epochs, Event, Witness
from workers.audit import auditor as audit

LIMIT_S = 15.0
# Within so many seconds every shard has opened a new epoch by itself and decided it: without a fault some 10.
EPOCHS_S = 60.0
LATE = "not well in time"
# The time beyond the limit after which a wait gives up the round.
_GIVE_UP_S = 120.0
_LOOK_S = 0.5
# Decisions fall every few seconds, and keys are destroyed while it runs.
POLICY = {
    "decay": {"scales_s": [10.0, 60.0, 3_600.0]},
    "forget": {"grace_ms": 600_000},
    "epoch": {"interactions": 20, "interval_ms": 600_000},
    # Every shard has always something to vote on.
    "caps": UNCAPPED,
}


@dataclass(slots=True)
class Met:
    """A fault and how the line came through it. Seconds; `open`: epochs that were open at its end."""

    fault: str
    at: str
    lasted_s: float
    recovered_s: float
    behind: int
    open: int
    epochs_s: float | None
    load: float
    told: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass
class Round:
    """The installation, its load and its witness."""

    site: Site
    load: Load
    witness: Witness
    met: list[Met] = field(default_factory=list)
    seen_problems: int = 0

    @property
    def running(self) -> Settings:
        return self.site.running


@contextlib.contextmanager
def started(
    folder: Path, seed: int, *, rates: Rates, encoder: Literal["minilm", "hashing"], small_disks: bool
) -> Iterator[Round]:
    """An installation of its own in `folder`, under load for the length of the block."""
    configured = replace(settings.load({}, folder), clock="driven", encoder=encoder)
    with contextlib.ExitStack() as parts:
        small = parts.enter_context(disks(folder)) if small_disks else {}
        genesis.create(configured, policy=POLICY)
        parts.enter_context(raising.prepared(folder))
        running = parts.enter_context(supervisor.started(configured))
        witness = parts.enter_context(Witness(running))
        load = parts.enter_context(Load(running, witness, seed, rates))
        yield Round(Site(running, Random(seed), small), load, witness)


def strike(on: Round, fault: Fault, epochs: bool = True) -> Met:
    """Does it, waits until the line is well again, and says what was seen.

    `epochs`: waits besides until every shard has opened and decided a new epoch.
    """
    began, at, problems, told = time.monotonic(), time.strftime("%H:%M:%S"), [], {}
    try:
        told = fault.act(on.site)
    except NotAsExpected as error:
        problems.append(str(error))
    ended = time.monotonic()
    # A record for every shard besides: where nothing happens to be under way, an outage would not show.
    on.load.probe()
    handed, opened = on.load.handed(), on.witness.open()
    # Read at the same time: decisions before the end of the fault prove nothing about recovery.
    decided = dict(on.witness.seen.decided)
    recovered = _wait(on, lambda: _missing(on, handed, opened, ended), ended)
    if recovered > LIMIT_S:
        problems.append(f"{LATE}: after {recovered:.1f} s and not {LIMIT_S:.0f} s")
    left = _missing(on, handed, opened, ended)
    if left:
        problems.append(f"given up after {recovered:.0f} s: {left}")
    again = round(_wait(on, lambda: _stalled(on, decided), ended), 2) if epochs else None
    if again is not None and again > EPOCHS_S:
        problems.append(f"after {again:.0f} s {_stalled(on, decided) or 'every shard had a new epoch at last'}")
    problems += on.witness.seen.problems[on.seen_problems :]
    on.seen_problems = len(on.witness.seen.problems)
    met = Met(fault.name, at, round(ended - began, 2), round(recovered, 2), len(handed), len(opened),
              again, round(os.getloadavg()[0], 2), told, problems)  # fmt: skip
    on.met.append(met)
    return met


def _wait(on: Round, left: Callable[[], str], since: float) -> float:
    """Seconds from `since` until nothing is left, or until it is given up."""
    with on.witness.changed:
        while left() and time.monotonic() - since < _GIVE_UP_S:
            on.witness.changed.wait(_LOOK_S)
    return time.monotonic() - since


def _missing(on: Round, handed: set[Event], opened: Epochs, ended: float) -> str:
    """Describes what has not recovered; empty where nothing is left."""
    events = on.witness.missing(handed)
    if events:
        return f"{len(events)} records not journalled, among them {min(events)}"
    epochs = on.witness.undecided(opened)
    if epochs:
        return f"epochs not decided (shard: epoch): {epochs}"
    down = _down(on.running)
    if down:
        return f"not running: {down}"
    if on.load.book.answered_at <= ended:
        return "no search was answered"
    return ""


def _stalled(on: Round, decided: Epochs) -> str:
    """Shards that have decided nothing new."""
    still = [s for s in range(4) if on.witness.seen.decided[s] <= decided.get(s, 0)]
    return f"no new epoch in shards {still}" if still else ""


def _down(running: Settings) -> list[str]:
    found = run_folder.read_pids(running.run_dir).get("processes")
    if not found:
        return ["supervisor"]
    return [n for n, p in found.items() if p["pid"] is None or not Path(f"/proc/{p['pid']}").exists()]


def rest(on: Round, patience_s: float = 60.0) -> float:
    """Holds the load until nothing is under way; the seconds that it took. Raises AssertionError if it does not end."""
    on.load.pause()
    since = time.monotonic()
    # The ticks too: a backlog of them would open epochs, and destroy keys, under the eyes of who checks.
    while on.load.handed() or on.witness.time() < on.load.book.as_of or on.witness.open():
        assert time.monotonic() - since < patience_s, (
            f"not at rest after {patience_s:.0f} s: {len(on.load.handed())} records, epochs {on.witness.open()}"
        )
        with on.witness.changed:
            on.witness.changed.wait(_LOOK_S)
    return time.monotonic() - since


def check(on: Round) -> tuple[dict[str, Any], list[str]]:
    """Brings the fleet to rest and checks everything: sums, audit, rebuild. Returns the figures and the problems."""
    found: dict[str, Any] = {"rest_s": round(rest(on), 2)}
    sums, problems = on.load.sums()
    found["sums"] = sums
    began = time.monotonic()
    report = audit.verify(
        on.running.bootstrap, genesis.read(on.running), load_codec(), on.running.memory_dsn,
        vault=roles.vault(on.running), stamps=genesis.stamps_at_hand(on.running), progress=lambda _: None,
    )  # fmt: skip
    problems += [f"verify: {finding}" for finding in report.findings]
    if report.unchecked:
        problems.append(f"verify: {report.unchecked} contents have no key and were not checked")
    found |= {"verified": asdict(report.counts), "verify_s": round(time.monotonic() - began, 1)}
    began = time.monotonic()
    rebuilt = checks.rebuilt(on.running, "rebuilt")
    if not rebuilt["equal"]:
        problems.append(f"the rebuild differs: {json.dumps(rebuilt)}")
    found |= {"digest": rebuilt["store"], "rebuild_equal": rebuilt["equal"], "memories": rebuilt["memories"]}
    found["rebuild_s"] = round(time.monotonic() - began, 1)
    problems += on.witness.seen.problems
    found["effects"] = dict(on.witness.seen.effects)
    found["epochs"] = dict(on.witness.seen.decided)
    on.load.resume()
    return found, problems
