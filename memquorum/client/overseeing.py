"""What a client can ask of who keeps what, what was ordered, and who votes: lists for people and for consoles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar, Unpack

from memquorum.core.api.answers import Epochs, Goals, Holds, Members, Orders, Pins

T = TypeVar("T")


class Paged(TypedDict, total=False):
    """Which page: `limit` (100) entries behind `cursor`, which is `next` of the page before."""

    cursor: str | None
    limit: int | None


class Timed(Paged, total=False):
    """Which page, of what is of `since` or later, and before `until`, in milliseconds."""

    since: int | None
    until: int | None


class Passed(Timed, total=False):
    """Which page, and which memories may be told of, as in a search."""

    sensitivity_max: float | None
    purpose: str | None
    jurisdictions: Sequence[str] | None


class Overseeing:
    """What a client can list beside memories and decisions, each page by page. Raises Invalid, NotAllowed and
    Unreachable."""

    @property
    def namespace(self) -> str:
        """Whose lists they are."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def goals(
        self, *, goals: Sequence[str] | None = None, memory_id: str | None = None, **page: Unpack[Passed]
    ) -> Goals:
        """The goals here that are active, by name: what each needs, who said so when, and when it lapses. `goals`:
        these alone; `memory_id`: those that need it."""
        return await self._listed(Goals, "goals", goals=goals, memory_id=memory_id, **page)

    async def pins(
        self,
        *,
        memory_id: str | None = None,
        ordered_by: str | None = None,
        reference: str | None = None,
        **page: Unpack[Passed],
    ) -> Pins:
        """The pins here that stand, the latest first: of which memory, by whom, why, since when."""
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
        """The operator's holds here that stand, the latest first: of which memory, by whom, why, since when."""
        said = {"memory_id": memory_id, "ordered_by": ordered_by, "reference": reference}
        return await self._listed(Holds, "holds", **said, **page)

    async def orders(
        self, *, kinds: Sequence[str] | None = None, effects: Sequence[str] | None = None, **page: Unpack[Timed]
    ) -> Orders:
        """The orders here that were answered, the latest first, each as `order` tells of it. `kinds`: erase, protect
        (pins, goals and holds, and their ends), restore (also what is asked to be forgotten, or to be rolled back);
        without it those that the API key may see. `effects`: erased, withheld, protected, requested, declined."""
        return await self._listed(Orders, "orders", kinds=kinds, effects=effects, **page)

    async def epochs(
        self, *, kinds: Sequence[str] | None = None, shard: int | None = None, **page: Unpack[Passed]
    ) -> Epochs:
        """The epochs in which something here was voted on, the latest first: when, why they were opened, and how many
        proposals of this namespace ended how. `kinds`: of these kinds alone. `shard`: all epochs of a shard, for who
        audits all namespaces."""
        return await self._listed(Epochs, "epochs", shard=shard, kinds=kinds, **page)

    async def members(
        self,
        *,
        seated: bool | None = None,
        roles: Sequence[str] | None = None,
        shard: int | None = None,
        **page: Unpack[Paged],
    ) -> Members:
        """Who votes in the shard of this namespace, and who did, by their ids: with what weight, since when, and since
        when by which key. `shard`: in another, for who audits all namespaces."""
        return await self._listed(Members, "members", shard=shard, seated=seated, roles=roles, **page)

    async def _listed(self, kind: type[T], what: str, **said: Any) -> T:
        where = {} if said.get("shard") is not None else {"namespace": self.namespace}
        asked = where | {name: value for name, value in said.items() if value is not None}
        return await self._ask(kind, "POST", f"/{what}/list", json=asked)
