"""What the endpoints answer. A client is given the same values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.facets import EPISODIC
from memquorum.core.prepared import prepare
from memquorum.core.records.episodes import Carried, Link
from memquorum.core.text import quoting
from memquorum.core.tiers import SEALED, SUPERSEDED


class _Use(Carried, frozen=True, kw_only=True):
    """What an episode said of itself, and what holds for its use.

    `purposes`: what it may be used for; None: for anything. `jurisdictions`: whose law it is under. `made_by`: of a
    summary, who made it. `general_of`: of a general form, the memory that it was made of. `key`, `path`, `attributes`:
    what it is filed under, while it is alive. `occurred_at`: when it was said last; `first_at`: when it was said first,
    where that is earlier.
    """

    key: str | None = None
    path: str | None = None
    attributes: dict[str, Any] | None = None

    type: str = EPISODIC
    sensitivity: float = 0.0
    purposes: tuple[str, ...] | None = None
    jurisdictions: tuple[str, ...] = ()
    made_by: str | None = None
    general_of: str | None = None
    first_at: int | None = None


class Overtaken(Struct, frozen=True):
    """A newer memory says statements of this one otherwise. `by`: its id; `agent`: who said it; `since`: when, in
    milliseconds. `disputed`: another agent says so, and nothing more: then the older one may hold. `spans`: the
    characters of the text as it is given, from and to before; none where the whole is meant."""

    by: str
    agent: str
    since: int
    disputed: bool
    spans: tuple[tuple[int, int], ...] = ()


def mark(text: str, overtaken: Sequence[Overtaken]) -> str:
    """What a line of a prompt says of a text's marks: of the newest that overtook it, else of the newest that disputes
    it; empty where there are none."""
    if not overtaken:
        return ""
    last = max(overtaken, key=lambda one: (not one.disputed, one.since))
    span = last.spans[0] if last.spans else (0, len(text))
    return quoting.overtaken(text, last.since, span, disputed=last.disputed)


class _Text(_Use, frozen=True, kw_only=True):
    """`excerpt`: the text is those sentences of a summary, or those passages of a long text, that answer, and not the
    whole. `subject`: who or what it is about. `overtaken`: newer memories that say statements of it otherwise;
    `overtakes`: older ones that it overtook."""

    excerpt: bool = False
    subject: str = ""
    overtaken: tuple[Overtaken, ...] = ()
    overtakes: tuple[str, ...] = ()


class Remembered(_Text, frozen=True):
    """A living memory. Times in milliseconds, `salience` in [0, 1]."""

    memory_id: str
    text: str
    tier: str
    agent: str
    occurred_at: int
    last_access: int
    accesses: int
    salience: float


class Hit(Remembered, frozen=True):
    """A memory that was found. `score`: how likely it answers, in [0, 1], falling with the rank; while hits are looked
    for and ordered, their cosine. `answerable`: the score is high enough for an answer. `cosine`: in [−1, 1]; None
    before it is given. `conflicts_with`: memories that say otherwise, on which members have not voted yet, or voted to
    keep both; what is to be believed first stands first. `weight`: of experience, where it alone was asked. `diffused`:
    it is a general form of another namespace. `folded`: the ids of those that are the same text; `also_by`: the other
    agents who said it. `alike`: the ids of those that say nearly the same in other words and stand further down.
    `passage`: of a long text, the characters that answer best, from and to before."""

    score: float
    conflicts_with: tuple[str, ...] = ()
    weight: float | None = None
    diffused: bool = False
    folded: tuple[str, ...] = ()
    also_by: tuple[str, ...] = ()
    answerable: bool = True
    cosine: float | None = None
    alike: tuple[str, ...] = ()
    passage: tuple[int, int] | None = None

    @property
    def answering(self) -> str:
        """What of its text answers: its passage, or all of it."""
        return self.text if self.passage is None or self.excerpt else self.text[slice(*self.passage)]


class LeftOut(Struct, frozen=True):
    """How many were left out for one reason, and the first few of them where they are named."""

    count: int
    memory_ids: tuple[str, ...]


class SearchResult(Struct, frozen=True, omit_defaults=True):
    """What a search found. `used`: how many hits count as used, by an access that is published behind the answer, or
    with `confirm` was; `warning`: why not all. `left_out`: by filter, where the search names one.

    `served_from`: cache or store. `compared`: with all memories of the namespace, the most used, or by index, which
    finds nearly all of the nearest. `cached`: how many of them the cache holds. `answerable`: a hit is.
    """

    namespace: str
    hits: tuple[Hit, ...]
    used: int
    served_from: str
    compared: str
    cached: int
    left_out: dict[str, LeftOut]
    answerable: bool
    warning: str | None = None


def _prompt(items: Iterable[_Item]) -> str:
    """The memories as they are put into a prompt: quoted, each on a line of its own, under a heading."""
    lines = (
        quoting.line(
            one.text, one.agent, one.occurred_at, mark=mark(one.text, one.overtaken) + quoting.also_said(one.also_by)
        )
        for one in items
    )
    return quoting.framed(lines).rstrip("\n")


class _Item(Remembered, frozen=True, kw_only=True):
    """`spans`: of a summary of which sentences are given, or a long text of which passages are, their characters of the
    whole, from and to before. `diffused`, `also_by`, `alike`, `passage`: as of a hit."""

    conflicts_with: tuple[str, ...] = ()
    diffused: bool = False
    tokens: int
    folded: tuple[str, ...]
    also_by: tuple[str, ...] = ()
    passage: tuple[int, int] | None = None
    spans: tuple[tuple[int, int], ...] = ()
    alike: tuple[str, ...] = ()


class Answering(_Item, frozen=True):
    """A memory that answers. `folded`: the ids of those that say the same. `score`, `answerable`, `cosine`: as of a
    hit. They are ordered by relevance · strength · tier, or of experience by cosine · `weight`. `through`: where the
    second step found it, the memory that names what it is of, or `question`."""

    score: float
    relevance: float
    strength: float
    cosine: float
    weight: float | None = None
    through: str | None = None
    answerable: bool = True


class Around(_Item, frozen=True):
    """A memory and the `way` to it from its `anchor`: anchor, source, derived, session or time; `apart`: steps,
    links or milliseconds."""

    way: str
    anchor: str
    apart: int


class Placed(_Item, frozen=True):
    """A memory of a context, and `why` it is in: `buffer`, of what the agent said last, or `relevant` to the query.
    `place`: in the agent's buffer, 1 for the newest, if it is there. `tokens`: of its part of the text. `through`:
    where the second step found it, the memory that names what it is of, or `question`. `score`, `answerable`: as of a
    hit, where it is relevant."""

    why: str
    place: int | None
    score: float | None
    through: str | None = None
    answerable: bool | None = None


class Context(Struct, frozen=True, omit_defaults=True):
    """What to put into a prompt, as `text` and in the order of the text: the buffer as it happened, then the others,
    best first. `left_out`: by reason, as of a retrieval. `answerable`: of a query, one that is relevant is."""

    namespace: str
    items: tuple[Placed, ...]
    text: str
    tokens: int
    budget_tokens: int
    left_out: dict[str, LeftOut]
    used: int
    warning: str | None = None
    answerable: bool | None = None

    def __str__(self) -> str:
        return self.text


class Retrieved(Struct, frozen=True, omit_defaults=True):
    """What a retrieval gives: what fits the budget, best first. `left_out`: by reason; docs/reading.md names the
    reasons. `answerable`: an item is."""

    namespace: str
    items: tuple[Answering, ...]
    tokens: int
    budget_tokens: int
    left_out: dict[str, LeftOut]
    used: int
    answerable: bool
    warning: str | None = None

    def __str__(self) -> str:
        return _prompt(self.items)


class Recalled(Struct, frozen=True, omit_defaults=True):
    """What a recall gives: what surrounds the anchors and fits the budget, in the order of time."""

    namespace: str
    anchors: tuple[str, ...]
    items: tuple[Around, ...]
    tokens: int
    budget_tokens: int
    left_out: dict[str, LeftOut]
    used: int
    warning: str | None = None

    def __str__(self) -> str:
        return _prompt(self.items)


class Shown(_Use, frozen=True):
    """A memory. Times in milliseconds since the epoch; what only the living have is null of others. `links`: what its
    publisher says that it is linked with, as far as that is kept and the reader may see it. `superseded_by`: the memory
    that took the place of one in the tier `superseded`, where the reader may see that; a request to restore brings the
    older one back by a vote. `overtaken`: newer memories that say statements of it otherwise."""

    memory_id: str
    namespace: str
    text: str | None
    tier: str
    agent: str
    subject: str
    event_id: str
    occurred_at: int
    changed: int
    sealed_until: int | None
    confidence: float | None
    last_access: int | None
    accesses: int | None
    reinforced: int | None
    salience: float | None
    replays: int | None
    fades: bool | None
    due_at: int | None
    links: tuple[Link, ...] = ()
    superseded_by: str | None = None
    overtaken: tuple[Overtaken, ...] = ()

    @property
    def restorable(self) -> bool:
        """True if a vote can bring it back."""
        return self.tier in (SEALED, SUPERSEDED)

    @property
    def instead(self) -> str:
        """What is told in the place of a text that is not there: the tier, and by what it was superseded."""
        return self.tier if self.superseded_by is None else f"{self.tier} by {self.superseded_by}"


class Listed(Shown, frozen=True, kw_only=True):
    """A memory of a list, and what it is linked with, as far as that is kept and the reader may see it.

    `derives_from`: what it was made of; `contradicts`: older ones that it says otherwise than; `goals`: those that need
    it; `follows`: what its agent said before it in its session and is alive.
    """

    derives_from: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    follows: str | None = None


class Page(Struct, frozen=True, omit_defaults=True):
    """Memories in the order in which they were said last, ties as they came in. `next`: the cursor of those that come
    behind, None at the end."""

    namespace: str
    memories: tuple[Listed, ...]
    next: str | None = None


class Paths(Struct, frozen=True, omit_defaults=True):
    """Paths that something is filed at, in the order of their characters. `next`: the cursor of those that come behind,
    None at the end."""

    namespace: str
    paths: tuple[str, ...]
    next: str | None = None


class Explained(Struct, frozen=True):
    """A memory's account, in structure and in lines of words. `numbers`: the same with all weights, thresholds,
    formulas and proofs, in lines."""

    account: dict[str, Any]
    lines: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def in_numbers(self) -> str:
        """The account with all numbers, as a text."""
        return "\n".join(self.numbers)


class Subject(Struct, frozen=True):
    """A memory that was decided on, and its `state` now: its tier, or "erased"."""

    memory_id: str
    state: str


class Decision(Struct, frozen=True):
    """What members decided about a memory, or about several together, as of a time in milliseconds.

    `why` it ended so, in words and as the code `reason`; why it was `proposed`, in words, None where the certificate
    proves nothing. `policy`: by which a budget had it go, if one did, with the `features` that the nominator weighed
    and the `score` per 1,000 tokens (a negative one as it is); both None where they are withheld, and where
    the policy does not go by them. `vote`: as `explain` has it in its account, in millionths; `lines`: it in words;
    `numbers`: the same with all weights, scores and proofs.
    """

    shard: int
    epoch: int
    position: int
    journal_seq: int
    as_of: int
    kind: str
    outcome: str
    reason: str
    why: str
    proposed: str | None
    memories: tuple[Subject, ...]
    policy: str | None
    features: dict[str, float] | None
    score: float | None
    vote: dict[str, Any]
    lines: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Decisions(Struct, frozen=True, omit_defaults=True):
    """Decisions, the latest first. `next`: the cursor of those that come behind, None at the end; a page may hold fewer
    than were asked for, and have a next one."""

    namespace: str
    decisions: tuple[Decision, ...]
    next: str | None = None


class Epoch(Struct, frozen=True):
    """A decided epoch: as of which time in milliseconds, what it was opened for (`trigger`), by which configuration it
    was decided, and where the journal says so. `outcomes`: how many proposals ended how, of those that may be told."""

    shard: int
    epoch: int
    as_of: int
    trigger: str
    config: int
    journal_seq: int
    outcomes: dict[str, int]


class Epochs(Struct, frozen=True, omit_defaults=True):
    """Epochs of a shard, the latest first. `namespace`: whose; None where they are all of the shard's. `next`: the
    cursor of those that come behind, None at the end."""

    shard: int
    epochs: tuple[Epoch, ...]
    namespace: str | None = None
    next: str | None = None


class Since(Struct, frozen=True):
    """Something holds from this configuration of the shard on. `epoch`: in which members decided on that, as of which
    time in milliseconds; None of configuration 0, which is the genesis file's."""

    config: int
    epoch: int | None = None
    as_of: int | None = None


