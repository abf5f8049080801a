"""The answers of the endpoints. A client returns the same values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core import payloads
from memquorum.core.facets import EPISODIC
from memquorum.core.payloads import Payload
from memquorum.core.prepared import prepare
from memquorum.core.records.episodes import Carried, Link
from memquorum.core.showing import quoting
from memquorum.core.tiers import SEALED, SUPERSEDED


class _Use(Carried, frozen=True, kw_only=True):
    """The details that an episode gave, and the limits of its use.

    `purposes`: the purposes it may be used for; None: any. `jurisdictions`: the laws that it is under. `made_by`: the
    maker of a summary. `general_of`: the memory that a general form was made from. `key`, `path`, `attributes`: its
    slot, folder and labels, while it is alive. `occurred_at`: when it was said last; `first_at`: when it was said
    first, if that is earlier.
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

    @property
    def payload(self) -> Payload | None:
        """Returns the fields of its type, from the attribute `@payload`; None without one."""
        return payloads.read(self.type, self.attributes)


class Overtaken(Struct, frozen=True):
    """A newer memory that contradicts statements of this one, or took its place. `by`: its id; `agent`: its author;
    both None where the reader may not see it, or it is gone. `since`: its time, in milliseconds. `disputed`: another
    agent contradicts, without other support: then the older one may hold. `spans`: the contradicted characters of the
    text as it is given, each [from, to); none where the whole text is meant."""

    by: str | None
    agent: str | None
    since: int
    disputed: bool
    spans: tuple[tuple[int, int], ...] = ()


def mark(text: str, overtaken: Sequence[Overtaken]) -> str:
    """Returns the mark of a text for a line of a prompt: what newer memories overtook of it, else what they dispute,
    and since when the last one does; an empty text without marks."""
    if not overtaken:
        return ""
    said = [one for one in overtaken if not one.disputed] or overtaken
    last = max(said, key=lambda one: one.since)
    spans = sorted({span for one in said for span in one.spans or ((0, len(text)),)})
    return quoting.overtaken(text, last.since, spans, disputed=last.disputed)


class _Text(_Use, frozen=True, kw_only=True):
    """The text of a memory in an answer. `excerpt`: the text consists of those sentences of a summary, or passages of a
    long text, that answer the query. `subject`: the person or thing it is about. `overtaken`: newer memories that
    contradict statements of it; `overtakes`: older ones that it overtook."""

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
    """A memory that was found.

    `score`: the estimated probability that it answers, in [0, 1], falling with the rank; internally, before hits are
    ordered, their cosine. `answerable`: the score is high enough for an answer. `cosine`: in [−1, 1]; None before it is
    computed. `conflicts_with`: memories that contradict it, on which members have not voted yet, or voted to keep both;
    the one to believe first stands first. `weight`: in experience, where only that was searched. `diffused`: it is a
    general form of another namespace. `folded`: the ids of memories with the same text; `also_by`: the other agents who
    said it. `alike`: the ids of memories that say nearly the same in other words and stand further down. `passage`: the
    characters of a long text that answer best, as [from, to).
    """

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
        """The part of its text that answers: its passage, or all of it."""
        return self.text if self.passage is None or self.excerpt else self.text[slice(*self.passage)]


class LeftOut(Struct, frozen=True):
    """The number of memories that were left out for one reason, and the first few ids where they are named."""

    count: int
    memory_ids: tuple[str, ...]


