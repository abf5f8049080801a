"""A shard as an auditor sees it: the records of its topics and the rows of its database, ready to be tampered with."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core.audit.agreed import Words
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Kind, ShardReport
from memquorum.core.audit.verify import verify_shard
from memquorum.core.audit.witness import Store
from memquorum.core.consensus import rolling
from memquorum.core.identity import messages
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.hash_chain import entry_hash, genesis_hash
from memquorum.core.journal.rows import (
    Answered,
    Change,
    Conflict,
    DecisionRow,
    Disclosure,
    Dropped,
    ErasedRow,
    ErasureRow,
    Event,
    FeedbackRow,
    LetGo,
    LinkRow,
    PatchRow,
    Profile,
    Provenance,
    QuoteRow,
    Reward,
    Spent,
    TaskRow,
    TrialRow,
    UseRow,
    WeightRow,
)
from memquorum.core.policy import EpochPolicy, ForgetPolicy
from memquorum.core.records import (
    Checkpoint,
    EpisodeAccepted,
    EpisodeScored,
    JournalAppended,
    JournalEntry,
    JournalHead,
)
from memquorum.core.tiers import FINISHED
from tests.builders import genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import Shard, memory_id

POLICY = by_the_paper(forget=ForgetPolicy(grace_ms=500), epoch=EpochPolicy(rest_epochs=1, rest_epochs_max=4))
GENESIS = genesis.make(policy=POLICY)
A, B, C, D = (memory_id(name) for name in "abcd")
# Positions of entries in the lively journal, counted from 0.
STORED, ECHO, DROPPED, REPEATED, ACCESSED, DECIDED, DESTROYED, LATE, LAST = 1, 5, 6, 7, 8, 12, 14, 15, 16


def lively(shard: Shard) -> Shard:
    """Builds a history with every effect: A forgotten, its key and its echo's destroyed, B promoted, C
    kept, D voided.
    """
    shard.tick(2_000)
    for name in "abcd":
        shard.episode(name, at=1_500)
    shard.episode("echo", at=1_600, outcome="reinforced", reinforces=A)
    shard.episode("faint", outcome="below_threshold")
    shard.episode("a", at=1_700)  # again
    shard.access(B, 1_800)
    shard.access(memory_id("nobody"), 1_800)
    shard.tick(200_000)
    nominated = shard.offset
    shard.access(D, 200_000)
    shard.decide(
        [votes.proposal(i, k) for i, k in ((A, "forget"), (B, "promote"), (C, "forget"), (D, "forget"))],
        lambda _, proposal: proposal.memory_ids != (C,),
        accepted_offset=nominated,
    )
    shard.tick(200_500)
    shard.destroy(A, memory_id("echo"))
    shard.episode("late", at=200_600, outcome="reinforced", reinforces=A)
    shard.decide([votes.proposal(C, "forget")], accepted_offset=shard.offset - 1)
    return shard


def signed_head(rules: Rules, state_seq: int, digest: bytes, as_of: int, *, shard: int = 0) -> bytes:
    head = JournalHead(rules.genesis.cluster, rules.genesis.config, shard, state_seq, digest, as_of)
    return votes.signed(rules.codec, rules.genesis, "service:journal", head)


class Published(Struct):
    """`entries`, `heads` and `accepted`: the values in the topics, in order; `accepted` has None where a transaction's
    marker stands. `tables`: the database's rows by table.
    """

    rules: Rules
    entries: list[bytes]
    heads: list[bytes]
    tables: dict[str, list[dict[str, Any]]]
    accepted: list[bytes | None] = field(default_factory=list)
    scored: list[bytes | None] = field(default_factory=list)
    checkpoints: list[bytes | None] = field(default_factory=list)

    def audit(self, *, store: bool = False, accepted: bool = False, words: bool = False) -> ShardReport:
        sources = {name: _source(data) for name, data in (("entries", self.entries), ("heads", self.heads))}
        if accepted:
            sources["accepted"] = _source(self.accepted)
        said = Words(*map(_source, (self.checkpoints, self.accepted, self.scored))) if words else None
        return verify_shard(self.rules, 0, **sources, store=self.store() if store else None, words=said)

    def store(self) -> Store:
        shard, *_ = [*self.tables["shard"], None]
        return Store(shard, self.tables)

    def link(self, at: int) -> JournalAppended:
        return self.rules.codec.decode_as(JournalAppended, self.entries[at])

    def entry(self, at: int) -> JournalEntry:
        return self.rules.codec.decode_as(JournalEntry, self.link(at).entry)

    def detail(self, at: int) -> Any:
        return self.rules.codec.decode(self.entry(at).detail)

    def relink(self, at: int, **changes: Any) -> None:
        """Changes fields of a record in the topic, and leaves the hashes as they are."""
        self.entries[at] = self.rules.codec.encode(replace(self.link(at), **changes))

    def rewrite(self, at: int, **changes: Any) -> None:
        """Changes an entry as a holder of the journal's key could: all later hashes and heads are recomputed."""
        entries = [self.entry(i) for i in range(len(self.entries))]
        entries[at] = replace(entries[at], **changes)
        self.chain(entries)

    def chain(self, entries: Sequence[JournalEntry]) -> None:
        codec, cluster = self.rules.codec, self.rules.genesis.cluster
        previous, self.entries, self.heads = genesis_hash(cluster, 0), [], []
        for entry in entries:
            data = codec.encode(entry)
            appended = JournalAppended(data, previous, entry_hash(previous, data))
            self.entries.append(codec.encode(appended))
            self.heads.append(signed_head(self.rules, entry.seq, appended.hash, entry.as_of))
            previous = appended.hash

    def remove(self, at: int) -> None:
        """Removes an entry as a holder of the journal's key could: the rest is renumbered, hashed and signed again."""
        entries = [self.entry(i) for i in range(len(self.entries)) if i != at]
        self.chain([replace(entry, seq=seq) for seq, entry in enumerate(entries, 1)])

    def forge(self, at: int, detail: Any) -> None:
        """Replaces an entry's detail as a holder of the journal's key could."""
        self.rewrite(at, detail=self.rules.codec.encode(detail))


