"""The command `verify` of a client: runs the audit of the topics and prints what it found."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rich.progress import Progress, SpinnerColumn, TextColumn

from memquorum import terminal
from memquorum.client import audit, operating, settings
from memquorum.client.command import GENESIS, command
from memquorum.client.errors import NotConfigured
from memquorum.commands import FAILED, OK, flag
from memquorum.core.audit import rendering
from memquorum.core.identity import membership
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.schema_files import load_codec


@command(
    "verify",
    flag("--topics-only", "ask Kafka alone, not the operator's database too"),
    GENESIS,
    example="memquorum verify --topics-only --genesis genesis.json",
    passes_on=True,
)
def _verify(parsed: argparse.Namespace) -> int:
    """Checks chain, certificates and signatures with the genesis file alone."""
    if not parsed.topics_only and parsed.genesis is None and operating.has_server():
        return operating.passed_on(parsed)
    place = settings.find(kafka=parsed.kafka)
    genesis = place.need_genesis(parsed.genesis)
    return FAILED if run(place.need_kafka(), genesis, parsed.json) else OK


def run(kafka: str, genesis_file: Path, as_json: bool) -> int:
    """Audits the topics and prints the report; how many findings there are."""
    genesis = read_genesis(genesis_file)
    watched = terminal.console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=watched, transient=True, disable=not watched.is_terminal) as progress:
        task = progress.add_task("reading the journal")
        report = audit.verify(
            kafka,
            genesis,
            load_codec(),
            lambda shard, offset: progress.update(task, description=f"shard {shard}, entry {offset}"),
        )
    if as_json:
        print(json.dumps(rendering.plain(report)))
    else:
        console = terminal.console(soft_wrap=True)
        console.print(f"cluster {genesis.cluster.hex()[:16]}…")
        console.print("\n".join(rendering.lines(report)))
    return len(report.findings) + sum(shard.more for shard in report.shards)


def read_genesis(file: Path) -> Genesis:
    """The genesis of a file. Raises NotConfigured."""
    try:
        return membership.load(file.read_bytes())
    except (OSError, GenesisError) as error:
        raise NotConfigured(f"{file}: {error}") from None