class Member(Struct, frozen=True):
    """Who votes, or once did, with the last weight (1.0: one vote), reliability in (0, 1] and public key, hexadecimal.
    `since` when it is a member, and `key_since` when by this key; `left`: since when it is none, None while it is
    `seated`."""

    id: int
    name: str
    role: str
    seated: bool
    weight: float
    reliability: float
    public_key: str
    since: Since
    key_since: Since
    left: Since | None


class Members(Struct, frozen=True, omit_defaults=True):
    """The members of a shard by their ids, as of its configuration `config`: `quorum` of them decide, and `faulty` may
    lie. `next`: the cursor of those that come behind, None at the end."""

    shard: int
    config: int
    quorum: int
    faulty: int
    members: tuple[Member, ...]
    next: str | None = None


class Going(Struct, frozen=True):
    """An episode that an erasure takes, by its own memory id. `because`: what it was made of, or repeated, if that is
    why; `agent` and `created` of a memory alone. `summary`: of a summary, "anew" where it is made anew of what others
    said and members vote on it; else why it is dropped: "named", "model", "few", "over". `sent_to`: to whom its text
    was sent, to a model there."""

    memory_id: str
    was: str
    agent: str | None
    created: int | None
    because: str | None
    summary: str | None = None
    sent_to: tuple[str, ...] = ()