def _source(data: Sequence[bytes | None]) -> Source:
    return Source(iter([Record(at, value) for at, value in enumerate(data) if value is not None]), len(data))


def publish(shard: Shard, batch: int = 1) -> Published:
    """Returns what the commit worker makes of a shard: its topics, with a head after every `batch` entries, and its
    rows.
    """
    entries = [shard.rules.codec.encode(change.appended) for change in shard.changes]
    ends = [c for c in shard.changes if c.entry.seq % batch == 0 or c is shard.changes[-1]]
    heads = [signed_head(rules, c.entry.seq, c.appended.hash, c.entry.as_of) for rules, c in _in_force(shard, ends)]
    accepted: list[bytes | None] = [shard.rules.codec.encode(record) for record in shard.accepted]
    scored: list[bytes | None] = [shard.rules.codec.encode(r) for r in shard.scored]
    return Published(shard.rules, entries, heads, _tables(shard), accepted, scored)


def _in_force(shard: Shard, ends: Sequence[Change]) -> Iterator[tuple[Rules, Change]]:
    """Pairs entries with the rules whose configuration signs their heads."""
    genesis = shard.rules.genesis.of(0)
    for change in shard.changes:
        genesis = change.configures or genesis
        if any(change is end for end in ends):
            assert genesis is not None
            yield replace(shard.rules, genesis=genesis), change


