"""Applies a trial to a shard: stores it with its verifier; once enough verifiers report the same result, the candidate
is put to the vote or settled (SPEC E; decision 125).

The journal holds the signed reports, and each reader computes their consequences. Without the vectors nobody can check
that the decision is the first of its kind and that the judges are the nearest. The evidence is that more verifiers than
may lie report identical bytes, and that members recompute it when they vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Final

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.experience import rounds, trial
from memquorum.core.experience.admission import (
    ADMITTED,
    PROVISIONAL,
    REJECTED,
    Before,
    agreed,
    first_weight_ppm,
    most_asked,
    verdict,
)
from memquorum.core.experience.draw import drawn
from memquorum.core.experience.trial import BadStatistics, Statistics, score_ppm
from memquorum.core.experience.weights import BY_ADMISSION, LEFT, admitted, written
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_signed, unsigned
from memquorum.core.journal.rows import AdmissionRow, Change, Memory, RowKeys, Rows, TrialRow, WeightRow
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry, Proposal, TrialMade, Tried
from memquorum.core.tiers import GONE

AGREED: Final = "agreed"
"""The status of a candidate that verifiers agree helps: members are to vote on it."""
HEARD: Final = "heard"
"""The result of a trial of which too few verifiers have reported the same yet."""
APART: Final = "apart"
"""The result of a trial on which all drawn verifiers reported and too few agree. It is tried again as of a later
decision."""

OPEN: Final = (PROVISIONAL, REJECTED)
"""The statuses of candidates that may be tried. A rejected one is tried again as of a later decision, on tasks that
finished since."""

Told = MutableMapping[str, dict[int, tuple[TrialRow, ...]]]
"""The trials of candidates that are not settled: by memory, by position."""


class NotTried(ValueError):
    """A trial that changes nothing of the shard as it is now; the message says why."""


class NotBorneOut(NotTried):
    """Raised for a malformed trial, or one that its verifier had no right to report."""


def opened(codec: Codec, genesis: Genesis, data: bytes) -> TrialMade:
    """Returns a trial after checking that a verifier of this configuration signed it. Raises messages.BadMessage."""
    _, made = open_signed(codec, genesis, data, TrialMade)
    return made


def keys(codec: Codec, data: bytes) -> RowKeys:
    """The rows that a trial touches; none where it cannot be read, which `opened` and `unfit` say."""
    try:
        made = unsigned(codec, data, TrialMade)
        position = trial.read(made.statistics).position
    except (BadMessage, BadStatistics):
        return RowKeys()
    own = frozenset(filter(ids.is_uuid, (made.memory_id,)))
    asked = frozenset((one, position) for one in own)
    return RowKeys(own, admissions=own, trials=asked, epochs=frozenset({position}))


def unfit(made: TrialMade, shard: int, genesis: Genesis) -> str | None:
    """Returns why a record is malformed, or None; the store could not be queried for such a record."""
    if made.shard != shard:
        return f"of shard {made.shard}"
    if not ids.is_uuid(made.memory_id):
        return "an id that is no UUID"
    if "\0" in made.namespace:
        return "NUL in namespace"
    try:
        told = trial.read(made.statistics)
    except BadStatistics as error:
        return str(error)
    if told.candidate != made.memory_id:
        return f"statistics of {told.candidate[:40]!r}"
    return trial.fault(told, genesis.policy.experience)


def check(rows: Rows, genesis: Genesis, made: TrialMade) -> Statistics:
    """Returns the statistics of a trial. Raises NotTried if the record is stale or repeated, NotBorneOut if it is
    malformed or its verifier may not report it."""
    if wrong := unfit(made, rows.state.shard, genesis):
        raise NotBorneOut(wrong)
    told = trial.read(made.statistics)
    memory, stands = rows.memories.get(made.memory_id), rows.admissions.get(made.memory_id)
    if memory is None or memory.id not in rows.strengths or memory.namespace != made.namespace:
        raise NotTried("the memory is not alive in its namespace")
    if stands is not None and (stands.status not in OPEN or told.position <= stands.after):
        raise NotTried(f"the memory is {stands.status}, and is tried as of a decision after epoch {stands.after}")
    nomination = rows.nominated.get(told.position)
    if nomination is None:
        raise NotBorneOut(f"as of epoch {told.position}, for which no decision exists")
    if made.verifier not in drawn_verifiers(genesis, made.memory_id, nomination):
        raise NotBorneOut(f"{made.verifier} was not drawn")
    if any(one.verifier == made.verifier for one in rows.trials.get((made.memory_id, told.position), ())):
        raise NotTried(f"{made.verifier} has reported on this trial before")
    return told


def drawn_verifiers(genesis: Genesis, memory_id: str, nomination: bytes) -> list[str]:
    """The verifiers of a candidate, in the order in which they are asked. `nomination`: the digest of what the decision
    was about as of which it is tried."""
    return drawn(memory_id, nomination, genesis.verifiers, most_asked(genesis.f))


def follows(rows: Rows, genesis: Genesis, made: TrialMade, told: Statistics) -> tuple[str, Statistics | None]:
    """Returns the consequence of a checked trial, with those before it: HEARD, APART, AGREED or REJECTED; and the
    statistics on which verifiers agree."""
    before = rows.trials.get((made.memory_id, told.position), ())
    heard = {one.verifier: trial.read(one.statistics) for one in before} | {made.verifier: told}
    order = drawn_verifiers(genesis, made.memory_id, rows.nominated[told.position])
    policy = genesis.policy.experience
    found = agreed(order, heard, genesis.f, policy, reproducible=True)
    if found.told is None:
        return HEARD if found.asks else APART, None
    judged = verdict(found.told, policy, _before(rows.admissions.get(made.memory_id)))
    return AGREED if judged == ADMITTED else REJECTED, found.told


def _before(stands: AdmissionRow | None) -> Before:
    return Before() if stands is None else Before(stands.judges, stands.gained_ppm)


def do_tried(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Tried) -> Change:
    """The change of an entry. Raises NotTried, also if the entry is about another memory or states another consequence;
    messages.BadMessage if the verifier did not sign it."""
    made, entry, policy = opened(codec, genesis, detail.made), change.entry, genesis.policy.experience
    if (made.memory_id, made.namespace) != (entry.memory_id, entry.namespace):
        raise NotTried(f"the trial is about memory {made.memory_id}, the entry is not")
    told = check(rows, genesis, made)
    status, found = follows(rows, genesis, made, told)
    score = None if found is None else score_ppm(found, policy)
    if (status, score) != (detail.status, detail.score_ppm):
        raise NotTried(f"it follows that it is {status}, with S = {score}")
    row = TrialRow(
        entry.shard, entry.seq, made.namespace, made.memory_id, told.position, made.verifier, told.digest.hex(),
        score_ppm(told, policy), made.statistics, detail.made,
    )  # fmt: skip
    before = rows.admissions.get(made.memory_id)
    stands = before or AdmissionRow(made.memory_id, entry.shard, entry.seq, made.namespace, PROVISIONAL, told.position)
    if status == REJECTED and found is not None:
        judges, gained = _before(before).plus(found, policy)
        stands = replace(
            stands, rejections=stands.rejections + 1, rejected=told.position, judges=judges, gained_ppm=gained
        )
    return change.plus(row, replace(
        stands,
        seq=entry.seq,
        status=status if found is not None else PROVISIONAL,
        position=told.position,
        digest=None if found is None else found.digest.hex(),
        score_ppm=score,
        after=told.position if status in (APART, REJECTED) else stands.after,
    ))  # fmt: skip


def proposed(codec: Codec, proposal: Proposal) -> Statistics | None:
    """The statistics that a proposal to admit holds, unproven; None where it holds none, or several."""
    try:
        told = {unsigned(codec, data, TrialMade).statistics for data in proposal.tried}
        return trial.read(told.pop()) if len(told) == 1 else None
    except (BadMessage, BadStatistics):
        return None


def agrees(codec: Codec, rows: Rows, proposal: Proposal) -> bool:
    """Whether a proposal to admit holds what verifiers agree in, and that was not voted on yet."""
    told, stands = proposed(codec, proposal), rows.admissions.get(proposal.memory_ids[0])
    return told is not None and stands is not None and (stands.status, stands.digest) == (AGREED, told.digest.hex())


def voted(  # noqa: PLR0917
    codec: Codec, rows: Rows, proposal: Proposal, entry: JournalEntry, epoch: int, policy: ExperiencePolicy, *,
    passed: bool, since: int,
) -> list[AdmissionRow | WeightRow]:  # fmt: skip
    """Returns the rows after a vote to admit: a weight with its judges as evidence, or an admission that is to be tried
    again as of a later decision. `since`: tasks before this accepted offset will not move the weight. Raises NotTried
    where it was about something else than verifiers agree in."""
    told, stands = proposed(codec, proposal), rows.admissions.get(proposal.memory_ids[0])
    if told is None or stands is None or not agrees(codec, rows, proposal):
        raise NotTried(f"epoch {epoch} admits a memory on whose trial the verifiers do not agree")
    if not passed:
        refusals = stands.refusals + 1
        after = epoch + rounds.rests(refusals)
        return [replace(stands, seq=entry.seq, status=PROVISIONAL, epoch=epoch, after=after, refusals=refusals)]
    weight = admitted(told, first_weight_ppm(told, policy))
    row = WeightRow(
        stands.memory_id, weight.version, entry.shard, entry.seq, stands.namespace, epoch, BY_ADMISSION,
        weight.weight_ppm, weight.gains, weight.losses, written(weight.evidence),
    )  # fmt: skip
    now = replace(
        stands, seq=entry.seq, status=ADMITTED, epoch=epoch, version=weight.version, weight_ppm=weight.weight_ppm,
        since=since, gains=weight.gains, losses=weight.losses,
    )  # fmt: skip
    return [now, row]


def left(rows: Rows, change: Change) -> tuple[AdmissionRow, ...]:
    """Returns the admissions that end because their memory is gone for good, by any entry. Its numbers stay: ids and
    sums."""
    gone = (one.id for one in change.of(Memory) if one.tier == GONE)
    found = (rows.admissions.get(one) for one in gone)
    return tuple(
        replace(one, seq=change.entry.seq, status=LEFT) for one in found if one is not None and one.status != LEFT
    )


def note(told: Told, rows: Iterable[TrialRow | AdmissionRow]) -> None:
    """Adds what verifiers found, and forgets it of what is settled."""
    for row in rows:
        if isinstance(row, TrialRow):
            positions = told.setdefault(row.memory_id, {})
            positions[row.position] = (*positions.get(row.position, ()), row)
    for row in rows:
        if isinstance(row, AdmissionRow) and row.status != PROVISIONAL:
            told.pop(row.memory_id, None)


def known(told: Told, wanted: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], tuple[TrialRow, ...]]:
    """Returns the trials of those asked for, by (memory id, position)."""
    return {key: told[key[0]][key[1]] for key in wanted if key[1] in told.get(key[0], {})}
