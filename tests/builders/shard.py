"""One shard under test: it applies records by the rules, as the commit worker does, and keeps the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.commit import applying, ordering
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.experience.abstract import RULES
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.journal import hash_chain
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import Change, ErasureRow, LetGo, Rows, UseRow
from memquorum.core.journal.tombstones import Tombstone, Tombstones
from memquorum.core.journal.workset import Workset
from memquorum.core.orders import uses
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    Comparison,
    EpisodeAccepted,
    EpisodeScored,
    ErasedEpisode,
    FeedbackAccepted,
    JournalEntry,
    MemoryReencoded,
    OrderAccepted,
    OrderFound,
    Proposal,
    Quote,
    Restored,
    RestoreOrdered,
    Stored,
    Summary,
    Task,
)
from tests.builders import votes

NAMESPACE = "greenhouse"  # a namespace of shard 0, where there are four


def memory_id(event_id: str, namespace: str = NAMESPACE) -> str:
    return ids.memory_id(namespace, event_id)


def accepted(
    event_id: str, at: int, *, namespace: str = NAMESPACE, agent: str = "planner", **said: Any
) -> EpisodeAccepted:
    """Builds an accepted episode. `said`: fields with other values than the usual."""
    episode = EpisodeAccepted(
        event_id=event_id, memory_id=memory_id(event_id, namespace), namespace=namespace, agent=agent, subject=agent,
        occurred_at=at, sealed_content=b"sealed", commitment=b"c" * 32, characters=23, origin_topic=topics.EPISODES,
        origin_partition=0, origin_offset=7, session="s1", role="planning", confidence_ppm=900_000,
    )  # fmt: skip
    return replace(episode, **said)


def scored(
    episode: EpisodeAccepted,
    offset: int,
    outcome: str = "stored",
    *,
    reinforces: str | None = None,
    salience: int = 600_000,
    early: bool = False,
) -> EpisodeScored:
    return EpisodeScored(
        episode.event_id, episode.memory_id, episode.namespace, episode.agent, offset, episode.occurred_at, outcome,
        salience, early, "hashing", reinforces, 810_000, b"sealed vector",
        worth_ppm=9_000_000,
    )  # fmt: skip


class Shard:
    """A shard that counts its offsets itself; `changes` has everything that happened."""

    def __init__(self, codec: Codec, genesis: Genesis, shard: int = 0) -> None:
        self.rules = Rules(codec, genesis)
        self.work = Workset(Rows(hash_chain.beginning(genesis.cluster, shard)))
        self.changes: list[Change] = []
        self.offset = -1
        self.scored_offset = -1
        self.tombstones = Tombstones()
        self.accepted: list[applying.Accepted] = []
        """The accepted stream, by offset."""
        self.scored: list[EpisodeScored] = []
        """The scores, by offset."""

    @property
    def rows(self) -> Rows:
        return self.work.rows

    @property
    def losses(self) -> dict[str, Losses]:
        """Returns the quota of each namespace."""
        living = Counter(self.rows.memories[memory_id].namespace for memory_id in self.rows.strengths)
        took = [one for change in self.changes for one in change.of(LetGo)]
        return {
            name: Losses(living[name], tuple((one.as_of, one.forgotten) for one in took if one.namespace == name))
            for name in living.keys() | {one.namespace for one in took}
        }

    def _place(self, record: applying.Accepted) -> applying.RecordPosition:
        self.offset += 1
        self.accepted.append(record)
        return applying.RecordPosition(topics.ACCEPTED, self.rows.state.shard, self.offset)

    def _absorb(self, change: Change) -> Change:
        self.work.absorb(change)
        self.changes.append(change)
        return change

    def episode(
        self,
        event_id: str,
        at: int = 1_000,
        outcome: str = "stored",
        *,
        reinforces: str | None = None,
        readable: bool = True,
        salience: int = 600_000,
        early: bool = False,
        namespace: str = NAMESPACE,
        contradicts: tuple[str, ...] = (),
        denies: tuple[Comparison, ...] = (),
        again: tuple[str, ...] = (),
        rank_ppm: int | None = None,
        **said: Any,
    ) -> Change:
        episode = accepted(event_id, at, namespace=namespace, **said)
        place = self._place(episode)
        self.scored_offset += 1
        score = scored(episode, place.offset, outcome, reinforces=reinforces, salience=salience, early=early)
        score = replace(score, contradicts=contradicts, denies=denies, again=again, rank_ppm=rank_ppm)
        self.scored.append(score)
        found = applying.Scored(self.scored_offset, score)
        return self._absorb(
            applying.apply_episode(
                self.rules, self.rows, place, episode,
                scored=found,
                readable=readable,
                kept_out=self.tombstones.keep_out(
                    applying.newcomer(episode, found), self.rows.memories, self.rows.erased
                ),
            )
        )  # fmt: skip

    def about(self, memory: str) -> list[JournalEntry]:
        """Returns the entries about a memory, uses among them."""
        return [
            change.entry
            for change in self.changes
            if change.entry.memory_id == memory or any(row.memory_id == memory for row in change.of(UseRow))
        ]

    def access(
        self, memory: str | tuple[str, ...], at: int, event_id: str | None = None, namespace: str = NAMESPACE
    ) -> Change:
        """Applies a use of one or several memories."""
        named = (memory,) if isinstance(memory, str) else memory
        record = AccessAccepted(event_id or f"access-{self.offset + 1}", named, namespace, "reviewer", at)
        place = self._place(record)
        return self._absorb(applying.apply_access(self.rules, self.rows, place, record))

    def task(
        self, event_id: str, given: Sequence[str] = (), ended: str = "succeeded", at: int = 1_000, **said: Any
    ) -> Change:
        """Applies a finished task that was given memories."""
        said_by = "" if ended == "unknown" else "planner"
        said = {"session": None, "role": None, "confidence_ppm": None, "type": "task"} | said
        return self.episode(
            event_id, at, derives_from=tuple(given), task=Task(ended, said_by, b"h" * 32, 7), salience=0, **said
        )

    def feedback(
        self, task: str, helped: Sequence[str] = (), others: Sequence[str] = (), event_id: str | None = None,
        namespace: str = NAMESPACE,
    ) -> Change:  # fmt: skip
        """Applies feedback: which memories helped in a task, and which did not."""
        event_id = event_id or f"feedback-{self.offset + 1}"
        record = FeedbackAccepted(event_id, task, namespace, "reviewer", tuple(helped), tuple(others), 1_000)
        return self._absorb(applying.apply_feedback(self.rules, self.rows, self._place(record), record))

    def tick(self, as_of: int) -> Change:
        record = ClockTicked(f"tick-{self.offset + 1}", as_of)
        return self._absorb(applying.apply_tick(self.rules, self.rows, self._place(record), record))

    def decide(
        self,
        proposals: Sequence[Proposal],
        vote: votes.Vote = votes.everybody,
        *,
        accepted_offset: int | None = None,
        epoch: int | None = None,
        seq: int | None = None,
        trigger: str | None = None,
        recalled: Sequence[Restored] = (),
    ) -> Change:
        state = self.rows.state
        pre_prepare, commits = votes.decision(
            self.rules.codec,
            self.rules.genesis,
            proposals,
            vote,
            shard=state.shard,
            epoch=state.last_epoch + 1 if epoch is None else epoch,
            seq=state.decided_seq + 1 if seq is None else seq,
            as_of=max(state.as_of, 1),
            accepted_offset=self.offset if accepted_offset is None else accepted_offset,
            trigger=trigger,
        )
        checked = check_decision(self.rules.codec, self.rules.genesis, pre_prepare, commits)
        place = applying.RecordPosition(topics.PRE_PREPARES, state.shard, state.decided_seq)
        rows = replace(self.rows, losses=self.losses)
        told = {one.memory_id: one for one in recalled}
        return self._absorb(applying.apply_decision(self.rules, rows, place, checked, commits, recalled=told))

    def summary(
        self, event_id: str, sources: Sequence[str], at: int = 1_000, *, renews: str | None = None,
        by: str = "extractive/1", distortion_ppm: int | None = None, **said: Any,
    ) -> Change:  # fmt: skip
        """Applies a summary of memories, each quoted whole; `renews`: the erased summary that it replaces.
        `distortion_ppm`: the predicted one of a summary that was made for want of room."""
        quotes = tuple(Quote(one, 0, 23, "facts", at) for one in sources)
        session = "s1" if distortion_ppm is None else ""
        summary = Summary(by, session, 600_000, b"c" * 32, quotes, renews, distortion_ppm)
        said = {"agent": CONSOLIDATOR, "derives_from": tuple(sources), "summary": summary, "session": None} | said
        return self.episode(event_id, at, **said)

    def consolidate(self, summary: str, sources: Sequence[str], vote: votes.Vote = votes.everybody) -> Change:
        """Applies the vote on a summary; `vote`: the members' votes. The summary can be opened."""
        rows = self.rows
        found = [rows.strengths[one].last_access for one in sources if one in rows.strengths]
        renews = rows.memories[summary].renews
        used = max(found or [rows.memories[one].created for one in sources if renews is not None])
        one = Proposal((summary, *sources), NAMESPACE, "consolidate", "summed up", used, used, 0)
        at = next(c for c in self.changes if c.entry.memory_id == summary and c.entry.effect == "drafted")
        born = self.rules.codec.decode_as(Stored, at.entry.detail)
        told = Restored(summary, born.salience_ppm, 0, 0, born.accepted_offset, born.scored_offset)
        return self.decide([one], vote, recalled=[told])

    def general(self, event_id: str, of: str, *, commitment: bytes = b"c" * 32, **said: Any) -> Change:
        """Applies the general form of a memory, which waits for its vote."""
        made = Summary(RULES, "experience", 600_000, commitment, ())
        said = {"agent": CONSOLIDATOR, "derives_from": (of,), "summary": made, "session": None} | said
        return self.episode(event_id, **said)

    def generalise(self, form: str, of: str, vote: votes.Vote = votes.everybody, *, opened: bool = True) -> Change:
        """Applies the vote on a general form; `opened`: whether its text can be."""
        used = self.rows.strengths[of].last_access if of in self.rows.strengths else 1_000
        one = Proposal((form, of), NAMESPACE, "generalise", "general", used, used, 0)
        at = next((c for c in self.changes if c.entry.memory_id == form and c.entry.effect == "drafted"), None)
        if at is None or not opened:
            return self.decide([one], vote)
        born = self.rules.codec.decode_as(Stored, at.entry.detail)
        told = Restored(form, born.salience_ppm, 0, 0, born.accepted_offset, born.scored_offset)
        return self.decide([one], vote, recalled=[told])

    def merge(self, kept: str, *gone: str, vote: votes.Vote = votes.everybody) -> Change:
        """Applies the vote that replaces summaries by one."""
        return self.decide([Proposal((kept, *gone), NAMESPACE, "merge", "alike", 0, 0, 0)], vote)

    def protect(self, record: OrderAccepted) -> Change:
        return self._absorb(ordering.apply_order(self.rules, self.rows, self._place(record), record))

    def withhold(self, record: OrderAccepted, *held: str) -> Change:
        return self._absorb(ordering.apply_withheld(self.rules, self.rows, self._place(record), record, held))

    def erase(
        self, record: OrderAccepted, found: Sequence[ErasedEpisode], *, repeated: bool = False, most: int = 1_000
    ) -> list[Change]:
        """Applies an erasure order that somebody gave."""
        place, done = self._place(record), []
        parts = [ordering.Part(0, 1, repeated=True)] if repeated else ordering.in_parts(found, most)
        for part in parts:
            change = ordering.apply_erasure(
                self.rules, self.rows, place, record, part=part, residue_until=record.accepted_at + 1_000
            )
            done.append(self._absorb(change))
        for one in self.work.net().of(ErasureRow):
            self.tombstones.add(Tombstone(one.namespace, one.order_id, one.selector, one.value, one.accepted_at))
        return done

    def ask(self, order: RestoreOrdered, at: int) -> Change:
        """Applies a request to restore."""
        data = votes.signed(self.rules.codec, self.rules.genesis, "operator", order)
        record = OrderAccepted(
            order.order_id, "restore", order.namespace, order.memory_ids, data, at, topics.RESTORES, 0, 7
        )
        return self._absorb(ordering.apply_order(self.rules, self.rows, self._place(record), record))

    def restore(
        self, order: RestoreOrdered, *told: Restored, vote: votes.Vote = votes.everybody, offset: int | None = None
    ) -> Change:
        """Applies the decision on the last request; `told`: the memories that could be opened."""
        at = max(i for i, one in enumerate(self.accepted) if isinstance(one, OrderAccepted) and one.kind == "restore")
        record = self.accepted[at]
        assert isinstance(record, OrderAccepted)
        return self._restored(
            OrderFound(record.order, record.accepted_at, at if offset is None else offset), order, vote, told
        )

    def restore_used(self, found: OrderFound, *told: Restored, vote: votes.Vote = votes.everybody) -> Change:
        """Applies the decision on a late use; `told`: the memories that could be opened."""
        order = uses.opened(self.rules.codec, self.rules.genesis, REQUEST, found)
        return self._restored(found, order, vote, told)

    def _restored(
        self, found: OrderFound, order: RestoreOrdered, vote: votes.Vote, told: tuple[Restored, ...]
    ) -> Change:
        state, codec, genesis = self.rows.state, self.rules.codec, self.rules.genesis
        pre_prepare, commits = votes.restoring(
            codec, genesis, found, order, vote,
            epoch=state.last_epoch + 1, seq=state.decided_seq + 1, as_of=max(state.as_of, 1),
            accepted_offset=max(self.offset, found.offset + 1),
        )  # fmt: skip
        checked = check_decision(codec, genesis, pre_prepare, commits)
        place = applying.RecordPosition(topics.PRE_PREPARES, state.shard, state.decided_seq)
        recalled = {r.memory_id: r for r in told}
        return self._absorb(applying.apply_decision(self.rules, self.rows, place, checked, commits, recalled=recalled))

    def destroy(self, *memory_ids: str) -> Change:
        return self._absorb(applying.apply_destroyed(self.rules, self.rows, memory_ids))


def reencode(shard: Shard, memory: str, offset: int, encoder: str = "bert/1", **changed: str | int) -> Change | None:
    """Applies an encoder's embedding of the memory as it is now, at an offset of its topic."""
    seq = shard.rows.memories[memory].seq if memory in shard.rows.memories else 0
    record = MemoryReencoded(memory, NAMESPACE, "hashing", encoder, b"sealed", seq)
    place = applying.RecordPosition(topics.REENCODED, 0, offset)
    change = applying.apply_reencoded(shard.rules, shard.rows, place, replace(record, **changed))
    return None if change is None else shard._absorb(change)
