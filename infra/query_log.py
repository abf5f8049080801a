"""Shows the queries of agents, to find what is asked and not found."""

from __future__ import annotations

import json
from argparse import Namespace

from rich.text import Text

from infra import genesis, roles
from infra.operator_command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import JSON, option, when
from memquorum.core.accounts.telling import moment
from memquorum.core.showing.escaping import escaped
from memquorum.core.showing.plurals import many
from memquorum.schema_files import load_codec
from workers.upkeep import asked

_SHOWN = 500


@command(
    "audit queries",
    option("-n", "--namespace", help="asked of this one alone"),
    option("--agent", metavar="NAME", help="asked by this one alone"),
    option("--since", type=when, default=0, metavar="WHEN", help="asked then or later; ISO 8601, or ms"),
    option("--last", type=int, default=50, metavar="N", help="so many at most (default: 50; 0: all)"),
    JSON,
    kafka="operator",
    failed="the queries cannot be read",
    example="audit queries -n greenhouse --last 20",
)
def queries(settings: Settings, parsed: Namespace) -> int:
    """Lists the queries of agents, with the number of memories given, the latest last. Their text is gone if it was
    erased, or is older than `queries_keep_ms`."""
    settings.require("bootstrap", "vault_dsn")
    made, stamps = genesis.read(settings), genesis.service_stamps(settings)
    found = [
        one
        for one in asked.read(settings.bootstrap, made.shards, load_codec(), stamps)
        if parsed.namespace in (None, one.namespace)
        and parsed.agent in (None, one.agent)
        and one.asked_at >= parsed.since
    ]
    found.sort(key=lambda one: one.asked_at)
    vault = roles.vault(settings, journals=roles.journals(settings, made, stamps))
    console, opened = terminal.console(soft_wrap=True), 0
    for one, text in asked.texts(vault, found[-parsed.last :] if parsed.last else found):
        opened += text is not None
        if parsed.json:
            told = {"namespace": one.namespace, "agent": one.agent, "asked_at": one.asked_at, "query": text}
            print(json.dumps(told | {"memory_ids": one.memory_ids}))
            continue
        said = "its key is gone" if text is None else escaped(text[:_SHOWN]) + ("…" if len(text) > _SHOWN else "")
        given = many(len(one.memory_ids), "memory") if one.memory_ids else "nothing"
        console.print(Text(f"{moment(one.asked_at)}  {one.namespace}  {one.agent}: {said}  → {given}"))
    if not parsed.json:
        console.print(f"{many(len(found), 'query')} stand there", style="dim")
    return 0
