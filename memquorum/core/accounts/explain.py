"""Explains a memory's state: builds one account from the store's rows and the certificates.

`votes` reads its votes from their certificates. `accounts` and `telling` put the account in words; `plain` makes it
JSON. It holds no content.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from memquorum.core import caps, decay, facets, labelling, linking, triage, worth
from memquorum.core.accounts.holding import Holds, holds
from memquorum.core.accounts.votes import DecisionFacts, Vote, prove, vote_on
from memquorum.core.avro import Codec
from memquorum.core.budgets import least, outlived
from memquorum.core.caps import NOTHING, Losses
from memquorum.core.consensus.certificate import BadCertificate, follow
from memquorum.core.consolidation import importance
from memquorum.core.experience import ended
from memquorum.core.facets import Facets
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.rows import Memory, Protection, Strength
from memquorum.core.labelling import Labels
from memquorum.core.orders import aged
from memquorum.core.orders.uses import ACCESSED
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import (
    APPLIED,
    Accessed,
    Reencoded,
    RehearsalMade,
    Rehearsed,
    Signed,
    Stored,
    Summary,
    Task,
)
from memquorum.core.records.episodes import Carried, Link, fields_of
from memquorum.core.retrieval.conflicts import Pair
from memquorum.core.tiers import ALIVE, SHORT_TERM, SUPERSEDED
from memquorum.core.vote import nomination
from memquorum.core.vote.kinds import KINDS, MAKES_ROOM
from memquorum.ports import Candidate

BORN = ("stored", "drafted", "finished", "dropped", "cleared")
"""The effects of an entry that tells what an episode was: a memory, or none."""


class Noted(Struct, frozen=True):
    """A journal entry about the memory, its detail decoded."""

    seq: int
    as_of: int
    effect: str
    event_id: str
    hash: bytes
    detail: Stored | Accessed | Reencoded | Rehearsed


class Erasing(Struct, frozen=True):
    """The order that took the memory. Times in milliseconds since the epoch. `summary`: of a summary, whether it is
    made anew of what is left (`core.journal.anew`), or why not. `rule`: the number of the configuration whose rule of
    retention it carries out, where one does."""

    order_id: str
    selector: str
    value: str
    ordered_by: str
    accepted_at: int
    residue_until: int
    journal_seq: int
    summary: str | None = None
    reference: str | None = None
    rule: int | None = None


class Sent(Struct, frozen=True):
    """A recipient to whom the text of a memory was sent, to a model there, and when first, in milliseconds."""

    recipient: str
    at: int


class SourceSent(Struct, frozen=True):
    """A memory that a summary was made of, a recipient to whom its text was sent, to a model there, and when first, in
    milliseconds."""

    memory_id: str
    recipient: str
    at: int


class Anew(Struct, frozen=True):
    """A summary, and its current state."""

    memory_id: str
    tier: str


class Waiting(Struct, frozen=True):
    """A request that names the memory and has not been voted on. `action`: restore, or forget."""

    order_id: str
    action: str
    ordered_by: str
    reference: str | None
    accepted_at: int


class Filled(Struct, frozen=True):
    """A memory that replaced another one in its slot, without a vote; when, and by which entry of the journal."""

    memory_id: str
    at: int
    journal_seq: int
    cleared: bool = False


class Merged(Struct, frozen=True):
    """A summary became one with another by a vote. `rests`: whether it has not come back since; `tier`: where the one
    that stayed stands now."""

    gone: str
    kept: str
    journal_seq: int
    rests: bool
    tier: str


class Facts(Struct, frozen=True):
    """The store's data on one memory id. `memory` is None if the episode was never stored.

    `notes`: journal entries about it in order, of its uses only the latest. `repetitions`: how often one of its event
    ids came again. `as_of` and `last_epoch`: where its shard stands. `configured`: the decisions that changed who votes
    there, in their order, each as (pre-prepare, commits). `quota`: where its namespace stands by the caps. `conflicts`:
    what contradicts it and is alive, as it is.
    """

    memory_id: str
    shard: int
    namespace: str
    memory: Memory | None
    strength: Strength | None
    notes: tuple[Noted, ...]
    repetitions: int
    decisions: tuple[DecisionFacts, ...]
    as_of: int
    last_epoch: int
    configured: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    erasure: Erasing | None = None
    protected: tuple[Protection, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    quota: Losses = NOTHING
    conflicts: tuple[Pair, ...] = ()
    sent: tuple[Sent, ...] = ()
    sources_sent: tuple[SourceSent, ...] = ()
    filled: tuple[Filled, ...] = ()
    """The memories or writes that replaced it in its slot."""
    merged: tuple[Merged, ...] = ()
    """The merges of a summary and of its sources, in the order of the journal."""
    last_epoch_at: int = 0
    """When the shard last voted in its own rhythm."""
    tokens: int | None = None
    """The length of its content in tokens, while the content exists."""
    kinds: tuple[str, ...] | None = None
    """The kinds of sensitive data in its content by `core.privacy`, while the content exists."""
    outcome: str | None = None
    """Returns the outcome of its session, if that is known."""
    renewed: tuple[Anew, ...] = ()
    """The summaries that were made in its place, where it was one and was erased."""
    told_by: Anew | None = None
    """The summary that says what is to be kept of it, where it rests sealed because of one."""
    links: tuple[Link, ...] = ()
    """The links that its publisher named, as far as they are kept and the reader may see them."""
    linked: frozenset[tuple[str, str]] = frozenset()
    """The kind and the memory of each link that led to one, whatever became of that since."""
    labels: Labels = Labels()
    """Its key, path and attributes, while its content exists."""


def gated(facts: Facts) -> dict[str, Any]:
    """Returns the fields that a gate reads of a memory, or of an episode that was dropped (`query.passes`)."""
    kept: Memory | Facets | None = facts.memory
    said = next((note.detail for note in facts.notes if isinstance(note.detail, Stored)), None)
    if kept is None:
        kept = Facets() if said is None else facets.facets(said)
    return {
        "sensitivity": kept.sensitivity_ppm / PPM,
        "purposes": None if kept.purposes is None else facets.names(kept.purposes),
        "jurisdictions": facets.names(kept.jurisdictions),
    }


class Signal(Struct, frozen=True):
    """One part of a salience: its weight as the policy has it, its value in millionths."""

    name: str
    weight: float
    value_ppm: int


class Birth(Carried, frozen=True):
    """The origin of the memory, and its values from the salience stage. `retry`: after it had failed before.
    `worth_ppm`: of its words; `rank_ppm`: how that ranks among all that was accepted before of `like` type and author
    kind. `learned_by`: the SHA-256 of the coefficients by which the signal `learned` stands for the rank. `superseded`:
    the memories whose place it took in its slot; `stays`: of what clears it, those that fill it still; `granted`: by
    the right of which API key, if by one. `names`: those that it says are to give way to it; `unknown`: those among
    them of which none was alive in its namespace, or that its agent did not sign. `nowhere`: its links to no memory
    that was alive in its namespace then. `summary`: what makes it one, with the source of each of its sentences.
    `slot`: what stands for the one that it fills."""

    journal_seq: int
    accepted_offset: int
    event_id: str
    agent: str
    subject: str
    occurred_at: int
    characters: int
    outcome: str
    salience_ppm: int
    signals: tuple[Signal, ...]
    uncertainty_ppm: int | None
    early: bool
    encoder: str
    derives_from: tuple[str, ...] = ()
    repeats: str | None = None
    retry: bool = False
    worth_ppm: int | None = None
    rank_ppm: int | None = None
    learned_by: str | None = None
    like: str = ""
    superseded: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    granted: str | None = None
    slot: str | None = None
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    nowhere: tuple[Link, ...] = ()
    summary: Summary | None = None
    task: Task | None = None
    """The task fields, if it is the record of a finished task."""


class Use(Struct, frozen=True):
    """The memory was read, or said again. `how`: accessed or reinforced."""

    at: int
    agent: str
    how: str


class Encoding(Struct, frozen=True):
    """Another encoder's embedding took the place of the one before, by an entry of the journal."""

    journal_seq: int
    encoder: str


