"""The operator's `evidence`: members' signatures that no honest member makes, and whether they prove a fault."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

from confluent_kafka import KafkaException
from rich.table import Table
from rich.text import Text

from infra import genesis
from infra.operator_command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import JSON, flag
from memquorum.core.accounts.telling import moment
from memquorum.schema_files import load_codec
from workers.audit import accusations
from workers.audit.accusations import Fault


@command(
    "audit evidence",
    flag("--verify", "judge each again, from the signed messages alone"),
    JSON,
    kafka="operator",
    failed="the evidence cannot be read",
    example="audit evidence --verify",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Lists signatures that no honest member makes; 1 if one is reported, with --verify if one is proven."""
    settings.require("bootstrap")
    made, codec = genesis.read(settings), load_codec()
    reports, strangers = accusations.read(settings.bootstrap, made, codec)
    found = accusations.faults(codec, reports, verify=parsed.verify)
    held = [fault for fault in found if fault.wrong is None]
    if parsed.json:
        for fault in found:
            print(json.dumps(_plain(fault, parsed.verify)))
    else:
        _tell(found, strangers, parsed.verify)
    return 1 if held else 0


def reported(settings: Settings) -> int:
    """Returns the number of reported faults; 0 if the topic does not exist yet."""
    made, codec = genesis.read(settings), load_codec()
    try:
        reports, _ = accusations.read(settings.bootstrap, made, codec)
    except KafkaException:
        return 0
    return len(accusations.faults(codec, reports, verify=False))


def _tell(found: list[Fault], strangers: int, verify: bool) -> None:
    console = terminal.console()
    if found:
        table = Table("first reported", "member", "what it signed", "reported by", box=None, pad_edge=False)
        if verify:
            table.add_column("verdict")
        for fault in found:
            cells = [moment(fault.first_at), str(fault.accused), fault.what, _members(fault), *_verdict(fault, verify)]
            table.add_row(*map(Text, cells))
        console.print(table)
    else:
        console.print("no evidence against anybody")
    if strangers:
        console.print(f"passed over: {strangers:,} records that no member signed", style="dim")
    if found and not verify:
        console.print("as reported; --verify judges each from the signed messages alone", style="dim")


def _verdict(fault: Fault, verify: bool) -> list[str]:
    if not verify:
        return []
    return ["proven: " + fault.verdict.detail if fault.verdict is not None else f"NOT PROVEN: {fault.wrong}"]


def _members(fault: Fault) -> str:
    return ", ".join(map(str, sorted(fault.reporters)))


def _plain(fault: Fault, verify: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "first_reported_at": fault.first_at,
        "shard": fault.shard,
        "member": fault.accused,
        "what": fault.what,
        "reported_by": sorted(fault.reporters),
    }
    if verify:
        proven = fault.verdict is not None
        told |= {"proven": proven, "detail": fault.verdict.detail if fault.verdict is not None else fault.wrong}
    return told
