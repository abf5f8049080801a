"""The client's queries for decisions of members, and for all that concerns a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from memquorum.client import wire
from memquorum.client.values import Gates
from memquorum.core.api.answers import Decisions, Report

T = TypeVar("T")


class Deciding:
    """The client's queries for decisions of members, and for all that concerns a person. Raises Invalid, NotAllowed and
    Unreachable."""

    @property
    def namespace(self) -> str:
        """The namespace of the decisions, and of the person's records."""
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def decisions(
        self,
        *,
        kinds: Sequence[str] | None = None,
        outcomes: Sequence[str] | None = None,
        policies: Sequence[str] | None = None,
        memory_id: str | None = None,
        since: int | None = None,
        until: int | None = None,
        sensitivity_max: float | None = None,
        purpose: str | None = None,
        jurisdictions: Sequence[str] | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Decisions:
        """Lists what members decided about the memories here, `limit` (20) at a time, the latest first: the subject of
        the vote, its outcome and reason, the budget policy that proposed it with features and score, and each member's
        vote.

        `kinds`: forget, evict, promote, demote, supersede, overrule, consolidate, merge, admit, unite, restore,
        rollback; `outcomes`: their results, such as forgotten and promoted, and kept and voided. `since` ≤ when it was
        voted on < `until`, in milliseconds. `cursor`: `next` of the page before. A decision is listed only if all its
        memories pass the last filters, as for `explain`.
        """
        asked = {
            "namespace": self.namespace, "kinds": kinds, "outcomes": outcomes, "policies": policies,
            "memory_id": memory_id, "since": since, "until": until, "sensitivity_max": sensitivity_max,
            "purpose": purpose, "jurisdictions": jurisdictions, "cursor": cursor, "limit": limit,
        }  # fmt: skip
        return await self._ask(Decisions, "POST", "/decisions/list", json=asked)

    async def report(
        self,
        *,
        memory_id: str | None = None,
        subject: str | None = None,
        agent: str | None = None,
        source: str | None = None,
        receipt: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **gates: Unpack[Gates],
    ) -> Report:
        """Reports all records of one subject, agent, source or memory that an erasure would take, or took before, by
        the time when they were first said.

        Each has its text, origin, scores, uses, votes, orders and recipients, and the time when its key is destroyed.
        `limit`: 20 at a time; `cursor`: `next` of the page before. Records that the `gates` keep back are counted. The
        memories do not count as used. `receipt`: with this page of a signed receipt, which `memquorum receipt verify`
        checks (docs/use/privacy.md).
        """
        asked = {"memory_id": memory_id, "subject": subject, "agent": agent, "source": source} | dict(gates)
        body = wire.within(self.namespace, {**asked, "receipt": receipt, "cursor": cursor, "limit": limit})
        return await self._ask(Report, "POST", "/memories/report", json=body)
