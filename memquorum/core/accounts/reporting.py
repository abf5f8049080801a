"""Reports all that concerns a person: reads the request, puts each record together from the store's rows, and tells it
in words for that person.

A person is named as in an erasure, and the report is of the same records (`db.report_rows`). A record that was made of
memories of the person and is not about the person itself may speak of others: of it only facts are told, and those
sentences of a summary that come from memories of the person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from memquorum.core.access import AUDIT
from memquorum.core.accounts import account_words, order_words, stating
from memquorum.core.accounts import explain as explaining
from memquorum.core.accounts.erasing import read_named, read_value
from memquorum.core.accounts.explain import Account, Facts, Use
from memquorum.core.accounts.stating import StatedEvent, StatedRecord
from memquorum.core.accounts.telling import moment, times
from memquorum.core.api import parts
from memquorum.core.api.answers import Ordered, Reader, Report, Reported, Shown, Subject
from memquorum.core.api.requests import ReportRequest
from memquorum.core.avro import Codec
from memquorum.core.consolidation import rendering
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.erase import MEMORY
from memquorum.core.orders.uses import ACCESSED
from memquorum.core.records import Quote
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.paging import Spaced, pair, read_page
from memquorum.core.retrieval.query import BadRequest, read_body, read_exactly
from memquorum.core.salience import REINFORCED
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import SEALED

ECHO, ERASED = REINFORCED, "erased"
"""The states of an episode that only repeated a memory, which has no account of its own, and of what was erased."""


class Asked(Spaced, frozen=True, kw_only=True):
    """A page of a report, `behind` (time, id). `redact`: what is found of persons and secrets is masked. `receipt`:
    with a signed statement of what was done with the records."""

    selector: str
    value: str
    behind: tuple[int, str] | None = None
    redact: bool = False
    receipt: bool = False


class Place(Struct, frozen=True):
    """A record of a report. `own`: the selector names it, or it says the same as such a record; else it was made of
    one. `whole`: the memory whose limits of use count for it."""

    memory_id: str
    at: int
    state: str
    because: str | None
    event_id: str | None
    own: bool
    whole: str | None

    @property
    def place(self) -> tuple[int, str]:
        """Its place in the order of the report."""
        return self.at, self.memory_id


class Event(Struct, frozen=True):
    """The origin of an episode."""

    event_id: str
    agent: str | None
    subject: str | None
    source: str | None
    session: str | None
    type: str | None


class Told(Struct, frozen=True):
    """The data on a record: a memory as `Shown` has it, but for `due_at`, and the facts for its account."""

    place: Place
    shown: dict[str, Any] | None = None
    facts: Facts | None = None


class Found(Struct, frozen=True):
    """A page as the store has it. `records`: how many there are in all; `own`: the ids of those that are about the
    person; `replaced`: the texts of memories whose place others took; `behind`: the last place, if more follow. For a
    receipt, `ends`: the last entry of the shard's journal; `configured`: the decisions that changed its
    configuration."""

    as_of: int = 0
    records: int = 0
    own: frozenset[str] = frozenset()
    told: tuple[Told, ...] = ()
    kept_back: int = 0
    events: Mapping[str, Event] = {}
    into: Mapping[str, tuple[Subject, ...]] = {}
    replaced: Mapping[str, str] = {}
    orders: tuple[Ordered, ...] = ()
    behind: tuple[int, str] | None = None
    ends: int = 0
    configured: tuple[tuple[bytes, tuple[bytes, ...]], ...] = ()


def read_report(body: bytes, bounds: Bounds = DEFAULTS) -> Asked:
    """The page of a report that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, ReportRequest)
    named = read_named(asked)
    if len(named) != 1:
        told = "name exactly one of memory_id, subject, agent, source"
        raise BadRequest("missing_field" if not named else "too_many", None, told)
    ((selector, said),) = named
    value = read_value(selector, said if selector == MEMORY else read_exactly(selector, said))
    return read_page(
        Asked, asked, pair, bounds,
        what=f"report/{selector}/{value}", selector=selector, value=value, redact=bool(asked.redact),
        receipt=bool(asked.receipt),
    )  # fmt: skip


