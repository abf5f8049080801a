"""States what was done with the records of a person, for a receipt (`core.audit.person_receipts`).

A statement has ids, times, places in the journal and reasons. It has no content, and no digest that was made of content
alone: by such a digest one could confirm a guess at a short text. The hash of a journal entry covers the entry's
commitment, an HMAC under the memory's own key, and confirms no guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from memquorum.core.accounts import plainly
from memquorum.core.accounts.explain import BORN, Account, Facts
from memquorum.core.identity.membership import Genesis
from memquorum.core.tiers import GONE, SUPERSEDED

FORMAT = "memquorum/person-receipt/1"
"""The format of a receipt: its signed pages as `parts`."""


class StatedEvent(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Something that was done with a record, `at` a time in milliseconds.

    `journal_seq`: the entry of the journal that did it; `entry`: that entry's hash. `by`: the memory that gave cause,
    or the order; `to`: who was sent the text; `times`: how often. `epoch`, `kind`, `yes`, `members`: of a vote. `ppm`
    and `signals`: the importance that the record was given, in millionths.
    """

    what: str
    at: int
    journal_seq: int | None = None
    entry: str | None = None
    why: str = ""
    by: str | None = None
    to: str | None = None
    times: int = 0
    epoch: int = 0
    kind: str = ""
    yes: int = 0
    members: int = 0
    ppm: int | None = None
    signals: Mapping[str, int] = {}


class StatedRecord(Struct, frozen=True):
    """A record that concerns a person. `own`: it is about the person, and not only made of a record that is. `because`:
    the memory that it was made of, or repeats; `into`: what was made of it, each with its state."""

    memory_id: str
    state: str
    at: int
    own: bool
    because: str | None
    into: tuple[tuple[str, str], ...]
    events: tuple[StatedEvent, ...]


def events(facts: Facts, account: Account, genesis: Genesis, *, own: bool) -> tuple[StatedEvent, ...]:
    """Returns everything that was done with a memory, or with an episode that became none, in order of time. `own`:
    whether it is about the person itself; of other records neither origin nor uses are told."""
    found = [*_votes(account, genesis), *_gave_way(account), *_erased(account)]
    return in_order([*_stored(facts, account), *_used(account), *_sent(account), *found] if own else found)


def in_order(found: Iterable[StatedEvent]) -> tuple[StatedEvent, ...]:
    """Returns events in order of time."""
    return tuple(sorted(found, key=lambda one: (one.at, one.journal_seq or 0)))


def _stored(facts: Facts, account: Account) -> Iterator[StatedEvent]:
    for note in facts.notes:
        if note.effect in BORN:
            yield StatedEvent(what=note.effect, at=note.as_of, journal_seq=note.seq, entry=note.hash.hex())
    if account.born is not None and account.born.signals:
        signals = {one.name: one.value_ppm for one in account.born.signals}
        yield StatedEvent(what="scored", at=account.born.occurred_at, ppm=account.born.salience_ppm, signals=signals)


def _used(account: Account) -> Iterator[StatedEvent]:
    for what, count in (("read", account.accesses), ("said again", account.reinforced)):
        if count:
            yield StatedEvent(what=what, times=count, at=account.last_access or account.as_of)


def _sent(account: Account) -> Iterator[StatedEvent]:
    return (StatedEvent(what="sent", to=one.recipient, at=one.at) for one in account.sent)


def _votes(account: Account, genesis: Genesis) -> Iterator[StatedEvent]:
    for vote in account.votes:
        if vote.complaint is None:
            yield StatedEvent(
                what=vote.outcome, at=vote.as_of, journal_seq=vote.journal_seq, epoch=vote.epoch, kind=vote.kind,
                why=plainly.reason(vote, genesis) or vote.reason, yes=vote.yes, members=vote.members,
            )  # fmt: skip


def _gave_way(account: Account) -> Iterator[StatedEvent]:
    for one in account.superseded:
        if one.epoch is None:  # else a vote, which is told as one
            what = "cleared" if one.cleared else SUPERSEDED
            yield StatedEvent(what=what, by=one.by, at=one.at, why="it was saved under the same key")
    for pair in account.conflicts:
        if pair.older == account.memory_id:
            yield StatedEvent(what="contradicted", by=pair.newer, at=pair.newer_at)


def _erased(account: Account) -> Iterator[StatedEvent]:
    if (one := account.erased) is not None:
        why = f"{one.ordered_by} ordered it"
        yield StatedEvent(what="erased", at=one.accepted_at, journal_seq=one.journal_seq, by=one.order_id, why=why)
    elif account.tier == GONE and account.changed is not None:
        yield StatedEvent(what="key destroyed", at=account.changed)
