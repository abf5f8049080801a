"""The client's query for decisions of members."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from memquorum.core.api.answers import Decisions

T = TypeVar("T")


class Deciding:
    """The client's query for decisions of members. Raises Invalid, NotAllowed and Unreachable."""

    @property
    def namespace(self) -> str:
        """The namespace whose decisions are listed."""
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