class SearchResult(Struct, frozen=True, omit_defaults=True):
    """The hits of a search. `used`: how many hits count as used; the access is published after the answer, or before
    with `confirm`; `warning`: why some do not. `left_out`: by filter, where the search names one.

    `served_from`: cache or store. `compared`: the memories compared with the query: all of the namespace, the most
    used, or by index, which finds nearly all of the nearest. `cached`: the number of its memories in the cache.
    `answerable`: the question has an answer here, as the ten best hits tell, however many are asked for.
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
    rollups: tuple[Rollup, ...] = ()
    """The roll-ups of things that the question names, each with its latest sentences."""


def _prompt(items: Iterable[_Item], rollups: Iterable[Rollup] = ()) -> str:
    """Formats memories for a prompt: quoted, each on a line of its own, under a heading; then sentences of roll-ups."""
    lines = [
        quoting.line(
            one.text, one.agent, one.occurred_at, mark=mark(one.text, one.overtaken) + quoting.also_said(one.also_by)
        )
        for one in items
    ]
    lines += [rolled_line(one) for rollup in rollups for one in rollup.sentences]
    return quoting.framed(lines).rstrip("\n")


def rolled_line(one: RollupSentence) -> str:
    """A sentence of a roll-up in a prompt, quoted as a memory is."""
    return quoting.line(one.text, one.agent, one.said_at, mark=mark(one.text, one.overtaken))


class _Item(Remembered, frozen=True, kw_only=True):
    """A memory in an answer with a budget. `spans`: where only sentences of a summary or passages of a long text are
    given, their characters in the whole, each [from, to). `diffused`, `also_by`, `alike`, `passage`: as of a hit."""

    conflicts_with: tuple[str, ...] = ()
    diffused: bool = False
    tokens: int
    folded: tuple[str, ...]
    also_by: tuple[str, ...] = ()
    passage: tuple[int, int] | None = None
    spans: tuple[tuple[int, int], ...] = ()
    alike: tuple[str, ...] = ()


class Answering(_Item, frozen=True):
    """A memory that answers a query. `folded`: the ids of memories that say the same. `score`, `answerable`, `cosine`:
    as of a hit. They are ordered by relevance · strength · tier, in experience by cosine · `weight`. `through`: where
    the second step found it, the memory that names its subject, or `question`. Relevance comes of `near_place` among
    the nearest by meaning and `words_place` among the best by words, 1 for the first, None if it is not among them;
    and of its neighbours in its session."""

    score: float
    relevance: float
    strength: float
    cosine: float
    weight: float | None = None
    through: str | None = None
    answerable: bool = True
    near_place: int | None = None
    words_place: int | None = None


class Step(Struct, frozen=True, rename={"of": "from"}):
    """A relation that was followed, in its own direction: of `kind`, it begins at the memory `from` and leads to the
    memory `to`."""

    kind: str
    of: str
    to: str


class Around(_Item, frozen=True):
    """A memory and the `way` to it from its `anchor`: anchor, source, derived, link, session, name or time;
    `apart`: the distance in steps, links or milliseconds. `walk`: the relations from the anchor to it; along a session,
    a time or a derivation one stands for the whole way. `rank`: of a `link` or a `name`, in [0, 1], by its relations
    and its text."""

    way: str
    anchor: str
    apart: int
    walk: tuple[Step, ...] = ()
    rank: float | None = None


class Placed(_Item, frozen=True):
    """A memory of a context, and `why` it is in: `buffer`, as one of the agent's latest, or `relevant` to the query.
    `place`: in the agent's buffer, 1 for the newest, if it is there. `tokens`: of its part of the text. `through`:
    where the second step found it, the memory that names its subject, or `question`. `score`, `answerable`: as of a
    hit, where it is relevant."""

    why: str
    place: int | None
    score: float | None
    through: str | None = None
    answerable: bool | None = None


class Context(Struct, frozen=True, omit_defaults=True):
    """The memories for a prompt, as `text` and in the order of the text: the buffer by time, then the others, best
    first. `left_out`: by reason, as of a retrieval. `answerable`: with a query, as of a search."""

    namespace: str
    items: tuple[Placed, ...]
    text: str
    tokens: int
    budget_tokens: int
    left_out: dict[str, LeftOut]
    used: int
    warning: str | None = None
    answerable: bool | None = None
    parts: dict[str, int] = {}
    """The tokens that each part took: buffer, short_term, long_term, rollups. Headings are not in them."""
    rollups: tuple[Rollup, ...] = ()
    """A roll-up as a search gives it, with the sentences that the text has."""

    def __str__(self) -> str:
        return self.text


class Retrieved(Struct, frozen=True, omit_defaults=True):
    """The memories of a retrieval that fit the budget, best first. `left_out`: by reason; docs/use/reading.md names the
    reasons. `answerable`: as of a search."""

    namespace: str
    items: tuple[Answering, ...]
    tokens: int
    budget_tokens: int
    left_out: dict[str, LeftOut]
    used: int
    answerable: bool
    warning: str | None = None
    rollups: tuple[Rollup, ...] = ()
    """A roll-up as a search gives it, with those of the latest sentences for which the items leave tokens."""

    def __str__(self) -> str:
        return _prompt(self.items, self.rollups)


class Recalled(Struct, frozen=True, omit_defaults=True):
    """The memories around the anchors that fit the budget, in the order of time."""

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
    """A memory in any tier. Times in milliseconds since the epoch; fields that only living memories have are null for
    others. `links`: the links that its publisher named, as far as they are kept and the reader may see them.
    `superseded_by`: the memory that replaced one in the tier `superseded`, where the reader may see that; a request to
    restore brings the older one back by a vote. `overtaken`: newer memories that contradict statements of it."""

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
        """The words in place of a missing text: the tier, and the memory that superseded it."""
        return self.tier if self.superseded_by is None else f"{self.tier} by {self.superseded_by}"


class Listed(Shown, frozen=True, kw_only=True):
    """A memory of a list, with its links, as far as they are kept and the reader may see them.

    `derives_from`: the memories that it was made from; `contradicts`: older ones that it contradicts; `goals`: those
    that need it; `follows`: the previous living memory of its agent in its session.
    """

    derives_from: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    follows: str | None = None


class Page(Struct, frozen=True, omit_defaults=True):
    """Memories in the order in which they were said last, ties by arrival. `next`: the cursor of the next page, None at
    the end."""

    namespace: str
    memories: tuple[Listed, ...]
    next: str | None = None

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Listed]:
        return iter(self.memories)


class Paths(Struct, frozen=True, omit_defaults=True):
    """Paths with memories, in the order of their characters. `next`: the cursor of the next page, None at the end."""

    namespace: str
    paths: tuple[str, ...]
    next: str | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)


class Explained(Struct, frozen=True):
    """The account of a memory, in structure and in lines of words. `numbers`: the same in lines with all weights,
    thresholds, formulas and proofs."""

    account: dict[str, Any]
    lines: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def in_numbers(self) -> str:
        """Returns the account with all numbers, as a text."""
        return "\n".join(self.numbers)


class Subject(Struct, frozen=True):
    """A memory of a decision, and its `state` now: its tier, or "erased"."""

    memory_id: str
    state: str


class Decision(Struct, frozen=True):
    """A decision of the members about one memory, or about several together. `as_of`: its time in milliseconds.

    `why`: the reason of the outcome, in words, and `reason`: as a code; `proposed`: the reason of the proposal, in
    words, None where the certificate proves nothing. `policy`: of the budget that evicted the memory, with the
    `features` that the nominator weighed and the `score` per 1,000 tokens (a negative one as it is); both are None if
    they are withheld or the policy does not use them. `vote`: as in the account of `explain`, in millionths; `lines`:
    the vote in words; `numbers`: the same with all weights, scores and proofs.
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
    """Decisions, the latest first. `next`: the cursor of the next page, None at the end; a page may hold fewer than
    were asked for although another follows."""

    namespace: str
    decisions: tuple[Decision, ...]
    next: str | None = None


class Epoch(Struct, frozen=True):
    """A decided epoch: its time in milliseconds, its `trigger`, the configuration that decided it, and its place in the
    journal. `outcomes`: the number of proposals by outcome, of those that the reader may see."""

    shard: int
    epoch: int
    as_of: int
    trigger: str
    config: int
    journal_seq: int
    outcomes: dict[str, int]


