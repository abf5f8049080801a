"""Lists the fleet's decisions on the memories of a namespace, vote by vote, the latest first.

One entry is one proposal: what its vote was about, how it ended and why, by which policy, features and score it was
proposed, and who voted what. Each says what `explain` says of its memories, by the same `votes` and `telling`, and no
content; of what is gone or erased, its id and that it is.

A page begins after the last proposal of the one before, so later decisions move nothing. A namespace is of one shard,
so its epochs are in the order in which they were decided.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from memquorum.core.accounts import plainly, telling
from memquorum.core.accounts.explain import configured, plain
from memquorum.core.accounts.votes import DecisionFacts, Proven, Unproven, prove, vote_on
from memquorum.core.api.answers import Decision, Subject
from memquorum.core.api.requests import DecisionsRequest
from memquorum.core.avro import Codec
from memquorum.core.budgets.rules import WEIGHS
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.decisions import VOIDED
from memquorum.core.policy import FEATURES, FORGETTING, PPM
from memquorum.core.records import Weighed
from memquorum.core.retrieval import paging
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.paging import Spaced, number, read_page, read_some, text
from memquorum.core.retrieval.query import read_body, read_memory_id
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.tally import KEPT

VOTED: Mapping[str, str] = {kind.name: kind.outcome for kind in KINDS.values() if kind.about_memories}
"""The kinds of which something becomes of memories, each with its outcome. The other kinds of votes are about orders.
"""
OUTCOMES = (*dict.fromkeys(VOTED.values()), KEPT, VOIDED)
ERASED = "erased"
EPOCHS_MOST = 50
"""So many certificates are checked for a page; it ends before the next, however many it was to hold."""
_NOW = {
    "short-term": "in short-term memory",
    "long-term": "in long-term memory",
    "draft": "waiting for its vote",
    "gone": "gone, its key destroyed",
}


class PageStart(Struct, frozen=True):
    """The start of a page: after this proposal of this epoch."""

    epoch: int
    position: int


class Wanted(Spaced, frozen=True, kw_only=True):
    """A page of decisions, by the time of which the epoch spoke, `behind` a proposal; of those of which all memories
    pass."""

    what: str = "decisions"
    kinds: tuple[str, ...] = tuple(VOTED)
    outcomes: tuple[str, ...] | None = None
    policies: tuple[str, ...] | None = None
    memory_id: str | None = None
    behind: PageStart | None = None


class Voted(Struct, frozen=True):
    """The outcome of a proposal, from the store; `memories`: their current states, ordered by their ids."""

    shard: int
    epoch: int
    position: int
    kind: str
    outcome: str
    reason: str
    as_of: int
    memories: tuple[Subject, ...]


class Certified(Struct, frozen=True):
    """A decided epoch with its certificate."""

    journal_seq: int
    pre_prepare: bytes
    commits: tuple[bytes, ...]


class Found(Struct, frozen=True):
    """A page as the store has it: what was voted, the epochs' certificates, and the decisions that changed who votes in
    the shard, as (pre-prepare, commits) in their order. `behind`: where the next page begins, None at the end."""

    voted: tuple[Voted, ...] = ()
    epochs: Mapping[int, Certified] = {}
    configured: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()
    behind: PageStart | None = None


def page(rows: list[Voted], limit: int) -> tuple[tuple[Voted, ...], PageStart | None]:
    """Returns a page's rows, and the start of the next page. `rows`: one more than `limit`, if there are so many."""
    known: set[int] = set()
    for at, row in enumerate(rows):
        known.add(row.epoch)
        if at == limit or len(known) > EPOCHS_MOST:
            return tuple(rows[:at]), PageStart(rows[at - 1].epoch, rows[at - 1].position)
    return tuple(rows), None


def cursor(namespace: str, place: PageStart) -> str:
    """Returns the cursor with which a reader requests the page after a place. It is valid for this namespace only."""
    return paging.cursor("decisions", namespace, f"{place.epoch}/{place.position}")


