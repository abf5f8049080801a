"""This module puts journal entries in words, a line for each: `memquorum tail` prints them. They hold no content.

Times are the shard's own, as the entry has them. A decision is told with what became of each memory that it changed;
those that it kept are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memquorum.core.accounts.telling import ENDED, moment, why
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.experience import abstract
from memquorum.core.journal.anew import WORDS
from memquorum.core.journal.decisions import CAP, passed, revived
from memquorum.core.journal.effects import DELIVERED_AGAIN, order_in
from memquorum.core.journal.slots import CONTESTED, EMPTY
from memquorum.core.policy import share
from memquorum.core.records import (
    ASKS,
    MISSED,
    Accessed,
    Assessed,
    Compared,
    Decided,
    Destroyed,
    Disclosed,
    Erased,
    JournalAppended,
    JournalEntry,
    Lapsed,
    NominationProposed,
    Patched,
    PrePrepare,
    Profiled,
    Proposal,
    Protected,
    ProtectionOrdered,
    Reclassified,
    Reencoded,
    Rehearsed,
    RestoreRequested,
    Signed,
    Stored,
    TrialMade,
    Tried,
    Withheld,
)
from memquorum.core.salience import CLEARED
from memquorum.core.showing.escaping import escaped
from memquorum.core.showing.plurals import many
from memquorum.core.vote.kinds import KINDS

_KEPT = "kept"
_CLEARED = {
    CLEARED: "a write of nothing",
    EMPTY: "a write of nothing where nothing was",
    CONTESTED: "a write of nothing, which leaves something until members vote on it",
}


class Tail:
    """Turns entries into lines; with a namespace only those of entries that concern it."""

    def __init__(self, codec: Codec, namespace: str | None = None, *, ticks: bool = False) -> None:
        """`ticks`: also where nothing but time went by."""
        self._codec, self._namespace, self._ticks = codec, namespace, ticks
        # The memories of the namespace whose keys are still to be destroyed.
        self._forgotten: set[str] = set()

    def entry(self, data: bytes) -> JournalEntry:
        """The entry in a record of the journal's topic. Raises DecodeError if it is malformed."""
        return self._codec.decode_as(JournalEntry, self._codec.decode_as(JournalAppended, data).entry)

    def lines(self, entry: JournalEntry) -> list[str]:
        """Returns the lines for an entry; no line if it is not shown. Raises DecodeError for a malformed detail.

        A name cannot forge a line: control characters and line breaks are escaped.
        """
        told = [escaped(line, keep="") for line in self._told(entry)]
        if not told:
            return []
        head, *rest = told
        at = f"{moment(entry.as_of).removesuffix(' UTC')}  {entry.shard}/{entry.seq}"
        return [f"{at:<28} {head}", *(f"{'':<28} {line}" for line in rest)]

    def _told(self, entry: JournalEntry) -> Iterator[str]:
        if entry.effect == "ticked":
            if self._ticks and self._namespace is None:
                yield "ticked"
        elif entry.effect == "decided":
            yield from self._decided(self._codec.decode_as(Decided, entry.detail))
        elif entry.effect == "destroyed":
            yield from self._destroyed(self._codec.decode_as(Destroyed, entry.detail))
        elif entry.effect == "erased" and self._namespace in (None, entry.namespace):
            yield from self._erased(entry, self._codec.decode_as(Erased, entry.detail))
        elif self._namespace in (None, entry.namespace):
            yield self._episode_or_access(entry)

    def _episode_or_access(self, entry: JournalEntry) -> str:
        detail, where = self._codec.decode(entry.detail), f"in {entry.namespace}"
        if entry.effect == DELIVERED_AGAIN:
            kind, came = ("event", "came") if order_in(detail) is None else ("order", "was answered")
            return f"repeated    {kind} {entry.event_id} {where}: it {came} before and changes nothing"
        if isinstance(detail, RestoreRequested):
            what = "to be voted on" if entry.effect == "requested" else "there is nothing to vote on"
            return f"{entry.effect:<11} request {entry.event_id} {where}: {what}"
        if isinstance(detail, Patched | Compared | Disclosed | Profiled):
            return _of_no_memory(detail, where)
        if isinstance(detail, Withheld):
            told = f"nothing is erased, {len(detail.held):,} of what it names is held"
            return f"withheld    order {entry.event_id} {where}: {told}; after the release it has to be ordered again"
        if isinstance(detail, Lapsed):
            told = f"nobody ended it, and it needs {many(len(detail.memory_ids), 'memory')} no more"
            return f"lapsed      {detail.kind} {where}: {told}"
        if isinstance(detail, Protected):
            return f"{entry.effect:<11} {entry.memory_id}  {where}: {self._protection(detail)}"
        if isinstance(detail, Reclassified):
            changed = many(len(detail.memory_ids), "memory")
            told = f"other limits of use hold for {changed}" if detail.applied else "it changes nothing"
            return f"{entry.effect} {entry.memory_id}  {where}: {told}"
        if isinstance(detail, Accessed):
            return f"{entry.effect:<11} {_used(detail)}  by {detail.agent} {where}{_missed(detail)}"
        said = f"{entry.effect:<11} {entry.memory_id or entry.event_id}"
        if isinstance(detail, Reencoded | Rehearsed | Tried):
            return f"{said}  {where}: {self._looked_at(detail)}"
        if isinstance(detail, Assessed):
            told = f"{len(detail.helped)} helped, {len(detail.did_not_help)} did not"
            return f"{said}  by {detail.agent} {where}: {told}{f'; not counted: {detail.why}' if detail.why else ''}"
        if not isinstance(detail, Stored):
            return f"{said}  {where}"
        return f"{said}  by {detail.agent} {where}: {_said(entry.effect, detail)}"

    def _protection(self, detail: Protected) -> str:
        try:
            order = self._codec.decode_as(ProtectionOrdered, self._codec.decode_as(Signed, detail.order).body)
        except DecodeError:
            return "an order that cannot be read"  # which is for `verify` to say
        return f"{order.action} by {order.ordered_by}{'' if detail.applied else ', which changes nothing'}"

    def _looked_at(self, detail: Reencoded | Rehearsed | Tried) -> str:
        if isinstance(detail, Reencoded):
            return f"by {detail.encoder} instead of {detail.previous}"
        if isinstance(detail, Rehearsed):
            return f"salience {share(detail.before_ppm)} becomes {share(detail.after_ppm)}"
        try:
            made = self._codec.decode_as(TrialMade, self._codec.decode_as(Signed, detail.made).body)
        except DecodeError:
            return "by a verifier that cannot be read"
        gain = "" if detail.score_ppm is None else f", S = {share(detail.score_ppm)}"
        return f"by {made.verifier}: {TRIED.get(detail.status, detail.status)}{gain}"

    def _decided(self, decided: Decided) -> Iterator[str]:
        proposals = {p.memory_ids: p for p in proposals_of(self._codec, decided)}
        results = [
            r
            for r in decided.results
            if self._namespace is None
            or (r.memory_ids in proposals and proposals[r.memory_ids].namespace == self._namespace)
        ]
        if not results:
            return
        counts = Counter(result.outcome for result in results)
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
        yield f"decided     epoch {decided.epoch} by {len(decided.commits)} members: {told}"
        for result in results:
            if result.outcome == _KEPT and result.reason != CAP:
                continue
            if passed(result) and KINDS[result.kind].seals:
                self._forgotten.update(KINDS[result.kind].taken(result.memory_ids))
            self._forgotten.difference_update(revived(result))
            proposal = proposals.get(result.memory_ids)
            where = f" in {proposal.namespace}, proposed as {proposal.reason}" if proposal else ""
            named = ", ".join(result.memory_ids)
            yield f"  {result.outcome:<9} {named}{where}: {why(KINDS[result.kind], result.reason)}"

    def _erased(self, entry: JournalEntry, erased: Erased) -> Iterator[str]:
        self._forgotten.difference_update(one.memory_id for one in erased.episodes)
        part = f", part {erased.part + 1} of {erased.parts}" if erased.parts > 1 else ""
        keys = "1 episode" if len(erased.episodes) == 1 else f"{len(erased.episodes):,} episodes"
        yield f"erased      the keys of {keys} in {entry.namespace}, by order {entry.event_id}{part}"
        for one in erased.episodes:
            yield f"  erased    {one.memory_id}, {one.was}" + (f": {WORDS.get(one.summary, '')}" if one.summary else "")

    def _destroyed(self, destroyed: Destroyed) -> Iterator[str]:
        ids = [i for i in destroyed.memory_ids if self._namespace is None or i in self._forgotten]
        self._forgotten.difference_update(ids)
        if ids:
            keys = many(len(ids), "memory")
            yield f"destroyed   the keys of {keys}: nobody can read them any more"
            yield from (f"  destroyed {memory_id}" for memory_id in ids)


