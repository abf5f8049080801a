"""The rows of the store as frozen values: the state that the rules of `commit` read and change.

Field for field the tables of `db/migrations/memory`, without what only a database needs; `tables` declares what holds
for each. Times are milliseconds since the epoch, scores millionths, ids canonical UUID text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core.caps import Losses
from memquorum.core.facets import EPISODIC
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import JournalAppended, JournalEntry, Restored, Standing
from memquorum.core.records.episodes import Carried
from memquorum.core.vote.columns import Ballot

Uuid = Annotated[str, "uuid"]
Int4 = Annotated[int, "int4"]
"""A number that takes four bytes in the store; any other takes eight."""

R = TypeVar("R", bound=Struct)


class ShardState(Struct, frozen=True):
    """The state of a shard after the journal entry `seq`, whose hash is `hash`."""

    shard: int
    seq: int
    hash: bytes
    as_of: int = 0
    interactions: int = 0
    last_epoch: int = 0
    last_epoch_at: int = 0
    decided_seq: int = 0
    alive: int = 0
    """The number of living memories."""
    unattested: int = 0
    """The number of erasures that the members have not attested yet."""
    asked_at: int = 0
    """The time of the last request to restore, or late use, that is to be voted on."""
    contested_at: int = 0
    """The time of the last contradiction that no epoch has handled yet; 0 if there is none."""
    weighed_to: int = 0
    """The accepted offset before which all uses of memories of experience are counted."""

    @property
    def standing(self) -> Standing:
        """The part of the state that the journal records with a tick."""
        return Standing(
            self.last_epoch,
            self.last_epoch_at,
            self.interactions,
            self.alive,
            self.unattested,
            self.asked_at,
            self.contested_at,
        )


class Memory(Carried, frozen=True):
    """A memory's own row; it outlives its content. From `type` on: what holds for its use (`core.facets`)."""

    id: Uuid
    shard: Int4
    namespace: str
    agent: str
    subject: str
    event_id: str
    tier: str
    created: int
    characters: Int4
    commitment: bytes
    encoder: str
    early: bool
    confidence_ppm: Int4 | None
    changed: int
    sealed_until: int | None
    seq: int
    type: str = EPISODIC
    sensitivity_ppm: Int4 = 0
    purposes: str | None = None
    jurisdictions: str = ""
    made_by: str | None = None
    """The maker of a summary: extractive/VERSION, or model/NAME."""
    renews: Uuid | None = None
    """The erased summary that this summary replaces."""
    general_of: Uuid | None = None
    """The source memory of a general form. Experience alone has it."""
    told_by: Uuid | None = None
    """The summary that holds what is to be kept of a memory that rests sealed because of it."""
    slot: str | None = None
    """The keyed digest of path and key of the slot that it fills (`core.labelling`)."""
    label: str | None = None
    """The keyed digest of its path and its attributes."""
    said: int = 0
    """When it was said last, in milliseconds: the latest time of its sayings (`journal.repetitions.again`)."""
    said_offset: int = 0
    """The accepted offset of that saying, which orders two of the same time."""
    deadline: int | None = None
    """Until when its task is to be done, in milliseconds."""
    over: bool = False
    """True if its task is over."""
    asks_after: int | None = None
    """For a memory that rests sealed: a use after this time that arrives late requests its restoration. None after such
    a use, and for any other memory."""

    @property
    def fades(self) -> bool:
        """True if triage uses its decay score (`core.triage`). The score starts from the salience at the time of
        saying: summaries and general forms have none, and explicit memories are accepted at any salience."""
        return not self.explicit and self.made_by is None and self.general_of is None


class Strength(Struct, frozen=True):
    """What changes often. There is one exactly as long as the memory is alive."""

    memory_id: Uuid
    shard: Int4
    tier: str
    salience_ppm: Int4
    created: int
    last_access: int
    touched: int
    accesses: Int4 = 0
    reinforced: Int4 = 0
    kept: Mapping[str, int] = field(default_factory=dict)
    """By kind of proposal, how often in a row it was kept (core/journal/resting)."""
    rest: Mapping[str, int] = field(default_factory=dict)
    """By kind, the first epoch that may propose it again."""
    replays: Int4 = 0
    """The number of rehearsals that confirmed the memory while it was used."""
    doubts: Int4 = 0
    """The number of rehearsals that did not confirm the memory since the last one that did."""
    rehearsed: int = 0
    """When it was last rehearsed, milliseconds by the shard's time; 0: never."""
    fades: bool = True
    """Whether triage goes by its decay score."""


