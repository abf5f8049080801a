"""The proof in a view change, and the view that q of them open: pure functions of received bytes (DESIGN 10, 12).

A **view change** is a member's promise and its report. The promise: in views below the one asked for it neither
prepares nor commits any more. The report: the sequence in flight, proven by the decision of the one before, and the
prepared certificate of the highest view that the member holds for it. A report without proof is invalid: an honest
member never sends one, so an invalid one is refused alone, and never hides another.

A **new view** is q view changes for one view, as received. It states nothing itself: `opening` computes where the view
begins and what it must propose first, so all members compute the same, and its sender cannot lie about it.

No committed proposal is lost: if q members committed a proposal in a lower view, at least one honest member of any q
view changes is among them. Either it has decided that sequence, and then the view begins behind it; or it reports the
certificate, and no other can be of a higher view, by the same argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate, open_part, proposal_digest, read_part
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import Commit, NewView, Prepare, Prepared, PrePrepare, ViewChange


class Proposed(Struct, frozen=True):
    """A proposal that q members stood behind in `view`; any number of members may have committed it."""

    view: int
    digest: bytes
    body: PrePrepare


class Committed(Struct, frozen=True):
    """The decision that q commits prove: a proposal, in a view. It needs no other proof."""

    seq: int
    view: int
    digest: bytes
    commits: tuple[bytes, ...]


class CheckedViewChange(Struct, frozen=True):
    """A view change of which every part is valid; `last` proves its sequence, None for the first."""

    record: ViewChange
    last: Committed | None
    prepared: Proposed | None
    data: bytes


class Opening(Struct, frozen=True):
    """The beginning of a view: its first sequence, and the proposal that it must begin with, if there is one.

    `last`: the decision of the sequence before; None before the first. `data`: the signed new view, as received.
    """

    view: int
    seq: int
    first: Proposed | None
    last: Committed | None
    data: bytes

    def allows(self, seq: int, digest: bytes) -> bool:
        """True if a pre-prepare of the view may propose this for the sequence."""
        return seq > self.seq or (seq == self.seq and (self.first is None or self.first.digest == digest))


def check_view_change(codec: Codec, genesis: Genesis, data: bytes) -> CheckedViewChange:
    """Checks a member's signed view change: its sequence proven, its certificate whole. Raises BadCertificate."""
    _, record = open_part(codec, genesis, data, ViewChange, "view change")
    where = f"view change of member {record.member}"
    if record.view < 1 or record.seq < 1:
        raise BadCertificate(f"{where}: view {record.view}, sequence {record.seq}: both must be 1 or more")
    last = check_last(codec, genesis, record)
    prepared = None
    if record.prepared is not None:
        prepared = check_prepared(codec, genesis, record.prepared, where)
        body = prepared.body
        if (body.shard, body.seq) != (record.shard, record.seq) or body.view >= record.view:
            raise BadCertificate(
                f"{where}: its certificate is of shard {body.shard}, sequence {body.seq}, view {body.view}, "
                f"but it has sequence {record.seq} of shard {record.shard} in flight and asks for view {record.view}"
            )
    return CheckedViewChange(record, last, prepared, data)


def check_last(codec: Codec, genesis: Genesis, record: ViewChange) -> Committed | None:
    """Returns the proven decision of the sequence before, so that no liar can claim to be far ahead. None before the
    first.

    The proof is q commits of distinct members on one proposal in one view. Raises BadCertificate.
    """
    where = f"view change of member {record.member}"
    if record.seq == 1:
        if record.commits:
            raise BadCertificate(f"{where}: commits before the first sequence")
        return None
    # The commits belong to that sequence's configuration, which may be the previous one.
    genesis = genesis.at(record.seq - 1)
    kinds, members = set(), set()
    for data in record.commits:
        commit = read_part(codec, genesis, data, Commit, where)
        kinds.add((commit.shard, commit.seq, commit.view, commit.digest))
        members.add(commit.member)
    if any((shard, seq) != (record.shard, record.seq - 1) for shard, seq, _, _ in kinds) or len(kinds) != 1:
        raise BadCertificate(f"{where}: its commits do not all decide sequence {record.seq - 1} in one view")
    if len(members) != len(record.commits) or len(members) < genesis.quorum:
        raise BadCertificate(f"{where}: commits of {len(members)} members, {genesis.quorum} are needed, each once")
    for data in record.commits:
        open_part(codec, genesis, data, Commit, where)
    ((_, seq, view, proposal),) = kinds
    return Committed(seq, view, proposal, record.commits)


