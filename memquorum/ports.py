"""The ports: what the stages ask of the world, and nothing about who answers.

Every port has a real adapter and one in memory (`tests/inmemory`; encoders `memquorum/encoders/hashing.py`), and one
contract suite in `tests/contract` runs on both.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from memquorum.core import names
from memquorum.core.caps import Losses
from memquorum.core.contained import OutsideError
from memquorum.core.late_numpy import np
from memquorum.core.merging import Marks
from memquorum.core.policy import EpochPolicy, ExperiencePolicy, Policy, Retention
from memquorum.core.records import JournalEntry, OrderFound, Patch, Quote, RewardGiven
from memquorum.core.showing.comparing import Side
from memquorum.core.tiers import SHORT_TERM

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"


class Encoder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Model and version, as provenance records it."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    @property
    def batch(self) -> int:
        """The number of texts that keep its device busy at once; more are taken, and cost no less each."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of unit length; deterministic for a given text whatever its batch."""
        ...


class Contradiction(Protocol):
    """Says how likely one text contradicts another, where rules do not know."""

    digest: str
    """SHA-256 of the model: by this a policy names it."""

    def contradicts_ppm(self, earlier: str, later: str) -> int:
        """Returns how likely the later text contradicts the earlier one, in millionths; does not raise."""
        ...


class VaultUnavailable(OutsideError):
    """The vault cannot be reached; the caller retries, nothing was lost."""

    why = "it does not answer"


class VaultBehind(VaultUnavailable):
    """The vault holds keys that a journal calls destroyed: a backup of it was put back. It gives none of its keys until
    the commit worker has destroyed those again; the caller retries."""

    why = "a backup of it was put back: the commit worker first destroys again what was destroyed since"


class StoreLost(OutsideError):
    """The store does not hold what it had committed: its journal's topic goes further. Halt, and let people look."""


class StoreUnavailable(OutsideError):
    """The store cannot be reached; the caller retries, nothing was lost."""


class StreamUnavailable(OutsideError):
    """The topics cannot be read; the caller retries, nothing was lost."""


class EncoderUnavailable(OutsideError):
    """The encoder takes no text at all; the caller retries, nothing was lost."""


class Past(Protocol):
    """The accepted stream and its scores, for a stage that begins in the middle of them."""

    def before(self, shard: int, offset: int, most: int) -> list[bytes]:
        """The values of the last `most` offsets before this one, oldest first; what strangers wrote is left out.

        Raises StreamUnavailable or whatever the client raises: ask again later.
        """
        ...

    def scored(self, shard: int, since: int | None, most: int) -> tuple[list[bytes], int]:
        """The values of the shard's scores from the offset on, or of its last `most`, strangers' left out; and the
        offset of the next.

        Raises StreamUnavailable or whatever the client raises: ask again later.
        """
        ...


class Owner(Struct, frozen=True):
    """The owner of an id that has a key, or had one: the key's subject, and the claim on the id (`core.ids.claim`);
    None where it was made without one, as by earlier releases.
    """

    subject: str
    claim: bytes | None

    def admits(self, claim: bytes, subject: str) -> bool:
        """Whether who has this claim may use the id: it is its own, or was made without a claim for the same subject.

        Releases that kept no claim did not note the agent, and an agent that says nothing else is its own subject."""
        return self.of(subject) if self.claim is None else claim == self.claim

    def of(self, subject: str) -> bool:
        """Whether the key is of this subject: earlier releases did not compose names."""
        return names.normal(subject) == names.normal(self.subject)