class Event(Struct, frozen=True):
    """The first outcome of an event id in its namespace that is no failure, or the last failure.

    `agent`, `subject`, `source`, `type`, and when it `occurred` (milliseconds): what an order to erase may name;
    `session`: with the agent, whose episodic buffer it is in. A use has none of these and no memory: `UseRow` has one
    row for each.
    """

    namespace: str
    event_id: str
    shard: Int4
    outcome: str
    memory_id: Uuid | None
    seq: int
    agent: str | None = None
    subject: str | None = None
    source: str | None = None
    session: str | None = None
    type: str | None = None
    occurred: int | None = None


class UseRow(Struct, frozen=True):
    """A memory that a use named, which neither came again nor asked for it back. `applied`: whether it was alive."""

    memory_id: Uuid
    shard: Int4
    seq: int
    namespace: str
    applied: bool


class Provenance(Struct, frozen=True):
    """An episode was made of a memory, or (`echo`) said it again; `child` is the episode's own memory id, `agent` who
    said it. `follows`: it goes where the parent goes. Not so what only says it again and is a memory of its own.
    `merged`: both are summaries, and the parent became one with the child by a vote."""

    shard: Int4
    seq: int
    namespace: str
    child: Uuid
    parent: Uuid
    echo: bool
    follows: bool
    agent: str
    merged: bool = False


class QuoteRow(Struct, frozen=True):
    """A sentence of a summary, by its place there: the characters from `start` to before `finish` of a source's
    content, and where the summary has it. `said_at`: when the source was said. A sentence that a model wrote has a row
    for each of its sources, with its number in `sentence`."""

    shard: Int4
    seq: int
    namespace: str
    summary: Uuid
    place: Int4
    source: Uuid
    start: int
    finish: int
    section: str
    said_at: int
    sentence: Int4 | None = None


class PatchRow(Struct, frozen=True):
    """A patch of a roll-up, by its place among those of its entry: the sentence of the characters from `start` to
    before `finish` of a memory's content comes in, and that of `replaces`, if it names one, goes.

    `topic`: the roll-up's id; `name_start`, `name_finish`: where the sentence names its thing; `said_at`: when it was
    said; `as_of`: the shard's time, 0 before its first tick.
    """

    shard: Int4
    seq: int
    place: Int4
    namespace: str
    topic: Uuid
    op: str
    memory: Uuid
    start: int
    finish: int
    name_start: int
    name_finish: int
    section: str
    said_at: int
    replaces: Uuid | None
    replaces_start: int
    replaces_finish: int
    as_of: int


class TaskRow(Struct, frozen=True):
    """A finished task (`core.experience`): its outcome and who determined it; the SHA-256 of its configuration, its
    seed, and the memories that it retrieved, best first. `said_by`: empty where the outcome is unknown. When it ended
    is when the memory of its id was made."""

    memory_id: Uuid
    shard: Int4
    seq: int
    namespace: str
    outcome: str
    said_by: str
    configuration: bytes
    seed: int
    retrieved: tuple[str, ...]
    accepted_offset: int
    """The offset of its record in the accepted stream, which tells whether it precedes a decision's nomination."""


class FeedbackRow(Struct, frozen=True):
    """Feedback of an agent on a memory that a task was given: whether it `helped`. `given_at`: when, milliseconds."""

    shard: Int4
    seq: int
    namespace: str
    task: Uuid
    memory_id: Uuid
    agent: str
    helped: bool
    given_at: int
    accepted_offset: int


class TrialRow(Struct, frozen=True):
    """A verifier's trial of a candidate, as of the decision of the epoch `position`. `digest`: of the statistics, in
    hexadecimal; `score_ppm`: their S; `made`: the Signed(TrialMade) as it was received, which holds them."""

    shard: Int4
    seq: int
    namespace: str
    memory_id: Uuid
    position: int
    verifier: str
    digest: str
    score_ppm: int
    statistics: bytes
    made: bytes