class Staying(Struct, frozen=True):
    """A memory that says the same as what an erasure takes and that stays, and why. Who wants it gone names it."""

    memory_id: str
    agent: str
    created: int
    why: str


class Erasure(Struct, frozen=True):
    """What an erasure takes, or took. `status`: "nothing ordered", "ordered", "erased" or
    "withheld", with `why`: something that it names is held, nothing went, and after the release it takes a new order.

    `memories`, `episodes`: how many; `summaries`: how many of them are summaries; `anew`: how many of these are to be
    made anew of what others said, if members agree: the rest is dropped. `recipients`: to whom something of it had been
    sent, to a model there, who has to be told. `going`: some of them one by one, and `more` beside, of a dry run. From
    `shard` on of one that was carried out: where its entries stand in the journal, and until when remains may lie in
    files. `attested_epoch`: when the members had decided on the order. `staying`: some of what says the same and stays,
    with the reason, and `staying_more` beside; as of the look before the order.
    """

    namespace: str
    selector: str
    value: str
    dry_run: bool
    status: str
    memories: int | None = None
    episodes: int | None = None
    summaries: int | None = None
    anew: int | None = None
    recipients: tuple[str, ...] = ()
    going: tuple[Going, ...] = ()
    more: int = 0
    order_id: str | None = None
    ordered_by: str | None = None
    reference: str | None = None
    ordered_at: int | None = None
    accepted_at: int | None = None
    shard: int | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    residue_until: int | None = None
    attested_epoch: int | None = None
    why: str | None = None
    staying: tuple[Staying, ...] = ()
    staying_more: int = 0
    also: tuple[str, ...] = ()
    """The ids of further orders, for what an earlier release stored under another spelling of the name: what they take
    is counted here, and each has a receipt of its own."""