def proposals_of(codec: Codec, decided: Decided) -> tuple[Proposal, ...]:
    """Returns what was proposed; nothing where the certificate cannot be read, which is for `verify` to say."""
    try:
        body = codec.decode_as(PrePrepare, codec.decode_as(Signed, decided.pre_prepare).body)
        signed = codec.decode_as(Signed, body.nomination)
        return codec.decode_as(NominationProposed, signed.body).proposals
    except DecodeError:
        return ()


def _of_no_memory(detail: Patched | Compared | Disclosed | Profiled, where: str) -> str:
    if isinstance(detail, Patched):
        return f"patched     roll-ups {where}: {many(len(detail.applied), 'sentence')}"
    if isinstance(detail, Compared):
        return f"compared    statements {where}: {many(len(detail.applied), 'pair')} of memories"
    if isinstance(detail, Profiled):
        return f"profiled    a subject's profile {where}"
    return f"disclosed   texts {where}: {many(len(detail.memory_ids), 'memory')} may be sent to {detail.recipient}"


_MISSED = {MISSED: "gone already", ASKS: "forgotten already, and the members vote on it again"}
TRIED = {
    "heard": "too few have told the same yet",
    "apart": "all have told, and too few the same: it is tried anew later",
    "agreed": "verifiers agree that it helps, and members are to vote on it",
    "rejected": "verifiers agree that it helps too little: it is tried again once enough tasks came since",
}
"""The results of a verifier's trial, in words."""


