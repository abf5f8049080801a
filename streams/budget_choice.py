"""Chooses the memories to forget of namespaces that hold more tokens than their budgets (SPEC D; `core.budgets`).

`streams.room_orders` keeps how much namespaces with a budget hold, and which of their memories go first. It reads the
beginning of the order where a namespace holds too much. A namespace over its budget of which nothing may be forgotten,
since all of it is protected or rests, is not read again before the shard's next epoch or before it holds another number
of tokens. The excess over a budget is logged once, by its reasons, and counted by them.
"""

from __future__ import annotations

import hmac
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import caps
from memquorum.core.budgets.beginning import Beginning, beginning, whole
from memquorum.core.budgets.claims import claim
from memquorum.core.budgets.ledger import Group, Ledger, Plan
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.lots import Lots
from memquorum.core.budgets.rules import REFLECTS
from memquorum.core.budgets.weighing import groups, item
from memquorum.core.consolidation.condensing import makes_room
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import Budget, Policy, share
from memquorum.core.records import Standing, Weighed
from memquorum.core.tiers import ALIVE, SHORT_TERM
from memquorum.core.vote.kinds import KINDS, MAKES_ROOM
from memquorum.core.vote.nomination import Elsewhere, Leaving
from memquorum.ports import Candidate, Schedule, Weighted
from memquorum.telemetry.bundle import Stage, Telemetry
from streams.room_orders import RoomOrders

# So many namespaces are named in words.
_NAMED = 3
log = logging.getLogger(__name__)


class _Read(Struct):
    """The state of a shard at a tick: the tokens that its namespaces hold."""

    moment: tuple[int, int, int]
    holds: Mapping[str, int]


NOTHING = Leaving()
NOBODY = Elsewhere()