class Reporter(Struct, frozen=True):
    """Puts the records of a page together. `genesis`: the file's; `due`: when a memory may be nominated to be
    forgotten; `mask`: masks the text of a memory."""

    codec: Codec
    genesis: Genesis
    found: Found
    due: Callable[[Mapping[str, Any]], int | None]
    mask: Callable[[str, str, str | None], str]

    def record(self, told: Told) -> Reported:
        """Returns a record of the report."""
        one, found = told.place, self.found
        account, lines = self._account(told)
        memory = self._shown(told, account)
        if account is not None and not one.own:
            account = structs.replace(account, born=None)
        event = found.events.get(one.event_id or "") if one.own else None
        origin = {} if event is None else structs.asdict(event)
        return Reported(
            one.memory_id, one.state, one.at, one.because, **origin, memory=memory,
            readers=_readers(() if account is None else account.uses), into=found.into.get(one.memory_id, ()),
            account=None if account is None else explaining.plain(structs.replace(account, uses=())), lines=lines,
        )  # fmt: skip

    def stated(self, told: Told) -> StatedRecord:
        """Returns a record as a receipt states it."""
        one, done = told.place, tuple[StatedEvent, ...]()
        if told.facts is not None:
            by = explaining.configured(self.codec, self.genesis, told.facts.configured)
            account = explaining.explain(self.codec, by, told.facts)
            done = stating.events(told.facts, account, by, own=one.own)
        into = tuple((other.memory_id, other.state) for other in self.found.into.get(one.memory_id, ()))
        return StatedRecord(one.memory_id, one.state, one.at, one.own, one.because, into, done)

    def _account(self, told: Told) -> tuple[Account | None, tuple[str, ...]]:
        if told.facts is None:
            return None, ()
        by = explaining.configured(self.codec, self.genesis, told.facts.configured)
        account = explaining.explain(self.codec, by, told.facts)
        if told.place.own:
            return account, tuple(account_words.history(account, by))
        # The report does not tell who else said it, and when.
        account = parts.cut(account, {AUDIT})
        return account, tuple(account_words.history(structs.replace(account, born=None), by))

    def _shown(self, told: Told, account: Account | None) -> Shown | None:
        if told.shown is None:
            return None
        memory = Shown(**told.shown, due_at=self.due(told.shown))
        text = memory.text
        if told.place.own:
            text = self.found.replaced.get(memory.memory_id) if text is None else text
            return structs.replace(
                memory, text=None if text is None else self.mask(text, memory.memory_id, memory.subject)
            )
        text = None if text is None else own_sentences(text, _quotes(account), self.found.own)
        masked = None if text is None else self.mask(text, memory.memory_id, memory.subject)
        return structs.replace(parts.cut(memory, {AUDIT}), text=masked, agent="", event_id="")


def _quotes(account: Account | None) -> tuple[Quote, ...]:
    born = None if account is None else account.born
    return () if born is None or born.summary is None else born.summary.quotes


def own_sentences(text: str, quotes: Sequence[Quote], own: frozenset[str]) -> str | None:
    """Returns those sentences of a summary that come from these memories alone, a line each; None without any."""
    lines, sources = rendering.sentences(text), list(rendering.grouped(quotes))
    if len(lines) != len(sources):
        return None
    said = [
        line for line, quoted in zip(lines, sources, strict=True) if all(quote.memory_id in own for quote in quoted)
    ]
    return "\n".join(said) or None


def _readers(uses: Iterable[Use]) -> tuple[Reader, ...]:
    found: dict[tuple[str, str], Reader] = {}
    for use in uses:
        key = use.agent, use.how
        was = found.get(key) or Reader(*key, 0, use.at, use.at)
        found[key] = structs.replace(
            was, times=was.times + 1, first_at=min(was.first_at, use.at), last_at=max(was.last_at, use.at)
        )
    return tuple(found[key] for key in sorted(found))


# In words -----------------------------------------------------------------------------------------------------------


def heading(page: Report) -> Iterator[str]:
    """Yields what the report is about, and the erasures that named it: the beginning of its first page."""
    about = f"{page.selector} {page.value!r} in {page.namespace!r}"
    if not page.records:
        yield f"nothing is or was here for {about}; names are compared letter by letter, with capitals"
    else:
        yield f"All that concerns {about}, as of {moment(page.as_of)}: {many(page.records, 'record')}"
    for one in page.orders:
        yield ""
        yield from order_words.lines(one)
        yield f"  the proof of it: memquorum receipt get {one.order_id}"


def kept_back(count: int) -> str:
    """Returns the sentence on records that the limits of reading keep back."""
    verb = "is" if count == 1 else "are"
    return f"{many(count, 'record')} {verb} kept back: too sensitive, for other purposes, or under another law"


def record(one: Reported) -> Iterator[str]:
    """Yields a record: its text, who used it, what was made of it, and its account."""
    yield f"{moment(one.at)}  {one.memory_id}  {one.state}"
    yield from (f"  {line}" for line in _said(one))
    if one.because is not None:
        how = "It repeats" if one.memory is None else "It is here because of"
        yield f"  {how} {one.because}."
    if one.account is None and one.agent is not None:
        where = "".join(
            f", {name} {value}" for name, value in (("session", one.session), ("source", one.source)) if value
        )
        yield f"  {one.agent} said it{where}."
    yield from (f"  {_used(reader)}" for reader in one.readers)
    if one.into:
        made = ", ".join(f"{other.memory_id} ({other.state})" for other in one.into)
        yield f"  It went into {made}."
    yield from (f"  {line}" if line else "" for line in one.lines)


def _said(one: Reported) -> Iterator[str]:
    text = None if one.memory is None else one.memory.text
    if text is not None:
        yield from (f"> {line}" for line in text.split("\n"))
        return
    if one.task is not None:
        said = (("goal", one.task.goal), ("inputs", one.task.inputs), ("outputs", one.task.outputs))
        yield from (f"> {name}: {value}" for name, value in said if value)
        yield from (f"> tool: {tool}" for tool in one.task.tools)
        return
    if one.state == ERASED:
        yield "It was erased: nobody can read it any more."
    elif one.state == SEALED:
        yield "It rests sealed: its text is not told unless it is restored."
    elif one.memory is not None and one.event_id is None and one.because is not None:
        yield "It was made of memories of this person, and is not told here: it may speak of others."


def _used(one: Reader) -> str:
    how = "read it" if one.how == ACCESSED else "said it again"
    last = f"on {moment(one.last_at)}" if one.times == 1 else f"first on {moment(one.first_at)}, last on"
    return f"{one.agent} {how} {times(one.times)}, {last}{'' if one.times == 1 else ' ' + moment(one.last_at)}."