class AdmissionRow(Struct, frozen=True):
    """The state of a memory's admission to experience (`core.journal.trials`); a memory that was never tried has no
    row. `position`: the epoch as of which it was tried last; `digest`, `score_ppm`: of the statistics that verifiers
    agree in, and their S. `version`, `weight_ppm`: of its weight, once it is admitted; `epoch`: of the vote on it, 0
    without one; `after`: it is tried as of a decision after this epoch. `rejections`: how often verifiers agreed that
    it helps too little, and `rejected`: the epoch as of which they did last, 0 without one; `judges`: how many tasks
    judged it then in all, and `gained_ppm`: the sum of what they found, each the S of its trial; `refusals`: how often
    members did not admit it. `seq`: of the entry that changed it last. `since`: tasks before this accepted offset do
    not move its weight; `gains`, `losses`: in how many contexts it helped on the whole, and in how many it did harm.
    `merged_into`: what stands for it in experience while that is alive, since they say the same; from the epoch
    `merged_at` on. `general`: its general form, once members took one in: it has no other."""

    memory_id: Uuid
    shard: Int4
    seq: int
    namespace: str
    status: str
    position: int
    digest: str | None = None
    score_ppm: int | None = None
    version: Int4 = 0
    weight_ppm: Int4 | None = None
    epoch: int = 0
    after: int = 0
    rejections: Int4 = 0
    rejected: int = 0
    judges: Int4 = 0
    gained_ppm: int = 0
    refusals: Int4 = 0
    since: int = 0
    gains: Int4 = 0
    losses: Int4 = 0
    merged_into: Uuid | None = None
    merged_at: int = 0
    general: Uuid | None = None


class WeightRow(Struct, frozen=True):
    """A version of a memory's weight in experience, as of the decision of an epoch. `cause`: what made it, one of
    `core.experience.weights.CAUSES`; `gains`, `losses`: in how many contexts it helped on the whole by then, and in how
    many it did harm; `evidence`: what came with this version alone, by context, as `weights.written` has it."""

    memory_id: Uuid
    version: Int4
    shard: Int4
    seq: int
    namespace: str
    epoch: int
    cause: str
    weight_ppm: Int4
    gains: Int4
    losses: Int4
    evidence: str


class Conflict(Struct, frozen=True):
    """A contradiction between a newer and an older memory. `stated`: on purpose, by the key of the same slot or by
    naming it; else that was inferred from the words (`core.reading.conflict`). Both stay, and of what is stated until
    members have voted. `statements`: the numbers of the older memory's statements that the newer one denies, from 1;
    None where none could be told apart. `compared`: a model said so of the pair, not the rules. `again`: memories whose
    value the newer one says once more, after the older one had denied it."""

    shard: Int4
    seq: int
    namespace: str
    newer: Uuid
    older: Uuid
    stated: bool = False
    statements: tuple[int, ...] | None = None
    compared: bool = False
    again: tuple[str, ...] = ()


class LinkRow(Struct, frozen=True):
    """A memory is linked with one that was there before it, as its publisher says (`core.linking`)."""

    shard: Int4
    seq: int
    namespace: str
    memory: Uuid
    kind: str
    target: Uuid


class ErasedRow(Struct, frozen=True):
    """An episode whose key was destroyed by an order, by its own memory id; or (`was` late) that came after one.
    `summary`: its fate if it was a summary (`anew`)."""

    memory_id: Uuid
    shard: Int4
    seq: int
    namespace: str
    was: str
    summary: str | None = None


class ErasureRow(Struct, frozen=True):
    """An order that was carried out, by the entries from `first_seq` to `last_seq`.

    `memories` and `episodes`: how many memories it took, and how many episodes with them; `summaries`: how many of
    these were summaries, and `anew` how many of them are made anew of what is left (`anew.fates`). `head`: the signed
    head of the journal at `last_seq`, where the commit worker wrote the row; a rebuild has none. `epoch`: in which the
    members attested it. `ordered`: the Signed as it was received.
    """

    shard: Int4
    namespace: str
    order_id: Uuid
    selector: str
    value: str
    signer: str
    ordered_by: str
    reference: str | None
    ordered_at: int
    ordered: bytes
    accepted_at: int
    accepted_offset: int
    first_seq: int
    last_seq: int
    memories: int
    episodes: int
    residue_until: int
    summaries: int = 0
    anew: int = 0
    epoch: int | None = None
    head: bytes | None = None