class Protector(Struct, frozen=True):
    """An order that protects a memory: a pin or a hold (`kind`). What the operator signed nobody else ends."""

    memory_id: str
    kind: str
    order_id: str
    ordered_by: str
    reference: str | None
    accepted_at: int
    signer: str


class Pins(Struct, frozen=True, omit_defaults=True):
    """Pins that stand, the latest first. `next`: the cursor of those that come behind, None at the end."""

    namespace: str
    pins: tuple[Protector, ...]
    next: str | None = None


class Holds(Struct, frozen=True, omit_defaults=True):
    """Holds that stand, the latest first. `next`: the cursor of those that come behind, None at the end."""

    namespace: str
    holds: tuple[Protector, ...]
    next: str | None = None


class Goal(Struct, frozen=True):
    """A goal that is active: how many memories it `needs`, and the first of them by their ids, as far as the reader
    may see them; when it was last said to need anything, by whom, and when it lapses unless it is said again, all in
    milliseconds."""

    goal: str
    needs: int
    memory_ids: tuple[str, ...]
    said_at: int
    lapses_at: int
    ordered_by: tuple[str, ...]


class Goals(Struct, frozen=True, omit_defaults=True):
    """Goals that are active, by name. `next`: the cursor of those that come behind, None at the end."""

    namespace: str
    goals: tuple[Goal, ...]
    next: str | None = None


class Pinned(Struct, frozen=True):
    """What became of a pin or its end. `status`: "pinned", "unpinned" or "ordered"; "pinned already" where another pin
    stands and none was made, "nothing to unpin" where none stands: `detail` says more. `order_id`: the order, or that
    of what stands already; `protected_by`: all that protects the memory now."""

    namespace: str
    memory_id: str
    status: str
    order_id: str | None
    protected_by: tuple[Protector, ...] = ()
    detail: str | None = None


