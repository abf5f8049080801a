"""The operator's `forget --dry-run`: the effect of a policy on the live memories, namespace by namespace. It changes
nothing: it reads in one read-only transaction.

The policy is each shard's own, with the changes of --policy and --set: to preview an order (`policy set`), or the next
effects of the present policy. With `--budget`, or the name of a budget policy, it lists the memories that this
would nominate (`infra.budget_preview`).
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from db.preview_rows import Moment, moment
from infra import budget_preview, genesis, policy_command
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum.commands import JSON, option
from memquorum.core import caps
from memquorum.core.accounts.telling import moment as date
from memquorum.core.accounts.telling import span
from memquorum.core.budgets.limits import budget_of
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import FORGETTING, MAX_SPAN_MS, PPM, Policy, share
from memquorum.core.vote import preview
from memquorum.core.vote.grounds import MemberContext
from memquorum.core.vote.preview import Outlook, Vote
from memquorum.ports import Candidate
from memquorum.schema_files import load_codec

_DAY_MS = 24 * 3600 * 1000


@command(
    "policy preview",
    option("--dry-run", action="store_true", required=True, help="required: this command only previews"),
    option("--policy", metavar="FILE|NAME", help="JSON: the settings that differ; or a budget policy's name"),
    option("--budget", type=int, metavar="TOKENS", help="preview this budget for the namespaces"),
    policy_command.SET,
    option("-n", "--namespace", help="this one alone"),
    option("--days", type=float, default=0.0, help="as of so many days later, without further uses"),
    JSON,
    kafka="operator",
    failed="the store cannot be asked",
    example="policy preview --dry-run --set decay.delta=0.4 --days 7",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows which live memories a policy would have forgotten now.

    Raises SettingsError and PolicyError for an invalid policy, and an error of OUT_OF_REACH if Postgres does not
    answer.
    """
    settings.require("memory_dsn")
    if not 0 <= parsed.days <= MAX_SPAN_MS / _DAY_MS:
        raise SettingsError(f"days: {parsed.days:g} must be 0 to a thousand years of days")
    made = genesis.read(settings)
    if parsed.budget is not None or parsed.policy in FORGETTING:
        return budget_preview.show(settings, made, parsed)
    given = budget_preview.file(parsed.policy)
    with moment(settings.memory_dsn) as store:
        policies = {
            shard: policy_command.changed(config.policy, given, parsed.set)
            for shard, config in store.configured(load_codec(), made).items()
        }
        found = look(store, made, policies, parsed.namespace, round(parsed.days * _DAY_MS))
        if not found:
            budget_preview.check_alive(store, made.shards, parsed.namespace)
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(found), indent=2))
    else:
        print("\n".join(lines(found, policies)))
    return 0


def look(
    store: Moment, made: Genesis, policies: Mapping[int, Policy], namespace: str | None, later_ms: int
) -> list[Outlook]:
    """Returns the outlook of every namespace, or of one, `later_ms` from now. `policies`: by shard."""
    configured, found = store.configured(load_codec(), made), list[Outlook]()
    for shard, now, standing in store.shards():
        judged_by = policies[shard]
        alive = store.alive(shard, standing.last_epoch + 1, namespace)
        as_of = now + later_ms
        names = sorted({one.candidate.namespace for one in alive})
        voters = replace(configured[shard], policy=judged_by)
        told = preview.outlook(
            standing, shard, alive, store.losses(names, caps.since(as_of, judged_by.caps)),
            as_of=as_of, policy=judged_by, judge=_Judge(store, voters, as_of),
            members=len(voters.members), beyond=_beyond(store, voters, shard, names, as_of),
        )  # fmt: skip
        found += told
    return sorted(found, key=lambda one: one.namespace)


def _beyond(store: Moment, voters: Genesis, shard: int, names: Sequence[str], as_of: int) -> dict[str, list[str]]:
    """Returns the memories beyond the budgets of a shard's namespaces."""
    limited = [name for name in names if budget_of(voters.policy.budget, name) is not None]
    looks = (one for name in limited for one in budget_preview.look(store, voters, shard, as_of, (name, None, None)))
    return {one.namespace: [going.memory_id for going in one.plan.goes] for one in looks}