class Epochs(Struct, frozen=True, omit_defaults=True):
    """Epochs of a shard, the latest first. `namespace`: that of the epochs; None where they are all of the shard's.
    `next`: the cursor of the next page, None at the end."""

    shard: int
    epochs: tuple[Epoch, ...]
    namespace: str | None = None
    next: str | None = None


class OpenProposal(Struct, frozen=True):
    """A proposal that members vote on now, by its `position` in the nomination: the number of members for it so far,
    with how much weight, and what a decision needs."""

    position: int
    namespace: str
    memory_ids: tuple[str, ...]
    kind: str
    proposed_because: str
    yes: int
    quorum: int
    weight_ppm: int
    needed_ppm: int


class OpenBallot(Struct, frozen=True):
    """A member, when it sent its ballot (None: not so far), and the positions of the shown proposals that it is for."""

    member: int
    name: str
    voice_ppm: int
    at: int | None
    yes: tuple[int, ...]


class OpenStep(Struct, frozen=True):
    """A member's message in a phase of consensus (pre-prepare, prepare, commit), its view, and when it was sent."""

    step: str
    member: int
    view: int
    at: int


class OpenEpoch(Struct, frozen=True):
    """The epoch that members vote on now: the part about a namespace, or all of it for a shard, with `namespace` None.
    No open epoch: `epoch` is None.
    `as_of`: the shard's time that is judged by; all other times are of the senders' clocks, in milliseconds. Nothing is
    decided before a quorum has committed; the decision is in the list of epochs then."""

    namespace: str | None
    shard: int
    epoch: int | None = None
    as_of: int | None = None
    trigger: str | None = None
    opened_at: int | None = None
    config: int = 0
    members: int = 0
    quorum: int = 0
    total_ppm: int = 0
    proposals: tuple[OpenProposal, ...] = ()
    ballots: tuple[OpenBallot, ...] = ()
    steps: tuple[OpenStep, ...] = ()


class Since(Struct, frozen=True):
    """The configuration of the shard from which something holds. `epoch`: the epoch in which members decided on that,
    at `as_of`, in milliseconds; both None of configuration 0, the genesis file's."""

    config: int
    epoch: int | None = None
    as_of: int | None = None


class Member(Struct, frozen=True):
    """A present or former member, with the last weight (1.0: one vote), reliability in (0, 1] and public key,
    hexadecimal. `since`: the start of its membership, `key_since`: of this key; `left`: the end of its membership, None
    while it is `seated`."""

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
    lie. `next`: the cursor of the next page, None at the end."""

    shard: int
    config: int
    quorum: int
    faulty: int
    members: tuple[Member, ...]
    next: str | None = None


class Going(Struct, frozen=True):
    """An episode that an erasure takes, by its own memory id. `because`: the memory that it was made from, or repeated,
    if that is the reason; `agent` and `created` only of a memory. `summary`: of a summary, "anew" where it is made
    again from other sources and members vote on it; else why it is dropped: "named", "model", "few", "over". `sent_to`:
    the recipients of its text, for a model there."""

    memory_id: str
    was: str
    agent: str | None
    created: int | None
    because: str | None
    summary: str | None = None
    sent_to: tuple[str, ...] = ()


class Staying(Struct, frozen=True):
    """A memory that stays although it says the same as an erased one, or names the erased person, and why. To erase
    it, name it in an order."""

    memory_id: str
    agent: str
    created: int
    why: str


class Erasure(Struct, frozen=True):
    """The extent of an erasure, before or after it. `status`: "nothing ordered", "ordered", "erased" or "withheld":
    then `why` names the hold, nothing was erased, and after the release of the hold it takes a new order.

    `memories`, `episodes`: their numbers; `summaries`: how many of these are summaries; `anew`: how many of those are
    to be made again from other sources, if members agree; the others are dropped. `recipients`: those to whom parts of
    it were sent, for a model there, and who have to be told. `going`: some of them one by one, and `more` others, in a
    dry run. The fields from `shard` on are set once it was carried out: the place of its entries in the journal, and
    the time until which remains may lie in files. `attested_epoch`: the epoch in which members attested the order.
    `staying`: some memories that say the same and stay, with the reason, and `staying_more` others; as of the preview
    before the order.

    `naming`: some memories that stay and have the name of the erased subject or agent in their words, and
    `naming_count`: how many there are, 2,000 at most; None if nobody looked, for want of the right `read`.
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
    naming: tuple[Staying, ...] = ()
    naming_count: int | None = None
    also: tuple[str, ...] = ()
    """The ids of further orders, for memories that an earlier release stored under another spelling of the name: their
    numbers are included here, and each has a receipt of its own."""


class Protector(Struct, frozen=True):
    """An order that protects a memory: a pin or a hold (`kind`). Only the operator can end an order that the operator
    signed."""

    memory_id: str
    kind: str
    order_id: str
    ordered_by: str
    reference: str | None
    accepted_at: int
    signer: str


class Pins(Struct, frozen=True, omit_defaults=True):
    """Pins in force, the latest first. `next`: the cursor of the next page, None at the end."""

    namespace: str
    pins: tuple[Protector, ...]
    next: str | None = None


class Holds(Struct, frozen=True, omit_defaults=True):
    """Holds in force, the latest first. `next`: the cursor of the next page, None at the end."""

    namespace: str
    holds: tuple[Protector, ...]
    next: str | None = None


class Goal(Struct, frozen=True):
    """An active goal: how many memories it `needs`, and the first of them by id, as far as the reader may see them;
    when a need was last declared, by whom, and when it lapses unless it is declared again, in milliseconds."""

    goal: str
    needs: int
    memory_ids: tuple[str, ...]
    said_at: int
    lapses_at: int
    ordered_by: tuple[str, ...]


