"""Collects a shard's pre-prepares and commits until they are decisions (DESIGN 14).

Nobody is trusted here. A message counts once its signature holds and its signer may say it; a decision is q commits of
distinct members on one proposal in one view, and a pre-prepare of that view whose ballot certificate holds. What any
single member can make this keep is bounded, and pushes out only its own. What was pushed out is in the topic still:
when enough commit to a proposal that it may be decided, `rewind` asks for the topic from there again, and what speaks
of that proposal is kept whatever else its sender sent. So no flood hides a decision.

A quorum that commits to another proposal for a sequence than the one that was decided is a contradiction that no
honest quorum can produce: `DigestConflict`, and whoever meets it halts.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import (
    BadCertificate,
    Checked,
    Verified,
    check_pre_prepare,
    proposal_digest,
)
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, UnknownConfiguration, open_any
from memquorum.core.records import Commit, PrePrepare

# Sequences ahead of the last decision that are kept: one is in flight; a reader of the past sees more.
WINDOW = 16
# Decided sequences that a contradiction is looked for in.
DEPTH = 64
# How far ahead a sequence may be for its place to be remembered. Honest members are in one sequence at a time, so what
# lies further ahead stands behind something nearer that is remembered, and comes again with it; or it is junk.
REACH = 64
# Messages of one kind that one member may have waiting for one sequence, besides those on what may be decided: of
# pre-prepares the first, of commits the latest (an honest member sends one a view).
PER_MEMBER = 4

PRE_PREPARE = "pre-prepare"
COMMIT = "commit"

Key = tuple[int, bytes]
"""(view, proposal digest): what a commit speaks of."""


class DigestConflict(RuntimeError):
    """Two quorums decided one sequence differently. The message names shard, sequence and both digests. Halt."""


class Certified(Struct, frozen=True):
    """A decision whose every signature and ballot has been checked. `offset`: where its pre-prepare stands.

    `verified`: what was checked of it, for whoever goes through its certificate again.
    """

    checked: Checked
    commits: tuple[bytes, ...]
    offset: int
    verified: Verified


@dataclass(slots=True)
class _Slot:
    """What has come for one sequence. Both by member: (view, digest) → (offset, bytes), oldest first."""

    pre_prepares: dict[int, dict[Key, tuple[int, bytes]]] = field(default_factory=dict)
    commits: dict[int, dict[Key, tuple[int, bytes]]] = field(default_factory=dict)
    # By kind, the offset of the first that was let go; and whose commits were.
    missed: dict[str, int] = field(default_factory=dict)
    flooded: set[int] = field(default_factory=set)
    # What may be decided: with the commits that were let go, if they were on it, it has a quorum.
    wanted: set[Key] = field(default_factory=set)

    def keep_pre_prepare(self, member: int, key: Key, offset: int, data: bytes) -> None:
        held = self.pre_prepares.setdefault(member, {})
        if key in held or key in self.wanted or len(held) < PER_MEMBER:
            held.setdefault(key, (offset, data))
        else:
            self._miss(PRE_PREPARE, offset)

    def is_only(self, offset: int) -> bool:
        """Whether the one pre-prepare that is kept is the one that stands there; what repeats it is not."""
        return [at for held in self.pre_prepares.values() for at, _ in held.values()] == [offset]

    def keep_commit(self, member: int, key: Key, offset: int, data: bytes) -> None:
        held = self.commits.setdefault(member, {})
        held.setdefault(key, (offset, data))
        spare = [k for k in held if k not in self.wanted]
        for old in spare[: max(0, len(spare) - PER_MEMBER)]:
            self._miss(COMMIT, held.pop(old)[0])
            self.flooded.add(member)

    def look_for_wanted(self, quorum: int) -> dict[str, int]:
        """Topics to be read again, from where: of what may be decided since this was last asked, some was let go."""
        again: dict[str, int] = {}
        for key in {key for held in self.commits.values() for key in held} - self.wanted:
            voters = {member for member, held in self.commits.items() if key in held}
            if len(voters | self.flooded) < quorum:
                continue
            self.wanted.add(key)
            if voters | self.flooded != voters and COMMIT in self.missed:
                again[COMMIT] = self.missed[COMMIT]
            if PRE_PREPARE in self.missed and not any(key in held for held in self.pre_prepares.values()):
                again[PRE_PREPARE] = self.missed[PRE_PREPARE]
        return again

    def _miss(self, kind: str, offset: int) -> None:
        self.missed[kind] = min(offset, self.missed.get(kind, offset))

    def votes(self) -> dict[Key, list[bytes]]:
        found: dict[Key, list[bytes]] = {}
        for member in sorted(self.commits):
            for key, (_, data) in self.commits[member].items():
                found.setdefault(key, []).append(data)
        return found


class Assembly:
    """One shard's decisions in the making."""

    def __init__(
        self, codec: Codec, genesis: Genesis, shard: int, decided_seq: int, decided: Mapping[int, bytes]
    ) -> None:
        """`decided_seq`: the last sequence that was applied; `decided`: digests of the latest, by sequence."""
        self.refusals: list[str] = []
        """What proved nothing, and why; whoever owns this reports it and clears the list."""
        self._codec, self._genesis, self._shard = codec, genesis, shard
        self._decided_seq = decided_seq
        self._decided = dict(decided)
        self._slots: dict[int, _Slot] = {}
        # By kind: sequence beyond the window → the first offset that something for it stands at.
        self._beyond: dict[str, dict[int, int]] = {PRE_PREPARE: {}, COMMIT: {}}
        self._again: dict[str, int] = {}
        self._checked: tuple[Checked, Verified] | None = None

    def pre_prepare(self, offset: int, data: bytes) -> None:
        """A record of the pre-prepare topic."""
        try:
            body, by = open_any(self._codec, self._genesis, data, PrePrepare)
            self._check_place(body, by)
            if body.member != by.primary(body.shard, body.view, body.seq):
                raise BadMessage(f"member {body.member} is not the primary of shard {self._shard}, view {body.view}")
        except UnknownConfiguration:
            return  # it is read again once the decision for that configuration is applied, if there is one
        except BadMessage as error:
            self._refuse("pre-prepare", offset, error)
            return
        slot = self._slot(PRE_PREPARE, offset, body.seq)
        if slot is not None and body.seq > self._decided_seq:
            slot.keep_pre_prepare(body.member, (body.view, proposal_digest(body)), offset, data)
            if body.seq == self._decided_seq + 1 and slot.is_only(offset):
                # Its commits are on their way: now there is time. What is wrong with it is told if they come.
                with suppress(BadCertificate):
                    self._open(data)

    def commit(self, offset: int, data: bytes) -> None:
        """A record of the commit topic. Raises DigestConflict where it completes a contradiction."""
        try:
            body, by = open_any(self._codec, self._genesis, data, Commit)
            self._check_place(body, by)
        except UnknownConfiguration:
            return
        except BadMessage as error:
            self._refuse("commit", offset, error)
            return
        known = self._decided.get(body.seq)
        if body.seq <= self._decided_seq and known in (None, body.digest):
            return
        slot = self._slot(COMMIT, offset, body.seq)
        if slot is not None:
            slot.keep_commit(body.member, (body.view, body.digest), offset, data)
            if body.seq > self._decided_seq:
                self._read_again(slot.look_for_wanted(self._genesis.quorum))
            self._look_for_conflict(body.seq, slot)

    def _check_place(self, body: PrePrepare | Commit, by: Genesis) -> None:
        """Raises BadMessage unless it is of this shard, and of the configuration that decides its sequence."""
        if body.shard != self._shard:
            raise BadMessage(f"shard {body.shard} in the partition of shard {self._shard}")
        if by is not self._genesis.at(body.seq):
            raise BadMessage(f"sequence {body.seq} is not configuration {body.config}'s to decide")

    def next(self, accepted_to: int) -> Certified | None:
        """The next decision, if it is complete and everything that it speaks of has been applied.

        `accepted_to`: the next offset of the accepted stream to be applied. Takes nothing away: `decided` does.
        """
        slot = self._slots.get(self._decided_seq + 1)
        if slot is None:
            return None
        for key, commits in slot.votes().items():
            if len(commits) < self._genesis.quorum:
                continue
            for held in slot.pre_prepares.values():
                if key not in held:
                    continue
                offset, data = held[key]
                found = self._check(offset, data)
                if found is None:
                    del held[key]
                elif found[0].nomination.accepted_offset < accepted_to:
                    return Certified(found[0], tuple(commits), offset, found[1])
        return None

    def decided(self, certified: Certified) -> None:
        """The decision has been applied."""
        body = certified.checked.body
        self._decided_seq = body.seq
        self._decided[body.seq] = certified.checked.digest
        self._decided.pop(body.seq - DEPTH, None)
        for seq in [s for s in self._slots if s <= body.seq - DEPTH]:
            del self._slots[seq]
        slot = self._slots.get(body.seq)
        if certified.checked.configures is not None:
            self._reconfigure(certified, certified.checked.configures)
        if slot is not None:
            slot.pre_prepares.clear()
            slot.missed.clear()
            # What agrees is done with; what differs is kept, in case it becomes a contradiction.
            for held in slot.commits.values():
                for key in [k for k in held if k[1] == certified.checked.digest]:
                    del held[key]

    def _reconfigure(self, certified: Certified, genesis: Genesis) -> None:
        """Takes up the configuration that decides from here on. Its messages stand behind what decided that: read on
        from there, since they were passed over when they came before it was known."""
        seq, self._genesis = certified.checked.body.seq, genesis
        commits = [at for held in self._slots[seq].commits.values() for at, _ in held.values()]
        self._read_again({PRE_PREPARE: certified.offset, COMMIT: min(commits)})
        self._slots = {each: slot for each, slot in self._slots.items() if each <= seq}
        self._beyond = {PRE_PREPARE: {}, COMMIT: {}}

    def reject(self, certified: Certified, error: Exception) -> None:
        """The decision cannot be applied, whatever its certificate says: its pre-prepare is let go."""
        body = certified.checked.body
        self._slots[body.seq].pre_prepares[body.member].pop((body.view, certified.checked.digest), None)
        self._refuse("decision", certified.offset, error)

    def cursor(self, kind: str, read_to: int) -> int:
        """The offset that a restart must read a topic from, which has been read up to `read_to`: the first of what
        still waits, or may still become a contradiction."""
        held = (slot.pre_prepares if kind == PRE_PREPARE else slot.commits for slot in self._slots.values())
        waiting = [offset for members in held for kept in members.values() for offset, _ in kept.values()]
        waiting += self._beyond[kind].values()
        awaited = (slot for seq, slot in self._slots.items() if seq > self._decided_seq)
        waiting += [slot.missed[kind] for slot in awaited if kind in slot.missed]
        return min([read_to, *waiting])

    def rewind(self) -> dict[str, int]:
        """Topics to be read again from an offset: what lay too far ahead there is within the window now, or what was
        let go there is on something that may be decided. To be asked for whenever records were taken or applied."""
        for kind, beyond in self._beyond.items():
            due = [seq for seq in beyond if seq <= self._decided_seq + WINDOW]
            if due:
                self._read_again({kind: min(beyond.pop(seq) for seq in due)})
        again, self._again = self._again, {}
        return again

    def _read_again(self, places: Mapping[str, int]) -> None:
        for kind, offset in places.items():
            self._again[kind] = min(offset, self._again.get(kind, offset))

    def _slot(self, kind: str, offset: int, seq: int) -> _Slot | None:
        if seq <= self._decided_seq - DEPTH or seq < 1 or seq > self._decided_seq + REACH:
            return None
        if seq > self._decided_seq + WINDOW:
            beyond = self._beyond[kind]
            beyond[seq] = min(offset, beyond.get(seq, offset))
            return None
        return self._slots.setdefault(seq, _Slot())

    def _check(self, offset: int, data: bytes) -> tuple[Checked, Verified] | None:
        """The pre-prepare with its ballots verified; once, although a decision may be asked for again and again."""
        try:
            return self._open(data)
        except BadCertificate as error:
            self._refuse("certificate", offset, error)
            return None

    def _open(self, data: bytes) -> tuple[Checked, Verified]:
        if self._checked is None or self._checked[0].data != data:
            verified = Verified()
            self._checked = check_pre_prepare(self._codec, self._genesis, data, verified), verified
        return self._checked

    def _look_for_conflict(self, seq: int, slot: _Slot) -> None:
        quorum = self._genesis.at(seq).quorum
        quorums = {digest for (_, digest), votes in slot.votes().items() if len(votes) >= quorum}
        if seq in self._decided:
            quorums.add(self._decided[seq])
        if len(quorums) > 1:
            named = " and for ".join(sorted(digest.hex() for digest in quorums))
            raise DigestConflict(
                f"shard {self._shard}, sequence {seq}: quorums for {named}. "
                "More members lie than the cluster bears: nothing is applied until people have looked"
            )

    def _refuse(self, what: str, offset: int, error: Exception) -> None:
        self.refusals.append(f"shard {self._shard}: {what} at offset {offset} refused: {error}")
