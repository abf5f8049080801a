"""What a trial changes of a shard: it is kept with who told it, and where enough verifiers tell the same, what they
tell is voted on, or settled (SPEC E; decision 125).

The journal holds what a verifier signed, and what follows of it is computed by whoever reads it. Whether the decision
is the first of its kind, and whether the judges are the nearest, nobody can say without the vectors: that more than may
lie tell the very same bytes is what speaks for it, and what members recompute of it when they vote.
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
from memquorum.core.journal.rows import AdmissionRow, Change, Keys, Memory, Rows, TrialRow, WeightRow
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import JournalEntry, Proposal, TrialMade, Tried
from memquorum.core.tiers import GONE

AGREED: Final = "agreed"
"""Of a candidate: verifiers agree that it helps, and members are to vote on it."""
HEARD: Final = "heard"
"""Of a trial: too few have told the same yet."""
APART: Final = "apart"
"""Of a trial: all who were drawn have told, and too few the same. It is tried anew as of a later decision."""

OPEN: Final = (PROVISIONAL, REJECTED)
"""Of a candidate: it may be tried. What was rejected is tried again as of a later decision, on tasks that came by."""

Told = MutableMapping[str, dict[int, tuple[TrialRow, ...]]]
"""What verifiers found of candidates that are not settled: by memory, by position."""


class NotTried(ValueError):
    """A trial that changes nothing of the shard as it is now; the message says why."""


class NotBorneOut(NotTried):
    """A trial that its verifier had no right to make, or that is none."""


def opened(codec: Codec, genesis: Genesis, data: bytes) -> TrialMade:
    """What a verifier found, proven to be its own in this configuration. Raises messages.BadMessage."""
    _, made = open_signed(codec, genesis, data, TrialMade)
    return made


def keys(codec: Codec, data: bytes) -> Keys:
    """The rows that a trial touches; none where it cannot be read, which `opened` and `unfit` say."""
    try:
        made = unsigned(codec, data, TrialMade)
        position = trial.read(made.statistics).position
    except (BadMessage, BadStatistics):
        return Keys()
    own = frozenset(filter(ids.is_uuid, (made.memory_id,)))
    asked = frozenset((one, position) for one in own)
    return Keys(own, admissions=own, trials=asked, epochs=frozenset({position}))


def unfit(made: TrialMade, shard: int, genesis: Genesis) -> str | None:
    """What keeps a record from being looked at at all, or None: no store could be asked about it."""
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
    """What the verifier found. Raises NotTried where the record is stale, or comes again; NotBorneOut where it is none
    that this verifier may tell."""
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
        raise NotBorneOut(f"as of epoch {told.position}, of which nothing was decided")
    if made.verifier not in asked(genesis, made.memory_id, nomination):
        raise NotBorneOut(f"{made.verifier} was not drawn")
    if any(one.verifier == made.verifier for one in rows.trials.get((made.memory_id, told.position), ())):
        raise NotTried(f"{made.verifier} told before what it found")
    return told


def asked(genesis: Genesis, memory_id: str, nomination: bytes) -> list[str]:
    """The verifiers of a candidate, in the order in which they are asked. `nomination`: the digest of what the decision
    was about as of which it is tried."""
    return drawn(memory_id, nomination, genesis.verifiers, most_asked(genesis.f))


def follows(rows: Rows, genesis: Genesis, made: TrialMade, told: Statistics) -> tuple[str, Statistics | None]:
    """What follows of a trial that was checked, with those before it: HEARD, APART, AGREED or REJECTED; and the
    statistics that verifiers agree in."""
    before = rows.trials.get((made.memory_id, told.position), ())
    heard = {one.verifier: trial.read(one.statistics) for one in before} | {made.verifier: told}
    order = asked(genesis, made.memory_id, rows.nominated[told.position])
    policy = genesis.policy.experience
    found = agreed(order, heard, genesis.f, policy, reproducible=True)
    if found.told is None:
        return HEARD if found.asks else APART, None
    judged = verdict(found.told, policy, _before(rows.admissions.get(made.memory_id)))
    return AGREED if judged == ADMITTED else REJECTED, found.told


def _before(stands: AdmissionRow | None) -> Before:
    return Before() if stands is None else Before(stands.judges, stands.gained_ppm)


def do_tried(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Tried) -> Change:
    """The change of an entry. Raises NotTried, also where the entry is about another memory, or says otherwise than
    follows; messages.BadMessage where the verifier did not sign it."""
    made, entry, policy = opened(codec, genesis, detail.made), change.entry, genesis.policy.experience
    if (made.memory_id, made.namespace) != (entry.memory_id, entry.namespace):
        raise NotTried(f"it speaks of {made.memory_id}")
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
    """What a vote to admit leaves: a weight with its judges as evidence; or that it is tried anew, as of a later
    decision. `since`: tasks before this accepted offset will not move the weight. Raises NotTried where it was about
    something else than verifiers agree in."""
    told, stands = proposed(codec, proposal), rows.admissions.get(proposal.memory_ids[0])
    if told is None or stands is None or not agrees(codec, rows, proposal):
        raise NotTried(f"epoch {epoch} admits what verifiers do not agree in")
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
    """What leaves experience with its memory, by whatever entry that goes for good. Its numbers stay: ids and sums."""
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
    """What verifiers found of those asked for, by (memory id, position)."""
    return {key: told[key[0]][key[1]] for key in wanted if key[1] in told.get(key[0], {})}