class Goals(Struct, frozen=True, omit_defaults=True):
    """Active goals, by name. `next`: the cursor of the next page, None at the end."""

    namespace: str
    goals: tuple[Goal, ...]
    next: str | None = None


class Pinned(Struct, frozen=True):
    """The result of a pin or its end. `status`: "pinned", "unpinned" or "ordered"; "pinned already" where another pin
    is in force and none was made, "nothing to unpin" where none is: `detail` says more. `order_id`: the order, or that
    of the pin in force; `protected_by`: all orders that protect the memory now."""

    namespace: str
    memory_id: str
    status: str
    order_id: str | None
    protected_by: tuple[Protector, ...] = ()
    detail: str | None = None


class Classed(Struct, frozen=True):
    """A memory that was reclassified, and what holds for it now. `status`: "reclassified", "ordered" while the order is
    on its way, or "changed nothing" where the memory was gone by then, or too many memories were made of it.
    `sensitivity` may be higher, and `purposes` fewer, than was ordered: what it was made of holds it up."""

    memory_id: str
    status: str
    order_id: str
    sensitivity: float
    purposes: tuple[str, ...] | None
    jurisdictions: tuple[str, ...]


class Reclassified(Struct, frozen=True):
    """The result of orders to reclassify memories. `status`: "reclassified" where all were carried out, "ordered" while
    one is on its way, or "changed nothing" for one."""

    namespace: str
    status: str
    memories: tuple[Classed, ...]


class Profile(Struct, frozen=True):
    """The profile of a subject. `status`: "in force", "ordered" while it is on its way, or "none". `stores`: whether
    anything about the subject is stored; `never`: names and things that are never kept; `private_until`: until then
    nothing about it is stored or shown, in milliseconds; `retention`: after how many days memories of a type are
    erased; `consents`: the purposes that its memories may be read for, each until a time in milliseconds, 0 for no end;
    None: any."""

    namespace: str
    subject: str
    status: str
    order_id: str | None = None
    stores: bool = True
    never: tuple[str, ...] = ()
    private_until: int | None = None
    retention: dict[str, int] = {}
    consents: dict[str, int] | None = None
    accepted_at: int | None = None


class Needed(Struct, frozen=True):
    """A goal, and all memories that it needs now. `status`: "active", "ended", "ordered", "nothing to end" where no
    need is known, or "not yet" where the memories named with the end are not known to be needed: if the goal began a
    moment ago, ask again."""

    namespace: str
    goal: str
    status: str
    memory_ids: tuple[str, ...]


class Restoring(Struct, frozen=True):
    """The state of one memory of a request. `status`: sealed, restored, alive, destroyed, erased or unknown; `detail`
    says why."""

    memory_id: str
    status: str
    detail: str


class Restore(Struct, frozen=True):
    """The result of a request to restore. `status`: "nothing to restore" (no vote), "asked" (waits for the vote) or
    "decided".

    `epoch`: of the vote; `shard` and `journal_seq`: the place of the request or the decision in the journal.
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
    """The result of a request to roll a memory's weight in experience back `to` an older version. `status`: "nothing to
    roll back" (no vote), "asked" (waits for the vote), "rolled back", or "kept" where members decided against it;
    `detail` says why.

    `version`, `weight`: in force now, as far as the answer knows. `epoch`: of the vote; `shard` and `journal_seq`: the
    place of the decision in the journal.
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
    """A preview of a vote to forget a memory: its decay D now, and the relevance below which a member votes to forget
    it; 0: no member does, however low the relevance. `status`: alive, protected (it is not voted on), forgotten,
    demoted (it was in long-term memory: ask again), kept or unknown. `numbers`: the same as `detail` with the compared
    numbers."""

    memory_id: str
    status: str
    detail: str
    decay: float | None = None
    relevance_below: float | None = None
    numbers: str | None = None


class Forget(Struct, frozen=True):
    """The memories that would be nominated (`status` "nothing asked"), or were ("asked", "decided").

    `epoch`: of the vote; `shard` and `journal_seq`: the place of the request or the decision in the journal.
    """

    namespace: str
    status: str
    dry_run: bool
    memories: tuple[Leaving, ...]
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None


class Took(Struct, frozen=True):
    """The result of an order to erase: the numbers of destroyed memories and episodes, and its first entry in the
    journal, `first_seq`. Until `residue_until` remains may lie in files. `summaries`: how many of them were summaries,
    `anew`: how many of these are to be made again from other sources, if members agree. `recipients`: those to whom
    parts of it were sent."""

    memories: int
    episodes: int
    first_seq: int
    residue_until: int
    summaries: int = 0
    anew: int = 0
    recipients: tuple[str, ...] = ()


class Ordered(Struct, frozen=True, kw_only=True):
    """The result of an order of any kind. `says`: its content, in the words of its record.

    `status`: "asked" while the members still have to vote on a request and "decided" after that, or "nothing to
    restore", "nothing to forget" or "nothing to roll back" where no vote was needed; else the effect in the journal:
    erased, withheld, in force, reclassified; "changed nothing" for an order that came too late. `why`: more about that.
    `shard`, `journal_seq`: the entry of the effect; `epoch`: in which the members decided on it, or attested it.
    `memories`: the state of each that a request names; `took`: the result of an erasure.
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
    """Orders that the journal has answered, the latest first. `next`: the cursor of the next page, None at the end."""

    namespace: str
    orders: tuple[Ordered, ...]
    next: str | None = None


class ErasureReceipt(Struct, frozen=True):
    """The proof of an erasure: see core/audit/receipts. `attested` is null until the members have decided."""

    format: str
    cluster: str
    order: dict[str, Any]
    erased: dict[str, Any]
    residue_until: int
    journal: dict[str, Any]
    attested: dict[str, Any] | None
    proof: dict[str, Any]


class Became(Struct, frozen=True):
    """The outcome of an event; null where it has none yet, `erased` where an order erased it since, `taken` where
    another agent than the asking one used its id first, `reused` where the text that the request names is not the first
    one under the id: it is dropped, and the memory `memory_id`, of the first one, stays. `nowhere`: its links to
    memories that were not alive in its namespace when it was stored; they have no effect.

    `refused` where intake refused it: `reason` is the code, `field` the faulty field, and `detail` says what is wrong
    and what to do. An event that is accepted under that id later has its own outcome.

    Of an event that clears a slot the outcome is `cleared`, `empty` or `contested`: `hidden` is no longer served, and
    `stays` still fills the slot until members vote on it.
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
    """The reason why feedback does not count."""
    reason: str | None = None
    field: str | None = None
    detail: str | None = None