class Needed(Struct, frozen=True):
    """A goal, and all that it needs now. `status`: "active", "ended", "ordered", "nothing to end" where nothing is
    known to be needed, or "not yet" where what was named with the end is not known to be needed: if it was begun a
    moment ago, ask again."""

    namespace: str
    goal: str
    status: str
    memory_ids: tuple[str, ...]


class Restoring(Struct, frozen=True):
    """Where one memory stands. `status`: sealed, restored, alive, destroyed, erased or unknown; `detail` says why."""

    memory_id: str
    status: str
    detail: str


class Restore(Struct, frozen=True):
    """What was asked for, and what became of it. `status`: "nothing to restore" (nobody is asked), "asked" (to be voted
    on) or "decided".

    `epoch`: in which the members voted; `shard` and `journal_seq`: where the request or the decision stands in the
    journal.
    """

    namespace: str
    status: str
    memories: tuple[Restoring, ...]
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None
    restored: int = 0


class Rollback(Struct, frozen=True):
    """What became of a request to roll a memory's weight in experience back `to` an older version. `status`: "nothing
    to roll back" (nobody is asked), "asked" (to be voted on), "rolled back", or "kept" where members decided and it was
    not done; `detail` says why.

    `version`, `weight`: in force now, as far as the answer knows. `epoch`: in which the members voted; `shard` and
    `journal_seq`: where the decision stands in the journal.
    """

    namespace: str
    memory_id: str
    to: int
    status: str
    detail: str
    version: int = 0
    weight: float | None = None
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None


class Leaving(Struct, frozen=True):
    """What a vote would look at: decay D now, and the relevance below which a member lets the memory go; 0: nobody
    does, however little it means to them. `status`: alive, protected (nobody votes on it), forgotten, demoted (it
    was in long-term memory: ask again), kept or unknown. `numbers`: the same as `detail` with what is compared.
    """

    memory_id: str
    status: str
    detail: str
    decay: float | None = None
    relevance_below: float | None = None
    numbers: str | None = None


class Forget(Struct, frozen=True):
    """What would be nominated (`status` "nothing asked"), or was ("asked", "decided").

    `epoch`: in which the members voted; `shard` and `journal_seq`: where the request or the decision stands in the
    journal."""

    namespace: str
    status: str
    dry_run: bool
    memories: tuple[Leaving, ...]
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None


class Took(Struct, frozen=True):
    """What an order to erase destroyed: so many memories, among so many episodes, with its entries of the journal from
    `first_seq` on. Until `residue_until` remains may lie in files. `summaries`: how many of them were summaries,
    `anew`: how many of these are to be made anew of what others said, if members agree. `recipients`: to whom something
    of it had been sent."""

    memories: int
    episodes: int
    first_seq: int
    residue_until: int
    summaries: int = 0
    anew: int = 0
    recipients: tuple[str, ...] = ()


class Ordered(Struct, frozen=True, kw_only=True):
    """What became of an order of any kind. `says`: what it asks for, in the words of its record.

    `status`: "asked" while the members have still to vote on a request and "decided" then, or "nothing to restore",
    "nothing to forget" or "nothing to roll back" where nobody was asked; else what the journal says: erased, withheld,
    in force; "changed nothing" of what came too late. `why`: more of that.
    `shard`, `journal_seq`: the entry that says so; `epoch`: in which the members decided on it, or attested it.
    `memories`: what became of each that a request names; `took`: what an erasure did.
    """

    order_id: str
    kind: str
    namespace: str
    status: str
    says: dict[str, Any]
    ordered_by: str
    reference: str | None
    ordered_at: int
    accepted_at: int
    shard: int
    journal_seq: int
    epoch: int | None = None
    why: str | None = None
    memories: tuple[Restoring, ...] = ()
    took: Took | None = None


class Orders(Struct, frozen=True, omit_defaults=True):
    """Orders that the journal has answered, the latest first. `next`: the cursor of those that come behind, None at the
    end."""

    namespace: str
    orders: tuple[Ordered, ...]
    next: str | None = None


class ErasureReceipt(Struct, frozen=True):
    """What proves an erasure: see core/audit/receipts. `attested` is null until the members have decided."""

    format: str
    cluster: str
    order: dict[str, Any]
    erased: dict[str, Any]
    residue_until: int
    journal: dict[str, Any]
    attested: dict[str, Any] | None
    proof: dict[str, Any]