class Vault(Protocol):
    """Keys: one per memory, wrapped by its subject's, wrapped by the master key (DESIGN 15)."""

    def create(
        self, wanted: Sequence[tuple[str, str, str]], claims: Mapping[str, bytes] = MappingProxyType({})
    ) -> dict[str, bytes]:
        """Keys for (memory id, namespace, subject): made where absent, the same ones again on a redelivery.

        A destroyed key is never made again: its id is absent from the answer. So is an id in `claims` that belongs to
        somebody else (`Owner.admits`): whose record comes first has it. 32 bytes each. Raises VaultUnavailable.
        """
        ...

    def owners(self, memory_ids: Iterable[str]) -> dict[str, Owner]:
        """Returns the owners of ids that have a key, destroyed or not; others are absent. Raises VaultUnavailable."""
        ...

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        """The keys that exist; a destroyed or unknown id is absent from the answer. Raises VaultUnavailable, and
        VaultBehind where that is not sure."""
        ...

    def destroyed(self, since: int | None, most: int) -> list[tuple[int, str]]:
        """Returns memories whose keys were destroyed, each with a number that grows from one to the next, from a number
        on and at most so many; None: the last one alone. Keys of namespaces that are not of agents have no number.

        After a backup was put back the numbers may be of other memories. Raises VaultUnavailable, and VaultBehind where
        that is not sure.
        """
        ...

    def destroy(self, memory_ids: Iterable[str]) -> int:
        """Destroys keys, finally; the count of those that existed. A second call answers 0."""
        ...

    def destroy_older(self, namespace: str, age_ms: int) -> int:
        """Destroys a namespace's keys that were made so long ago, finally; the count of those that existed."""
        ...

    def destroy_of(self, namespace: str, subject: str, *, begins: bool = False) -> int:
        """Destroys a subject's keys, finally; the count of those that existed. `begins`: those of all subjects of the
        namespace that begin so."""
        ...


class Follows(Vault, Protocol):
    """A vault that knows how far it followed the journals: one that is put back from a backup says less than they."""

    def followed(self) -> dict[int, int]:
        """Tells for each shard up to which journal sequence every key that it calls destroyed is; absent for none.
        From now on a vault that tells less is VaultBehind for the asker."""
        ...

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        """Destroys keys, and notes for each shard that instead of the first sequence it is followed up to the second;
        all in one step. The count of those that existed.

        Raises VaultBehind, and does nothing, where a shard is noted at neither of the two.
        """
        ...


class Neighbour(Struct, frozen=True):
    """A memory as salience sees it. `text` only where the duplicate check asks for it. `encoder`: who made the vector;
    those of two encoders say nothing about each other. `marks`: what a repetition of it has to agree on. `said_by`: of
    a summary, who said all that it was made of, if one did."""

    memory_id: str
    agent: str
    vector: Vector
    text: str
    encoder: str
    marks: Marks
    said_by: str = ""


class JournalChange(Struct, frozen=True):
    """The journal's changes of a neighbourhood since a sequence."""

    seq: int
    arrived: tuple[Neighbour, ...]
    left: tuple[str, ...]
    settled: tuple[Neighbour, ...] = ()
    """The memories in long-term memory: at first all of them, later those promoted since."""


class Neighbourhoods(Protocol):
    """A shard's memories, as far as the journal reached: the start and the refresh of salience's matrix."""

    def changes(self, shard: int, namespace: str, after_seq: int | None, known: Container[str] = ()) -> JournalChange:
        """Short-term memories of the namespace that arrived or left after a journal sequence.

        None: everything alive, and nothing about what left before. `known`: memories that need not be told of where
        they only arrived, since the asker has judged them.
        A memory leaves by being forgotten or promoted. `seq` is the journal sequence up to which this is true.
        """
        ...


class DueMemory(Struct, frozen=True):
    """A memory that nobody has used for a while."""

    memory_id: str
    namespace: str
    last_access: int
    tier: str = SHORT_TERM


class Candidate(Struct, frozen=True, gc=False):
    """A memory that may be nominated. Times in milliseconds."""

    memory_id: str
    namespace: str
    tier: str
    created: int
    last_access: int
    salience_ppm: int
    early: bool
    replays: int = 0
    """The number of rehearsals that found it to hold."""
    fades: bool = True
    """Whether triage goes by its decay score: not so of a summary, nor of what was wanted on purpose."""


class Grade(Struct, frozen=True):
    """Short-term memories whose decay scores fall alike: by their salience in whole hundredths, rounded down, and by
    how often a rehearsal found that they hold (`core.triage`)."""

    hundredths: int
    replays: int


class Fading(Struct, frozen=True):
    """The selection of a grade: memories unused after `unused_since`.

    Its score is e^(head − rate · age); `head`: in millionths, `rate`: in millionths an hour.
    """

    grade: Grade
    unused_since: int
    head: int
    rate: int


