"""The client's lists for people and consoles: goals, pins, holds, orders, epochs, members and the journal; the state of
a namespace and of the fleet; and API keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack
from urllib.parse import quote

from memquorum.client import wire
from memquorum.client.values import Gates
from memquorum.core.access import READ
from memquorum.core.api.answers import (
    ApiKeys,
    Conflicts,
    DeadLetters,
    Epochs,
    Evidence,
    Fleet,
    Goals,
    Holds,
    Journal,
    JournalChecked,
    KeyInShort,
    KeyMade,
    Members,
    MemoryTrace,
    Namespaces,
    NamespaceState,
    OpenEpoch,
    Orders,
    Pins,
    PolicyInForce,
    Sessions,
)

T = TypeVar("T")


class Paged(TypedDict, total=False):
    """Selects a page: `limit` (100) entries after `cursor`, which is `next` of the page before."""

    cursor: str | None
    limit: int | None


class Timed(Paged, total=False):
    """Selects a page of entries with `since` ≤ time < `until`, in milliseconds."""

    since: int | None
    until: int | None


class Passed(Timed, total=False):
    """Selects a page of entries whose memories pass these filters, as in a search."""

    sensitivity_max: float | None
    purpose: str | None
    jurisdictions: Sequence[str] | None


class Overseeing:
    """The client's lists beside memories and decisions, page by page. Raises Invalid, NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """The namespace of the lists."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def goals(
        self, *, goals: Sequence[str] | None = None, memory_id: str | None = None, **page: Unpack[Passed]
    ) -> Goals:
        """Lists the active goals here, by name: the memories each needs, who set it when, and when it lapses. `goals`:
        these alone; `memory_id`: goals that need it."""
        return await self._listed(Goals, "goals", goals=goals, memory_id=memory_id, **page)

    async def pins(
        self,
        *,
        memory_id: str | None = None,
        ordered_by: str | None = None,
        reference: str | None = None,
        **page: Unpack[Passed],
    ) -> Pins:
        """Lists the pins in force here, the latest first: of which memory, by whom, why, since when."""
        said = {"memory_id": memory_id, "ordered_by": ordered_by, "reference": reference}
        return await self._listed(Pins, "pins", **said, **page)

    async def holds(
        self,
        *,
        memory_id: str | None = None,
        ordered_by: str | None = None,
        reference: str | None = None,
        **page: Unpack[Passed],
    ) -> Holds:
        """Lists the operator's holds in force here, the latest first: of which memory, by whom, why, since when."""
        said = {"memory_id": memory_id, "ordered_by": ordered_by, "reference": reference}
        return await self._listed(Holds, "holds", **said, **page)

    async def orders(
        self, *, kinds: Sequence[str] | None = None, effects: Sequence[str] | None = None, **page: Unpack[Timed]
    ) -> Orders:
        """Lists the answered orders here, the latest first, each as `order` returns it. `kinds`: erase, protect (pins,
        goals and holds, and their ends), restore (also orders to forget and to roll back); without it those that the
        API key may see. `effects`: erased, withheld, protected, requested, declined."""
        return await self._listed(Orders, "orders", kinds=kinds, effects=effects, **page)

    async def epochs(
        self, *, kinds: Sequence[str] | None = None, shard: int | None = None, **page: Unpack[Passed]
    ) -> Epochs:
        """Lists the epochs in which something here was voted on, the latest first: when, why they were opened, and the
        number of this namespace's proposals by outcome. `kinds`: of these kinds alone. `shard`: all epochs of a shard,
        for a key that audits all namespaces."""
        return await self._listed(Epochs, "epochs", shard=shard, kinds=kinds, **page)

    async def conflicts(self, *, redact: bool | None = None, **page: Unpack[Passed]) -> Conflicts:
        """Lists the open contradictions here, the last found first: which memory holds, and what both say."""
        return await self._listed(Conflicts, "conflicts", redact=redact, **page)

    async def sessions(self, *, agents: Sequence[str] | None = None, **page: Unpack[Passed]) -> Sessions:
        """Lists the sessions here, the one in which something was said last first: who spoke, when, and how many
        memories are left. `agents`: those in which one of these spoke; `session` tells the state of one."""
        return await self._listed(Sessions, "sessions", agents=agents, **page)

    async def open_epoch(self, *, shard: int | None = None) -> OpenEpoch:
        """Tells the epoch that members vote on now, as far as it is about this namespace: its proposals, the ballots so
        far, and the phases with their times. Its `epoch` is None if none is open. `shard`: that of a shard, with
        the proposals of all namespaces, for a key that audits all."""
        where = f"/epochs/{quote(self.namespace, safe='')}" if shard is None else f"/shards/{wire.path_id(str(shard))}"
        return await self._ask(OpenEpoch, "GET", f"{where}/open")

    async def members(
        self,
        *,
        seated: bool | None = None,
        roles: Sequence[str] | None = None,
        shard: int | None = None,
        **page: Unpack[Paged],
    ) -> Members:
        """Lists the present and former voting members of this namespace's shard by their ids: with what weight, since
        when, and since when by which key. `shard`: of another shard, for a key that audits all namespaces."""
        return await self._listed(Members, "members", shard=shard, seated=seated, roles=roles, **page)

    async def journal(
        self, *, effects: Sequence[str] | None = None, memory_id: str | None = None, **page: Unpack[Timed]
    ) -> Journal:
        """Lists what happened here, in sentences, the latest first. `effects`: as in stored, accessed, decided;
        `memory_id`: entries that name this memory."""
        return await self._listed(Journal, "journal", effects=effects, memory_id=memory_id, **page)

    async def verify_journal(
        self, shard: int = 0, *, cursor: str | None = None, limit: int | None = None
    ) -> JournalChecked:
        """Has the service check that the entries of a shard's journal in its store follow each other, and end as was
        signed, to a key that audits all namespaces. It checks `limit` (2,000) entries after `cursor`, which is `next`
        of the answer before. Trust in the service is needed for that; `memquorum verify` needs none."""
        asked = {"shard": shard, "cursor": cursor, "limit": limit}
        return await self._ask(JournalChecked, "POST", "/journal/verify", json=_said(asked))

    async def namespaces(self, **page: Unpack[Paged]) -> Namespaces:
        """Lists the namespaces that the API key sees and that have memories, by name, with their numbers."""
        return await self._ask(Namespaces, "POST", "/namespaces/list", json=_said(page))

    async def state(self) -> NamespaceState:
        """Tells the state of this namespace: its memories by tier and agent, what may be forgotten now, and when its
        members vote next."""
        return await self._ask(NamespaceState, "GET", f"/namespaces/{quote(self.namespace, safe='')}")

    async def policy(self) -> PolicyInForce:
        """Tells the policy in force by which the memories here are judged, and where it differs from the defaults."""
        return await self._ask(PolicyInForce, "GET", f"/policy/{quote(self.namespace, safe='')}")

    async def fleet(self) -> Fleet:
        """Tells the processes of the fleet with their rates, lags and problems, to a key that audits all
        namespaces."""
        return await self._ask(Fleet, "GET", "/fleet")

    async def trace(self, memory_id: str, **gates: Unpack[Gates]) -> MemoryTrace:
        """Returns the recorded steps of a memory through the fleet, with their times, as far as the service can see
        them. Raises NotFound."""
        path = f"/memories/{wire.path_id(memory_id)}/trace"
        return await self._ask(MemoryTrace, "GET", path, params={"namespace": self.namespace} | wire.gates(gates))

    async def dead_letters(self) -> DeadLetters:
        """Tells the latest records that intake refused, with their reasons, to a key that audits all namespaces."""
        return await self._ask(DeadLetters, "GET", "/dead-letters")

    async def evidence(self) -> Evidence:
        """Tells the reported faults of members, each judged from the signed messages, to a key that audits all
        namespaces."""
        return await self._ask(Evidence, "GET", "/evidence")

    async def keys(self, **page: Unpack[Paged]) -> ApiKeys:
        """Lists the API keys of namespaces that are all this key's, the latest first, without their secrets. Needs the
        right `admin`, as the two methods below."""
        return await self._ask(ApiKeys, "POST", "/keys/list", json=_said(page))

    async def make_key(
        self,
        name: str,
        *,
        namespaces: Sequence[str] | None = None,
        rights: Sequence[str] = (READ,),
        slots: Sequence[str] = (),
        days: int | None = None,
    ) -> KeyMade:
        """Makes an API key, which is told this once. `namespaces`: names, and prefixes that end in `*`; this namespace
        by default. Nobody grants more than he has: no other right, namespace or slot, and no later end. `days`: until
        it ends; without it, it ends when it is revoked."""
        spaces = [self.namespace] if namespaces is None else wire.several("namespaces", namespaces)
        asked = {"name": name, "namespaces": spaces, "rights": wire.several("rights", rights), "days": days}
        return await self._ask(KeyMade, "POST", "/keys", json=_said(asked | {"slots": wire.several("slots", slots)}))

    async def revoke_key(self, key_id: str) -> KeyInShort:
        """Revokes an API key: it opens nothing any more, and stays listed. `key_id`: the part after `mq_`. Raises
        NotFound."""
        return await self._ask(KeyInShort, "POST", "/keys/revoke", json={"key_id": key_id})

    async def _listed(self, kind: type[T], what: str, **said: Any) -> T:
        where = {} if said.get("shard") is not None else {"namespace": self.namespace}
        return await self._ask(kind, "POST", f"/{what}/list", json=where | _said(said))


def _said(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a request that have a value."""
    return {name: value for name, value in asked.items() if value is not None}
