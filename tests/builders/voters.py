"""A member that reads a stream into its view and votes on nominations of a budget, with its own code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from db.view import View
from memquorum.core import sealing
from memquorum.core.budgets.claims import BUDGET
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.protect import PIN
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import (
    BallotCast,
    EpisodeAccepted,
    EpisodeScored,
    NominationProposed,
    Proposal,
    ProtectionOrdered,
    Weighed,
)
from memquorum.core.vote.columns import places_of, read
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.ports import Weighted
from memquorum.schema_files import load_codec
from tests.builders.table import Keys
from workers.replica.judge import Judge
from workers.replica.stream_follower import Walk

CODEC = load_codec()
SPACE = "space"
LIE = Weighed("worth", 0, 100, 9_999, 10, "episodic", 0, (0,) * 7, 0, 0, "least worth its tokens")


class Voter:
    """One shard, one namespace; `keys` may be shared between voters, as a vault is."""

    def __init__(self, genesis: Genesis, now: int, *, me: int = 1, keys: Keys | None = None) -> None:
        self.genesis, self.now = genesis, now
        self.view, self.vault = View(Path(":memory:"), genesis.cluster, me), keys or Keys()
        self.walk = Walk(CODEC, self.view, genesis, me=me, shard=0)
        self.judge = Judge(CODEC, self.view, self.vault, genesis)  # type: ignore[arg-type]
        self.accepted = self.scored = 0

    def reads(self, record: Any) -> int:
        """Reads the next record of the stream; returns its offset."""
        with self.view.batch():
            self.walk.accept(self.accepted, record, CODEC.encode(record))
            self.walk.go()
        self.accepted += 1
        return self.accepted - 1

    def episode(
        self, name: str, worth: int, at: int = 0, *, tokens: int = 10, agent: str = "bob", again: str | None = None,
        **said: Any,
    ) -> None:  # fmt: skip
        """Reads an episode and its score.

        `worth`: in units; `at`: milliseconds before now; `again`: the memory that it repeats.
        """
        key, content = self.vault.keys.setdefault(name, os.urandom(32)), name.ljust(4 * tokens, ".")
        created = self.now - at
        offset = self.reads(
            EpisodeAccepted(
                event_id=name, memory_id=name, namespace=SPACE, agent=agent, subject=agent, occurred_at=created,
                sealed_content=sealing.seal_text(key, os.urandom(12), content, name),
                commitment=sealing.commitment(key, content), characters=len(content), origin_topic="o",
                origin_partition=0, origin_offset=0, **said,
            )
        )  # fmt: skip
        score = EpisodeScored(
            event_id=name, memory_id=name, namespace=SPACE, agent=agent, accepted_offset=offset, occurred_at=created,
            outcome="stored" if again is None else "reinforced", salience_ppm=600_000, early=False, encoder="test",
            sealed_embedding=b"a vector that nobody can open", worth_ppm=worth * PPM, like="episodic/agent",
            reinforces=again,
        )  # fmt: skip
        with self.view.batch():
            self.walk.score(self.scored, score, CODEC.encode(score))
            self.walk.go()
        self.scored += 1

    def pinned(self, name: str) -> None:
        """Reads an operator's pin of a memory."""
        with self.view.batch():
            pin = ProtectionOrdered(self.genesis.cluster, f"o-{name}", SPACE, name, PIN, "ops", self.now)
            self.view.protect(0, pin, "operator", self.now)

    def moved(self, tiers: dict[str, str]) -> None:
        """Reads the decision on the tiers of memories."""
        with self.view.batch():
            self.view.weights.moved(SPACE, tiers)

    def decided(
        self,
        *forgotten: str,
        epoch: int = 1,
        through: int | None = None,
        back: Sequence[str] = (),
        rests: int = 0,
        as_of: int | None = None,
    ) -> None:
        """Reads a decision about the stream read so far, or through an offset, at its time or another.

        `back`: memories that it brings back, asked for now; `rests`: memories that a budget may forget from that epoch
        on.
        """
        with self.view.batch():
            self.view.decided(
                0, seq=epoch, epoch=epoch, commits=[], decisions=b"", forgotten=forgotten, until=self.now,
                restored=back, restored_at=self.now,
                accepted_offset=self.accepted - 1 if through is None else through, read=self.accepted,
            )  # fmt: skip
            self.view.weights.rest(0, epoch, back, rests)
            self.view.weights.went(epoch, self.now if as_of is None else as_of, {SPACE: len(forgotten)})

    def opinions(self, nomination: NominationProposed, policy: Policy) -> list[Opinion]:
        """Returns the member's opinion of each proposal."""
        terms = self.judge.opinions(nomination, policy)
        cast = BallotCast(self.genesis.cluster, 0, 0, nomination.epoch, 1, b"", terms=terms)
        return list(read(cast, nomination, places_of(nomination), policy).opinions)

    def votes(self, *asked: str, policy: Policy | None = None, reason: str = BUDGET) -> dict[str, Opinion]:
        """Returns the member's opinions of memories that a budget nominates."""
        proposals = tuple(Proposal((i,), SPACE, "evict", reason, 0, 0, 0, LIE) for i in asked)
        made = NominationProposed(self.genesis.cluster, 0, 0, 1, self.now, self.accepted, "budget", proposals)
        return dict(zip(asked, self.opinions(made, policy or self.genesis.policy), strict=True))

    def yes(self, *asked: str, policy: Policy | None = None, reason: str = BUDGET) -> list[str]:
        """Returns the memories that it votes to forget."""
        return [i for i, opinion in self.votes(*asked, policy=policy, reason=reason).items() if opinion.yes]

    def alive(self) -> dict[str, Weighted]:
        """Returns the living memories in its view."""
        return {one.candidate.memory_id: one for one in self.view.weights.alive(SPACE)}