class _Judge:
    """Applies the members' rule to the store's memories."""

    def __init__(self, store: Moment, voters: Genesis, as_of: int) -> None:
        self._store, self._voters, self._as_of, self._codec = store, voters, as_of, load_codec()

    def __call__(self, namespace: str, candidates: Sequence[Candidate]) -> Mapping[str, Vote]:
        voters = self._voters
        recent = self._store.recent(namespace, voters.policy.salience.buffer_size)
        encoder = recent[-1][2][0] if recent else None
        by_member: dict[int, list[tuple[str, Any, None]]] = {}
        for agent, memory_id, (by, vector) in recent:
            if by == encoder:
                by_member.setdefault(voters.member_of(agent), []).append((memory_id, vector, None))
        known = self._store.vectors([candidate.memory_id for candidate in candidates])
        worths, ranks = self._store.worths(self._codec, namespace)
        ranked = {
            candidate.memory_id: ranks[worths[candidate.memory_id][0]].rank_ppm(worths[candidate.memory_id][1])
            for candidate in candidates
            if candidate.memory_id in worths
        }
        return preview.votes(
            voters, voters.policy, candidates,
            as_of=self._as_of,
            vectors={memory_id: vector for memory_id, (by, vector) in known.items() if by == encoder},
            ranks=ranked,
            contexts={member: MemberContext.of(namespace, episodes) for member, episodes in by_member.items()},
        )  # fmt: skip


def lines(found: Sequence[Outlook], policies: Mapping[int, Policy]) -> Iterator[str]:
    """Yields outlooks in words. `policies`: by shard."""
    for told in dict.fromkeys(one.caps for one in policies.values()):
        yield (
            f"caps: {float(told.epoch_share):.0%} an epoch, {float(told.day_share):.0%} within {span(told.day_ms)}, "
            f"{told.floor} in any case; nothing is changed by looking"
        )
    for one in found:
        yield f"{one.namespace} (shard {one.shard}): {one.living:,} alive, {one.due:,} due to be forgotten"
        if not (one.due or one.beyond):
            continue
        if one.due:
            why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(one.reasons.items()))
            yield f"  {one.protected:,} protected, {one.resting:,} resting; free: {why or 'none'}"
            yield f"  the votes let go {one.let_go:,} of {one.judged:,}, by what their agents still have in the store"
        if one.beyond:
            budget = budget_of(policies[one.shard].budget, one.namespace)
            name = policies[one.shard].budget.policy if budget is None else budget.policy
            turn = "are beyond its budget, and go in turn before what is due"
            yield f"  {one.beyond:,} {turn}: --policy {name}, which is in force, lists them"
        yield (
            f"  the next epoch nominates {one.nominated:,}, and {one.forgotten:,} of them would be forgotten; "
            f"the caps leave {one.room:,} in it and {max(0, one.day_left):,} of the day"
        )
        if one.stopped_until is not None:
            yield f"  STOPPED: nothing more is forgotten here before {date(one.stopped_until)}"
        for example in one.examples:
            vote = f"{example.vote.yes} votes to forget, score {share(example.vote.agreed_ppm)}"
            went = "let go" if example.vote.let_go else "kept"
            score = example.decay_score_ppm
            fading = "" if score is None else f"decay score {share(score)}, "
            yield (
                f"    {example.memory_id}  unused for {span(example.unused_ms)}, D {share(example.decay_ppm)}, {fading}"
                f"{example.reason}: {went}, {vote}{', in the next epoch' if example.now else ''}"
            )
    due, gone = sum(one.due for one in found), sum(one.forgotten for one in found)
    living = sum(one.living for one in found)
    part = f"{gone * PPM / living / 10_000:.1f} %" if living else "none"
    yield f"in all {living:,} alive, {due:,} due, {gone:,} would be forgotten in the next epoch ({part})"
