"""Shows which memories of namespaces would be nominated under a given budget, or under their own: `forget --dry-run
--budget 5000`.

The plan is that of the nomination stage, for the whole excess at once: an epoch nominates as many memories, in its
order, as the caps leave, and members vote on each. `random` draws other lots here than the stage, which has a secret
for it; and near-ties, among which the stage draws if `budget.epsilon_ppm` is set, are listed in their order.
"""

from __future__ import annotations

import difflib
import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from db.preview_rows import Moment, moment
from infra import policy_command as policies
from infra.settings import Mendable, Settings, SettingsError
from memquorum.core import caps
from memquorum.core.budgets.items import in_words
from memquorum.core.budgets.ledger import Going, Ledger, Plan
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.rules import SCORES, WEIGHS
from memquorum.core.budgets.weighing import groups, item
from memquorum.core.identity.membership import Genesis
from memquorum.core.names import namespace_fault
from memquorum.core.policy import FEATURES, FORGETTING, TOKENS_LEAST, Budget, Policy
from memquorum.core.tiers import ALIVE, DRAFT
from memquorum.ports import Weighted
from memquorum.schema_files import load_codec

_SHOWN = 20


class NothingAlive(Mendable):
    """The namespace holds no live memory, or does not exist."""


class Outlook(Struct, frozen=True):
    """The effect that a budget would have on a namespace. `room`: how many memories the caps leave to the next epoch;
    `draws`: true if an epoch draws among near-ties, which are listed in their order here."""

    namespace: str
    shard: int
    budget: Budget
    version: int
    held: int
    plan: Plan
    room: int
    draws: bool = False


def file(given: str | None) -> Path | None:
    """Returns the file that `--policy` names. Raises SettingsError if there is neither such a file nor a policy of that
    name."""
    if given is None:
        return None
    path = Path(given)
    if not path.is_file():
        raise SettingsError(
            f"policy: {given!r} is neither a file nor a budget policy; budget policies: {', '.join(FORGETTING)}"
        )
    return path


def show(settings: Settings, made: Genesis, parsed: Namespace) -> int:
    """Prints the memories that would be nominated. Raises SettingsError and PolicyError for invalid arguments, and an
    error of OUT_OF_REACH if Postgres does not answer."""
    if parsed.budget is not None and parsed.budget < TOKENS_LEAST:
        raise SettingsError(f"budget: {parsed.budget} is too small: the least budget is {TOKENS_LEAST} tokens")
    if parsed.namespace is not None and namespace_fault(parsed.namespace):
        raise SettingsError(f"namespace: {parsed.namespace!r} is no namespace")
    name = parsed.policy if parsed.policy in FORGETTING else None
    given = None if name is not None else file(parsed.policy)
    found = list[Outlook]()
    with moment(settings.memory_dsn) as store:
        configured = store.configured(load_codec(), made)
        for shard, now, _ in store.shards():
            judged_by = policies.changed(configured[shard].policy, given, parsed.set)
            asked = replace(configured[shard], policy=judged_by)
            as_of = now + round(parsed.days * 24 * 3600 * 1000)
            wanted = (parsed.namespace or "*", parsed.budget, name)
            found += look(store, asked, shard, as_of, wanted)
        if not found:
            check_alive(store, made.shards, parsed.namespace)
    if not found and parsed.budget is None:
        raise SettingsError("budget: no namespace with memories has a budget: give one with --budget")
    found.sort(key=lambda one: one.namespace)
    print(json.dumps([plain(one) for one in found], indent=2) if parsed.json else "\n".join(lines(found)))
    return 0


def check_alive(store: Moment, shards: int, namespace: str | None) -> None:
    """Raises NothingAlive for a namespace without a live memory, or that never existed."""
    if namespace is None:
        return
    held = {name for shard in range(shards) for name in store.held(shard, ["*"])}
    if namespace not in held:
        near = difflib.get_close_matches(namespace, held, 1)
        told = f"; the nearest that holds something is {near[0]!r}" if near else ""
        raise NothingAlive(f"--namespace {namespace}: no memory is alive there, so none can be forgotten{told}")


