"""A simulation told in words: who says what when."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.records import BallotCast, NominationProposed, PrePrepare, Signed
from tests.simulation.plan import MS

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Story:
    """The lines, if they are wanted; proposals are called A, B, C in the order of their appearance."""

    def __init__(self, *, wanted: bool = True, minor: bool = False) -> None:
        self.wanted, self.lines = wanted, list[str]()
        self._minor = minor
        self._names: dict[bytes, str] = {}

    def tell(self, now: int, member: int | None, text: str, *, minor: bool = False) -> None:
        """Adds an event, at a time in µs; minor ones are kept only on request."""
        if self.wanted and (self._minor or not minor):
            who = "" if member is None else f"member {member} "
            self.lines.append(f"{now / MS:10.3f} ms  {who}{text}")

    def name(self, proposal: bytes) -> str:
        """Returns a proposal's letter."""
        known = self._names.get(proposal)
        if known is None:
            count = len(self._names)
            known = self._names[proposal] = _LETTERS[count % 26] + (str(count // 26) if count >= 26 else "")
        return f"proposal {known}"

    def record(self, codec: Codec, data: bytes, votes: Callable[[BallotCast], str]) -> str:
        """Describes a record of the log; `votes`: describes a ballot."""
        try:
            signed = codec.decode_as(Signed, data)
            body = codec.decode(signed.body)
        except DecodeError:
            return f"{len(data)} bytes that are no message"
        return f"{self._body(codec, body, votes)}" + (
            "" if body_is_of(body, signed.signer) else f" (signed {signed.signer})"
        )

    def _body(self, codec: Codec, body: Any, votes: Callable[[BallotCast], str]) -> str:
        kind, view, seq = type(body).__name__, getattr(body, "view", None), getattr(body, "seq", None)
        where = f"in view {view}" + (f" for sequence {seq}" if seq is not None else "")
        match body:
            case NominationProposed():
                return f"the nomination of epoch {body.epoch}"
            case BallotCast():
                return f"its ballot of epoch {body.epoch}: {votes(body)}"
            case PrePrepare():
                members = [str(_member(codec, ballot)) for ballot in body.ballots]
                name = self.name(proposal_digest(body))
                return f"PRE-PREPARE {where}: {name}, with ballots of {', '.join(members)}"
        if hasattr(body, "digest"):
            return f"{kind.upper()} {where}: {self.name(body.digest)}"
        return f"{kind.upper()} {where}{self._report(codec, body)}"

    def _report(self, codec: Codec, body: Any) -> str:
        """Describes a view change's content."""
        if hasattr(body, "prepared"):
            if body.prepared is None:
                return ", nothing prepared"
            try:
                pre_prepare = codec.decode(codec.decode_as(Signed, codec.decode(body.prepared).pre_prepare).body)
            except (DecodeError, AttributeError):
                return ", with garbage for a certificate"
            return f", {self.name(proposal_digest(pre_prepare))} prepared in view {pre_prepare.view}"
        members = [str(_member(codec, each)) for each in getattr(body, "view_changes", ())]
        return f", from the view changes of {', '.join(members)}"


def body_is_of(body: Any, signer: str) -> bool:
    """True if a message is signed by the one that it names."""
    return signer == f"member:{getattr(body, 'member', '')}" or signer.startswith("service:")


def _member(codec: Codec, data: bytes) -> Any:
    try:
        return codec.decode(codec.decode_as(Signed, data).body).member
    except (DecodeError, AttributeError):
        return "?"