class Became(Struct, frozen=True):
    """What became of an event; nothing yet where the outcome is null, `erased` where an order took it since, `taken`
    where another agent than the one that asks used its id first. `nowhere`:
    its links to no memory that was alive in its namespace when it was stored; they are none.

    `refused` where intake did not let it in: `reason` is its code, `field` the one at fault, and `detail` says what was
    wrong and what to do. What is let in under that id later has its own outcome.

    Of what clears a slot the outcome is `cleared`, `empty` or `contested`: `hidden` is served no more, and `stays` is
    what fills the slot still, until members vote on it.
    """

    namespace: str
    event_id: str
    outcome: str | None
    memory_id: str | None
    shard: int | None
    journal_seq: int | None
    nowhere: tuple[Link, ...] = ()
    hidden: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    why: str | None = None
    """Of feedback that does not count, why."""
    reason: str | None = None
    field: str | None = None
    detail: str | None = None


class TaskInShort(Struct, frozen=True):
    """A finished task in short. `task`: its id; `goal`: what was to be done; `outcome`: succeeded, failed or unknown,
    says `said_by`; `finished_at`: when, in milliseconds; `retrieved`: the memories that it was given, best first, of
    which `unknown` never were any here; `helped`, `did_not_help`: what agents said of some of them last;
    `subject`: who or what it is about."""

    task: str
    agent: str
    goal: str
    outcome: str
    said_by: str | None
    finished_at: int
    journal_seq: int
    retrieved: tuple[str, ...]
    unknown: tuple[str, ...]
    helped: tuple[str, ...]
    did_not_help: tuple[str, ...]
    subject: str


class Tasks(Struct, frozen=True, omit_defaults=True):
    """Finished tasks, the latest first. `next`: the cursor of those that come behind, None at the end."""

    namespace: str
    tasks: tuple[TaskInShort, ...]
    next: str | None = None


class Feedback(Struct, frozen=True):
    """What an agent says of a memory that a task was given; when, in milliseconds."""

    memory_id: str
    agent: str
    helped: bool
    given_at: int


class FinishedTask(TaskInShort, frozen=True):
    """A finished task whole. `tools`: a summary of each call of a tool; `configuration`: the SHA-256 of what it ran
    under, in hexadecimal; `encoder`: which made its vector; `digest`: the SHA-256 of its record, all that a trial
    of it reads but for feedback."""

    namespace: str
    inputs: str
    outputs: str
    tools: tuple[str, ...]
    configuration: str
    seed: int
    encoder: str
    digest: str
    feedback: tuple[Feedback, ...]


class Judge(Struct, frozen=True):
    """What one finished task says of a memory, the mean over its runs: what it is worth to the task without the memory
    and with it, in [-1, 1], and the tokens and memories that the task was given then.

    `bears_out`, `contradicts`: what of the memory's text states, or contradicts, what the task came to, word for word;
    None where nothing does by the rule of today, or the reader may not read both, or one of them is long."""

    task: str
    without: float
    reward: float
    tokens_without: float
    tokens: float
    given_without: float
    given: float
    bears_out: str | None = None
    contradicts: str | None = None


class Trial(Struct, frozen=True):
    """What a verifier found of a memory as of the decision of the epoch `position`: `score` is S. `agrees`: whether it
    tells what was agreed in as of that decision; None where nothing was."""

    verifier: str
    position: int
    score: float
    agrees: bool | None
    judges: tuple[Judge, ...]
    journal_seq: int


class AdmissionVote(Struct, frozen=True):
    """How members voted on what comes into experience: `yes` ballots of `weight`, where `needed` was needed. `kind`:
    admit, or generalise of a general form and of the memory that it was made of."""

    epoch: int
    outcome: str
    reason: str
    yes: int
    weight: float
    needed: float
    kind: str = "admit"


class Gain(Struct, frozen=True):
    """What a memory came to in a task, in [-1, 1]."""

    task: str
    gain: float


class WeightVersion(Struct, frozen=True):
    """A version of a memory's weight in experience, from the decision of an epoch on, and its cause: admitted, used,
    merged or rolled back; in how many tasks it `helped` by then, on the whole, and in how many it did `harm`. `uses`:
    of how many tasks something new came with it, and `tasks` some of them, by id: the first 50."""

    version: int
    weight: float
    epoch: int
    helped: int
    harm: int
    journal_seq: int
    cause: str
    uses: int
    tasks: tuple[Gain, ...] = ()


