"""Proves that a member signed what no honest member signs, by the signed messages and the genesis file alone.

A member that notes a fault publishes it as a `Misbehaved` record with the messages as received. The reporter need not
be trusted: `convict` verifies again that the accused signed them, and that they contradict each other, or that the one
is invalid. The originals of each rule:

| rule | originals | what is proven |
|---|---|---|
| equivocation | two messages of the accused | of one kind and for one slot, but they say different things |
| bad-ballot | a nomination, the accused's ballot on it | terms that cannot be true |
| bad-pre-prepare | the accused's pre-prepare | its certificate does not hold |
| contradicts-new-view | the accused's pre-prepare and its new view | the view had to begin with another proposal |
| bad-view-change | the accused's view change | its proof does not hold |
| bad-new-view | the accused's new view | its proof does not hold |

A fact that depends on the reader (the next epoch, the messages read before) is no evidence, and neither is a message
that a later release may have written: these rules cannot judge it. An honest member is never convicted as long as at
most f members lie: it signs a slot once, and only a message that it has checked, or that q members have prepared.
Evidence is about keys: a member whose key was copied, or whose sign-state was restored from an old copy, is convicted
like a liar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from memquorum.core.avro import Codec, DecodeError, UnknownSchema
from memquorum.core.consensus import slots
from memquorum.core.consensus.certificate import (
    BadCertificate,
    check_nomination,
    check_opinions,
    check_pre_prepare,
    proposal_digest,
)
from memquorum.core.consensus.events import Message, Note, Noted
from memquorum.core.consensus.rolling import checkpoint_digest
from memquorum.core.consensus.viewchange import check_new_view, check_view_change
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, digest, open_signed
from memquorum.core.records import (
    BallotCast,
    Checkpoint,
    Commit,
    Misbehaved,
    NewView,
    NominationProposed,
    Prepare,
    Prepared,
    PrePrepare,
    Signed,
    ViewChange,
)

# A signed new view down to the ballots of a prepared certificate is 9 records deep. A liar may nest deeper.
_DEPTH_MAX = 12


class Rule(StrEnum):
    """The rules that an honest member never breaks."""

    EQUIVOCATION = "equivocation"
    BALLOT = "bad-ballot"
    PRE_PREPARE = "bad-pre-prepare"
    PROPOSAL = "contradicts-new-view"
    VIEW_CHANGE = "bad-view-change"
    NEW_VIEW = "bad-new-view"


class BadEvidence(ValueError):
    """Raised for a record that convicts nobody. The text says why."""


class UnknownRelease(BadEvidence):
    """Raised where a part has a schema that is not known here. A liar may hide behind that, but a later release needs
    it."""


class Verdict(Struct, frozen=True):
    """The member `accused` broke the rule. `slot`: of the message, as a sign-state names it; `detail`: the reason, in
    words."""

    accused: int
    shard: int
    rule: Rule
    slot: str
    detail: str


_KINDS: Mapping[type, Message] = MappingProxyType(
    {
        BallotCast: Message.BALLOT,
        PrePrepare: Message.PRE_PREPARE,
        Prepare: Message.PREPARE,
        Commit: Message.COMMIT,
        ViewChange: Message.VIEW_CHANGE,
        NewView: Message.NEW_VIEW,
        Checkpoint: Message.CHECKPOINT,
    }
)
_INVALID = {
    Message.BALLOT: Rule.BALLOT,
    Message.PRE_PREPARE: Rule.PRE_PREPARE,
    Message.VIEW_CHANGE: Rule.VIEW_CHANGE,
    Message.NEW_VIEW: Rule.NEW_VIEW,
}


def charge(genesis: Genesis, noted: Noted, *, shard: int, reporter: int) -> Misbehaved | None:
    """Returns a member's report of an observation; None where it is no fault, or the originals cannot prove it."""
    if noted.note not in (Note.CONFLICT, Note.INVALID) or not noted.originals:
        return None
    rule = Rule.EQUIVOCATION if noted.note == Note.CONFLICT else _INVALID[noted.message]
    if rule == Rule.PRE_PREPARE and len(noted.originals) > 1:
        rule = Rule.PROPOSAL
    return Misbehaved(genesis.cluster, genesis.config, shard, reporter, noted.member, rule, noted.originals)