def _used(detail: Accessed) -> str:
    return ", ".join(one.memory_id for one in detail.used)


def _missed(detail: Accessed) -> str:
    """Tells which of its memories a use did not keep alive, and why; nothing where it kept all."""
    told = [
        f"{'it' if len(detail.used) == 1 else one.memory_id} was {_MISSED[one.outcome]}"
        for one in detail.used
        if one.outcome in _MISSED
    ]
    return f": {', '.join(told)}" if told else ""


def _said(effect: str, detail: Stored) -> str:
    """Returns in words what became of an episode."""
    if effect == "cleared":
        gone = f", and takes away {', '.join(detail.superseded)}" if detail.superseded else ""
        return f"{_CLEARED.get(detail.outcome, detail.outcome)}{gone}"
    if detail.task is not None and effect != "dropped":
        other = ", otherwise than was said first, which stands" if effect == "contradicted" else ""
        by = f", says {detail.task.said_by}" if detail.task.said_by else ""
        return f"a task that {ENDED[detail.task.outcome]}{by}, given {many(len(detail.derives_from), 'memory')}{other}"
    about = f"{detail.characters} characters, salience {share(detail.salience_ppm)}"
    if abstract.made(detail.summary) and effect == "drafted":
        return f"{about}, the general form of {', '.join(detail.derives_from)} that waits for its vote"
    if detail.summary is not None and effect == "drafted":
        return f"{about}, a summary of {many(len(detail.derives_from), 'memory')} that waits for its vote"
    return about if effect != "dropped" else f"{about}, {detail.outcome.replace('_', ' ')}"
