"""The consolidator's summaries of sessions, and the members' votes on them: the product's own code on both sides."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from bench.consolidation.sessions import Stored
from memquorum.core.access import covers
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import Policy
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import EpisodeRecorded, Quote, SessionClosed
from memquorum.core.vote.evidence import RULES
from memquorum.core.vote.grounds import MemberContext, MemoryFacts
from memquorum.core.vote.kinds import CONSOLIDATE
from memquorum.core.vote.kinds.kind import Case
from memquorum.ports import SessionMemory, Summariser
from workers.consolidator import making

AGREED, TOO_LITTLE, UNFAITHFUL = "consolidated", "covers too little", "not faithful"
_DIRECTION = np.ones(2, np.float32)


@dataclass(frozen=True)
class Proposed:
    """A summary that was proposed, by the turns that it was made of. `covered`: in millionths, of their worth."""

    record: EpisodeRecorded
    sources: tuple[int, ...]
    covered: int
    ended: str
    seconds: float

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """Its sentences."""
        assert self.record.summary is not None
        return self.record.summary.quotes


@dataclass(frozen=True)
class Consolidated:
    """A namespace after all its sessions are over."""

    stored: Stored
    proposed: tuple[Proposed, ...]
    seconds: tuple[float, ...] = field(default=(), compare=False)

    @property
    def agreed(self) -> tuple[Proposed, ...]:
        """The summaries that are there."""
        return tuple(one for one in self.proposed if one.ended == AGREED)

    @cached_property
    def place(self) -> dict[str, int]:
        """Memory → its turn."""
        return {memory_id: at for at, memory_id in enumerate(self.stored.ids)}

    @cached_property
    def raw(self) -> tuple[int, ...]:
        """The turns that are memories as before."""
        sealed = {at for one in self.agreed for at in one.sources}
        return tuple(at for at in self.stored.memories if at not in sealed)

    @cached_property
    def kept(self) -> dict[int, list[tuple[int, int]]]:
        """Returns the spans of each turn that are left in a summary."""
        found: dict[int, list[tuple[int, int]]] = {}
        for one in self.agreed:
            for quote in one.quotes:
                found.setdefault(self.place[quote.memory_id], []).append((quote.start, quote.end))
        return found

    @property
    def texts(self) -> list[str]:
        """All that is served: summaries, and what is raw."""
        return [*(one.record.content for one in self.agreed), *(self.stored.talk.texts[at] for at in self.raw)]

    @property
    def before(self) -> list[str]:
        """All that was served before."""
        return [self.stored.talk.texts[at] for at in self.stored.memories]

    def share(self) -> float:
        """The share of the tokens that is left."""
        return sum(map(tokens, self.texts)) / max(1, sum(map(tokens, self.before)))


def consolidate(stored: Stored, summariser: Summariser, policy: Policy) -> Consolidated:
    """Ends each session with its last turn, sums it up, and lets members vote."""
    proposed: list[Proposed] = []
    took: list[float] = []
    place = {memory_id: at for at, memory_id in enumerate(stored.ids)}
    for name, memories in stored.sessions():
        if not memories:
            continue
        at = memories[-1].created + policy.consolidate.idle_ms
        closed = SessionClosed("", 0, stored.talk.name, memories[0].agent, name, at, "idle", len(stored.talk.texts))
        began = time.perf_counter()
        parts = making.divided(closed, memories, policy.consolidate).parts
        said = ((part, summariser.summarise(part.sources, policy.consolidate.share_ppm)) for part in parts)
        made = [making.summary(closed, part, summariser.name, *one) for part, one in said if one is not None]
        took.append(time.perf_counter() - began)
        by_id = {one.memory_id: one for one in memories}
        for record in made:
            sources = [by_id[memory_id] for memory_id in record.derives_from]
            ended, covered = vote(record, sources, policy)
            proposed.append(
                Proposed(record, tuple(place[one.memory_id] for one in sources), covered, ended, took[-1] / len(made))
            )
    return Consolidated(stored, tuple(proposed), tuple(took))


def vote(record: EpisodeRecorded, sources: Sequence[SessionMemory], policy: Policy) -> tuple[str, int]:
    """Returns the vote of a member that has read everything, which is each member's vote; and the summary's
    coverage.
    """
    assert record.occurred_at is not None and record.namespace is not None
    assert not covers(policy.consolidate.strict.split(), record.namespace)
    space, at = record.namespace, record.occurred_at
    summary = MemoryFacts(
        record.event_id or "", space, CONSOLIDATOR, at, at, 0, _DIRECTION, text=record.content, summary=record.summary
    )
    facts = (
        MemoryFacts(
            one.memory_id, space, one.agent, one.created, one.created, 0, _DIRECTION,
            text=one.text, commitment=one.commitment, rank_ppm=one.rank_ppm,
        )
        for one in sources
    )  # fmt: skip
    (terms,) = CONSOLIDATE.judge([(summary, *facts)], Case(MemberContext(space), at, policy, RULES))
    if terms is None:
        return UNFAITHFUL, 0
    yes = CONSOLIDATE.yes(CONSOLIDATE.score(terms, policy), policy)
    return AGREED if yes else TOO_LITTLE, terms[1]
