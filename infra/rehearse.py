"""The operator's `rehearse --dry-run`: which memories a rehearsal would look at again, and what it would conclude. It
changes nothing: it reads in one transaction that may not write."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections import Counter

import msgspec
from msgspec import Struct
from rich.table import Table

from db.preview_rows import Moment, moment
from infra import genesis
from infra.command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import JSON, option
from memquorum.core import rehearsal
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import share
from memquorum.core.rehearsal import Conclusion
from memquorum.core.text.plurals import many
from memquorum.core.tiers import LONG_TERM
from memquorum.schema_files import load_codec

# What may be drawn of a shard: some 10,000 short-term memories are what SPEC B expects of a node.
_RECENT_MOST, _OLD_MOST = 10_000, 1_000


class Rehearsed(Struct, frozen=True):
    """A rehearsal: what it concludes, in the order of its memories; the seed that drew them; how long it took."""

    seed: int
    conclusions: tuple[Conclusion, ...]
    took_ms: int


@command(
    "rehearse",
    option("--dry-run", action="store_true", required=True, help="nothing else can be asked for here"),
    option("-n", "--namespace", help="of this one alone"),
    option("--seed", type=int, metavar="N", help="draws the same again (default: the time of the stream)"),
    JSON,
    failed="the store cannot be asked",
    example="rehearse --dry-run",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows which memories a rehearsal would look at again, and what it would conclude."""
    settings.require("memory_dsn")
    with moment(settings.memory_dsn) as store:
        found = rehearse(store, genesis.read(settings), parsed.namespace, parsed.seed)
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        _tell(found)
    return 0


def rehearse(store: Moment, made: Genesis, namespace: str | None, seed: int | None) -> Rehearsed:
    """Draws from all shards together, and judges each memory by its own shard's time and policy."""
    began = time.monotonic()
    configured = store.configured(load_codec(), made)
    times = {shard: as_of for shard, as_of, _ in store.shards()}
    recent = [one for shard in times for one in store.recent_drawable(shard, namespace, _RECENT_MOST)]
    old = [one for shard in times for one in store.old_drawable(shard, namespace, _OLD_MOST)]
    seed = max(times.values(), default=0) if seed is None else seed
    conclusions = tuple(
        rehearsal.concluded(seen, times[shard], configured[shard].policy)
        for shard, seen in store.seen(rehearsal.drawn(recent, old, seed))
    )
    return Rehearsed(seed, conclusions, round((time.monotonic() - began) * 1_000))


def _tell(found: Rehearsed) -> None:
    console = terminal.console(soft_wrap=True)
    if not found.conclusions:
        console.print("nothing is alive that could be rehearsed")
        return
    table = Table("memory", "namespace", "tier", "salience", "would be", "verdict", "would vote on", box=None)
    for one in found.conclusions:
        salience = share(one.before_ppm), share(one.after_ppm)
        table.add_row(one.memory_id, one.namespace, one.tier, *salience, one.verdict, one.nominated or "")
    console.print(table)
    verdicts = Counter(one.verdict for one in found.conclusions)
    told = "; ".join(f"{count:,}: {verdict}" for verdict, count in verdicts.most_common())
    old = sum(one.tier == LONG_TERM for one in found.conclusions)
    drawn = (
        f"{many(len(found.conclusions), 'memory')} in {found.took_ms} ms, {old} of them long-term, seed {found.seed}"
    )
    console.print(f"{drawn}. {told}. Nothing was changed.")
