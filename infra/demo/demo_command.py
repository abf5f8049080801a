"""`memquorum admin fleet demo`: sets up an installation, publishes a log, and reports the results."""

from __future__ import annotations

import shutil
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from rich.console import Console
from rich.text import Text

from db.queries import QUERIES
from db.vault import PostgresVault
from infra import genesis, run_folder, settings, supervisor
from infra.checks import UNPROVEN, rebuilt
from infra.demo import cluster, correction, demo_report, erasure, inputs, rollup, session_demo, stories, sums, work
from infra.demo.cluster import Survey
from infra.demo.driver import Driver, Stalled
from infra.demo.inputs import InputError, Record, Tally
from infra.demo.screen import Screen, duration
from infra.demo.steps import steps
from infra.embedded.processes import EmbeddedError, tail
from infra.operator_command import command
from infra.settings import DEFAULT_RUN_DIR, Settings
from infra.supervisor import SupervisorError
from memquorum import terminal
from memquorum.commands import INTERRUPTED, flag, option
from memquorum.core.identity.membership import Genesis
from memquorum.core.showing.plurals import many
from memquorum.schema_files import load_codec
from workers.audit import auditor as audit

SCENARIO = Path(__file__).with_name("scenario.jsonl")
FOLDER = DEFAULT_RUN_DIR / "demo"
NAMESPACE = "demo"
# A slow machine must not decide with fewer ballots than a fast one: the demo waits for all four.
_BALLOT_GRACE_MS = 5000
_LOOK_S = 1.0
_REBUILT = "rebuilt"  # a database
_WIDTH = 116  # of a file or a pipe
# A killed process is restarted; one that keeps dying is given up.
_STARTS_MAX = 6

# Errors that a person can correct, reported in one line. Anything else is a defect and shows its traceback.
_PLAIN = (InputError, SupervisorError, EmbeddedError, Stalled, psycopg.Error, *UNPROVEN)


@dataclass(frozen=True, slots=True)
class Log:
    """The log to send: its path, how to read it, and the facts of a first pass."""

    path: Path
    places: Mapping[str, str]
    namespace: str
    tally: Tally
    survey: Survey

    def records(self) -> Iterator[Record]:
        """Reads it again."""
        return inputs.read(self.path, self.places, self.namespace, Tally())


