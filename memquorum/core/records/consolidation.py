"""The records of consolidation: the end of a session, what a summary says it was made of, what is sent to a model, and
what a model said of statements."""

from __future__ import annotations

from msgspec import Struct


class SessionEnded(Struct, frozen=True):
    """Outside. An agent, or whoever runs it, says that a session is over: what `agent` said in it, or without one what
    every agent of the namespace did."""

    session: str
    agent: str | None = None
    namespace: str | None = None
    event_id: str | None = None
    ended_at: int | None = None


class SessionClosed(Struct, frozen=True):
    """A session that is to be consolidated: it was ended, nothing happened in it for as long as the policy says, or a
    summary of it was erased, which is to be made anew of what others said.

    `agent`: whose part of it; None: every agent's. `why`: 'ended', 'idle' or 'erased'. `accepted_offset`: everything
    that the accepted stream held of it before that offset belongs to it. `summary`: the one that was erased;
    `closed_at` is then when the last of it was said.
    """

    event_id: str
    shard: int
    namespace: str
    agent: str | None
    session: str
    closed_at: int
    why: str
    accepted_offset: int
    summary: str | None = None


class Quote(Struct, frozen=True):
    """A verbatim sentence: the characters from `start` to before `end` of a source's content; `section` is where the
    summary has it, `at` when the source was said, in milliseconds. Of a sentence that a model wrote, each source is
    named with a span of the whole, and `sentence` counts those sentences from 0; None of a verbatim one."""

    memory_id: str
    start: int
    end: int
    section: str
    at: int
    sentence: int | None = None


class Summary(Struct, frozen=True):
    """What makes an episode a summary: who made it, of which session, how important that was (SPEC C, in millionths),
    the keyed commitment to the raw batch, and the source of each of its sentences in their order. `renews`: the erased
    summary in whose place it was made, of what was left. What `core.experience.abstract` makes of one memory is that
    one's general form: it has no sentence of it."""

    by: str
    session: str
    importance_ppm: int
    commitment: bytes
    quotes: tuple[Quote, ...]
    renews: str | None = None


class SourcesDisclosed(Struct, frozen=True):
    """Outside, within a Signed. The text of these memories is about to be sent to a recipient, to a model there."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_ids: tuple[str, ...]
    recipient: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None


class Disclosed(Struct, frozen=True):
    """Detail of 'disclosed': whose text may be sent to the recipient from now on: those that were alive."""

    order: bytes
    accepted_at: int
    recipient: str
    memory_ids: tuple[str, ...]


class Comparison(Struct, frozen=True):
    """What a model said of one older memory: `statements` are the numbers, from 1, of its statements that the newer
    memory overtakes, in ascending order; empty where it overtakes none of them."""

    older: str
    statements: tuple[int, ...]


class StatementsCompared(Struct, frozen=True):
    """Outside, within a Signed. A model was asked which statements of older memories a newer one overtakes. `by`: the
    model, as provenance names it."""

    cluster: bytes
    order_id: str
    namespace: str
    newer: str
    comparisons: tuple[Comparison, ...]
    by: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None


class Compared(Struct, frozen=True):
    """Detail of 'compared': which of the comparisons apply, by their places."""

    order: bytes
    accepted_at: int
    applied: tuple[int, ...] = ()
