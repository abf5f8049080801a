"""The operator's `prune`: deletes the consensus messages that a stable checkpoint covers."""

from __future__ import annotations

import argparse
import json
import logging

from confluent_kafka import KafkaException
from rich.table import Table

from db.cursors import cursors
from infra import genesis
from infra.settings import Settings
from memquorum import terminal
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.audit import configurations
from workers.kafka.partition import TopicUnreadable
from workers.kafka.strangers import Strangers
from workers.upkeep import prune
from workers.upkeep.prune import CannotPrune, Plan

# Nothing was deleted, or not all that was planned; another run goes on.
STOPPED = (CannotPrune, KafkaException, StoreUnavailable, TopicUnreadable)


def options(command: argparse.ArgumentParser) -> None:
    """Adds what `prune` takes."""
    command.add_argument("--dry-run", action="store_true", help="say what would be deleted, and delete nothing")
    command.add_argument("--json", action="store_true", help="a JSON object a shard")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """Plans all shards first: where one cannot be pruned, none is. Returns 0."""
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    strangers = Strangers(logging.getLogger("memquorum.prune"), genesis.stamps_at_hand(settings))
    used = cursors(settings.memory_dsn)
    with terminal.console(stderr=True).status("looking") as line:
        plans, now = [], configurations.read(settings.bootstrap, made, codec)
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