def convict(codec: Codec, genesis: Genesis, record: Misbehaved) -> Verdict:
    """Judges the originals. Raises BadEvidence where they do not prove that the rule was broken."""
    if (record.cluster, record.config) != (genesis.cluster, genesis.config):
        raise BadEvidence(f"not of this cluster and configuration: {record.cluster.hex()[:16]}, {record.config}")
    if record.rule not in _JUDGES:
        raise BadEvidence(f"there is no rule {record.rule[:40]!r}")
    needed, judge = _JUDGES[Rule(record.rule)]
    if len(record.originals) != needed:
        raise BadEvidence(f"{record.rule}: {len(record.originals)} originals, {needed} are needed")
    for data in record.originals:
        _familiar(codec, data)
    return judge(_Case(codec, genesis, record))


def describe(codec: Codec, record: Misbehaved) -> str:
    """Summarises a record's claim in a few words, without checking it."""
    told: list[str] = []
    for data in record.originals:
        try:
            body = codec.decode(codec.decode_as(Signed, data).body)
        except DecodeError:
            told.append("something unreadable")
            continue
        told.append(_about(body) if type(body) in _KINDS else f"a {type(body).__name__}")
    # A liar's text must not reach a terminal unescaped.
    rule = record.rule if record.rule in _JUDGES else repr(record.rule[:40])
    return f"{rule}: {' / '.join(dict.fromkeys(told))}"


# Slots and contents of messages --------------------------------------------------------------------------------------


def slot_of(body: Any) -> str:
    """Returns the slot of a member's message, as its sign-state names it: an honest member signs a slot once."""
    message = _KINDS[type(body)]
    if message == Message.BALLOT:
        return slots.ballot_slot(body.config, body.shard, body.epoch, body.nomination)
    if message == Message.CHECKPOINT:
        return slots.checkpoint_slot(body.config, body.shard, body.seq)
    if message in (Message.VIEW_CHANGE, Message.NEW_VIEW):
        return slots.view_slot(body.config, body.shard, body.view, message)
    return slots.slot_name(body.config, body.shard, body.view, body.seq, message)


def _said(signed: Signed, body: Any) -> bytes:
    """Returns the digest that a sign-state keeps of a message: equal digests are no contradiction."""
    if isinstance(body, PrePrepare):
        return proposal_digest(body)
    if isinstance(body, Prepare | Commit):
        return body.digest
    if isinstance(body, Checkpoint):
        return checkpoint_digest(body)
    return digest(signed.body)


def _about(body: Any) -> str:
    what = _KINDS[type(body)]
    if isinstance(body, BallotCast):
        return f"{what}, epoch {body.epoch} of shard {body.shard}"
    if isinstance(body, Checkpoint):
        return f"{what}, sequence {body.seq} of shard {body.shard}"
    if isinstance(body, ViewChange | NewView):
        return f"{what}, view {body.view} of shard {body.shard}"
    return f"{what}, sequence {body.seq} in view {body.view} of shard {body.shard}"


# The rules -----------------------------------------------------------------------------------------------------------


class _Case(Struct, frozen=True):
    codec: Codec
    genesis: Genesis
    record: Misbehaved

    def own(self, data: bytes, kind: type[Any]) -> tuple[Signed, Any]:
        """Reads an original that the accused signed, in this shard, of this cluster and configuration."""
        try:
            signed, body = open_signed(self.codec, self.genesis, data, kind)
        except BadMessage as error:
            raise BadEvidence(f"{kind.__name__}: {error}") from None
        if body.member != self.record.accused:
            raise BadEvidence(f"{kind.__name__}: member {body.member} signed it, {self.record.accused} is accused")
        if body.shard != self.record.shard:
            raise BadEvidence(f"{kind.__name__}: of shard {body.shard}, not {self.record.shard}")
        return signed, body

    def guilty(self, body: Any, detail: str) -> Verdict:
        return Verdict(self.record.accused, self.record.shard, Rule(self.record.rule), slot_of(body), detail)