def read_wanted(body: bytes, bounds: Bounds = DEFAULTS) -> Wanted:
    """The page that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, DecisionsRequest)
    return read_page(
        Wanted, asked, _proposal, bounds,
        kinds=read_some("kinds", asked.kinds, tuple(VOTED)) or tuple(VOTED),
        outcomes=read_some("outcomes", asked.outcomes, OUTCOMES),
        policies=read_some("policies", asked.policies, FORGETTING),
        memory_id=None if asked.memory_id is None else read_memory_id(asked.memory_id),
    )  # fmt: skip


def _proposal(place: str) -> PageStart:
    epoch, _, position = text(place).partition("/")
    return PageStart(number(epoch), number(position))


def read_decisions(codec: Codec, genesis: Genesis, found: Found) -> tuple[Decision, ...]:
    """The decisions of a page, in its order. `genesis`: the file's.

    One whose certificate names more than what the reader may see of its memories is left out.
    """
    now = configured(codec, genesis, found.configured) if found.voted else genesis
    proven = {epoch: prove(codec, now, one.pre_prepare, one.commits) for epoch, one in found.epochs.items()}
    made = (_decision(codec, now, row, found.epochs[row.epoch], proven[row.epoch]) for row in found.voted)
    return tuple(one for one in made if one is not None)


def _decision(
    codec: Codec, genesis: Genesis, row: Voted, certified: Certified, decided: Proven | Unproven
) -> Decision | None:
    facts = DecisionFacts(
        row.shard, row.epoch, row.position, row.outcome, row.reason,
        certified.journal_seq, certified.pre_prepare, certified.commits,
    )  # fmt: skip
    named = _named(decided, row)
    if len(named) > len(row.memories):
        return None
    # The memory that the proposal takes, or else its first one; spared memories lose nothing and are listed separately.
    subject = (KINDS[row.kind].taken(named) or named)[0]
    vote = vote_on(codec, decided, subject, facts)
    weighed = vote.weighed
    return Decision(
        shard=row.shard,
        epoch=row.epoch,
        position=row.position,
        journal_seq=certified.journal_seq,
        as_of=row.as_of,
        kind=vote.kind or row.kind,
        outcome=row.outcome,
        reason=row.reason,
        why=telling.why(KINDS[row.kind], row.reason),
        proposed=telling.proposed(vote) if vote.kind else None,
        memories=tuple(sorted(row.memories, key=lambda one: named.index(one.memory_id))),
        policy=weighed.policy if weighed is not None else None,
        features=_features(weighed),
        score=_score(weighed),
        vote=plain(vote),
        lines=tuple(_lines(row, plainly.voted(vote, genesis), indent="")),
        numbers=tuple(_lines(row, telling.voted(vote, subject, genesis), indent="  ")),
    )


def _named(decided: Proven | Unproven, row: Voted) -> tuple[str, ...]:
    """The memories of a proposal in its order; those that the store has, where the certificate does not speak of all of
    them."""
    own = tuple(one.memory_id for one in row.memories)
    proposals = () if isinstance(decided, Unproven) else decided.checked.nomination.proposals
    named = proposals[row.position].memory_ids if row.position < len(proposals) else ()
    return named if set(own) <= set(named) else own


def _features(weighed: Weighed | None) -> dict[str, float] | None:
    """ψ by name; None where the policy does not go by it, or where it is withheld."""
    if weighed is None or weighed.score is None or weighed.policy not in WEIGHS:
        return None
    return {name: value / PPM for name, value in zip(FEATURES, weighed.features, strict=False)}


def _score(weighed: Weighed | None) -> float | None:
    """The score per 1,000 tokens; a negative one is not divided, as `core.budgets.items` has it."""
    if weighed is None or weighed.score is None or weighed.net_ppm is None or weighed.policy not in WEIGHS:
        return None
    return weighed.net_ppm / PPM if weighed.net_ppm < 0 else weighed.score / 1_000 / PPM


def _lines(row: Voted, vote: Iterator[str], *, indent: str) -> Iterator[str]:
    yield next(vote)
    by_state: dict[str, list[str]] = {}
    for one in row.memories:
        by_state.setdefault(state(one), []).append(one.memory_id)
    if len(row.memories) == 1:
        yield f"{indent}About {row.memories[0].memory_id}, now {state(row.memories[0])}."
    yield from vote
    if len(row.memories) > 1:
        yield from (f"{indent}Now {now}: {', '.join(named)}." for now, named in by_state.items())


def state(one: Subject) -> str:
    """Returns a memory's current state in words."""
    return "erased" if one.state == ERASED else _NOW.get(one.state, one.state)
