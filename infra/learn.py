"""Learns from an installation's journal which signals predict the use of a memory."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from msgspec.structs import asdict
from rich.table import Table

from infra import genesis
from infra.operator_command import command
from infra.settings import Mendable, Settings, require_place
from memquorum import terminal, wholefiles
from memquorum.commands import JSON, option
from memquorum.core import learning
from memquorum.core.learning import LearningReport
from memquorum.core.policy import share
from memquorum.schema_files import load_codec
from workers.upkeep.learning_examples import examples

_DAY_MS = 24 * 3600 * 1000


class TooLittle(Mendable):
    """There is too little to learn from."""


@command(
    "policy learn",
    option("-n", "--namespace", help="from this one alone (default: from all)"),
    option("--within", type=float, default=7.0, metavar="DAYS", help="used so soon after it was stored (default: 7)"),
    option("--out", type=Path, metavar="FILE", help="write the coefficients there, as a part of a policy"),
    JSON,
    kafka="operator",
    failed="nothing was learned",
    failing=(TooLittle,),
    example="policy learn --within 7 --out use.json",
)
def learn(settings: Settings, parsed: argparse.Namespace) -> int:
    """Fits which signals predict the use of a memory, and tests it on the later part of the journal.

    It changes nothing: `policy set FILE` puts the coefficients to the members' vote. Exits with 1 if they do no better
    on the later part than the rank of a memory's worth or its length alone."""
    settings.require("bootstrap")
    if parsed.out is not None:
        require_place("--out", parsed.out)
    within_ms = round(parsed.within * _DAY_MS)
    made, codec = genesis.read(settings), load_codec()
    found = examples(
        settings.bootstrap, made.shards, codec, genesis.service_stamps(settings),
        within_ms=within_ms, namespace=parsed.namespace,
    )  # fmt: skip
    try:
        report = learning.learn(found, within_ms)
    except learning.NotEnough as error:
        raise TooLittle(str(error)) from None
    if parsed.out is not None:
        wholefiles.write(parsed.out, learning.text(report.learned))
    if parsed.json:
        print(json.dumps(_plain(report)))
    else:
        _tell(report, parsed.out)
    return 0 if report.better else 1


def _plain(report: LearningReport) -> dict[str, object]:
    return {
        "coefficients": asdict(report.learned),
        "sha256": learning.digest(report.learned),
        "earlier": {"memories": report.earlier[0], "used": report.earlier[1]},
        "later": {"memories": report.later[0], "used": report.later[1]},
        "measured": [asdict(one) for one in report.measured],
        "better": report.better,
    }


def _tell(report: LearningReport, file: Path | None) -> None:
    console = terminal.console(soft_wrap=True)
    for name, (count, used) in (("learned from", report.earlier), ("tested on", report.later)):
        console.print(f"{name} {count:,} memories, of which {used:,} were used")
    table = Table("on the later part", "area under the curve", "learned is ahead by", box=None, pad_edge=False)
    for one in report.measured:
        table.add_row(one.name, _interval(one.auc), "" if one.ahead is None else _interval(one.ahead))
    console.print(table)
    weights = [(name.removesuffix("_ppm"), weight) for name, weight in asdict(report.learned).items()]
    console.print("coefficients: " + ", ".join(f"{name} {share(weight)}" for name, weight in weights if weight))
    if file is not None:
        console.print(f"{file}, SHA-256 {learning.digest(report.learned)}", markup=False)
    if not report.better:
        console.print("no better than worth or length alone: leave them out of force")
    elif file is not None:
        console.print(f"`memquorum admin policy set {file}` orders them, and the members vote on it", markup=False)


def _interval(numbers: tuple[float, float, float]) -> str:
    value, low, high = numbers
    return f"{value:.3f} ({low:.3f} to {high:.3f})"
