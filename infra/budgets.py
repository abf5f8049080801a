"""What would go of namespaces if they had a budget, or by the one that they have: `forget --dry-run --budget 5000`.

The plan is the one that the nomination stage makes, of the whole excess at once: an epoch nominates as many of it, in
its order, as the caps leave, and members vote on each. `random` draws other lots here than the stage, which has a
secret for it; and near-ties, among which it draws where `budget.epsilon_ppm` says so, stand in their order here.
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
from infra import policy as policies
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
    """A namespace that was asked about holds nothing, or there is none of that name."""


class Outlook(Struct, frozen=True):
    """What a budget would have go of a namespace. `room`: how many memories the caps leave to the next epoch;
    `draws`: whether an epoch draws among near-ties, which stand in their order here."""

    namespace: str
    shard: int
    budget: Budget
    version: int
    held: int
    plan: Plan
    room: int
    draws: bool = False


def file(given: str | None) -> Path | None:
    """The file that `--policy` names. Raises SettingsError where there is none, and no policy of that name either."""
    if given is None:
        return None
    path = Path(given)
    if not path.is_file():
        raise SettingsError(f"policy: {given!r} is no file, and no policy that holds budgets: {', '.join(FORGETTING)}")
    return path


def show(settings: Settings, made: Genesis, parsed: Namespace) -> int:
    """Prints what would go. Raises SettingsError and PolicyError for what cannot be, and what says that Postgres does
    not answer."""
    if parsed.budget is not None and parsed.budget < TOKENS_LEAST:
        raise SettingsError(f"budget: {parsed.budget} is too small a budget: {TOKENS_LEAST} tokens are the least")
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
        raise SettingsError("budget: no namespace has one, or holds anything: give one with --budget")
    found.sort(key=lambda one: one.namespace)
    print(json.dumps([plain(one) for one in found], indent=2) if parsed.json else "\n".join(lines(found)))
    return 0


def check_alive(store: Moment, shards: int, namespace: str | None) -> None:
    """Raises NothingAlive for a namespace of whose memories none is alive, or that never was."""
    if namespace is None:
        return
    held = {name for shard in range(shards) for name in store.held(shard, ["*"])}
    if namespace not in held:
        near = difflib.get_close_matches(namespace, held, 1)
        told = f"; the nearest that holds something is {near[0]!r}" if near else ""
        raise NothingAlive(f"--namespace {namespace}: nothing is alive there, so nothing can go{told}")


def look(
    store: Moment,
    asked: Genesis,
    shard: int,
    as_of: int,
    wanted: tuple[str, int | None, str | None],
) -> list[Outlook]:
    """The outlook of the namespaces of a shard that a pattern fits. `wanted`: it, and tokens and a policy where other
    ones count than theirs."""
    pattern, tokens, name = wanted
    policy, found = asked.policy, list[Outlook]()
    for namespace, held in store.held(shard, [pattern]).items():
        budget = budget_of(policy.budget, namespace)
        if tokens is not None:
            budget = Budget(namespace, tokens, name or (budget.policy if budget else policy.budget.policy))
        elif budget is not None and name is not None:
            budget = replace(budget, policy=name)
        if budget is not None:
            quotas = store.quotas([namespace], caps.since(as_of, policy.caps))
            room = caps.room(quotas.get(namespace, caps.NOTHING), as_of, policy.caps)
            plan = _plan(store.weighted(shard, namespace), budget, policy, as_of)
            draws = policy.budget.epsilon_ppm > 0 and budget.policy in SCORES
            found.append(Outlook(namespace, shard, budget, asked.policy_version, held, plan, room, draws))
    return found


def _plan(known: Sequence[Weighted], budget: Budget, policy: Policy, as_of: int) -> Plan:
    ledger = Ledger(budget.policy, policy.budget)
    for one in known:
        if one.candidate.tier in ALIVE:
            ledger.put(item(one))
    drafts = {one.candidate.memory_id for one in known if one.candidate.tier == DRAFT}
    return ledger.plan(budget.tokens, as_of, groups=groups(known, drafts))


def lines(found: Sequence[Outlook]) -> Iterator[str]:
    """What would go, in words."""
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
    """The score of what goes and what it is made of, by a policy that goes by it."""
    if one.budget.policy not in WEIGHS:
        return ""
    features, score = in_words(going.score.features, going.score.net_ppm, going.score.score)
    return f": score {score} ({features})"


def plain(one: Outlook) -> dict[str, Any]:
    """What would go, as JSON has it; features and scores are None by a policy that does not go by them."""
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
