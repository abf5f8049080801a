"""The operator's `rehearse`: shows which memories a rehearsal examines now, and its conclusions. It does not wait for
an idle machine. With --dry-run it changes nothing; without it, conclusions are published like the worker's."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing

import msgspec
from rich.table import Table

from db.connection import READER
from db.rehearsal_reads import PostgresRehearsals
from infra import genesis
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON, flag, option
from memquorum.core.policy import share
from memquorum.core.rehearsal import WHY, Conclusion
from memquorum.schema_files import load_codec
from workers.rehearsal.rehearsal_turn import rehearse
from workers.rehearsal.worker import Publisher, report

_PATIENCE_S = 30.0
# It may take longer than the worker, as it runs on demand.
_BUDGET_MS = 10_000


@command(
    "memories rehearse",
    flag("--dry-run", "only shows it"),
    option("-n", "--namespace", help="of this one alone"),
    option("--seed", type=int, metavar="N", help="draws the same again (default: the time of the stream)"),
    JSON,
    kafka="operator",
    failed="the store or Kafka cannot be asked",
    example="memories rehearse --dry-run",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Rehearses memories now, and shows its conclusion about each; 1 if Kafka did not accept all of them."""
    settings.require("memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    publisher = None
    if not parsed.dry_run:
        settings.require("bootstrap")
        if "rehearsal" not in made.services:
            raise SettingsError(
                "the genesis file names no rehearsal service, so nothing can be recorded: use --dry-run"
            )
        seed = genesis.service_seed(settings, made, "rehearsal")
        publisher = Publisher(
            settings.bootstrap, codec, seed, lambda: genesis.further_seeds(settings, "service-rehearsal")
        )
    with closing(PostgresRehearsals(settings.memory_dsn, READER)) as memory:
        found = rehearse(
            memory, codec, made, budget_ms=_BUDGET_MS, recent=settings.rehearsal_recent, old=settings.rehearsal_old,
            namespace=parsed.namespace, seed=parsed.seed,
        )  # fmt: skip
    recorded, whole = 0, True
    if publisher is not None:
        recorded, whole = publisher.publish(found), publisher.flush(_PATIENCE_S)
        publisher.close()
    conclusions = tuple(one.conclusion for one in found.found)
    if parsed.json:
        told = {"seed": found.seed, "conclusions": conclusions, "took_ms": found.took_ms, "recorded": recorded}
        print(json.dumps(msgspec.to_builtins(told), indent=2))
    else:
        _tell(conclusions)
        changed = "Nothing was changed." if parsed.dry_run else "" if whole else "Kafka did not take all of it."
        terminal.console(soft_wrap=True).print(f"{report(found, recorded)}; seed {found.seed}. {changed}".strip())
    return 0 if whole else 1


def _tell(conclusions: Sequence[Conclusion]) -> None:
    console = terminal.console(soft_wrap=True)
    if not conclusions:
        console.print("nothing is alive that could be rehearsed now")
        return
    table = Table("memory", "namespace", "tier", "salience", "becomes", "found", "can be voted on", box=None)
    for one in conclusions:
        salience = share(one.before_ppm), share(one.after_ppm)
        table.add_row(one.memory_id, one.namespace, one.tier, *salience, WHY[one.verdict], one.nominated or "")
    console.print(table)