def _equivocation(case: _Case) -> Verdict:
    kinds = [type(_body(case.codec, data)) for data in case.record.originals]
    if kinds[0] is not kinds[1] or kinds[0] not in _KINDS:
        raise BadEvidence(f"a {kinds[0].__name__} and a {kinds[1].__name__}: they are not two of a kind")
    (first, one), (second, other) = (case.own(data, kinds[0]) for data in case.record.originals)
    if slot_of(one) != slot_of(other):
        raise BadEvidence(f"for {slot_of(one)} and for {slot_of(other)}: that is no contradiction")
    if _said(first, one) == _said(second, other):
        raise BadEvidence(f"both say the same for {slot_of(one)}")
    return case.guilty(one, f"two different messages: {_about(one)}")


def _ballot(case: _Case) -> Verdict:
    nomination, data = case.record.originals
    _, ballot = case.own(data, BallotCast)
    try:
        nominated = check_nomination(case.codec, case.genesis, nomination)
    except BadCertificate as error:
        raise BadEvidence(f"the nomination is not valid: {error}") from None
    if ballot.nomination != nominated.digest:
        raise BadEvidence("the ballot is on another nomination")
    return _broken(case, ballot, lambda: check_opinions(case.genesis, ballot, nominated))


def _pre_prepare(case: _Case) -> Verdict:
    (data,) = case.record.originals
    _, body = case.own(data, PrePrepare)
    return _broken(case, body, lambda: check_pre_prepare(case.codec, case.genesis, data))


def _view_change(case: _Case) -> Verdict:
    (data,) = case.record.originals
    _, body = case.own(data, ViewChange)
    return _broken(case, body, lambda: check_view_change(case.codec, case.genesis, data))


def _new_view(case: _Case) -> Verdict:
    (data,) = case.record.originals
    _, body = case.own(data, NewView)
    return _broken(case, body, lambda: check_new_view(case.codec, case.genesis, data))


def _proposal(case: _Case) -> Verdict:
    proposal, opened = case.record.originals
    _, body = case.own(proposal, PrePrepare)
    _, view = case.own(opened, NewView)
    if body.view != view.view:
        raise BadEvidence(f"a pre-prepare of view {body.view}, a new view for {view.view}")
    try:
        opening = check_new_view(case.codec, case.genesis, opened)
    except BadCertificate as error:
        raise BadEvidence(f"the new view is not valid: {error}") from None
    if opening.allows(body.seq, proposal_digest(body)):
        raise BadEvidence("the new view allows the proposal")
    return case.guilty(body, f"another proposal than the new view has to begin with: {_about(body)}")


def _broken(case: _Case, body: Any, check: Callable[[], object]) -> Verdict:
    """Returns a verdict where the check of the received bytes fails: an honest signer makes the same check first."""
    try:
        check()
    except BadCertificate as error:
        return case.guilty(body, str(error))
    raise BadEvidence(f"no fault, the check passes: {_about(body)}")


_JUDGES: Mapping[str, tuple[int, Callable[[_Case], Verdict]]] = MappingProxyType(
    {
        Rule.EQUIVOCATION: (2, _equivocation),
        Rule.BALLOT: (2, _ballot),
        Rule.PRE_PREPARE: (1, _pre_prepare),
        Rule.PROPOSAL: (2, _proposal),
        Rule.VIEW_CHANGE: (1, _view_change),
        Rule.NEW_VIEW: (1, _new_view),
    }
)


# Schemas -------------------------------------------------------------------------------------------------------------


def _body(codec: Codec, data: bytes) -> Any:
    try:
        return codec.decode(codec.decode_as(Signed, data).body)
    except DecodeError as error:
        raise BadEvidence(str(error)) from None


def _familiar(codec: Codec, data: bytes, depth: int = _DEPTH_MAX) -> None:
    """Raises UnknownRelease if any part has a schema that is not known here: only the release that has it can judge
    it."""
    if not depth:
        return
    try:
        record = codec.decode(data)
    except UnknownSchema as error:
        raise UnknownRelease(f"a later release may have written it: {error}") from None
    except DecodeError:
        return
    parts: tuple[bytes | None, ...] = ()
    match record:
        case Signed():
            parts = (record.body,)
        case PrePrepare():
            parts = (record.nomination, *record.ballots)
        case NominationProposed():
            parts = (record.order,)
        case ViewChange():
            parts = (*record.commits, record.prepared)
        case Prepared():
            parts = (record.pre_prepare, *record.prepares)
        case NewView():
            parts = record.view_changes
    for part in parts:
        if part is not None:
            _familiar(codec, part, depth - 1)