def _tables(shard: Shard) -> dict[str, list[dict[str, Any]]]:
    rows = shard.rows
    alive = sorted(rows.strengths)
    decisions = [d for c in shard.changes for d in c.of(DecisionRow)]
    held = [(i, rows.memories[i]) for i in alive]
    events = [e for c in shard.changes for e in c.of(Event)]
    net = shard.work.net()
    return {
        "shard": [asdict(rows.state) | {"accepted": _applied(shard)}],
        "journal": [_journal_row(change) for change in shard.changes],
        # An event that failed and was tried again has one row, with its last outcome.
        "event": sorted(map(asdict, {(e.namespace, e.event_id): e for e in events}.values()), key=lambda e: e["seq"]),
        "decision": [_without(asdict(d), "outcomes", "ballots") | {"commits": list(d.commits)} for d in decisions],
        "outcome": [asdict(o) for d in decisions for o in d.outcomes],
        "ballot": [
            asdict(b) | {"terms": list(b.terms)}
            for d in decisions
            for position in dict.fromkeys(o.position for o in d.outcomes)
            for b in d.ballots_on(position)
        ],
        "memory": [asdict(rows.memories[i]) for i in sorted(rows.memories)],
        "strength": [asdict(rows.strengths[i]) for i in alive],
        "content": [{"memory_id": i, "characters": m.characters, "namespace": m.namespace} for i, m in held],
        "embedding": [
            {"memory_id": i, "namespace": rows.memories[i].namespace, "encoder": rows.memories[i].encoder}
            for i in alive
        ],
        "sentence": [
            {"memory_id": i, "namespace": m.namespace, "encoder": m.encoder} for i, m in held if m.made_by is not None
        ],
        "replaced": [
            {"memory_id": i, "characters": m.characters, "namespace": m.namespace, "encoder": m.encoder, "newer": newer}
            for i, newer in sorted(net.replaced)
            if not any(one.concerns(rows.memories[i]) for one in net.emptied)
            for m in [rows.memories[i]]
        ],
        "experience": [
            {"memory_id": m.id, "characters": m.characters, "namespace": m.namespace, "encoder": m.encoder}
            for _, m in sorted(rows.memories.items())
            if m.tier == FINISHED
        ],
        "task": [asdict(one) | {"retrieved": list(one.retrieved)} for c in shard.changes for one in c.of(TaskRow)],
        "feedback": [
            asdict(one) for c in shard.changes for one in sorted(c.of(FeedbackRow), key=lambda o: o.memory_id)
        ],
        "trial": [asdict(one) for c in shard.changes for one in c.of(TrialRow)],
        "weight": [asdict(w) for c in shard.changes for w in sorted(c.of(WeightRow), key=lambda w: w.memory_id)],
        "admission": [asdict(rows.admissions[i]) for i in sorted(rows.admissions)],
        "provenance": [asdict(p) for c in shard.changes for p in sorted(c.of(Provenance), key=lambda p: p.parent)],
        "quote": [asdict(q) for c in shard.changes for q in sorted(c.of(QuoteRow), key=lambda q: q.place)],
        "conflict": [
            asdict(p) | {"statements": None if p.statements is None else list(p.statements), "again": list(p.again)}
            for c in shard.changes
            for p in sorted(c.of(Conflict), key=lambda p: p.older)
        ],
        "link": [asdict(one) for c in shard.changes for one in sorted(c.of(LinkRow), key=lambda o: (o.kind, o.target))],
        "erased": [asdict(e) for c in shard.changes for e in sorted(c.of(ErasedRow), key=lambda e: e.memory_id)],
        "erasure": [asdict(e) for e in net.of(ErasureRow)],
        "living": [
            {"shard": 0, "namespace": name, "alive": quota.living}
            for name, quota in sorted(shard.losses.items())
            if quota.living
        ],
        "let_go": [asdict(one) for c in shard.changes for one in c.of(LetGo)],
        "patch": [asdict(one) for c in shard.changes for one in c.of(PatchRow)],
        "disclosure": [asdict(one) for c in shard.changes for one in c.of(Disclosure)],
        "profile": [
            asdict(one)
            | {"retention": list(one.retention)}
            | ({} if one.consents is None else {"consents": list(one.consents)})
            for c in shard.changes
            for one in c.of(Profile)
        ],
        "reward": [asdict(one) for c in shard.changes for one in c.of(Reward)],
        "spent": [asdict(one) for c in shard.changes for one in c.of(Spent)],
        "protection": [asdict(one) for _, one in sorted(shard.rows.protected.items())],
        "answered": [asdict(one) for c in shard.changes for one in c.of(Answered)],
        "used": [asdict(u) for c in shard.changes for u in sorted(c.of(UseRow), key=lambda u: u.memory_id)],
        "dropped": [asdict(d) for d in sorted(net.of(Dropped), key=lambda d: d.memory_id)],
    }


def _applied(shard: Shard) -> int | None:
    return max((offset for c in shard.changes for topic, offset in c.cursors if topic == topics.ACCEPTED), default=None)


def _journal_row(change: Change) -> dict[str, Any]:
    return _without(asdict(change.entry), "detail") | asdict(change.appended)


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in names}


def kinds(report: ShardReport) -> list[Kind]:
    """Returns the kinds of findings; every finding has a text."""
    assert report.ok == (not report.findings)
    assert all(str(finding) for finding in report.findings)
    return [finding.kind for finding in report.findings]


def resign(rules: Rules, signer: str, seed_signer: str, body: bytes) -> bytes:
    """Signs a body in the name of `signer` with the key of another one."""
    seed = genesis.seed_of(seed_signer)
    return rules.codec.encode(messages.sign(rules.genesis.cluster, signer, seed, body))


def stream(public: Published, through: int) -> bytes:
    """Computes the hash of the accepted stream up to an offset, by hand."""
    codec, found = public.rules.codec, rolling.beginning(GENESIS.cluster, 0)
    scores: dict[int, bytes] = {}
    for data in public.scored:
        if data is not None:
            scores.setdefault(codec.decode_as(EpisodeScored, data).accepted_offset, hashlib.sha256(data).digest())
    for offset, data in enumerate(public.accepted[: through + 1]):
        if data is not None:
            score = scores.get(offset) if isinstance(codec.decode(data), EpisodeAccepted) else None
            found = rolling.read(found, offset, hashlib.sha256(data).digest(), score)
    return found


def word(public: Published, member: int, seq: int, **changes: Any) -> bytes:
    """Builds a member's true checkpoint of a sequence, or one with something changed."""
    changed = [change for change in (public.detail(DECIDED), public.detail(LAST)) if change.seq <= seq]
    history, nomination = rolling.beginning(GENESIS.cluster, 0), None
    for decided in changed:
        pre_prepare = public.rules.codec.decode(public.rules.codec.decode(decided.pre_prepare).body)
        nomination = public.rules.codec.decode(public.rules.codec.decode(pre_prepare.nomination).body)
        history = rolling.decided(history, votes.proposal_digest(pre_prepare))
    assert nomination is not None
    at = nomination.accepted_offset
    body = Checkpoint(GENESIS.cluster, 0, 0, seq, changed[-1].epoch, at, member, history, stream(public, at))
    return votes.signed(public.rules.codec, GENESIS, f"member:{member}", replace(body, **changes))