class Superseded(Struct, frozen=True):
    """A supersession of a memory: in a vote of `epoch`, or in its slot, without one. `back_at`: when it came back, by a
    vote of `back_epoch`, if it did. `cleared`: by a write of nothing."""

    by: str
    at: int
    epoch: int | None
    back_at: int | None
    back_epoch: int | None
    cleared: bool = False


class Rehearsal(Struct, frozen=True):
    """The memory was rehearsed: what was found (`core.rehearsal.Verdict`), by which other memory where one says
    otherwise, and its salience before and after."""

    journal_seq: int
    at: int
    verdict: str
    witness: str | None
    before_ppm: int
    after_ppm: int


class Account(Struct, frozen=True):
    """Everything that is known of why a memory is where it is, at the time `as_of` of its shard.

    `tier`: 'never stored' for an episode that did not become a memory. `due_at`: when it may be nominated to go, if
    nobody uses it; `profile`: its decay now; `rest`: by kind of proposal, until which epoch it rests; these only while
    it is alive. `sealed_until`: when its key is destroyed. `policy_version`: the number of the configuration whose
    policy its shard judges by, 0 for the genesis file's.
    """

    memory_id: str
    shard: int
    namespace: str
    tier: str
    as_of: int
    changed: int | None
    born: Birth | None
    accesses: int
    reinforced: int
    repetitions: int
    last_access: int | None
    uses: tuple[Use, ...]
    votes: tuple[Vote, ...]
    last_epoch: int
    policy_version: int = 0
    encodings: tuple[Encoding, ...] = ()
    confidence_ppm: int | None = None
    sealed_until: int | None = None
    due_at: int | None = None
    rest: Mapping[str, int] = {}
    profile: decay.Profile | None = None
    erased: Erasing | None = None
    protected: tuple[Protection, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    stopped_until: int | None = None
    holds: Holds | None = None
    conflicts: tuple[Pair, ...] = ()
    links: tuple[Link, ...] = ()
    key: str | None = None
    path: str | None = None
    attributes: dict[str, Any] | None = None
    sent: tuple[Sent, ...] = ()
    sources_sent: tuple[SourceSent, ...] = ()
    """The disclosures of a summary's sources, ordered by the sources' ids."""
    superseded: tuple[Superseded, ...] = ()
    """The supersessions of the memory, the first one first."""
    said_again_at: int | None = None
    """When its own agent said it last, where that moved its time."""
    rehearsals: tuple[Rehearsal, ...] = ()
    """The latest ones, in their order."""
    merged: tuple[Merged, ...] = ()
    """The merges of the memory and of the summaries that quote it, the first one first."""
    replays: int = 0
    """The number of rehearsals that confirmed a memory that is used; `doubts`: how many of the last ones in a row did
    not confirm it; `rehearsed_at`: the time of the last one, or None."""
    doubts: int = 0
    rehearsed_at: int | None = None
    renewed: tuple[Anew, ...] = ()
    """The summaries that were made in its place, where it was one and was erased."""
    told_by: Anew | None = None
    """The summary that says what is to be kept of it, where it rests sealed because of one."""
    importance_ppm: int | None = None
    """The importance of a living memory in its session (SPEC C), for a summary that of its sources; `weight_ppm`: what
    its half-life has left of it."""
    weight_ppm: int | None = None
    salience_ppm: int | None = None
    """The current salience of a living memory: rehearsals and repetitions change it."""
    decay_score_ppm: int | None = None
    """The decay score of a short-term memory, if triage uses it; `expires_at`: when it will be low enough for a
    nomination to forget the memory, if nobody uses it; None if it never will be. `due_at` is the earliest of all times.
    """
    expires_at: int | None = None
    aged_at: int | None = None
    """The time from which it is older than its type may become (`budget.ttl_ms`), used or not. Such a vote may have
    kept it: while it rests for that, `due_at` does not count it."""
    erases_at: int | None = None
    """When the rule of retention (`erase.after`) has it erased, without a vote, unless it is held."""
    next_epoch_at: int = 0
    """By when its shard votes again, if there is anything to vote on: at the first tick from then on, or before."""
    epoch_interactions: int = 0
    """After how many episodes and uses in its shard since the last epoch that is, if they come before."""

    @property
    def superseded_by(self) -> str | None:
        """The memory that replaced it, if it is superseded."""
        return self.superseded[-1].by if self.superseded and self.tier == SUPERSEDED else None


def configured(codec: Codec, genesis: Genesis, decided: Iterable[tuple[bytes, Sequence[bytes]]]) -> Genesis:
    """The configuration of a shard; it leads to those before it. `genesis`: the file's. `decided`: the decisions that
    changed who votes there, in their order."""
    # If the store's chain is not proven, the votes under the later configurations will not verify either.
    with suppress(BadCertificate):
        return follow(codec, genesis, decided)
    return genesis


def explain(codec: Codec, genesis: Genesis, facts: Facts) -> Account:
    """The account of a memory. `genesis`: see `configured`; `facts` come from `db/explain_rows.py`."""
    memory, strength = facts.memory, facts.strength
    policy = genesis.policy if strength is None else decay.of_tier(genesis.policy, strength.tier)
    alive = strength if memory is not None and memory.tier in ALIVE else None
    fading = None if alive is None else _candidate(facts, alive)
    # A failed episode may have been retried: the last attempt counts.
    birth = next((n for n in reversed(facts.notes) if n.effect in BORN), None)
    uses = tuple(_use(n) for n in facts.notes if _used(n, facts.memory_id))
    old_at = None if fading is None else _old_at(facts, fading, genesis.policy)
    weighs = None if alive is None or birth is None else _weighs(facts, alive, birth.detail)
    votes = tuple(_vote(codec, genesis, facts.memory_id, d) for d in facts.decisions)
    return Account(
        memory_id=facts.memory_id,
        shard=facts.shard,
        namespace=facts.namespace,
        tier=memory.tier if memory else "never stored",
        as_of=facts.as_of,
        changed=memory.changed if memory else None,
        born=_birth(genesis, birth, facts) if birth else None,
        accesses=alive.accesses if alive else sum(u.how == "accessed" for u in uses),
        reinforced=alive.reinforced if alive else sum(u.how == "reinforced" for u in uses),
        repetitions=facts.repetitions,
        last_access=alive.last_access if alive else max((u.at for u in uses), default=None),
        uses=uses,
        encodings=tuple(Encoding(n.seq, n.detail.encoder) for n in facts.notes if isinstance(n.detail, Reencoded)),
        votes=votes,
        last_epoch=facts.last_epoch,
        policy_version=genesis.policy_version,
        confidence_ppm=memory.confidence_ppm if memory else None,
        sealed_until=memory.sealed_until if memory else None,
        due_at=_due_at(
            fading, (old_at, _idle_at(facts, fading, genesis.policy)), alive.rest, facts.last_epoch, genesis.policy
        )
        if fading and alive
        else None,
        rest=alive.rest if alive else {},
        profile=decay.profile(alive.last_access, facts.as_of, policy) if alive else None,
        erased=facts.erasure,
        protected=facts.protected,
        waiting=facts.waiting,
        stopped_until=caps.stopped_until(facts.quota, facts.as_of, genesis.policy.caps) if alive else None,
        holds=holds(memory, birth.detail if birth else None, facts.kinds) if memory else None,
        conflicts=facts.conflicts,
        links=facts.links,
        key=facts.labels.key,
        path=facts.labels.path,
        attributes=labelling.read(facts.labels.attributes) or None,
        sent=facts.sent,
        sources_sent=facts.sources_sent,
        superseded=_superseded(facts.filled, votes),
        said_again_at=memory.said if memory and memory.said > memory.created else None,
        rehearsals=tuple(_rehearsal(codec, n, n.detail) for n in facts.notes if isinstance(n.detail, Rehearsed)),
        merged=facts.merged,
        replays=alive.replays if alive else 0,
        doubts=alive.doubts if alive else 0,
        rehearsed_at=(alive.rehearsed or None) if alive else None,
        renewed=facts.renewed,
        told_by=facts.told_by,
        importance_ppm=weighs[0] if weighs else None,
        weight_ppm=weighs[1] if weighs else None,
        salience_ppm=alive.salience_ppm if alive else None,
        decay_score_ppm=_decay_score(fading, facts.as_of, genesis.policy) if fading else None,
        expires_at=nomination.expiry(fading, genesis.policy) if fading else None,
        aged_at=old_at,
        erases_at=_erases_at(facts, birth.detail, genesis.policy) if alive and birth else None,
        next_epoch_at=facts.last_epoch_at + genesis.policy.epoch.interval_ms,
        epoch_interactions=genesis.policy.epoch.interactions,
    )


def _weighs(facts: Facts, alive: Strength, told: Stored | Accessed | Reencoded | Rehearsed) -> tuple[int, int] | None:
    """Returns its importance, and the part of it that is left."""
    if not isinstance(told, Stored) or facts.tokens is None:
        return None
    age_ms, summary = max(0, facts.as_of - told.occurred_at), told.summary is not None
    found = told.salience_ppm  # a summary's is its importance
    if not summary:
        good = importance.positive(told.reward_ppm, ended.succeeded(facts.outcome))
        used, sure = alive.accesses + alive.reinforced, told.confidence_ppm
        found = importance.importance_of_length(
            facts.tokens, age_ms=age_ms, references=used, positive=good, confidence_ppm=sure
        )
    return found, importance.left_ppm(found, age_ms, summary=summary)


def _candidate(facts: Facts, alive: Strength) -> Candidate:
    """The memory as a nominator sees it: a task with a deadline counts as used then."""
    deadline = 0 if facts.memory is None else facts.memory.deadline or 0
    return Candidate(
        facts.memory_id, facts.namespace, alive.tier, alive.created, max(alive.last_access, deadline),
        alive.salience_ppm, early=False, replays=alive.replays, fades=alive.fades,
    )  # fmt: skip


def _old_at(facts: Facts, one: Candidate, policy: Policy) -> int | None:
    if facts.memory is None or one.tier != SHORT_TERM:
        return None
    return least.old_at(facts.memory.type, one.created, policy.budget)


def _idle_at(facts: Facts, one: Candidate, policy: Policy) -> int | None:
    """When nobody will have used it for as long as its namespace allows for its type."""
    if facts.memory is None or one.tier != SHORT_TERM:
        return None
    return outlived.idle_at(facts.memory.type, facts.namespace, one.last_access, policy.forget)


def _due_at(
    one: Candidate, outlived_at: tuple[int | None, ...], rest: Mapping[str, int], last_epoch: int, policy: Policy
) -> int:
    """When it may be nominated to go, for whatever reason comes first."""
    at, rests = nomination.due_at(one, policy), rest.get(MAKES_ROOM.get(one.tier, ""), 0) > last_epoch + 1
    return at if rests else min([at, *(other for other in outlived_at if other is not None)])


def _erases_at(facts: Facts, told: Stored | Accessed | Reencoded | Rehearsed, policy: Policy) -> int | None:
    """A summary is of no age of its own: it goes with the first of its sources."""
    if facts.memory is None or not isinstance(told, Stored) or told.summary is not None:
        return None
    return aged.comes(policy.erase, facts.namespace, facts.memory.type, told.occurred_at)


def _decay_score(one: Candidate, as_of: int, policy: Policy) -> int | None:
    if one.tier != SHORT_TERM or not one.fades:
        return None
    return triage.decay_score_ppm(one.salience_ppm, one.replays, decay.age_ms(one.last_access, as_of), policy)


def _superseded(filled: Iterable[Filled], votes: Sequence[Vote]) -> tuple[Superseded, ...]:
    """Each time that a memory gave way to another, by its slot or by a vote; what ended it is the next vote that
    brought the memory back."""
    passed = [one for one in votes if one.kind and one.outcome == KINDS[one.kind].outcome]
    gave: list[tuple[int, str, int, int | None, bool]]
    gave = [(one.journal_seq, one.memory_id, one.at, None, one.cleared) for one in filled]
    gave += [
        (one.journal_seq, one.spared[0], one.as_of, one.epoch, False)
        for one in passed
        if one.spared and KINDS[one.kind].supersedes
    ]
    found = []
    for seq, by, at, epoch, cleared in sorted(gave):
        back = next((one for one in passed if one.journal_seq > seq and _restores(one.kind)), None)
        found.append(Superseded(by, at, epoch, back.as_of if back else None, back.epoch if back else None, cleared))
    return tuple(found)


def _restores(kind: str) -> bool:
    """True if the kind restores memories and takes none in return."""
    return KINDS[kind].revives and not KINDS[kind].seals


def plain(value: Any) -> Any:
    """The account as JSON values; bytes as hex."""
    if isinstance(value, Struct):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value.hex() if isinstance(value, bytes) else value


def _birth(genesis: Genesis, note: Noted, facts: Facts) -> Birth | None:
    told = note.detail
    if not isinstance(told, Stored):
        return None
    weights = genesis.policy.salience
    signals = (
        ("novelty", weights.novelty, told.novelty_ppm),
        ("reward", weights.reward, told.reward_ppm),
        ("confidence", weights.confidence, told.confidence_ppm),
        ("learned", weights.worth, told.learned_ppm)
        if told.learned_ppm is not None
        else ("rank", weights.worth, told.rank_ppm),
    )
    return Birth(
        journal_seq=note.seq,
        accepted_offset=told.accepted_offset,
        event_id=note.event_id,
        agent=told.agent,
        subject=told.subject,
        occurred_at=told.occurred_at,
        characters=told.characters,
        outcome=told.outcome,
        salience_ppm=told.salience_ppm,
        signals=tuple(Signal(name, weight, value) for name, weight, value in signals if value is not None),
        uncertainty_ppm=told.uncertainty_ppm,
        early=told.early,
        encoder=told.encoder,
        derives_from=told.derives_from,
        repeats=told.reinforces,
        retry=told.retry,
        worth_ppm=told.worth_ppm,
        rank_ppm=told.rank_ppm,
        learned_by=told.learned_by,
        like=worth.SUMMARY if told.summary is not None else worth.like(told.type, told.role),
        superseded=told.superseded,
        stays=told.contradicts if told.clears else (),
        granted=told.granted,
        slot=told.slot,
        names=told.supersedes,
        unknown=tuple(i for i in told.supersedes if i not in told.contradicts and i not in told.superseded),
        nowhere=linking.nowhere(facts.namespace, told.links, facts.linked) if facts.memory is not None else (),
        summary=told.summary,
        task=told.task,
        **fields_of(Carried, told),
    )


def _used(note: Noted, memory_id: str) -> bool:
    # A use that came when the memory was gone is journalled and did nothing.
    return note.effect == "reinforced" or (
        isinstance(note.detail, Accessed) and memory_id in note.detail.those(APPLIED)
    )


def _use(note: Noted) -> Use:
    told = note.detail
    assert not isinstance(told, Reencoded | Rehearsed)
    if isinstance(told, Accessed):
        return Use(told.accessed_at, told.agent, ACCESSED)
    return Use(told.occurred_at, told.agent, note.effect)


def _rehearsal(codec: Codec, note: Noted, told: Rehearsed) -> Rehearsal:
    made = codec.decode_as(RehearsalMade, codec.decode_as(Signed, told.made).body)
    return Rehearsal(note.seq, made.as_of, made.verdict, made.witness or None, told.before_ppm, told.after_ppm)


def _vote(codec: Codec, genesis: Genesis, memory_id: str, facts: DecisionFacts) -> Vote:
    return vote_on(codec, prove(codec, genesis, facts.pre_prepare, facts.commits), memory_id, facts)