class Peer(Struct, frozen=True, eq=False):
    """A summary, or a memory of experience, that is alive and may become one with others: what it says, how it lies,
    and what holds for its use. `weight_ppm`: in experience, in millionths. `agent`: who said it."""

    candidate: Candidate
    text: str
    vector: Vector
    marks: Marks
    weight_ppm: int = 0
    agent: str = ""


NEAREST = 8
"""So many of those that lie near one are looked at."""


class Peers(Struct, frozen=True):
    """Some that lie near others, and those. `after`: the id behind which the rest begin; None at the end."""

    found: tuple[Peer, ...] = ()
    after: str | None = None


class ShardStatus(Struct, frozen=True):
    """The progress of a shard, as the journal knows it."""

    shard: int
    seq: int
    as_of: int
    last_epoch: int
    last_epoch_at: int
    interactions_since_epoch: int
    alive: int


class Weighted(Struct, frozen=True, gc=False):
    """A memory that is alive, or a summary that waits for its vote, as a budget weighs it (`core.budgets`).

    `tokens`: of its content, a summary's that waits by its characters; `uses`: how often it was read or said again;
    `goals_ppm`: its cosine to the nearest of what active goals need, 0 where there is none; `links`: how many memories
    that are alive were made of it or say otherwise; `needs`: what it was made of; `rests`: whether a vote has kept it;
    `protections`: the kinds of those that stand; `worth_ppm`, `novelty_ppm`: as the journal had them when it came;
    `subject`: whom it is about; `spent_ppm`: what draws have cost that in the namespace (`core.budgets.lots`); `until`:
    of one that rests, the first epoch that may propose it again, 0 where that is not known; `distortion_ppm`: of a
    summary that waits, how far its sources lie on average from the middle of those that it quotes
    (`core.consolidation.condensing`); `deadline`: until when its task is to be done, None where it has no such time.
    """

    candidate: Candidate
    type: str
    tokens: int
    uses: int
    sensitivity_ppm: int
    goals_ppm: int
    links: int
    needs: tuple[str, ...]
    rests: bool
    protections: tuple[str, ...]
    worth_ppm: int | None
    novelty_ppm: int | None
    subject: str = ""
    spent_ppm: int = 0
    until: int = 0
    distortion_ppm: int = 0
    deadline: int | None = None


GOALS_NEAREST = 16
"""So many of what goals need, the latest, are looked at for what lies near them."""