def check_prepared(codec: Codec, genesis: Genesis, data: bytes, where: str) -> Proposed:
    """Checks a prepared certificate: a primary's pre-prepare and q−1 others' prepares on it, all signed.

    Its ballots are not checked: of the q members that stood behind them some are honest and did. Raises BadCertificate.
    """
    try:
        held = codec.decode_as(Prepared, data)
    except DecodeError as error:
        raise BadCertificate(f"{where}: {error}") from None
    body = read_part(codec, genesis, held.pre_prepare, PrePrepare, where)
    if body.view < 0 or body.member != genesis.primary(body.shard, body.view, body.seq):
        raise BadCertificate(f"{where}: member {body.member} is not the primary of view {body.view}")
    proposal, members = proposal_digest(body), {body.member}
    for each in held.prepares:
        prepare = read_part(codec, genesis, each, Prepare, where)
        said = (prepare.shard, prepare.view, prepare.seq, prepare.digest)
        if said != (body.shard, body.view, body.seq, proposal):
            raise BadCertificate(f"{where}: the prepare of member {prepare.member} is not on the proposal")
        if prepare.member in members:
            raise BadCertificate(f"{where}: member {prepare.member} stands behind the proposal twice")
        members.add(prepare.member)
    if len(members) < genesis.quorum:
        raise BadCertificate(f"{where}: {len(members)} members stand behind the proposal, {genesis.quorum} are needed")
    open_part(codec, genesis, held.pre_prepare, PrePrepare, where)
    for each in held.prepares:
        open_part(codec, genesis, each, Prepare, where)
    return Proposed(body.view, proposal, body)


def check_new_view(
    codec: Codec, genesis: Genesis, data: bytes, known: Callable[[bytes], CheckedViewChange | None] = lambda data: None
) -> Opening:
    """Checks a new view: signed by its opener, with q valid view changes for it; and computes its beginning. Raises
    BadCertificate.

    `known` returns the report of a view change that was checked before, by its bytes.
    """
    _, record = open_part(codec, genesis, data, NewView, "new view")
    where = f"new view {record.view} of member {record.member}"
    if record.view < 1 or record.member != genesis.opener(record.shard, record.view):
        raise BadCertificate(f"{where}: that member does not open view {record.view} in shard {record.shard}")
    if len(record.view_changes) != genesis.quorum:
        raise BadCertificate(f"{where}: {len(record.view_changes)} view changes, {genesis.quorum} are needed")
    reports, members = [], set()
    for each in record.view_changes:
        report = known(each) or check_view_change(codec, genesis, each)
        if (report.record.shard, report.record.view) != (record.shard, record.view):
            raise BadCertificate(f"{where}: a view change for another view")
        if report.record.member in members:
            raise BadCertificate(f"{where}: two view changes of member {report.record.member}")
        members.add(report.record.member)
        reports.append(report)
    seq, first = opening(reports)
    last = next(report.last for report in reports if report.record.seq == seq)
    return Opening(record.view, seq, first, last, data)


def opening(reports: Sequence[CheckedViewChange]) -> tuple[int, Proposed | None]:
    """Returns the sequence at which the view begins by q reports, and what must be proposed for it (the paper's O).

    It is the highest sequence in flight: the earlier ones are decided. Among the certificates for it the highest view
    wins; without a certificate any proposal is allowed, as none can have been committed.
    """
    seq = max(report.record.seq for report in reports)
    prepared = [r.prepared for r in reports if r.record.seq == seq and r.prepared is not None]
    return seq, max(prepared, key=lambda p: (p.view, p.digest), default=None)