@command(
    "fleet demo",
    option("--input", type=Path, default=SCENARIO, metavar="PATH", help="a .json or .jsonl log, .gz too, "
        "or a folder of them: our own records, or chat transcripts (default: a written scenario)"),
    option("--map", default="", metavar="FIELD=PLACE,...", help="where a log has other names for fields: "
        "agent=speaker,content=text,messages=turns"),
    option("--namespace", default=NAMESPACE, help="for records that name none (default: %(default)s)"),
    option("--run-dir", type=Path, default=FOLDER, metavar="FOLDER", help="emptied first (default: %(default)s)"),
    flag("--keep", "leave everything running afterwards, to look around"),
    apart=True,
    example="fleet demo --input log.jsonl --map agent=speaker,content=text",
)  # fmt: skip
def main(_: Settings, parsed: Namespace) -> int:
    """Starts an installation, publishes a log of agents, and reports the results.

    Exits with 0 if everything added up and was proven; with 1 if something did not, or could not be done.
    """
    console = terminal.console()
    if not console.is_terminal:
        console.width = _WIDTH
    began = time.monotonic()
    try:
        log = _read(parsed)
        held = _run(parsed, console, log)
    except _PLAIN as error:
        console.print(Text.assemble(("memquorum: ", "bold red"), f"{type(error).__name__}: {error}"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("stopped")
        return INTERRUPTED
    console.print(f"\n{'Everything holds' if held else 'NOT EVERYTHING HOLDS'}, {duration(time.monotonic() - began)}.")
    return 0 if held else 1


def _read(parsed: Namespace) -> Log:
    """Reads the log once, so that its errors show before anything is started."""
    places, tally = inputs.mapping(parsed.map), Tally()
    found = cluster.survey(inputs.read(parsed.input, places, parsed.namespace, tally))
    if not found.records:
        raise InputError(f"{parsed.input}: holds no record")
    return Log(parsed.input, places, parsed.namespace, tally, found)


def _run(parsed: Namespace, console: Console, log: Log) -> bool:
    screen = Screen(console)
    demo_report.heading(console, "The log")
    demo_report.show_log(console, log.path, log.tally, log.survey)
    configured = _prepared(parsed.run_dir.resolve(), console)
    made = genesis.create(configured, agents=cluster.members(log.survey), policy=cluster.policy(log.survey))
    demo_report.heading(console, "Policy, where it differs from the defaults")
    demo_report.show_policy(console, made.policy)
    demo_report.heading(console, "The fleet")
    with ExitStack() as parts:
        with screen.phases() as say:
            say("keys and genesis")
            if parsed.keep:
                now = supervisor.launch(configured, say)
            else:
                now = parts.enter_context(supervisor.started(configured, say))
        driver = parts.enter_context(closing(Driver(now.bootstrap, made, load_codec(), now.memory_dsn)))
        _drive(screen, driver, log, now)
        held = _report(screen, driver, log, now, made)
    demo_report.show_next(console, now if parsed.keep else None, log.survey.namespace or log.namespace)
    return held


def _prepared(run_dir: Path, console: Console) -> Settings:
    """An empty run folder and the demo's settings. Raises InputError for a folder that is not the demo's."""
    if supervisor.down(run_dir):
        console.print(f"stopped what still ran in {run_dir}")
    if run_dir.exists():
        if any(run_dir.iterdir()) and not (run_dir / settings.FILE).exists():
            raise InputError(
                f"{run_dir} is not empty and no run folder of the demo, which would empty it. Name another --run-dir"
            )
        shutil.rmtree(run_dir)
    return replace(
        settings.load({}, run_dir),
        clock="driven",
        throwaway=True,
        ballot_grace_ms=_BALLOT_GRACE_MS,
    )


def _drive(screen: Screen, driver: Driver, log: Log, now: Settings) -> None:
    demo_report.heading(screen.console, "Publishing")
    found = log.survey
    look = _watch(now)
    began = time.monotonic()
    with screen.publishing(found.records) as show:

        def beat() -> None:
            look()
            show(sum(driver.published.values()), driver.as_of, driver.ledger)

        cut = steps(log.records(), cluster.step_size(found), cluster.gap_ms(found), cluster.after_ms(found))
        driver.run(cut, beat)
    total, seconds = sum(driver.published.values()), time.monotonic() - began
    screen.console.print(f"  {total:,} records in {duration(seconds)}, {total / seconds:.0f} a second, in lockstep")


def _watch(now: Settings) -> Callable[[], None]:
    """Raises SupervisorError if the fleet cannot continue; looks once a second however often it is called."""
    last = 0.0
    at_first: dict[str, int] = {}

    def look() -> None:
        nonlocal last
        if time.monotonic() - last < _LOOK_S:
            return
        last = time.monotonic()
        found = run_folder.read_pids(now.run_dir)
        if not found:
            raise SupervisorError(f"the installation is gone; its logs are in {now.logs_dir}")
        for name, process in found.get("processes", {}).items():
            starts = int(process.get("starts") or 0)
            again = starts - at_first.setdefault(name, starts)
            if process.get("state") == "halted" or again > _STARTS_MAX:
                raise SupervisorError(f"{name} does not stay up; {tail(now.logs_dir / f'{name}.log')}")

    return look


def _report(screen: Screen, driver: Driver, log: Log, now: Settings, made: Genesis) -> bool:
    console, ledger = screen.console, driver.ledger
    demo_report.heading(console, "Counts")
    found = sums.sums(log.tally, driver.published, driver.refused, ledger)
    demo_report.show_sums(console, found)
    demo_report.show_refused(console, driver.refused)
    demo_report.heading(console, "Tiers and footprint over time")
    demo_report.show_time(console, ledger)
    demo_report.heading(console, "Decisions")
    demo_report.show_epochs(console, ledger)
    with psycopg.connect(now.memory_dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        told = list(_stories(console, connection, log, now, made))
        stored = _stored(connection)
    counted = sums.checks(log.tally, driver.published, ledger, stored)
    corrected = []
    if log.path == SCENARIO:  # nothing is written into a user's log
        demo_report.heading(console, "Two corrections")
        namespace = log.survey.namespace or log.namespace
        corrected = list(correction.carry_out(console, driver, now, made, _watch(now), namespace=namespace))
        demo_report.heading(console, "One session")
        corrected += session_demo.carry_out(console, driver, now, made, _watch(now), namespace=namespace)
        demo_report.heading(console, "One roll-up")
        corrected += rollup.carry_out(console, driver, now, _watch(now), namespace=namespace)
        demo_report.heading(console, "Five tasks")
        corrected += work.carry_out(console, driver, now, made, _watch(now), namespace=namespace)
    demo_report.heading(console, "One erasure")
    erased = list(erasure.carry_out(console, driver, now, made, _watch(now)))
    demo_report.heading(console, "Checks")
    checked = [*counted, *told, *corrected, *erased, *_proofs(now, made)]
    demo_report.show_checks(console, checked)
    return all(s.holds for s in found) and all(c.holds for c in checked)


def _stories(
    console: Console, connection: psycopg.Connection, log: Log, now: Settings, made: Genesis
) -> Iterator[sums.Check]:
    """Tells of one deletion and one promotion; checks that the data left of each suit its tier."""
    vault = PostgresVault(now.vault_dsn, genesis.secret(now.master_key_file))
    for outcome, (title, _) in stories.EXAMPLES.items():
        demo_report.heading(console, f"{title}, explained")
        story = stories.find(connection, load_codec(), made, vault, outcome)
        if story is None:
            console.print(f"  Nothing was {outcome}.")
            continue
        stories.tell(console, story, made, log.records())
        yield sums.Check(f"what was {outcome} is {story.account.tier}", stories.proves(story), "content and key fit")


def _proofs(now: Settings, made: Genesis) -> Iterator[sums.Check]:
    """Verifies the journal without trust in Postgres, and rebuilds the store from the topics."""
    found = audit.verify(now.bootstrap, made, load_codec(), now.memory_dsn)
    counts = found.counts
    checked = (
        f"{counts.entries:,} entries, {counts.decisions} decisions, {counts.ballots} ballots, {counts.signatures:,} "
        f"signatures, {counts.heads} signed heads, and {counts.rows:,} rows of Postgres held against them"
    )
    yield sums.Check("the journal verifies", found.ok, checked if found.ok else f"{found.findings[0]}")
    again = rebuilt(now, _REBUILT)
    shown = f"{many(again['memories'], 'memory')} in {again['seconds']:.1f} s, state digest {again['rebuilt'][:16]}"
    yield sums.Check(
        "a rebuild from the topics is equal", again["equal"], f"{shown}, the store's {again['store'][:16]}"
    )


def _stored(connection: psycopg.Connection) -> sums.Stored:
    """Postgres's own counts."""

    def count(name: str) -> dict[str, int]:
        return dict(connection.execute(QUERIES[name]).fetchall())

    return sums.Stored(count("count_events"), count("count_tiers"), count("count_outcomes"))