class Budgets:
    """Asks the schedule how many tokens namespaces hold; remembers those that stay beyond their budgets."""

    def __init__(self, schedule: Schedule, seed: bytes, shown: Stage | None = None) -> None:
        """`seed`: the stage's secret, under which lots are drawn, those of `random` and of near-ties: who writes cannot
        tell what goes."""
        self._schedule = schedule
        self._shown = shown or Telemetry().stage("nomination")
        self._reasons: dict[int, set[str]] = {}
        self._seed = hmac.digest(seed, b"memquorum/budgets", "sha256")
        # By (shard, namespace): in which epoch, holding how much, nothing might go.
        self._stuck: dict[tuple[int, str], tuple[int, int]] = {}
        # By (shard, namespace) whose policy reflects: since when it has been over its budget.
        self._since: dict[tuple[int, str], int] = {}
        # The number of tokens beyond it, and of those that may not be forgotten, by reason.
        self._told: dict[tuple[int, str], tuple[int, Mapping[str, int]]] = {}
        # By (shard, namespace): the largest account of a subject, what one may spend, and how many have spent it; and
        # after which epoch that was so.
        self._accounts: dict[tuple[int, str], tuple[int, int, int]] = {}
        self._accounted: dict[tuple[int, str], int] = {}
        self._read: _Read | None = None
        self._orders = RoomOrders(schedule, self._key)

    def over(self, shard: int, standing: Standing, as_of: int, policy: Policy) -> bool:
        """Whether a namespace holds more than its budget, and something of it may go."""
        return bool(self._leaving(shard, standing, as_of, policy, opens=True).chosen)

    def leaving(
        self, shard: int, standing: Standing, as_of: int, genesis: Genesis, also: Elsewhere = NOBODY
    ) -> Leaving:
        """Returns the memories to forget, namespace by namespace, by a configuration's policy. `also`: the memories
        that are forgotten or added anyway."""
        return self._leaving(shard, standing, as_of, genesis.policy, version=genesis.policy_version, also=also)

    def settle(self, shard: int, standing: Standing, policy: Policy) -> None:
        """Shows the accounts of a shard's namespaces as they stand once an epoch is decided, which charges draws."""
        for at, namespace in [key for key, epoch in self._accounted.items() if epoch != standing.last_epoch]:
            if at == shard:
                self._account(shard, namespace, policy, standing.last_epoch)

    def _leaving(
        self,
        shard: int,
        standing: Standing,
        as_of: int,
        policy: Policy,
        *,
        version: int = 0,
        also: Elsewhere = NOBODY,
        opens: bool = False,
    ) -> Leaving:
        moment = shard, standing.last_epoch, as_of
        seen = self._read
        if opens or seen is None or seen.moment != moment:
            seen = _Read(moment, self._orders.follow(shard, standing.last_epoch, policy))
        self._read = seen if opens else None
        asked = self._asked(shard, standing, policy, seen.holds, opens=opens)
        asked = {name: told for name, told in asked.items() if self._waited(shard, name, told[0], as_of, policy)}
        if not asked:
            return NOTHING
        rooms = caps.rooms(self._schedule.losses(asked, caps.since(as_of, policy.caps)), asked, as_of, policy.caps)
        chosen = list[list[tuple[Candidate, Weighed]]]()
        for namespace, (budget, held) in asked.items():
            room = rooms[namespace] - len(self._orders.living(namespace, also.going))
            most = max(0, min(room, policy.epoch.proposals_max))
            read = self._beginning(shard, namespace, budget, policy, as_of=as_of, most=most, also=also)
            known = read.weighted
            lots = self._lots(shard, standing.last_epoch + 1, namespace, known, policy)
            groups = _drafts(known, also)
            ledger = self._ledger(read, budget, policy, also, (lots, as_of))
            _hold_back(ledger, known, groups, as_of)
            plan = ledger.plan(budget.tokens, as_of, most=most, groups=groups)
            self._tell(shard, namespace, budget, plan)
            self._account(shard, namespace, policy, standing.last_epoch)
            if opens and not plan.goes:
                self._stuck[shard, namespace] = standing.last_epoch, held
            chosen.append([])
            for one in plan.goes:
                told = known[one.memory_id]
                said = claim(
                    one, told.type, told.sensitivity_ppm,
                    budget=budget, held=held, version=version, withheld=lots is not None,
                )  # fmt: skip
                chosen[-1].append((told.candidate, said))
        # One of each in turn, or an epoch's proposals would all be of the namespace that holds most.
        in_turn = (one for turn in zip_longest(*chosen) for one in turn if one is not None)
        return Leaving(tuple(in_turn), rooms)

    def _beginning(
        self, shard: int, namespace: str, budget: Budget, policy: Policy, *, as_of: int, most: int, also: Elsewhere
    ) -> Beginning:
        """Reads the memories that a plan looks at: all of them where one has no key to be sorted by."""
        apart = {*also.going, *also.stays, *also.drafts, *(one for some in also.drafts.values() for one in some)}
        try:
            order = self._orders.of(namespace)
            return beginning(
                order,
                budget.policy,
                policy.budget,
                as_of,
                most=most,
                apart=apart,
                gone=_gone(budget, also),
                floors=budget.floors,
            )
        except OverflowError:
            return whole(self._schedule.weighted(shard, namespace))

    def _waited(self, shard: int, namespace: str, budget: Budget, as_of: int, policy: Policy) -> bool:
        """Whether memories of a namespace over its budget may be nominated. By a policy that reflects they wait for
        `budget.every_ms`, so that summaries come first (`streams.session_stage`)."""
        if budget.policy not in REFLECTS or not makes_room(namespace, policy.consolidate):
            return True
        since = self._since.setdefault((shard, namespace), as_of)
        return as_of - since >= policy.budget.every_ms

    def _asked(
        self, shard: int, standing: Standing, policy: Policy, holds: Mapping[str, int], *, opens: bool
    ) -> dict[str, tuple[Budget, int]]:
        """The namespaces that hold more than their budgets, with how much. `opens`: whether an epoch would be opened
        for it, which it is not where nothing might go."""
        found: dict[str, tuple[Budget, int]] = {}
        within = [name for at, name in (*self._told, *self._since) if at == shard and name not in holds]
        for namespace, held in sorted({**dict.fromkeys(within, 0), **holds}.items()):
            budget = budget_of(policy.budget, namespace)
            barred = KINDS[MAKES_ROOM[SHORT_TERM]].barred(namespace, policy)
            if budget is None or held <= budget.tokens or barred:
                self._since.pop((shard, namespace), None)
                if self._told.pop((shard, namespace), None) is not None:
                    self._count(shard)
            elif not opens or self._stuck.get((shard, namespace)) != (standing.last_epoch, held):
                found[namespace] = budget, held
        return found

    def forget(self, shards: Collection[int]) -> None:
        """Another process may have seen to these meanwhile."""
        self._stuck = {key: told for key, told in self._stuck.items() if key[0] not in shards}
        self._told = {key: told for key, told in self._told.items() if key[0] not in shards}
        self._since = {key: told for key, told in self._since.items() if key[0] not in shards}
        self._accounts = {key: told for key, told in self._accounts.items() if key[0] not in shards}
        self._accounted = {key: epoch for key, epoch in self._accounted.items() if key[0] not in shards}
        self._orders.forget(shards)
        for shard in shards:
            self._count(shard)
            self._show_accounts(shard)

    def _key(self, namespace: str) -> bytes:
        return hmac.digest(self._seed, namespace.encode(), "sha256")

    def _lots(
        self, shard: int, epoch: int, namespace: str, known: Mapping[str, Weighted], policy: Policy
    ) -> Lots | None:
        """The draws of an epoch, with what the namespace's subjects have spent; None where near-ties are not drawn."""
        if not policy.budget.epsilon_ppm:
            return None
        seed = hmac.digest(self._key(namespace), b"near-ties/%d/%d" % (shard, epoch), "sha256")
        subjects = {memory_id: one.subject for memory_id, one in known.items()}
        return Lots(policy.budget, seed, subjects, {one.subject: one.spent_ppm for one in known.values()})

    def _ledger(
        self, read: Beginning, budget: Budget, policy: Policy, also: Elsewhere, by: tuple[Lots | None, int]
    ) -> Ledger:
        """A namespace once what goes anyway is gone. `by`: the lots, and the time."""
        lots, as_of = by
        namespace = next(iter(read.weighted.values())).candidate.namespace if read.weighted else ""
        ledger = Ledger(budget.policy, policy.budget, self._key(namespace), lots, budget.floors)
        gone = _gone(budget, also)
        ledger.beside(read.others)
        for memory_id, told in read.weighted.items():
            if told.candidate.tier in ALIVE and memory_id not in gone:
                ledger.put(item(told, as_of, voted_on=memory_id in also.stays))
        return ledger

    def _tell(self, shard: int, namespace: str, budget: Budget, plan: Plan) -> None:
        """A line where something else is beyond the budget than before."""
        told = plan.over, plan.excess
        if told == self._told.get((shard, namespace), (0, {})):
            return
        self._told[shard, namespace] = told
        self._count(shard)
        if plan.over:
            log.warning(
                "shard %d: namespace %r stays %d tokens beyond its budget of %d; all that it holds may not go now: %s",
                shard, namespace, plan.over, budget.tokens, reasons_of(plan.excess),
            )  # fmt: skip

    def _account(self, shard: int, namespace: str, policy: Policy, epoch: int) -> None:
        """Shows how much of a namespace's accounts is spent after an epoch: numbers, without names."""
        limits = policy.budget
        if limits.epsilon_ppm:
            spent = self._schedule.accounts(shard, namespace)
            over = sum(one + limits.epsilon_ppm > limits.subject_epsilon_ppm for one in spent.values())
            self._accounts[shard, namespace] = max(spent.values(), default=0), limits.subject_epsilon_ppm, over
            self._accounted[shard, namespace] = epoch
        elif self._accounts.pop((shard, namespace), None) is None:
            return
        else:
            self._accounted.pop((shard, namespace))
        self._show_accounts(shard)

    def _show_accounts(self, shard: int) -> None:
        here = [told for (at, _), told in self._accounts.items() if at == shard]
        self._shown.meters.accounts_spent.labels(str(shard)).set(max((most / may for most, may, _ in here), default=0))
        self._shown.meters.accounts_closed.labels(str(shard)).set(sum(over for *_, over in here))
        most = max((most for most, *_ in self._accounts.values()), default=0)
        over = sum(over for *_, over in self._accounts.values())
        told = f"a subject has spent ε = {share(most)} at most, {over} have spent what they may"
        self._shown.health.note("draws among near-ties", told if self._accounts else "none")

    def _count(self, shard: int) -> None:
        """Counts and logs the tokens of a shard's namespaces that stay beyond their budgets."""
        reasons = Counter[str]()
        for (at, _), (_, excess) in self._told.items():
            if at == shard:
                reasons.update(excess)
        for reason in (*self._reasons.get(shard, ()), *reasons):
            self._shown.meters.beyond.labels(str(shard), reason).set(reasons[reason])
        self._reasons[shard] = {*self._reasons.get(shard, ()), *reasons}
        told = (
            f"{name!r}: {over:,} tokens; all that it holds may not go now: {reasons_of(excess)}"
            for (_, name), (over, excess) in sorted(self._told.items())
            if over
        )
        first = list(islice(told, _NAMED + 1))
        more = " and others" if len(first) > _NAMED else ""
        self._shown.health.note("beyond their budgets", "; ".join(first[:_NAMED]) + more if first else "nothing")


def reasons_of(excess: Mapping[str, int]) -> str:
    """Tokens by reason, as people read them."""
    return ", ".join(f"{tokens:,} {reason}" for reason, tokens in excess.items())


def _gone(budget: Budget, also: Elsewhere) -> set[str]:
    """Returns the memories that another proposal of the epoch takes."""
    summed = {one for sources in also.drafts.values() for one in sources}
    return set(also.going) | (set() if budget.policy in REFLECTS else summed)


def _hold_back(ledger: Ledger, known: Mapping[str, Weighted], groups: Sequence[Group], as_of: int) -> None:
    """Keeps in the ledger the sources of summaries that the budget's policy does not count on: the same epoch votes on
    them, so they are not nominated for want of room as well."""
    for group in [one for one in groups if not ledger.admits(one)]:
        for memory_id in group.memory_ids:
            if ledger.get(memory_id) is not None:
                ledger.put(item(known[memory_id], as_of, voted_on=True))


def _drafts(known: Mapping[str, Weighted], also: Elsewhere) -> list[Group]:
    """The summaries of a namespace that are voted on in the same epoch."""
    asked = [replace(known[one], needs=tuple(sources)) for one, sources in also.drafts.items() if one in known]
    return groups(asked, also.drafts)
