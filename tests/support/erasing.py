"""A shard in which an order erases much, on a real broker."""

from __future__ import annotations

from typing import Any

from memquorum.core.ids import memory_id, shard_of
from memquorum.core.records import OrderAccepted
from tests.builders import erasures
from tests.support.commit_process import GENESIS
from tests.support.flow import Flow

SHARD = 2
AT = 5_000


def beside(flow: Flow) -> str:
    """Names another tenant of the same shard."""
    mine = flow.namespace(SHARD)
    return next(n for n in (f"t{i}" for i in range(99)) if shard_of(n, GENESIS.shards) == SHARD and n != mine)


def order(flow: Flow, selector: str = "subject", value: str = "ada", at: int = AT, **said: Any) -> OrderAccepted:
    said = {"namespace": flow.namespace(SHARD)} | said
    wanted = erasures.ordered(GENESIS, selector, value, **said)
    record = erasures.accepted(wanted, erasures.signed(flow.codec, GENESIS, wanted), at)
    flow.accepted(SHARD, record)
    return record


def fill(flow: Flow) -> dict[str, str]:
    """Publishes ten entries.

    Ada's: a, an echo of it, a dropped episode; c is made of a. Not hers: d, and another tenant's x.
    """
    mine = flow.namespace(SHARD)
    names = {name: memory_id(mine, name) for name in ("a", "b", "c", "d", "echo", "faint", "late")}
    flow.tick(SHARD, 900)
    flow.episodes(SHARD, ["a", "b"], subject="ada")
    flow.episodes(SHARD, ["echo"], outcome="reinforced", reinforces=names["a"], subject="ada")
    flow.episodes(SHARD, ["faint"], outcome="below_threshold", subject="ada")
    flow.episodes(SHARD, ["c"], derives_from=(names["a"],))
    flow.episodes(SHARD, ["d"])
    flow.episodes(SHARD, ["x"], namespace=beside(flow), subject="ada")
    flow.access(SHARD, names["a"], 1_500)
    flow.access(SHARD, names["d"], 1_500)
    flow.flush()
    return names | {"x": memory_id(beside(flow), "x")}