class TaskInShort(Struct, frozen=True):
    """A finished task in short. `task`: its id; `goal`: its aim in words; `outcome`: succeeded, failed or unknown, by
    `said_by`; `finished_at`: in milliseconds; `retrieved`: the memories that it was given, best first, of which
    `unknown` never existed here; `helped`, `did_not_help`: the latest feedback of agents on some of them; `subject`:
    the person or thing it is about."""

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
    """Finished tasks, the latest first. `next`: the cursor of the next page, None at the end."""

    namespace: str
    tasks: tuple[TaskInShort, ...]
    next: str | None = None


class Feedback(Struct, frozen=True):
    """The feedback of an agent on a memory that a task was given; `given_at` in milliseconds."""

    memory_id: str
    agent: str
    helped: bool
    given_at: int


class FinishedTask(TaskInShort, frozen=True):
    """A finished task in full. `tools`: a summary of each tool call; `configuration`: the SHA-256 of its configuration,
    in hexadecimal; `encoder`: of its vector; `digest`: the SHA-256 of its record, which is all that a trial reads of it
    except for feedback."""

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
    """The verdict of one finished task on a memory, as the mean over its runs. It has the reward of the task without
    the memory and with it, in [-1, 1], and the tokens and memories that the task was given in each case.

    `bears_out`, `contradicts`: the words of the memory that state, or contradict, the task's result; None where today's
    rule finds none, the reader may not read both, or one of them is long.
    """

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
    """The result of a verifier's trials of a memory, at the decision of the epoch `position`: `score` is S. `agrees`:
    whether it equals the result that verifiers agreed on by then; None where they had not."""

    verifier: str
    position: int
    score: float
    agrees: bool | None
    judges: tuple[Judge, ...]
    journal_seq: int


class AdmissionVote(Struct, frozen=True):
    """The vote on admitting a memory to experience: `yes` ballots of `weight`, of the `needed` weight. `kind`: admit,
    or generalise for a general form and its memory."""

    epoch: int
    outcome: str
    reason: str
    yes: int
    weight: float
    needed: float
    kind: str = "admit"


class Gain(Struct, frozen=True):
    """The gain of a memory in a task, in [-1, 1]."""

    task: str
    gain: float


class WeightVersion(Struct, frozen=True):
    """A version of a memory's weight in experience, from the decision of an epoch on, and its cause: admitted, used,
    merged or rolled back; the numbers of tasks that it `helped` and did `harm` to by then, on the whole. `uses`: how
    many tasks gave new evidence with it, and `tasks`: the first 50 of them, by id."""

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
    """The state of a memory on its way into experience, and why. `status`: untried, provisional, agreed, admitted,
    rejected, demoted, removed, resting where it is not alive and may come back, left, or diffused: a general form of
    another namespace, with its weight in this one. `position`: the epoch of its last trial; `score`: S by the
    verifiers' agreement, and `least` its minimum; `after`: the next trial needs a decision after this epoch. Trials,
    votes and weights are in the order of the journal; of the weights the last 100.

    `tier`: of the memory; `stood`: its last decision while it was alive, or now; `judges`: how many finished tasks may
    judge it, of `judges_needed`, if it may be tried. `merged_into`: the memory that stands for it in experience, as
    they say the same, while that is alive. `general_of`: the memory that a general form was made from; `general`: its
    general form, while that is alive or waits for its vote; `no_general`: why a promoted memory has none: no lesson, no
    name, or no rest. `counts`: what its weight counts in reads now, which is less where nobody has used it for long.
    """

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
    counts: float | None = None


class Experienced(Struct, frozen=True):
    """A memory on its way into experience, or in it: `text`, its beginning, None where it is not alive; the numbers of
    tasks that it `helped` and did `harm` to, on the whole; `epoch`: of its vote, 0 without one; `merged_into`: the
    memory that stands for it there, while that is alive."""

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
    """Memories that were tried, the last changed first. `counts`: on the first page, the number of matching memories by
    status; among the 10,000 that changed last. `next`: the cursor of the next page, None at the end."""

    namespace: str
    counts: dict[str, int]
    memories: tuple[Experienced, ...]
    next: str | None = None


class Rewarded(Struct, frozen=True):
    """The rewards of an agent for its contributions to the fleet's memory: their numbers by cause (used, promoted,
    repeated, refused), the sum, and the sum times the weight of these rewards beside the agent's others."""

    agent: str
    counts: dict[str, int]
    sum: float
    weighted: float


class Rewards(Struct, frozen=True):
    """The rewards of a namespace's agents, by name. `more`: there are further agents; ask for one by name."""

    namespace: str
    weight: float
    agents: tuple[Rewarded, ...]
    more: bool = False


class RollupTopic(Struct, frozen=True):
    """A roll-up in short: its topic, the number of its readable sentences, the number of those that cannot be read any
    more, and when the first and the last of them were said, in milliseconds."""

    topic: str
    sentences: int
    unreadable: int
    first_said_at: int
    last_said_at: int


