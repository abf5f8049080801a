"""A stream made ready: all of it that no policy changes, worked out once for all policies and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from bench.consolidation.made import AGREED, vote
from bench.fifa.world import OPEN, SAY, Stream
from memquorum.core import ids
from memquorum.core.budgets.ledger import Group
from memquorum.core.consolidation.condensing import OF_NO_SESSION, OVER, gated
from memquorum.core.consolidation.parting import Part
from memquorum.core.policy import PPM, Policy
from memquorum.core.privacy.sensitivity import suggested_ppm
from memquorum.core.reading.content import Content, content
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.core.worth import Counts, Ranks, worth_ppm
from memquorum.ports import Placed, SessionMemory
from workers.consolidator import making
from workers.consolidator.extractive import Extractive

Vectors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Drafted:
    """A summary that was made: what it may take the place of, the turns that it quotes, and how many tokens were read
    for it."""

    group: Group
    quoted: tuple[int, ...]
    read: int
    record: EpisodeRecorded
    sources: tuple[SessionMemory, ...]
    policy: Policy

    @property
    def gated(self) -> bool:
        """Whether it was made for want of room, so that members measure its distortion."""
        return self.record.summary is not None and gated(self.record.summary)

    @cached_property
    def agreed(self) -> bool:
        """Whether the members are for it."""
        return vote(self.record, self.sources, self.policy)[0] == AGREED


@dataclass
class Prepared:
    """A stream, and all of it that no policy changes: what each turn is worth, how near each is to each question."""

    stream: Stream
    vectors: Vectors
    policy: Policy
    drafts: dict[tuple[int, ...], list[Drafted]] = field(default_factory=dict)
    """By session and the turns that are memories of it; by -1 and all episodes where a budget is exceeded."""

    def __post_init__(self) -> None:
        turns = self.stream.turns
        self.tokens = [tokens(turn.text) for turn in turns]
        self.places = [at for at, turn in enumerate(turns) if turn.kind in (SAY, OPEN)]
        self.sensitivity = {at: turns[at].labelled_ppm or _suggested(turns[at].text) for at in self.places}
        self.matrix = np.stack([self.vectors[turns[at].text] for at in self.places])
        self.row = {at: row for row, at in enumerate(self.places)}
        self.worth, self.rank, self.novelty = dict[int, int](), dict[int, int](), dict[int, int]()
        counts, ranks = Counts(), Ranks()
        alike = self.matrix @ self.matrix.T
        for row, at in enumerate(self.places):
            said = _content(turns[at].text)
            self.worth[at] = worth_ppm(said, counts.tell(said))
            self.rank[at] = ranks.rank_ppm(self.worth[at])
            counts.take(said.stems)
            ranks.add(self.worth[at])
            nearest = float(alike[row, :row].max()) if row else 0.0
            self.novelty[at] = round(PPM * min(1.0, max(0.0, 1.0 - nearest)))
        self.nearest = cache(self._nearest)
        self.all_tokens = sum(tokens(text) for text in {turns[at].text for at in self.places})

    def near(self, text: str) -> NDArray[np.float32]:
        """Returns how near every message is to a text, by row."""
        found: NDArray[np.float32] = self.matrix @ self.vectors[text]
        return found

    def _nearest(self, text: str) -> list[int]:
        """All that is ever said, the nearest to a text first."""
        return [self.places[row] for row in np.argsort(-self.near(text), kind="stable")]

    def drafted(self, session: int, held: Sequence[int]) -> list[Drafted]:
        """The summaries of a session of which these turns are memories."""
        key = (session, *held)
        if key not in self.drafts:
            self.drafts[key] = list(self._drafted(session, held))
        return self.drafts[key]

    def condensed(self, held: Sequence[int]) -> list[Drafted]:
        """The summaries of groups of these turns, those that were unused for longest first, at a breach."""
        key = (-1, *held)
        if key not in self.drafts:
            memories = self._memories(held)
            placed = [Placed(one, "fifa", self.matrix[self.row[at]]) for one, at in zip(memories, held, strict=True)]
            end = max((one.created for one in memories), default=0)
            closed = SessionClosed("", 0, "n", self.stream.agent, OF_NO_SESSION, end, OVER, len(self.stream.turns))
            parts = making.condensed(placed, self.policy).parts
            self.drafts[key] = list(self._made(closed, memories, parts))
        return self.drafts[key]

    def _memories(self, held: Sequence[int]) -> list[SessionMemory]:
        turns = self.stream.turns
        return [
            SessionMemory(
                name_of(at), turns[at].text, turns[at].at, self.stream.agent, self.stream.agent,
                ids.sha256(name_of(at).encode(), turns[at].text.encode()), sensitivity_ppm=self.sensitivity[at],
                rank_ppm=self.rank[at],
            )
            for at in held
        ]  # fmt: skip

    def _drafted(self, session: int, held: Sequence[int]) -> list[Drafted]:
        memories, policy = self._memories(held), self.policy
        if not memories:
            return []
        end = memories[-1].created + policy.consolidate.idle_ms
        closed = SessionClosed("", 0, "n", self.stream.agent, str(session), end, "idle", len(self.stream.turns))
        return self._made(closed, memories, making.divided(closed, memories, policy.consolidate).parts)

    def _made(self, closed: SessionClosed, memories: Sequence[SessionMemory], parts: Sequence[Part]) -> list[Drafted]:
        """The summaries of parts, each with the distance of its sources from the middle of those that it quotes."""
        policy, summariser, found = self.policy, Extractive(), list[Drafted]()
        by_id = {one.memory_id: one for one in memories}
        for part in parts:
            said = summariser.summarise(part.sources, policy.consolidate.share_ppm)
            if said is None:
                continue
            record = making.summary(closed, part, summariser.name, *said)
            sources = [by_id[one] for one in record.derives_from]
            assert record.summary is not None
            quoted = tuple(dict.fromkeys(int(quote.memory_id) for quote in record.summary.quotes))
            middle = self.matrix[[self.row[at] for at in quoted]].mean(axis=0)
            apart = self.matrix[[self.row[int(one.memory_id)] for one in sources]] - middle / np.linalg.norm(middle)
            group = Group(
                record.event_id or "", tuple(one.memory_id for one in sources), tokens(record.content),
                round(PPM * float(np.linalg.norm(apart, axis=1).mean())), max(one.sensitivity_ppm for one in sources),
            )  # fmt: skip
            read = sum(tokens(one.text) for one in sources)
            found.append(Drafted(group, quoted, read, record, tuple(sources), policy))
        return found


@cache
def _content(text: str) -> Content:
    return content(text)


@cache
def _suggested(text: str) -> int:
    """Returns the sensitivity that intake suggests for a text without an explicit one."""
    return suggested_ppm(text) or 0


def name_of(at: int) -> str:
    return f"{at:05}"
