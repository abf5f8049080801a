"""The part of `status` about the retention rules (`policy.erase`): each rule, its next check, and how many memories are
too old."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from db.erasure_rows import Old
from db.preview_rows import Moment, moment
from infra import genesis
from infra.settings import Settings
from memquorum.core.accounts import telling
from memquorum.core.consensus.certificate import BadCertificate
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.orders import aged
from memquorum.core.policy import ErasePolicy
from memquorum.core.showing.plurals import many
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec

_SHOWN = 3


def plain(settings: Settings) -> list[dict[str, Any]]:
    """Reports each rule in force: its shards, its next check, the memories due since the last, and those that come of
    age until the next. Empty if the store does not answer."""
    if not settings.memory_dsn:
        return []
    try:
        with moment(settings.memory_dsn) as store:
            return list(_rules(store, store.configured(load_codec(), genesis.read(settings))))
    except (StoreUnavailable, BadCertificate):
        return []


def rule_lines(settings: Settings) -> list[str]:
    """Reports the same in a line for each rule."""
    return [_line(one) for one in plain(settings)]


def _rules(store: Moment, now: dict[int, Genesis]) -> Iterator[dict[str, Any]]:
    times = {shard: as_of for shard, as_of, _ in store.shards()}
    alike: dict[ErasePolicy, list[int]] = {}
    for shard, config in now.items():
        if config.policy.erase.after and shard in times:
            alike.setdefault(config.policy.erase, []).append(shard)
    names = store.namespaces() if alike else []
    for rule, shards in alike.items():
        due, coming, begins = list[Old](), 0, list[int]()
        for shard in shards:
            as_of, policy = times[shard], now[shard].policy
            mine = [name for name in names if shard_of(name, len(now)) == shard]
            due += store.old(shard, aged.erasable_selections(policy, mine, as_of))
            coming += sum(
                one.count for one in store.old(shard, aged.erasable_selections(policy, mine, as_of + rule.every_ms))
            )
            begins.append(aged.turn(rule, as_of) + rule.every_ms)
        some = [{"namespace": one.namespace, "type": one.type, "count": one.count, "oldest": one.oldest} for one in due]
        count = sum(one.count for one in due)
        yield {
            "after": rule.after, "every_ms": rule.every_ms, "shards": shards, "next_at": min(begins),
            "due": count, "coming": coming - count, "overdue": some,
        }  # fmt: skip


def _line(one: dict[str, Any]) -> str:
    where = ", ".join(map(str, one["shards"]))
    some = sorted(one["overdue"], key=lambda each: each["oldest"])
    due = "; ".join(
        f"{each['count']:,} {each['type']} of {each['namespace']}, the oldest of {telling.moment(each['oldest'])}"
        for each in some[:_SHOWN]
    )
    more = f"; and more, of {len(some) - _SHOWN} others" if len(some) > _SHOWN else ""
    return (
        f"erased by age, in shard {where}: {one['after']}; every {telling.span(one['every_ms'])}, next at "
        f"{telling.moment(one['next_at'])}, {many(one['coming'], 'memory')} then; due now: {one['due']:,}"
        + (f" ({due}{more})" if due else "")
    )