class Rollups(Struct, frozen=True):
    """The roll-ups of a namespace, the longest first. `personas`: the subjects and authors of their sentences, with the
    number of each. `as_of`: their time, in milliseconds; None: now. `more`: there are further ones."""

    namespace: str
    topics: tuple[RollupTopic, ...]
    personas: dict[str, int]
    as_of: int | None = None
    persona: str | None = None
    more: bool = False


class RollupSentence(Struct, frozen=True):
    """A sentence of a roll-up, word for word: the characters from `start` to before `end` of a memory's content.

    `said_at`: when it was said last, or, as of a time, first; `since`: the shard's time when it came in, both in
    milliseconds. `read_from`: the memory that it was read from: the one that says it, or a summary that quotes that.
    `overtaken`: newer memories that contradict it.
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
    overtaken: tuple[Overtaken, ...] = ()


class RollupPatch(Struct, frozen=True):
    """A patch of a roll-up's log, in the order of the journal. `text`: of the added sentence; None where it cannot be
    read any more. `replaces`: the memory whose sentence was removed."""

    journal_seq: int
    as_of: int
    op: str
    memory_id: str
    start: int
    end: int
    text: str | None
    replaces: str | None


class Rollup(Struct, frozen=True):
    """The sentences about one topic, in the order in which they were said. `unreadable`: the number of sentences that
    cannot be read any more: `summed_up` of them are not in the summary of their source, the others were forgotten or
    erased. `history`: the patches, where they were asked for. `more`: the number of sentences that are left out:
    earlier ones, and in a read with a budget those that do not fit or that another item has."""

    namespace: str
    topic: str
    sentences: tuple[RollupSentence, ...]
    unreadable: int
    as_of: int | None = None
    persona: str | None = None
    history: tuple[RollupPatch, ...] = ()
    more: int = 0
    summed_up: int = 0


class Reader(Struct, frozen=True):
    """An agent that used a memory, or said it again (`how`: accessed or reinforced): how often among the latest 1,000
    times, and when first and last among these, in milliseconds."""

    agent: str
    how: str
    times: int
    first_at: int
    last_at: int


class Reported(Struct, frozen=True):
    """A record that concerns a person. `state`: the tier of a memory; "erased"; or the outcome of an episode that is no
    memory, as in reinforced, below_threshold. `because`: the memory that it was made of, or repeats, if that is why it
    is here.

    `event_id` to `type`: its origin, as it was published. A record that was made of memories of the person, and is not
    about the person itself, has no origin here, no labels, and as text those sentences of a summary that come from
    memories of the person. `memory`: None for an episode that is no memory. A memory whose place another one took has
    its text, too. `task`: a finished task with its texts. `readers`: the agents that used it; `into`: the records that
    were made of it. `account`: as of `explain`, without uses, with scores, votes, recipients, protections, and when its
    key is destroyed; `lines`: the account in words.
    """

    memory_id: str
    state: str
    at: int
    because: str | None
    event_id: str | None = None
    agent: str | None = None
    subject: str | None = None
    source: str | None = None
    session: str | None = None
    type: str | None = None
    memory: Shown | None = None
    task: FinishedTask | None = None
    readers: tuple[Reader, ...] = ()
    into: tuple[Subject, ...] = ()
    account: dict[str, Any] | None = None
    lines: tuple[str, ...] = ()


class Report(Struct, frozen=True, omit_defaults=True):
    """All that concerns a person, or another thing that an erasure can name, by when it was first said: everything that
    an erasure of the same `selector` and `value` would take, and what it took before.

    `as_of`: the shard's time, in milliseconds. `records`: how many there are in all; `kept_back`: how many of this page
    the limits of reading keep back. `orders`: on the first page, the latest 100 orders to erase that named the same.
    `next`: the cursor of the next page, None at the end. `receipt`: the signed statement, if it was asked for: this
    page of a receipt (`core.audit.person_receipts`).
    """

    namespace: str
    selector: str
    value: str
    as_of: int
    records: int
    kept_back: int
    reported: tuple[Reported, ...]
    orders: tuple[Ordered, ...] = ()
    next: str | None = None
    receipt: dict[str, Any] | None = None

    def __len__(self) -> int:
        return len(self.reported)

    def __iter__(self) -> Iterator[Reported]:
        return iter(self.reported)


class Published(Struct, frozen=True):
    """An episode that Kafka has: its id, and the id of its memory. `token`: for the parameter `after` of a read, to see
    it; `place`: for `/events`, to learn why this very record was refused."""

    namespace: str
    event_id: str
    memory_id: str
    token: str
    place: str | None = None


class Used(Struct, frozen=True):
    """The uses that were reported. `used`: how many of them will count; fewer where one was reported within the last
    minute. `warning`: why that is uncertain."""

    namespace: str
    event_id: str
    used: int
    warning: str | None = None


class Ended(Struct, frozen=True):
    """A session that was ended, as Kafka has it: an agent's part of it, or every agent's. `task`: the finished task
    made from it, where the request gave an outcome; `/events` has that task's outcome."""

    namespace: str
    session: str
    event_id: str
    agent: str | None = None
    task: Published | None = None

    def __str__(self) -> str:
        whose = self.agent or "every agent"
        return f"session {self.session} of {self.namespace} is over for {whose}: `session` tells of its summaries"


class SessionDraft(Struct, frozen=True):
    """A summary that waits for its vote: the number of its memories, the epoch of the last vote that kept it out, if
    there was one, and the erased summary that it replaces."""

    memory_id: str
    memories: int
    kept_in: int | None = None
    renews: str | None = None


