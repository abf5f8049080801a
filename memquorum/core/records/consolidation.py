"""The records of consolidation: the end of a session, what a summary says it was made of, what is sent to a model, and
what a model said of statements."""

from __future__ import annotations

from msgspec import Struct


class SessionEnded(Struct, frozen=True):
    """Outside. The end of a session, as an agent or its operator publishes it: of what `agent` said in it, or without
    one of what all agents of the namespace said."""

    session: str
    agent: str | None = None
    namespace: str | None = None
    event_id: str | None = None
    ended_at: int | None = None


class SessionClosed(Struct, frozen=True):
    """A session that is to be consolidated: it was ended, was idle for the policy's time, or had a summary erased that
    is to be written again from the remaining memories. Or a namespace over its budget, of no one session ('').

    `agent`: whose part of it; None: every agent's. `why`: 'ended', 'idle', 'erased' or 'budget'. `accepted_offset`:
    everything that the accepted stream held of it before that offset belongs to it. `summary`: the one that was erased;
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
    summary has it, `at` when the source was said, in milliseconds. For a sentence that a model wrote, each source is
    named with a span of its whole text, and `sentence` numbers those sentences from 0; None for a verbatim one."""

    memory_id: str
    start: int
    end: int
    section: str
    at: int
    sentence: int | None = None


class Summary(Struct, frozen=True):
    """The fields of an episode that is a summary: its maker, the session, the session's importance (SPEC C, in
    millionths), the keyed commitment to the raw batch, and the source of each of its sentences in their order.
    `renews`: the erased summary in whose place it was made, of what was left. `core.experience.abstract` makes a
    general form of one memory in this way: it has no sentence of that memory. `distortion_ppm`: of a summary made for
    want of room, the predicted distortion: the mean distance of its sources from their middle (MaRS 3.1). Members
    compute the realised one."""

    by: str
    session: str
    importance_ppm: int
    commitment: bytes
    quotes: tuple[Quote, ...]
    renews: str | None = None
    distortion_ppm: int | None = None


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
    """Detail of 'disclosed': the living memories whose texts may be sent to the recipient from now on."""

    order: bytes
    accepted_at: int
    recipient: str
    memory_ids: tuple[str, ...]


class Comparison(Struct, frozen=True):
    """The comparison of a new memory with an older one, by a model or the rules: `statements` are the numbers, from 1,
    of the older memory's statements that the newer memory overtakes, in ascending order; empty if there are none."""

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
