"""The operator's `prune`: deletes the consensus messages that a stable checkpoint covers."""

from __future__ import annotations

import json
import logging
from argparse import Namespace

from rich.table import Table

from db.cursors import cursors
from infra import genesis
from infra.operator_command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import JSON, flag
from memquorum.schema_files import load_codec
from workers.audit import audited_configurations
from workers.kafka.strangers import Strangers
from workers.upkeep import prune
from workers.upkeep.prune import CannotPrune, Plan


@command(
    "kafka prune",
    flag("--dry-run", "say what would be deleted, and delete nothing"),
    JSON,
    kafka="admin",
    failed="not everything was deleted that nobody needs",
    failing=(CannotPrune,),
    example="kafka prune --dry-run",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Deletes the consensus messages that a stable checkpoint covers.

    All shards are planned first: if one cannot be pruned, none is. Returns 0.
    """
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    strangers = Strangers(logging.getLogger("memquorum.prune"), genesis.stamps_at_hand(settings))
    used = cursors(settings.memory_dsn)
    with terminal.console(stderr=True).status("looking") as line:
        plans, now = [], audited_configurations.read(settings.bootstrap, made, codec)
        for shard in range(made.shards):
            line.update(f"looking: shard {shard}")
            at = {topic: offset for (of, topic), offset in used.items() if of == shard}
            found = prune.plan(settings.bootstrap, codec, now[shard], shard, strangers=strangers, cursors=at)
            plans += [found] if found is not None else []
    if not parsed.dry_run:
        prune.carry_out(settings.bootstrap, plans)
    _tell(plans, made.shards, dry=parsed.dry_run, as_json=parsed.json)
    return 0


def _tell(plans: list[Plan], shards: int, *, dry: bool, as_json: bool) -> None:
    if as_json:
        for plan in plans:
            told = {topic: {"first": low, "keeps_from": to} for topic, (low, to) in plan.reach.items()}
            print(json.dumps({"shard": plan.shard, "sequence": plan.seq, "deleted": not dry, "topics": told}))
        return
    console = terminal.console()
    table = Table("shard", "stable sequence", "records that nobody needs", box=None, pad_edge=False)
    for plan in plans:
        table.add_row(str(plan.shard), f"{plan.seq:,}", f"{plan.records:,}")
    if plans:
        console.print(table)
    for shard in sorted(set(range(shards)) - {plan.shard for plan in plans}):
        console.print(f"shard {shard}: no stable checkpoint that the journal reaches")
    total = sum(plan.records for plan in plans)
    console.print(f"would delete {total:,} records" if dry else f"deleted {total:,} records")