def look(
    store: Moment,
    asked: Genesis,
    shard: int,
    as_of: int,
    wanted: tuple[str, int | None, str | None],
) -> list[Outlook]:
    """Returns the outlook of those namespaces of a shard that match a pattern. `wanted`: the pattern, and tokens and a
    policy to use in place of theirs."""
    pattern, tokens, name = wanted
    policy, found = asked.policy, list[Outlook]()
    for namespace, held in store.held(shard, [pattern]).items():
        budget = budget_of(policy.budget, namespace)
        if tokens is not None:
            budget = Budget(namespace, tokens, name or (budget.policy if budget else policy.budget.policy))
        elif budget is not None and name is not None:
            budget = replace(budget, policy=name)
        if budget is not None:
            losses = store.losses([namespace], caps.since(as_of, policy.caps))
            room = caps.room(losses.get(namespace, caps.NOTHING), as_of, policy.caps)
            plan = _plan(store.weighted(shard, namespace), budget, policy, as_of)
            draws = policy.budget.epsilon_ppm > 0 and budget.policy in SCORES
            found.append(Outlook(namespace, shard, budget, asked.policy_version, held, plan, room, draws))
    return found


def _plan(known: Sequence[Weighted], budget: Budget, policy: Policy, as_of: int) -> Plan:
    ledger = Ledger(budget.policy, policy.budget, floors=budget.floors)
    for one in known:
        if one.candidate.tier in ALIVE:
            ledger.put(item(one, as_of))
    drafts = {one.candidate.memory_id for one in known if one.candidate.tier == DRAFT}
    return ledger.plan(budget.tokens, as_of, groups=groups(known, drafts))


def lines(found: Sequence[Outlook]) -> Iterator[str]:
    """Yields the outlooks in words."""
    for one in found:
        plan, by = one.plan, f"policy {one.version}" if one.version else "the genesis file's constants"
        yield (
            f"{one.namespace} (shard {one.shard}): {one.held:,} tokens held, {one.budget.tokens:,} are its budget; by "
            f"{one.budget.policy} and {by} {len(plan.goes):,} memories would be nominated in turn"
        )
        if one.held <= one.budget.tokens:
            continue
        if one.draws:
            yield "  near-ties are shown in their order here; an epoch draws among them by lot, so another may go first"
        for group in plan.replaces:
            yield f"    {group.summary}  a summary in the place of {len(group.memory_ids)} memories, if members agree"
        for at, going in enumerate(plan.goes[:_SHOWN]):
            now = ", in the next epoch" if at < one.room else ""
            yield f"    {going.memory_id}  {going.tokens:,} tokens, {going.why}{_weighed(one, going)}{now}"
        if len(plan.goes) > _SHOWN:
            yield f"    and {len(plan.goes) - _SHOWN:,} more: --json lists them"
        yield f"  the caps leave {one.room:,} to the next epoch; if members let all go, {plan.held:,} tokens are left"
        if plan.over:
            why = ", ".join(f"{tokens:,} {reason}" for reason, tokens in plan.excess.items())
            yield f"  {plan.over:,} tokens stay beyond the budget; of what is left may not go: {why}"
    yield "nothing is changed by looking"


def _weighed(one: Outlook, going: Going) -> str:
    """The score of a memory and its features, under a policy that uses them."""
    if one.budget.policy not in WEIGHS:
        return ""
    features, score = in_words(going.score.features, going.score.net_ppm, going.score.score)
    return f": score {score} ({features})"


def plain(one: Outlook) -> dict[str, Any]:
    """An outlook as JSON values; features and scores are null under a policy that does not use them."""
    plan, weighs = one.plan, one.budget.policy in WEIGHS
    return {
        "namespace": one.namespace, "shard": one.shard, "policy": one.budget.policy, "version": one.version,
        "budget": one.budget.tokens, "held": one.held, "left": plan.held, "over": plan.over, "excess": plan.excess,
        "room": one.room, "draws": one.draws,
        "replaces": [{"summary": group.summary, "memory_ids": group.memory_ids} for group in plan.replaces],
        "goes": [
            {
                "memory_id": going.memory_id, "tokens": going.tokens, "why": going.why, "now": at < one.room,
                "score": going.score.score if weighs else None,
                "net_ppm": going.score.net_ppm if weighs else None,
                "features": dict(zip(FEATURES, going.score.features, strict=True)) if weighs else None,
            }
            for at, going in enumerate(plan.goes)
        ],
    }  # fmt: skip
