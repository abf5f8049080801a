"""The command `verify` of a client: runs the audit of the topics and prints what it found."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

from memquorum.client import audit
from memquorum.client.errors import NotConfigured
from memquorum.core.audit.findings import VerifyReport
from memquorum.core.consensus import membership
from memquorum.core.consensus.membership import Genesis, GenesisError
from memquorum.schema_files import load_codec


def run(kafka: str, genesis_file: Path, as_json: bool) -> int:
    """Audits the topics and prints the report; how many findings there are."""
    genesis = _genesis(genesis_file)
    watched = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=watched, transient=True, disable=not watched.is_terminal) as progress:
        task = progress.add_task("reading the journal")
        report = audit.verify(
            kafka,
            genesis,
            load_codec(),
            lambda shard, offset: progress.update(task, description=f"shard {shard}, entry {offset}"),
        )
    print(json.dumps(_plain(report))) if as_json else _print(report, genesis)
    return len(report.findings) + sum(shard.more for shard in report.shards)


def _genesis(file: Path) -> Genesis:
    try:
        return membership.load(file.read_bytes())
    except (OSError, GenesisError) as error:
        raise NotConfigured(f"{file}: {error}") from None


def _plain(report: VerifyReport) -> dict[str, object]:
    return {
        "ok": report.ok,
        "store_compared": report.store_compared,
        "shards": [
            {"shard": s.shard, "seq": s.seq, "hash": s.hash.hex(), "as_of": s.as_of, "judged": s.judged}
            for s in report.shards
        ],
        "findings": [str(finding) for finding in report.findings],
    }


def _print(report: VerifyReport, genesis: Genesis) -> None:
    console = Console(highlight=False)
    table = Table("shard", "entries", "heads", "decisions", "signatures", "head", box=None, pad_edge=False)
    for shard in report.shards:
        counts = shard.counts
        numbers = (shard.shard, counts.entries, counts.heads, counts.decisions, counts.signatures)
        table.add_row(*map(str, numbers), shard.hash.hex()[:16])
    console.print(table)
    for finding in report.findings:
        console.print(Text(str(finding)), style="red")
    more = sum(shard.more for shard in report.shards)
    if more:
        console.print(f"and {more} more")
    told = "whole: nothing removed, nothing altered, every decision signed by its quorum" if report.ok else "NOT whole"
    print(f"The journal of cluster {genesis.cluster.hex()[:16]}… is {told}.")