class Dropped(Struct, frozen=True):
    """An episode that became no memory: its sealed copy can be opened until its key is destroyed, from `destroy_at`.

    There is one exactly until then."""

    memory_id: Uuid
    shard: Int4
    namespace: str
    destroy_at: int


class BallotRow(Struct, frozen=True):
    """One member's opinion on one proposal."""

    shard: Int4
    epoch: int
    position: Int4
    member: Int4
    yes: bool
    score_ppm: Int4
    terms: tuple[int, ...]


class OutcomeRow(Struct, frozen=True):
    """The outcome of one proposal: `yes` ballots of `weight_ppm` where `needed_ppm` was needed.

    `as_of`: of which time the nomination spoke. `namespace`: the memory's, None where it is about no memory that the
    shard knows. `policy`: the budget's, by which the memory was the next to go, where it was proposed for that."""

    shard: Int4
    epoch: int
    position: Int4
    memory_id: Uuid
    kind: str
    outcome: str
    reason: str
    yes: Int4
    weight_ppm: int
    needed_ppm: int
    as_of: int
    namespace: str | None = None
    policy: str | None = None


class DecisionRow(Struct, frozen=True):
    """A decided epoch with its certificate, its outcomes and the ballots that they follow from. `nomination`: the
    digest of what was nominated, which draws verifiers; `accepted_offset`: how far that had read the accepted
    stream."""

    shard: Int4
    epoch: int
    seq: int
    view: int
    config: Int4
    as_of: int
    trigger: str
    digest: bytes
    pre_prepare: bytes
    commits: tuple[bytes, ...]
    journal_seq: int
    nomination: bytes
    accepted_offset: int
    outcomes: tuple[OutcomeRow, ...]
    ballots: tuple[Ballot, ...]

    def ballots_on(self, position: int) -> tuple[BallotRow, ...]:
        """The ballots on one proposal, in the order of their members."""
        said = ((b.member, b.opinions[position]) for b in self.ballots)
        place = self.shard, self.epoch, position
        return tuple(BallotRow(*place, member, o.yes, o.score_ppm, o.terms) for member, o in said)


class Living(Struct, frozen=True):
    """The number of living memories of a namespace; in a batch, the difference."""

    shard: Int4
    namespace: str
    alive: int


class LetGo(Struct, frozen=True):
    """The effect of a decision on a namespace: how many memories were forgotten at the shard's time `as_of`, and how
    many its cap held back (core/caps)."""

    shard: Int4
    namespace: str
    epoch: int
    as_of: int
    forgotten: int
    held_back: int


class Profile(Struct, frozen=True):
    """The profile of a subject, as it was ordered (`core.orders.profile`). `sealed`: its list, which is no column."""

    shard: Int4
    seq: int
    namespace: str
    subject: str
    order_id: Uuid
    stores: bool
    private_until: int | None
    retention: tuple[str, ...]
    consents: tuple[str, ...] | None
    listed: bool
    accepted_at: int
    sealed: bytes | None = None


class Disclosure(Struct, frozen=True):
    """A memory whose text was, or was about to be, sent to a recipient, to a model there; `sent_at`: from when on."""

    shard: Int4
    seq: int
    namespace: str
    memory_id: Uuid
    recipient: str
    sent_at: int


class Reward(Struct, frozen=True):
    """A reward of an agent for its effect on the fleet's memory (`core.journal.rewards`). `as_of`: the shard's time; 0
    before its first tick."""

    shard: Int4
    seq: int
    namespace: str
    agent: str
    memory_id: Uuid
    kind: str
    amount_ppm: Int4
    as_of: int


class Spent(Struct, frozen=True):
    """The cost of a decision's draws for the subject of a memory, which represents it (`core.budgets.lots`), in
    millionths of ε; the sum of its rows is the subject's account in the namespace."""

    shard: Int4
    seq: int
    namespace: str
    memory_id: Uuid
    spent_ppm: int


class Protection(Struct, frozen=True):
    """An order that protects a memory and stands: of its `kind`, pin, hold or a goal's, there is at most one."""

    memory_id: Uuid
    kind: str
    shard: Int4
    seq: int
    namespace: str
    order_id: Uuid
    signer: str
    ordered_by: str
    reference: str | None
    accepted_at: int


class Guarded(Struct, frozen=True):
    """The number of protections in a namespace: pins in force, and needs, counted for each goal."""

    pins: int = 0
    needs: int = 0


