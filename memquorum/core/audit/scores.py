"""Audits the scores in nominations by budgets: whether they follow, and whether the subjects charged for draws could
pay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from memquorum.core.audit.findings import Counts
from memquorum.core.budgets import claims
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Memory
from memquorum.core.records import Proposal


class Scores:
    """The scores of one shard, and the accounts of its subjects: by namespace and subject, in millionths of ε. A
    complaint names no subject."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._spent = Counter[tuple[str, str]]()

    def judge(self, proposals: Sequence[Proposal], genesis: Genesis, memories: Mapping[str, Memory]) -> Iterator[str]:
        """Yields what is wrong with a decided nomination, by the configuration's policy."""
        policy = genesis.policy.budget
        self._counts.scores_withheld += sum(one.weighed is not None and not one.weighed.features for one in proposals)
        yield from claims.wrongs(proposals, genesis)
        for (namespace, memory_id), cost in sorted(claims.charges(proposals, policy.epsilon_ppm).items()):
            memory = memories.get(memory_id)
            if memory is None or memory.namespace != namespace:
                yield f"a draw in {namespace!r} for which {memory_id} is to pay, which is no memory of it"
                continue
            account = namespace, memory.subject
            self._spent[account] += cost
            if cost and self._spent[account] > policy.subject_epsilon_ppm:
                spent, most = self._spent[account], policy.subject_epsilon_ppm
                yield f"draws that have cost the subject of {memory_id} {spent}, where {most} is all that they may"