class Admission(Struct, frozen=True):
    """Where a memory stands on its way into experience, and why. `status`: untried, provisional, agreed, admitted,
    rejected, demoted, removed, resting where it is not alive and may come back, left, or diffused: a general form of
    another namespace, with what it weighs in this one; `position`: the epoch as of
    which it was tried last; `score`: S that verifiers agree in, and `least` what it has to be; `after`: it is tried as
    of a decision after this epoch. Trials, votes and weights are in the order of the journal, of weights the last 100.

    `tier`: of the memory; `stood`: what was decided of it while it was alive, or is of it now; of what may be tried
    `judges`: how many finished tasks may judge it, of `judges_needed`. `merged_into`: the memory that stands for it in
    experience, since they say the same, as long as that is alive. `general_of`: of a general form, the memory that it
    was made of; `general`: its general form, as long as that is alive or waits for its vote;
    `no_general`: of what was promoted why it has none: no lesson, no name, or no rest."""

    memory_id: str
    namespace: str
    status: str
    least: float
    position: int | None = None
    score: float | None = None
    weight: float | None = None
    version: int = 0
    after: int = 0
    trials: tuple[Trial, ...] = ()
    votes: tuple[AdmissionVote, ...] = ()
    weights: tuple[WeightVersion, ...] = ()
    tier: str = ""
    stood: str | None = None
    judges: int | None = None
    judges_needed: int | None = None
    merged_into: str | None = None
    general_of: str | None = None
    general: str | None = None
    no_general: str | None = None


class Experienced(Struct, frozen=True):
    """A memory on its way into experience, or in it: `text`, its beginning, None where it is not alive; in how many
    tasks it `helped` on the whole, and in how many it did `harm`; `epoch`: of the vote on it, 0 without one;
    `merged_into`: what stands for it there, as long as that is alive."""

    memory_id: str
    status: str
    text: str | None
    score: float | None
    weight: float | None
    version: int
    helped: int
    harm: int
    epoch: int
    journal_seq: int
    merged_into: str | None = None


class Experiences(Struct, frozen=True, omit_defaults=True):
    """Memories that were tried, those that changed last first. `counts`: on the first page, how many of the namespace
    pass, by status; of the 10,000 that changed last. `next`: the cursor of those that come behind, None at the end."""

    namespace: str
    counts: dict[str, int]
    memories: tuple[Experienced, ...]
    next: str | None = None


class Rewarded(Struct, frozen=True):
    """What an agent was given in all for what it did to the fleet's memory: how often for what (used, promoted,
    repeated, refused), the sum, and that times the weight that it has beside the agent's other rewards."""

    agent: str
    counts: dict[str, int]
    sum: float
    weighted: float


class Rewards(Struct, frozen=True):
    """What the agents of a namespace were given, by name. `more`: there are further agents; ask for one by name."""

    namespace: str
    weight: float
    agents: tuple[Rewarded, ...]
    more: bool = False


class RollupTopic(Struct, frozen=True):
    """A roll-up in short: what its thing is called, how many sentences stand in it and can be read, how many of those
    that stand nobody can read any more, and when the first and the last of them were said, in milliseconds."""

    topic: str
    sentences: int
    unreadable: int
    first_said_at: int
    last_said_at: int


class Rollups(Struct, frozen=True):
    """The roll-ups of a namespace, those that most is said of first. `personas`: of whom their sentences are, or by
    whom, and how many each. `as_of`: the time as of which they stand, in milliseconds; None: now. `more`: there are
    further ones."""

    namespace: str
    topics: tuple[RollupTopic, ...]
    personas: dict[str, int]
    as_of: int | None = None
    persona: str | None = None
    more: bool = False


class RollupSentence(Struct, frozen=True):
    """A sentence of a roll-up, word for word: the characters from `start` to before `end` of a memory's content.

    `said_at`: when it was said last, or as of a time first; `since`: the shard's time when it came in, both in
    milliseconds. `read_from`: the memory that it was read from, which is the one that says it, or a summary that quotes
    that.
    """

    text: str
    memory_id: str
    start: int
    end: int
    section: str
    said_at: int
    agent: str
    subject: str
    since: int
    read_from: str


class RollupPatch(Struct, frozen=True):
    """A patch of a roll-up's log, in the order of the journal. `text`: of the sentence that came in; None where nobody
    can read it any more. `replaces`: the memory whose sentence went."""

    journal_seq: int
    as_of: int
    op: str
    memory_id: str
    start: int
    end: int
    text: str | None
    replaces: str | None


