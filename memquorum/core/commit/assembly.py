"""Collects a shard's pre-prepares and commits until they form decisions (DESIGN 14).

No member is trusted here. A message counts once its signature is valid and its signer entitled; a decision is q commits
of distinct members on one proposal in one view, and a pre-prepare of that view with a valid ballot certificate. The
messages of a member that are kept are bounded, and push out only its own. A dropped message is still in the topic: when
enough members commit to a proposal that it may be decided, `rewind` reads the topic from there again, and messages on
that proposal are kept whatever else their sender sent. So no flood hides a decision.

A quorum that commits to another proposal for a sequence than the one that was decided is a contradiction that no honest
quorum can produce: `DigestConflict`, on which the reader halts.
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

# The number of sequences ahead of the last decision that are kept: one is in flight; a reader of the past sees more.
WINDOW = 16
# The number of decided sequences that are checked for a contradiction.
DEPTH = 64
# The distance within which the place of a later sequence is remembered. Honest members are in one sequence at a time,
# so a message further ahead stands behind a nearer one that is remembered, and is read again with it; or it is junk.
REACH = 64
# The number of messages of one kind that one member may have waiting for one sequence, besides those on a proposal that
# may be decided: of pre-prepares the first, of commits the latest (an honest member sends one in a view).
PER_MEMBER = 4

PRE_PREPARE = "pre-prepare"
COMMIT = "commit"

Key = tuple[int, bytes]
"""The (view, proposal digest) of a commit."""


class DigestConflict(RuntimeError):
    """Raised where two quorums decided one sequence differently. The message names shard, sequence and both digests.
    Halt."""


class Certified(Struct, frozen=True):
    """A decision with every signature and ballot checked. `offset`: of its pre-prepare.

    `verified`: its checked parts, for a further check of the certificate.
    """

    checked: Checked
    commits: tuple[bytes, ...]
    offset: int
    verified: Verified


@dataclass(slots=True)
class _Slot:
    """The messages for one sequence. Both by member: (view, digest) → (offset, bytes), oldest first."""

    pre_prepares: dict[int, dict[Key, tuple[int, bytes]]] = field(default_factory=dict)
    commits: dict[int, dict[Key, tuple[int, bytes]]] = field(default_factory=dict)
    # By kind, the offset of the first dropped message; and the members whose commits were dropped.
    missed: dict[str, int] = field(default_factory=dict)
    flooded: set[int] = field(default_factory=set)
    # The proposals that may be decided: with the dropped commits, if they were on it, it has a quorum.
    wanted: set[Key] = field(default_factory=set)

    def keep_pre_prepare(self, member: int, key: Key, offset: int, data: bytes) -> None:
        held = self.pre_prepares.setdefault(member, {})
        if key in held or key in self.wanted or len(held) < PER_MEMBER:
            held.setdefault(key, (offset, data))
        else:
            self._miss(PRE_PREPARE, offset)

    def is_only(self, offset: int) -> bool:
        """True if the only kept pre-prepare is the one at this offset, and not a repetition."""
        return [at for held in self.pre_prepares.values() for at, _ in held.values()] == [offset]

    def keep_commit(self, member: int, key: Key, offset: int, data: bytes) -> None:
        held = self.commits.setdefault(member, {})
        held.setdefault(key, (offset, data))
        spare = [k for k in held if k not in self.wanted]
        for old in spare[: max(0, len(spare) - PER_MEMBER)]:
            self._miss(COMMIT, held.pop(old)[0])
            self.flooded.add(member)

    def look_for_wanted(self, quorum: int) -> dict[str, int]:
        """Returns the topics to read again, and from where: messages on proposals that may now be decided were
        dropped."""
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
    """The decisions in progress of one shard."""

    def __init__(
        self, codec: Codec, genesis: Genesis, shard: int, decided_seq: int, decided: Mapping[int, bytes]
    ) -> None:
        """`decided_seq`: the last sequence that was applied; `decided`: digests of the latest, by sequence."""
        self.refusals: list[str] = []
        """The refused messages, with reasons; the owner reports them and clears the list."""
        self._codec, self._genesis, self._shard = codec, genesis, shard
        self._decided_seq = decided_seq
        self._decided = dict(decided)
        self._slots: dict[int, _Slot] = {}
        # By kind: sequence beyond the window → the first offset of a message for it.
        self._beyond: dict[str, dict[int, int]] = {PRE_PREPARE: {}, COMMIT: {}}
        self._again: dict[str, int] = {}
        self._checked: tuple[Checked, Verified] | None = None

    def pre_prepare(self, offset: int, data: bytes) -> None:
        """Takes a record of the pre-prepare topic."""
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
                # Its commits are on their way, and now there is time for the check. Faults are reported if they come.
                with suppress(BadCertificate):
                    self._open(data)

    def commit(self, offset: int, data: bytes) -> None:
        """Takes a record of the commit topic. Raises DigestConflict where it completes a contradiction."""
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
            raise BadMessage(f"configuration {body.config} does not decide sequence {body.seq}")

    def next(self, accepted_to: int) -> Certified | None:
        """Returns the next decision, if it is complete and the records before its nomination have been applied; else
        None.

        `accepted_to`: the next offset of the accepted stream to be applied. Removes nothing: `decided` does.
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
        """Notes that the decision has been applied."""
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
            # Equal commits are dropped; different ones are kept, in case they become a contradiction.
            for held in slot.commits.values():
                for key in [k for k in held if k[1] == certified.checked.digest]:
                    del held[key]

    def _reconfigure(self, certified: Certified, genesis: Genesis) -> None:
        """Takes up the configuration that decides from here on. Its messages stand behind the decision: they are read
        again from there, since they were skipped while it was unknown."""
        seq, self._genesis = certified.checked.body.seq, genesis
        commits = [at for held in self._slots[seq].commits.values() for at, _ in held.values()]
        self._read_again({PRE_PREPARE: certified.offset, COMMIT: min(commits)})
        self._slots = {each: slot for each, slot in self._slots.items() if each <= seq}
        self._beyond = {PRE_PREPARE: {}, COMMIT: {}}

    def reject(self, certified: Certified, error: Exception) -> None:
        """Drops the pre-prepare of a decision that cannot be applied, whatever its certificate."""
        body = certified.checked.body
        self._slots[body.seq].pre_prepares[body.member].pop((body.view, certified.checked.digest), None)
        self._refuse("decision", certified.offset, error)

    def cursor(self, kind: str, read_to: int) -> int:
        """Returns the offset from which a restart must read a topic that has been read up to `read_to`: the first of
        the messages that wait, or may still become a contradiction."""
        held = (slot.pre_prepares if kind == PRE_PREPARE else slot.commits for slot in self._slots.values())
        waiting = [offset for members in held for kept in members.values() for offset, _ in kept.values()]
        waiting += self._beyond[kind].values()
        awaited = (slot for seq, slot in self._slots.items() if seq > self._decided_seq)
        waiting += [slot.missed[kind] for slot in awaited if kind in slot.missed]
        return min([read_to, *waiting])

    def rewind(self) -> dict[str, int]:
        """Returns the topics to read again from an offset: messages there are now within the window, or were dropped
        and are on a proposal that may be decided. Call it whenever records were taken or applied."""
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
        """Returns the pre-prepare with its ballots verified; cached, as it may be asked for again and again."""
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
                "More members lie than the cluster tolerates: nothing is applied until the operator has looked"
            )

    def _refuse(self, what: str, offset: int, error: Exception) -> None:
        self.refusals.append(f"shard {self._shard}: {what} at offset {offset} refused: {error}")