class SessionSummary(Struct, frozen=True):
    """A summary on which members have voted, and its state.

    `status`: "served"; "merged" into another, `into`, which replaces it; "erased" by an order; or "forgotten" by a
    vote. `memories`: the number that rest sealed because of it. If it is erased or forgotten, their content is not
    served, and they can be restored `until` that time of the shard, in milliseconds. `renews`: the erased summary that
    it replaces.
    """

    memory_id: str
    status: str
    memories: int
    into: str | None = None
    renews: str | None = None
    until: int | None = None


class SessionPart(Struct, frozen=True):
    """An agent's part of a session, and its summaries.

    `memories`: the number alive; `sealed`: the number that rest because a summary stands for them; `unsaid`: the number
    that rest although their summary is gone; `summaries`: those on which members have voted; `waiting`: those that wait
    for their vote; `coming`: of summaries that are not made yet, the number of memories of each; `staying`: the number
    of `memories` in no summary, by reason: `wanted` on purpose, `protected`, `promoted`, `contradicted`, too `few`,
    `talk`, `worth` more than a summary would keep, or so short that a summary `saves` nothing. `said_at`: when the last
    one was said; `ends_at`: the time of the shard at which the open part ends without further messages; both in
    milliseconds.
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
    """A session, by agents, and the next vote: in `epoch`, which opens at the latest at `opens_at`, by the shard's time
    `as_of`, in milliseconds, or after so many `interactions` (episodes and uses in its shard) since the last one."""

    namespace: str
    session: str
    parts: tuple[SessionPart, ...]
    as_of: int
    epoch: int
    opens_at: int
    interactions: int


class SessionInShort(Struct, frozen=True):
    """A session: the first agents that spoke in it by name, and when something was said in it first and last, in
    milliseconds. Numbers of its memories: alive, `sealed` because a summary stands for them, and `resting`: forgotten
    or replaced, and restorable."""

    session: str
    agents: tuple[str, ...]
    first_at: int
    said_at: int
    memories: int
    sealed: int
    resting: int


class Sessions(Struct, frozen=True, omit_defaults=True):
    """The sessions of a namespace, the one in which something was said last first. `next`: the cursor of the next page,
    None at the end."""

    namespace: str
    sessions: tuple[SessionInShort, ...]
    next: str | None = None


class JournalLine(Struct, frozen=True):
    """An entry of the journal in a sentence (`words`), or the part of a decision that is about the namespace. `at`: the
    shard's time, in milliseconds. `agent`: who caused it; `memory_ids`: the first memories that it names; `replaced`:
    those that it took out of service at once, as a filled or cleared slot does; `outcomes`: of a decision in `epoch` of
    `shard`, the number of proposals by outcome. `cursor`: names its place, for this key alone."""

    at: int
    effect: str
    words: str
    agent: str | None
    memory_ids: tuple[str, ...]
    event_id: str
    shard: int
    epoch: int | None
    outcomes: dict[str, int]
    cursor: str
    replaced: tuple[str, ...] = ()


class Journal(Struct, frozen=True, omit_defaults=True):
    """Entries of the journal, the latest first. `latest`: the cursor after which the live feed goes on. `next`: the
    cursor of the next page, None at the end."""

    namespace: str
    entries: tuple[JournalLine, ...]
    latest: str
    next: str | None = None


class SignedHead(Struct, frozen=True):
    """The latest end of a journal that its service signed, `signed_by` name: the entry `seq` with its `hash`, in the
    shard's time `as_of`, in milliseconds, by the key of a `configuration`. `agrees`: whether the checked entries end in
    that hash there; None where this page does not have the entry."""

    seq: int
    hash: str
    as_of: int
    configuration: int
    signed_by: str
    agrees: bool | None


class JournalChecked(Struct, frozen=True, omit_defaults=True):
    """A part of a shard's journal in the store, from the entry `first` to `last`, whose hashes the service has computed
    again: each entry follows the one before. `problem`: why the entry behind `last` does not; None where none is
    wrong. `hash`: of the entry `last`; `ends`: the last entry that the store has. `head`: the latest signed end in the
    topic of heads, None if no head is signed. `shards`: so many there are. `next`: the cursor of the next page, None at
    the end or where something is wrong. Certificates, contents and the columns beside an entry are not checked."""

    shard: int
    shards: int
    first: int
    last: int
    ends: int
    hash: str
    problem: str | None = None
    head: SignedHead | None = None
    next: str | None = None

    @property
    def whole(self) -> bool:
        """False where something is wrong: an entry does not follow, or the signed end is another one."""
        return self.problem is None and (self.head is None or self.head.agrees is not False)


class NamespaceInShort(Struct, frozen=True):
    """A namespace, and the number of its living memories."""

    namespace: str
    memories: int


class Namespaces(Struct, frozen=True, omit_defaults=True):
    """Namespaces with memories, by name. `next`: the cursor of the next page, None at the end."""

    namespaces: tuple[NamespaceInShort, ...]
    next: str | None = None


class AgentInShort(Struct, frozen=True):
    """An agent, the number of its living memories, and when the last one was said, in milliseconds."""

    agent: str
    memories: int
    last_at: int


class NamespaceState(Struct, frozen=True):
    """The state of a namespace at the shard's time `as_of`, in milliseconds.

    `tiers`: the number of memories by tier; `agents`: the 100 with most living memories. `forgotten`: within a day;
    `may_forget`: how many one decision may take now; `stopped_until`: when some may be forgotten again, None if they
    may now. The last decided epoch of the shard, and the time that it judged by, None where the key sees no vote of it;
    when the next one opens at the latest, and after how many `interactions` (episodes and uses in the shard since the
    last one)."""

    namespace: str
    shard: int
    as_of: int
    tiers: dict[str, int]
    agents: tuple[AgentInShort, ...]
    forgotten: int
    may_forget: int
    stopped_until: int | None
    last_epoch: int
    last_epoch_at: int | None
    next_epoch_at: int
    interactions: int


class PolicyInForce(Struct, frozen=True):
    """The policy by which a namespace's memories are judged: the shard's configuration, the number of its policy (0:
    the genesis file's), its sections, and the numbers that differ from the defaults."""

    namespace: str
    shard: int
    config: int
    version: int
    sections: dict[str, Any]
    changed: dict[str, Any]


class FleetStage(Struct, frozen=True):
    """A stage's numbers: records a second that it `took` and `sent`, how many wait (`lag`), latencies in milliseconds,
    open epochs and refused records. None if it has no such number."""

    stage: str
    took: float
    sent: float
    lag: int | None
    p50_ms: float | None
    p99_ms: float | None
    open: int | None
    refused: int


class FleetProcess(Struct, frozen=True):
    """A process of the fleet. `problem`: what is unusual about it, in words, empty if nothing is: it does not run,
    waits, is slowed down, or raises an alarm (`alarm`). `starts`: how often it was started; `mib`: its memory."""

    name: str
    state: str
    pid: int | None
    starts: int
    mib: int
    problem: str
    alarm: bool
    notes: dict[str, str]
    stages: tuple[FleetStage, ...]


class Fleet(Struct, frozen=True):
    """The state of the fleet, as far as this service can see its processes: "ready", "starting", "stopping", "failed",
    or "unknown" where other machines run them. `step`: what it does now. `genesis_file`: where the genesis file is on
    the service's machine, None where it does not know."""

    state: str
    step: str
    processes: tuple[FleetProcess, ...]
    genesis_file: str | None = None


class DeadLetter(Struct, frozen=True):
    """A record that intake refused: why, at which field, and its place, as TOPIC/PARTITION/OFFSET. `refused_at`: in
    milliseconds."""

    refused_at: int
    reason: str
    field: str | None
    detail: str
    place: str


class DeadLetters(Struct, frozen=True):
    """The latest refusals that the service has read, of the last hour at its start and since, the latest first;
    `counts`: the number of all of these by reason."""

    counts: dict[str, int]
    letters: tuple[DeadLetter, ...]


class Fault(Struct, frozen=True):
    """Messages of a member that no honest member signs: `what` they are, the members who reported them, and when that
    was first, in milliseconds. `proven`: the signed messages alone prove it; `detail` says what, or why not."""

    shard: int
    member: int
    what: str
    reported_by: tuple[int, ...]
    first_at: int
    proven: bool
    detail: str


class Evidence(Struct, frozen=True):
    """The reported faults of members. `strangers`: the number of records there that no member signed."""

    faults: tuple[Fault, ...]
    strangers: int


class TraceSpan(Struct, frozen=True):
    """A step of a memory's way: in which `service`, since when and how long, in milliseconds. `depth`: how deep it is
    in its trace; `waited_ms`: how long its record was in its topic before; `marks`: what else was recorded of it."""

    trace: str
    name: str
    service: str
    depth: int
    start_ms: float
    took_ms: float
    waited_ms: float | None
    marks: dict[str, str]


class MemoryTrace(Struct, frozen=True):
    """The recorded steps of a memory: from its publication to its storage, then votes and uses. None are there if
    traces are sent to a collector, or are not recorded."""

    memory_id: str
    spans: tuple[TraceSpan, ...]


class Access(Struct, frozen=True):
    """The permissions of a key: its `rights` in its `namespaces` (names, and prefixes that end in `*`), the `slots`
    that it may take from other agents, and the `subjects` whose profiles it sees and sets."""

    namespaces: tuple[str, ...]
    rights: tuple[str, ...]
    slots: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()


class Conflict(Struct, frozen=True):
    """Two memories that contradict each other, of which the older one is in service. `first`: the one that is served
    first; `disputed`: another agent contradicts, without other support: then the older one may hold. `stated`: the
    newer one says on purpose that it takes the other's place; `compared`: a model found the contradiction, else a rule
    did. `newer_tier`: a forgotten one still marks the older one. Texts are None where they are not in service."""

    newer: str
    older: str
    first: str
    disputed: bool
    stated: bool
    compared: bool
    agent: str
    older_agent: str
    newer_at: int
    older_at: int
    newer_tier: str
    older_tier: str
    newer_text: str | None
    older_text: str | None
    journal_seq: int


class Conflicts(Struct, frozen=True, omit_defaults=True):
    """Open contradictions of a namespace, the last found first. `next`: the cursor of the next page, None at the
    end."""

    namespace: str
    conflicts: tuple[Conflict, ...]
    next: str | None = None


class KeyInShort(Struct, frozen=True):
    """An API key without its secret. `name`: its owner, for people; `opens`: whether it still opens anything; times in
    milliseconds. `made_by`, `revoked_by`: the key of who did it; None where an operator did it on the command line."""

    key_id: str
    name: str
    namespaces: tuple[str, ...]
    rights: tuple[str, ...]
    slots: tuple[str, ...]
    opens: bool
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    made_by: str | None
    revoked_by: str | None
    subjects: tuple[str, ...] = ()


class ApiKeys(Struct, frozen=True, omit_defaults=True):
    """API keys of namespaces that are all the asker's, the latest first. `next`: the cursor of the next page, None at
    the end."""

    keys: tuple[KeyInShort, ...]
    next: str | None = None


class KeyMade(Struct, frozen=True):
    """A new API key: `key` is what its holder sends, and is not told again."""

    key: str
    made: KeyInShort


class Alive(Struct, frozen=True):
    """The answer of a live process."""

    alive: bool


class Ready(Struct, frozen=True):
    """The answer to whether it is ready: the problem of each thing that it needs, empty without one.

    `access`: "keys", or "everyone" where no key is needed. `cache`: "following" the journal, "behind" where it cannot,
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
    """An error: a code, the faulty field if there is one, and what to do."""

    error: str
    field: str | None
    detail: str


prepare(globals())