class GoalDue(Struct, frozen=True):
    """A goal that lapses: when it was last said to need anything, and memories that it needs, not more than an entry
    takes."""

    namespace: str
    kind: str
    used_at: int
    memory_ids: tuple[str, ...]


class Answered(Struct, frozen=True):
    """An order, or a request, that was answered, by its digest (`core.orders.envelope.order_digest`); it applies once.
    `effect`: how, by the journal entry `seq`, an erasure by its first one."""

    shard: Int4
    digest: bytes
    seq: int
    namespace: str
    effect: str


class JournalRow(Struct, frozen=True):
    """An entry of the journal: its bytes, its place in the chain, and the columns that repeat the entry for SQL."""

    shard: Int4
    seq: int
    as_of: int
    effect: str
    event_id: str
    namespace: str | None
    memory_id: Uuid | None
    source_topic: str
    source_partition: Int4
    source_offset: int
    entry: bytes
    previous_hash: bytes
    hash: bytes

    @classmethod
    def of(cls, entry: JournalEntry, link: JournalAppended) -> JournalRow:
        """The row of an entry with its place."""
        return cls(
            entry.shard, entry.seq, entry.as_of, entry.effect, entry.event_id, entry.namespace, entry.memory_id,
            entry.source_topic, entry.source_partition, entry.source_offset, link.entry, link.previous_hash, link.hash,
        )  # fmt: skip


EventKey = tuple[str, str]


class Grounds(Struct, frozen=True):
    """The ids of memories that support or contradict a memory: `sources`, which it was made of; `summaries`, which the
    consolidator made of it; `older`, which it contradicts; `newer`, which contradict it; `stated`, those of the last
    two that do so on purpose. They may no longer be alive."""

    sources: frozenset[str] = frozenset()
    summaries: frozenset[str] = frozenset()
    older: frozenset[str] = frozenset()
    newer: frozenset[str] = frozenset()
    stated: frozenset[str] = frozenset()


class Rows(Struct, frozen=True):
    """A shard's state and, of its rows, those that a record may touch. A row that was asked for and is absent does not
    exist; a `Workset` raises NotLoaded for any other."""

    state: ShardState
    memories: Mapping[str, Memory] = field(default_factory=dict)
    strengths: Mapping[str, Strength] = field(default_factory=dict)
    events: Mapping[EventKey, Event] = field(default_factory=dict)
    erased: Collection[EventKey] = frozenset()
    """(namespace, memory id) of those asked for that an order has erased."""
    losses: Mapping[str, Losses] = field(default_factory=dict)
    """By namespace, the losses before the batch, for namespaces of which a decision may take something."""
    protected: Mapping[tuple[str, str], Protection] = field(default_factory=dict)
    """By (memory id, kind), the orders that protect those asked for."""
    answered: Collection[bytes] = frozenset()
    """The digests of those requested orders that were answered."""
    guarded: Mapping[str, Guarded] = field(default_factory=dict)
    """By namespace, the number of protections, for the namespaces asked for."""
    grounds: Mapping[str, Grounds] = field(default_factory=dict)
    """By memory, the grounds of those asked for; a memory without grounds is absent."""
    admissions: Mapping[str, AdmissionRow] = field(default_factory=dict)
    """By memory, the admissions of those asked for; a memory that was never tried is absent."""
    trials: Mapping[tuple[str, int], tuple[TrialRow, ...]] = field(default_factory=dict)
    """By (memory id, position), what verifiers found of those asked for."""
    nominated: Mapping[int, bytes] = field(default_factory=dict)
    """By their epochs, the digests of the nominations of the decisions asked for."""
    tasks: Mapping[str, TaskRow] = field(default_factory=dict)
    """Finished tasks of which something stands in the accepted stream that no decision has counted; and others."""
    feedback: Mapping[str, tuple[FeedbackRow, ...]] = field(default_factory=dict)
    """By task, all that is said of those in `tasks`, in the order of the stream."""
    weights: Mapping[str, tuple[WeightRow, ...]] = field(default_factory=dict)
    """By memory, all versions of its weight, in their order, of those asked for."""
    loaded: RowKeys | None = None
    """The keys that were loaded; None if the rows are complete."""