class Rollup(Struct, frozen=True):
    """What is said of one thing, in the order in which it was said. `unreadable`: so many sentences stand that nobody
    can read any more, `summed_up` of them as a summary of what said them has them not, the others as they were
    forgotten or erased. `history`: where it was asked for, the patches until then.
    `more`: so many sentences that were said before these are left out."""

    namespace: str
    topic: str
    sentences: tuple[RollupSentence, ...]
    unreadable: int
    as_of: int | None = None
    persona: str | None = None
    history: tuple[RollupPatch, ...] = ()
    more: int = 0
    summed_up: int = 0


class Published(Struct, frozen=True):
    """An episode that Kafka has: what it is called, and what its memory will be. `token`: what a read takes as `after`
    to see it; `place`: what `/events` takes, to tell of this very record where it is refused."""

    namespace: str
    event_id: str
    memory_id: str
    token: str
    place: str | None = None


class Used(Struct, frozen=True):
    """Uses that were told. `used`: how many of them will count; fewer where one was told within the minute. `warning`:
    why that is in doubt."""

    namespace: str
    event_id: str
    used: int
    warning: str | None = None


class Ended(Struct, frozen=True):
    """A session that is over, says Kafka: an agent's part of it, or every agent's. `task`: the finished task that it
    was, where it was said how it ended; `/events` tells what becomes of that."""

    namespace: str
    session: str
    event_id: str
    agent: str | None = None
    task: Published | None = None


class SessionDraft(Struct, frozen=True):
    """A summary that waits for its vote: of how many of an agent's memories it was made, in which epoch members voted
    last and did not take it, if they have voted, and in whose place it was made, which an order erased."""

    memory_id: str
    memories: int
    kept_in: int | None = None
    renews: str | None = None


class SessionSummary(Struct, frozen=True):
    """A summary on which members have voted, and how it stands.

    `status`: "served"; "merged" into another, `into`, which says it now; "erased" by an order; or "forgotten" by a
    vote. `memories`: how many rest sealed because of it. Where it is erased or forgotten nothing says them now, and
    they can be restored `until` then by the shard's time, in milliseconds. `renews`: in whose place it was made, which
    an order erased.
    """

    memory_id: str
    status: str
    memories: int
    into: str | None = None
    renews: str | None = None
    until: int | None = None


class SessionPart(Struct, frozen=True):
    """What an agent said in a session, and what comes of it.

    `memories`: how many are alive; `sealed`: how many rest, since a summary says what is to be kept of them; `unsaid`:
    how many rest of which no summary says it any more; `summaries`: those on which members have voted; `waiting`: those
    that wait for their vote; `coming`: of how many memories each would be made that are not made yet; `staying`: how
    many of `memories` are in none, by the reason: `wanted` on purpose, `protected`, `promoted`, `contradicted`, too
    `few` of them, `talk`, `worth` more than a summary would say of it, or of so much that one `saves` nothing.
    `said_at`: when the last of it was said; `ends_at`: by which time of the shard what may be summed up is over, if
    nobody ends it before and nothing of it comes; both in milliseconds.
    """

    agent: str
    memories: int
    sealed: int
    summaries: tuple[SessionSummary, ...]
    waiting: tuple[SessionDraft, ...]
    coming: tuple[int, ...]
    staying: dict[str, int]
    said_at: int
    unsaid: int = 0
    ends_at: int | None = None


class Session(Struct, frozen=True):
    """A session, by agents, and when members vote next: in `epoch`, which opens at `opens_at` by the shard's time
    `as_of` at the latest, in milliseconds, or so many interactions (episodes and uses in its shard) after the last."""

    namespace: str
    session: str
    parts: tuple[SessionPart, ...]
    as_of: int
    epoch: int
    opens_at: int
    interactions: int


class Access(Struct, frozen=True):
    """What a key may do: its `rights` in its `namespaces`, names and beginnings that end in `*`, and the `slots` that
    it takes from other agents."""

    namespaces: tuple[str, ...]
    rights: tuple[str, ...]
    slots: tuple[str, ...] = ()


class Alive(Struct, frozen=True):
    """That it answers at all."""

    alive: bool


class Ready(Struct, frozen=True):
    """Whether it can answer, and what is wrong with each thing that it needs; empty where nothing is.

    `access`: "keys", or "everyone" where no key is wanted. `cache`: "following" the journal, "behind" where it cannot,
    or "off".
    """

    ready: bool
    encoder: str
    access: str
    cache: str
    store: str
    journal: str
    kafka: str
    keys: str


class Error(Struct, frozen=True):
    """What was wrong: a code, the field at fault if it is one, and what to do."""

    error: str
    field: str | None
    detail: str


prepare(globals())