class Schedule(Protocol):
    """The due memories, and those that may be nominated: the B-tree behind decay and nomination (DESIGN 7)."""

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Memories alive that nobody used after a time, that rest no longer and are not protected; longest unused
        first, ties by id.

        `unused_since`: the time by tier. `without`: namespaces of which none is wanted. `room`: whether the rest is
        that of what is to go for want of room (`core.vote.kinds`).
        """
        ...

    def grades(self, shard: int) -> list[Grade]:
        """The grades of which a short-term memory is alive whose decay score counts, in their order."""
        ...

    def fading(
        self,
        shard: int,
        asked: Sequence[Fading],
        as_of: int,
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Memories of these grades that nobody used after the time of theirs, rest no longer and are not protected:
        those of the lowest decay score at `as_of` first, as far as their grade says; ties by the last access, then by
        id. `without`, `room`: as in `due`."""
        ...

    def losses(self, namespaces: Iterable[str], since: int) -> Mapping[str, Losses]:
        """Returns each namespace's living memories, and those forgotten after that time of their shard."""
        ...

    def promotable(self, shard: int, salience_ppm: int, created_before: int, limit: int) -> list[Candidate]:
        """Short-term memories at or above the salience, made before the time, that rest no longer.

        First what was read, or said again by anybody; then early nominations, then the most salient, ties by id.
        """
        ...

    def doubted(self, shard: int, limit: int) -> list[Candidate]:
        """Returns memories that the last rehearsal found not to hold, that rest no longer and are not protected, the
        least salient first.
        """
        ...

    def contested(self, shard: int, limit: int, *, inferred: bool = False) -> list[tuple[Candidate, Candidate]]:
        """Memories that are alive, each with one whose place it is to take on purpose: the latest challengers first,
        then by the tier and the id of the other. Where one of the two rests, or the other is pinned or needed, they are
        left out, and where the other is a summary. `inferred`: also those that only say otherwise, as was inferred from
        their words."""
        ...

    def drafted(
        self, shard: int, limit: int, rests: EpochPolicy, *, unsaid: bool = False
    ) -> list[tuple[Candidate, Candidate]]:
        """Summaries that wait for their vote, each with each of the memories that it was made of; the oldest summaries
        first, and of a summary the oldest memories. Left out is a summary of which a memory is not in short-term memory
        any more, rests, is protected, or says otherwise than what is alive.

        One in the place of an erased summary may be made of what rests sealed because of that, as long as its key is
        there; it rests itself, as `rests` says, once it was kept. `unsaid`: only such as are made of what rests sealed,
        and were in no vote."""
        ...

    def tried(self, shard: int, limit: int) -> list[tuple[Candidate, tuple[bytes, ...]]]:
        """Memories that are alive and of which verifiers agree that they help, and no vote has had that: what was
        agreed in first comes first, each with the trials that tell the same, as they were signed."""
        ...

    def alike(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """Summaries in short-term memory with a cosine of at least so many millionths to another of their namespace,
        subject, source and encoder: looks at so many, by their ids, those behind one, where it is given; and at all
        others for the `NEAREST` of each. All in the order of their ids. Left out is what rests, is protected, or
        says otherwise than what is alive."""
        ...

    def twins(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """The same of memories that are alive, are given as experience, and have no other that stands for them there,
        each with its weight. What is protected is none the worse for it, and is among them."""
        ...

    def general(self, shard: int, limit: int) -> list[tuple[Candidate, Candidate]]:
        """General forms that wait for their vote, the oldest first, each with the memory that it was made of, where
        that is alive, is given as experience, and does not rest."""
        ...

    def families(self, shard: int, limit: int) -> list[tuple[Candidate, ...]]:
        """Returns general forms that are given as experience, each with the lessons that have a form of the same text
        and are given there besides, so that it may stand for them: its own first. They are about the same, from one
        source, bound alike and without a key, a path or attributes; none rests. At most so many."""
        ...

    def idle_sessions(
        self, shard: int, until: int, least: int, limit: int, after: IdleSession | None = None
    ) -> list[IdleSession]:
        """Sessions whose memories are all from a time or before and that have so many at least that a summary may take
        the place of: in short-term memory, not wanted on purpose, not protected, summed up in no summary. The longest
        idle first, then by namespace, agent and session; those that come after one, where it is given."""
        ...

    def erased_summaries(self, shard: int, memory_ids: Sequence[str]) -> list[ErasedSummary]:
        """Those of the memories that were summaries of sessions and are gone, by id; not those of which everything that
        they were made of was erased."""
        ...

    def held(self, shard: int, patterns: Collection[str]) -> Mapping[str, int]:
        """Returns the tokens of the living memories of each namespace that one of the patterns fits (`team-*`)."""
        ...

    def weighted(self, shard: int, namespace: str) -> list[Weighted]:
        """Everything that is alive in a namespace, and its summaries that wait for their vote, by id."""
        ...

    def weighted_some(self, shard: int, namespace: str, memory_ids: Collection[str]) -> list[Weighted]:
        """Those of the memories that `weighted` returns."""
        ...

    def weights(self, shard: int, memory_ids: Collection[str]) -> list[Weighted]:
        """Those of the memories, of any namespace, as `weighted` returns them, but without the nearness to goals, and
        without what a subject has spent."""
        ...

    def accounts(self, shard: int, namespace: str) -> Mapping[str, int]:
        """Returns the costs of draws by subject, for a namespace (`core.budgets.lots`)."""
        ...

    def spaces(self, shard: int, patterns: Collection[str]) -> list[str]:
        """The namespaces of a shard that match one of the patterns and hold memories, in order."""
        ...

    def living(self, shard: int, namespace: str, behind: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
        """The memories that are alive in a namespace, by the time when they were made and id, behind one."""
        ...

    def entries(self, shard: int, after: int, limit: int) -> list[JournalEntry]:
        """A shard's journal entries after a sequence, in order."""
        ...

    def around(self, memory_ids: Collection[str]) -> set[str]:
        """The memories that these were made of, contradict or are linked with: those whose `links` count them."""
        ...

    def aged(self, shard: int, before: Mapping[str, int], limit: int) -> list[Candidate]:
        """Short-term memories that were made before a time, by their type, are not protected and do not rest as what is
        to go for want of room; the oldest first, ties by id. Of a type that is not named there are none."""
        ...

    def unused(self, shard: int, rules: Sequence[Retention], as_of: int, limit: int) -> list[Candidate]:
        """The same of what nobody has used for so long as the first rule that fits its namespace has for its type,
        longest unused first."""
        ...

    def steps(self, shard: int, before: int, limit: int) -> list[Candidate]:
        """The same of the steps of tasks that are over since a time: what they require, and what is part of them, but
        nothing that is of an open task, too, or that something else requires; the oldest first."""
        ...

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        """Those of the memories that are alive and, as in `due`, rest no longer; in the order asked for."""
        ...

    def status(self, shard: int) -> ShardStatus:
        """Returns the progress of the shard."""
        ...


class SessionMemory(Struct, frozen=True):
    """A memory of a session, as its summary is made of it. `created`: milliseconds since the epoch; `commitment`: the
    keyed one to its content; `references`: how often it was read or said again; `positive`: whether it had a good
    outcome; what holds for its use as the store keeps it (`core.facets.Kept`). `lies`: of what rests sealed, the offset
    in the accepted stream at which its content lies; the text is empty then, until somebody has opened it. `accepted`:
    at which offset there its episode stands. `rank_ppm`: how its worth ranked when it was stored. `said`: when it was
    said last, where that is known."""

    memory_id: str
    text: str
    created: int
    agent: str
    subject: str
    commitment: bytes
    references: int = 0
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""
    positive: bool = False
    lies: int | None = None
    accepted: int = 0
    rank_ppm: int | None = None
    said: int | None = None
    confidence_ppm: int | None = None
    """The confidence of its agent, if that told one."""

    @property
    def at(self) -> int:
        """When a summary says that it was said: the last time."""
        return self.created if self.said is None else self.said


class Placed(Struct, frozen=True, eq=False):
    """A memory that a summary may take the place of, with its embedding and the name of the encoder that made it."""

    memory: SessionMemory
    encoder: str
    vector: Vector


class IdleSession(Struct, frozen=True):
    """A session without activity: the latest memory of it that may be summed up, in milliseconds, and how many are."""

    namespace: str
    agent: str
    session: str
    latest: int
    memories: int


class ErasedSummary(Struct, frozen=True):
    """A summary that was erased: of whose session it was, and when the latest of it was said that was not erased, in
    milliseconds. `renews`: the erased one in whose place it was made."""

    memory_id: str
    namespace: str
    agent: str
    session: str
    latest: int
    renews: str | None = None


class Sessions(Protocol):
    """The memories of sessions."""

    def applied(self, shard: int) -> int:
        """Tells up to which offset (exclusive) the shard's accepted stream is applied. Raises StoreUnavailable."""
        ...

    def memories(self, shard: int, namespace: str, agent: str | None, session: str) -> list[SessionMemory]:
        """Returns an agent's memories of a session, or every agent's, in short-term memory that a summary may replace,
        the oldest first: not those that were explicit, are protected, contradict a living one, or were summed up
        already. Raises StoreUnavailable.
        """
        ...

    def unused(self, shard: int, namespace: str, limit: int) -> list[Placed]:
        """Returns so many episodic memories of a namespace, of any session or none, in short-term memory that a summary
        may replace, as `memories`; the longest unused first, then by id. Raises StoreUnavailable.
        """
        ...

    def left(self, shard: int, summary: str) -> list[SessionMemory]:
        """Returns the remaining sources of an erased summary for a new one, the oldest first: living ones, as
        `memories`, and those that rest sealed because of that very summary, without their texts. Raises
        StoreUnavailable.
        """
        ...

    def answered(self, namespace: str, event_ids: Collection[str]) -> frozenset[str]:
        """Those of a namespace's events that have an outcome. Raises StoreUnavailable."""
        ...

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Those of the memories that are alive in short-term memory and of which the journal says that their text may
        be sent to the recipient. Raises StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class Drawable(Struct, frozen=True):
    """A memory that a rehearsal may draw."""

    memory_id: str
    salience_ppm: int


class Seen(Struct, frozen=True):
    """A memory as a rehearsal finds it. `uses`: how often it was read or said again. `rehearsed`: when it was rehearsed
    before, 0 for never; `replays`, `doubts`: as its strength has them. `contested`: a memory that is alive, says
    otherwise and is served before it; `stated`: one that does so on purpose. `sources`: of how many memories it was
    made, of which `sources_left` are alive. `protected`: it is not to be forgotten. `seq`: of its last change of tier.
    Times in milliseconds."""

    memory_id: str
    namespace: str
    tier: str
    salience_ppm: int
    created: int
    last_access: int
    uses: int
    replays: int
    doubts: int
    rehearsed: int
    contested: str | None
    sources: int
    sources_left: int
    protected: bool
    seq: int
    stated: str | None = None

    def against(self, policy: Policy) -> str | None:
        """The memory that speaks against it: one that was only inferred to say otherwise, where the policy says so."""
        return self.contested if policy.supersede.inferred else self.stated


class Look(Protocol):
    """The store at one moment, as a rehearsal sees it. Every method raises StoreUnavailable."""

    def shards(self) -> list[tuple[int, int, int]]:
        """Each shard with its time and the next offset of its accepted stream to be applied."""
        ...

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """Tells, by shard, the decisions that changed its configuration, in order, each as (pre-prepare, commits)."""
        ...

    def recent(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """So many of a shard's short-term memories that were not rehearsed after `before`, the most salient first; of a
        namespace or of all."""
        ...

    def old(self, shard: int, before: int, most: int, namespace: str | None = None) -> list[Drawable]:
        """So many of a shard's long-term memories that were not rehearsed after `before`, longest unused first; of a
        namespace or of all."""
        ...

    def seen(self, memory_ids: Sequence[str]) -> list[tuple[int, Seen]]:
        """Each memory that is alive with its shard, in the order asked for."""
        ...


class Rehearsals(Protocol):
    """The material of rehearsals."""

    def look(self, patience_ms: int) -> AbstractContextManager[Look]:
        """Holds one moment of the store, in which no question takes longer than `patience_ms`. Raises
        StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class Source(Struct, frozen=True):
    """A memory that a summary is made of. `at`: when it was said, in milliseconds; `importance_ppm`: what it weighs in
    its session; `whole`: whether all of it is to be kept, word for word; `needed`: whether the summary may not lose it
    (`core.consolidation.covering`); what holds for its use (`core.facets.Kept`);
    `rank_ppm`: how its worth ranks (`core.worth`), where that is known."""

    memory_id: str
    text: str
    at: int
    importance_ppm: int = 0
    agent: str = ""
    whole: bool = False
    needed: bool = False
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""
    rank_ppm: int | None = None


class SummariserUnavailable(OutsideError):
    """The summariser made nothing, and not because there was nothing to say; the caller tries again later."""


class Summariser(Protocol):
    """Makes a summary of memories."""

    name: str
    """The maker and its version, as provenance has it: extractive/1."""

    def summarise(self, sources: Sequence[Source], share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        """A text and the source of each of its sentences in their order; None where it would say nothing.

        `share_ppm`: so much of the tokens of its sources it may have, in millionths.

        Raises SummariserUnavailable.
        """
        ...


class ComparableMemory(Struct, frozen=True):
    """A memory that a model may be asked about: what it says and is marked with, when it was said last, and what binds
    its text (`core.facets`)."""

    memory_id: str
    side: Side
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""


class Comparisons(Protocol):
    """The memories that a model is asked to compare."""

    def near(
        self, shard: int, memory_id: str, least: float, limit: int
    ) -> tuple[str, ComparableMemory, list[ComparableMemory]] | None:
        """The namespace of a memory that an agent said and that is alive, the memory, and those of the namespace that
        an agent said before it and that are alive, of its encoder, with at least that cosine: the nearest first. None
        where the memory is none of these. Raises StoreUnavailable."""
        ...

    def answered(self, shard: int, digests: Collection[bytes]) -> frozenset[bytes]:
        """Those of the digests that a shard's journal has answered. Raises StoreUnavailable."""
        ...

    def disclosed(self, recipient: str, memory_ids: Collection[str]) -> frozenset[str]:
        """Those of the memories that are alive and of which the journal says that their text may be sent to the
        recipient. Raises StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class Counted(Struct, frozen=True):
    """The living memories of each namespace, at least by `applied`: the offset (exclusive) up to which each shard's
    accepted stream is applied.
    """

    stored: Mapping[str, int]
    applied: Mapping[int, int]


class Living(Protocol):
    """The number of memories, for a limit of them at intake."""

    def counted(self, namespaces: Collection[str]) -> Counted:
        """The count of each of the namespaces, 0 where there was never one. Raises StoreUnavailable."""
        ...


class KeepingOut(Struct, frozen=True):
    """The records that a subject keeps out: all of them if `stores` is false, and until `private_until`; else each text
    that says one of the `entries`."""

    namespace: str
    subject: str
    stores: bool
    private_until: int | None
    entries: tuple[str, ...]


class Profiles(Protocol):
    """The profiles of subjects that are in force, as far as intake needs them."""

    def keeping_out(self) -> tuple[KeepingOut, ...]:
        """Returns what subjects keep out now; the same object as before if nothing changed. Raises StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class Rewarded(Protocol):
    """The rewards of agents by entries of the journal (`core.journal.rewards`)."""

    def rewarded(self, shard: int, seqs: Sequence[int]) -> list[RewardGiven]:
        """Returns the rewards of these entries, in the order of the journal. Raises StoreUnavailable."""
        ...


Span = tuple[str, int, int]
"""A sentence: its memory, its first character and the one behind its last."""


class Uttered(Struct, frozen=True):
    """A verbatim sentence that can be read: where it stands in its episode, when it was said, by whom, about whom."""

    memory_id: str
    start: int
    end: int
    text: str
    at: int
    agent: str
    subject: str

    @property
    def span(self) -> Span:
        """The key of the sentence."""
        return self.memory_id, self.start, self.end


class Logged(Struct, frozen=True):
    """A patch in the log, and its sentence as far as it can be read.

    `as_of`: the shard's time when it was journalled, in milliseconds. `text`: None where nobody can read it any more.
    `via`: the summary that it was read from. `withheld`: whether a reader's gates keep the sentence from them.
    `summed_up`: whether a summary that is alive was made of its memory, which is not. `said`: when that memory was said
    last, and its place in the accepted stream.
    """

    seq: int
    place: int
    as_of: int
    patch: Patch
    agent: str
    subject: str
    text: str | None = None
    via: str | None = None
    withheld: bool = False
    summed_up: bool = False
    said: tuple[int, int] | None = None

    def when(self, as_of: int | None = None) -> tuple[int, int]:
        """When its sentence was said last, and what of one moment came in later; as of a time, when it was said first:
        sayings in between are not known."""
        return (self.patch.at, 0) if self.said is None or as_of is not None else self.said

    @property
    def span(self) -> Span:
        """The sentence that comes in."""
        return self.patch.memory_id, self.patch.start, self.patch.end

    @property
    def replaced(self) -> Span | None:
        """The sentence that goes."""
        of = self.patch
        return None if of.replaces is None else (of.replaces, of.replaces_start, of.replaces_end)

    @property
    def name(self) -> str | None:
        """The name that the sentence has for its thing."""
        of = self.patch
        return None if self.text is None else self.text[of.name_start - of.start : of.name_end - of.start]


class Rollups(Protocol):
    """The sentences of roll-ups, and their log (`core.consolidation.rollups`)."""

    def said(self, namespace: str) -> list[Uttered]:
        """The verbatim sentences of a namespace that can be read: of its latest episodes that are alive, and of others
        those that its latest verbatim summaries quote; each once. Raises StoreUnavailable."""
        ...

    def log(self, namespace: str) -> list[Logged]:
        """The patches of the namespace's roll-ups in the order of the journal, each with its sentence where that can be
        read. Raises StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class Promoted(Struct, frozen=True):
    """A memory of experience that was promoted: by the entry that changed last how it stands there, with what it says,
    its keyed commitment, its salience in millionths, and what it is about and of what type."""

    seq: int
    memory_id: str
    namespace: str
    text: str
    commitment: bytes
    salience_ppm: int
    subject: str
    type: str


class Generals(Protocol):
    """The memories of experience that are to have a general form."""

    def promoted(
        self, shard: int, policy: ExperiencePolicy, limit: int, behind: tuple[int, str] | None = None
    ) -> list[Promoted]:
        """The memories of a shard that are alive and given as experience, stand as promoted by the policy, are no
        general forms and never had one: in the order of (entry, id), `behind` such a place. Raises StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...


class OrderVote(Struct, frozen=True):
    """A decision about an order of another membership: its id, whether it was to be carried out, and what proves it."""

    order_id: str
    epoch: int
    configured: bool
    pre_prepare: bytes
    commits: tuple[bytes, ...]


class Unattested(Struct, frozen=True):
    """An erasure that was carried out, and the epochs in which the members did not attest it."""

    found: OrderFound
    epochs: tuple[int, ...] = ()


class StoredOrders(Protocol):
    """The journal's orders that members vote on: the decisions on them, and those that wait for a vote."""

    def decided(self, shard: int) -> list[OrderVote]:
        """The decisions on orders of another configuration, in their order."""
        ...

    def requests(self, shard: int, *, since: int, before: int, through: int) -> list[bytes]:
        """The journal's entries of requests to restore and to forget that no epoch up to `through` has voted on, in the
        order of core/orders/turns: a bounded number, and of one namespace no more than a part of it. `since`: the
        journal's time that they have at least; `before`: the accepted offset that they stand before. The answer does
        not depend on when it is asked for."""
        ...

    def unattested(self, shard: int) -> list[Unattested]:
        """The erasures that the members have not attested yet, in the order of the journal."""
        ...


class Orders(Protocol):
    """The operator's orders of another membership."""

    def of(self, shard: int) -> Sequence[bytes]:
        """Every record of the shard's orders that stands on the topic, in their order; nobody has looked into it.

        What cannot be read now the next question may find.
        """
        ...


class SignedSlot(Struct, frozen=True):
    """A replica's signature for a slot: the digest and the signature to use again."""

    digest: bytes
    message: bytes


class SignState(Protocol):
    """A replica's memory of what it has signed; survives crashes; written before anything is sent (DESIGN 12)."""

    def claim(self, slots: Sequence[tuple[str, bytes, bytes]]) -> list[bytes]:
        """Stores each (slot, digest, message) whose slot is free, and answers the message to send.

        The same digest answers the stored message; another digest raises SignConflict, and so does a slot at or below
        the low-water mark of its series, whatever the digest. All in one durable transaction.
        """
        ...

    def fresh(self, scope: str) -> bool:
        """Whether nothing was ever claimed in a scope: what this identity signed before, if anything, is not known."""
        ...

    def through(self, scope: str) -> int:
        """The last sequence of a scope that `settle` was told is decided, its low-water mark; 0 before the first."""
        ...

    def load(self, prefix: str) -> Mapping[str, SignedSlot]:
        """The messages signed for slots that begin with the prefix and are not settled; the start emits them again."""
        ...

    def settle(self, slots: Sequence[str], through: Mapping[str, int] | None = None) -> None:
        """These slots, and those before them in their series, are decided or left behind: nothing is signed for them
        again. They are let go, and a low-water mark of each series stays, at and below which `claim` refuses.

        `through`: by scope, a sequence that is decided, with all before it.

        Takes effect with the next claim, in its transaction and after it, or never.
        """
        ...


class SignConflict(OutsideError):
    """This identity has already signed something else for the slot. The replica stops and is not restarted."""