class RowKeys(Struct, frozen=True):
    """The keys of the rows that a record may touch, which must be loaded before a rule runs."""

    memories: frozenset[str] = frozenset()
    events: frozenset[EventKey] = frozenset()
    erased: frozenset[EventKey] = frozenset()
    losses: frozenset[tuple[str, int]] = frozenset()
    """(namespace, time): where it stands, with what was forgotten there after that time."""
    protected: frozenset[str] = frozenset()
    """Memories: which orders protect them."""
    orders: frozenset[bytes] = frozenset()
    """Digests of orders: which were answered."""
    guarded: frozenset[str] = frozenset()
    """Namespaces: how much is protected there."""
    slots: frozenset[tuple[str, str]] = frozenset()
    """(namespace, key): the memories that fill it, and which orders protect them."""
    grounds: frozenset[str] = frozenset()
    """Memories: what stands behind them and against them, and what stands behind that (`journal.grounds`)."""
    admissions: frozenset[str] = frozenset()
    """Memories: where they stand on their way into experience."""
    trials: frozenset[tuple[str, int]] = frozenset()
    """(memory id, position): what verifiers found."""
    epochs: frozenset[int] = frozenset()
    """Decisions, by their epochs: the digests of their nominations."""
    uses: int = 0
    """Up to this accepted offset: the tasks of which something stands before it that no decision has counted, what is
    said of them, and where the memories stand that they were given."""
    weights: frozenset[str] = frozenset()
    """Memories: all versions of their weights."""

    def __or__(self, other: RowKeys) -> RowKeys:
        return RowKeys(
            self.memories | other.memories,
            self.events | other.events,
            self.erased | other.erased,
            self.losses | other.losses,
            self.protected | other.protected,
            self.orders | other.orders,
            self.guarded | other.guarded,
            self.slots | other.slots,
            self.grounds | other.grounds,
            self.admissions | other.admissions,
            self.trials | other.trials,
            self.epochs | other.epochs,
            max(self.uses, other.uses),
            weights=self.weights | other.weights,
        )


class Emptied(Struct, frozen=True):
    """A slot that a write of nothing emptied, with that write's entry: its earlier memories are no longer reported.
    `agent`: of this agent's memories alone; None where an API key grants that of everybody's."""

    namespace: str
    slot: str
    agent: str | None
    seq: int

    def concerns(self, memory: Memory) -> bool:
        """Whether a memory that was replaced filled the slot, and went out of service by then."""
        filled = (memory.namespace, memory.slot) == (self.namespace, self.slot)
        return filled and memory.seq <= self.seq and self.agent in (None, memory.agent)


class Change(Struct, frozen=True):
    """The effect of one journal entry on its shard.

    `rows`: of any table (`tables`), as they are afterwards. `gone`: those that are there no more, each by its class and
    its key; where a row of the same key comes in their place, they go first. A memory whose strength goes loses content
    and embedding with it. `replaced`: the memories that another memory replaced, each with that one's id: only reads of
    the past find their content. `emptied`: the slot whose earlier memories are no longer reported.

    `revealed`: the memory whose content and embedding are stored now; `restored`: those that come back with theirs.
    `reencoded`: the memory whose embedding is replaced. `attested`: the order to erase that the members found genuine.
    `configures`: by whom the shard's next decisions are taken, where the entry changes that. `cursors`: the next offset
    to read of each source that the entry used up.
    """

    entry: JournalEntry
    appended: JournalAppended
    state: ShardState
    rows: tuple[Struct, ...] = ()
    gone: tuple[tuple[type[Struct], Any], ...] = ()
    revealed: str | None = None
    reencoded: str | None = None
    restored: tuple[Restored, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    emptied: Emptied | None = None
    attested: str | None = None
    configures: Genesis | None = None
    cursors: tuple[tuple[str, int], ...] = ()

    def of(self, kind: type[R]) -> tuple[R, ...]:
        """Its rows of one table."""
        return tuple(row for row in self.rows if type(row) is kind)

    def one(self, kind: type[R]) -> R | None:
        """Its row of a table of which an entry makes one at most."""
        return next(iter(self.of(kind)), None)

    def ended(self, kind: type[Struct]) -> tuple[Any, ...]:
        """The keys of the rows of one table that are there no more."""
        return tuple(key for of, key in self.gone if of is kind)

    def plus(self, *rows: Struct, **fields: Any) -> Change:
        """The change with more rows, and with other values of its fields."""
        return replace(self, rows=(*self.rows, *rows), **fields)
