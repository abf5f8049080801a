"""Applies a rehearsal to a memory: changes its salience by a fixed factor, and counts confirmations and doubts.

The record names a verdict and no number. So the holder of the service's key can raise the salience of a used memory by
a tenth, or lower one by 15 %, once in `rehearse.every_ms` of the shard's time.
"""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_signed, unsigned
from memquorum.core.journal import grounds
from memquorum.core.journal.rows import Change, Memory, Rows, Strength
from memquorum.core.policy import Policy
from memquorum.core.records import RehearsalMade, Rehearsed, Signed
from memquorum.core.rehearsal import Verdict, after_ppm

VERDICTS = frozenset(str(verdict) for verdict in Verdict)
LATE_MS = 3600 * 1000
"""The greatest age of a rehearsal that is accepted, by the shard's time."""


class NotRehearsed(ValueError):
    """A rehearsal that changes nothing of the shard as it is now; the message says why."""


class NotBorneOut(NotRehearsed):
    """A verdict that the shard's rows contradict: they have changed since it was found, or it never held."""


def opened(codec: Codec, genesis: Genesis, data: bytes) -> RehearsalMade:
    """Returns a rehearsal after checking that this configuration's service signed it. Raises messages.BadMessage."""
    _, made = open_signed(codec, genesis, data, RehearsalMade)
    return made


def named(codec: Codec, data: bytes) -> list[str]:
    """The memories that a rehearsal speaks of; none where that cannot be read, which `opened` says."""
    try:
        made = unsigned(codec, data, RehearsalMade)
    except BadMessage:
        return []
    return [one for one in (made.memory_id, made.witness) if ids.is_uuid(one)]


def held(codec: Codec, data: bytes) -> bool:
    """Whether a rehearsal that the journal holds found its memory to hold. Raises DecodeError."""
    return codec.decode_as(RehearsalMade, codec.decode_as(Signed, data).body).verdict == Verdict.HELD


def unfit(made: RehearsalMade, shard: int) -> str | None:
    """Returns why a record is malformed, or None; the store could not be queried for such a record."""
    if made.shard != shard:
        return f"of shard {made.shard}"
    if not ids.is_uuid(made.memory_id) or (made.witness and not ids.is_uuid(made.witness)):
        return "an id that is no UUID"
    if "\0" in made.namespace:
        return "NUL in namespace"
    return None if made.verdict in VERDICTS else f"unknown verdict {made.verdict[:40]!r}"


def check(rows: Rows, made: RehearsalMade, policy: Policy, *, entered: bool = False) -> Strength:
    """The strength of the memory that the rehearsal speaks of, as it is now. Raises NotRehearsed where the record is
    stale, comes again, comes too soon; NotBorneOut where its verdict is not the one that follows from the rows.

    `entered`: whether the journal has it already. Journals from before `supersede.inferred` hold rehearsals that found
    a memory contested by what was inferred: these stand.
    """
    if wrong := unfit(made, rows.state.shard):
        raise NotRehearsed(wrong)
    memory, strength = rows.memories.get(made.memory_id), rows.strengths.get(made.memory_id)
    now, every = rows.state.as_of, policy.rehearse.every_ms
    if memory is None or strength is None or memory.namespace != made.namespace:
        raise NotRehearsed("the memory is not alive in its namespace")
    if memory.seq != made.memory_seq:
        raise NotRehearsed("the memory has changed since it was read")
    if strength.rehearsed != made.previous:
        raise NotRehearsed("the memory was rehearsed since it was read")
    if not 0 < made.as_of <= now or now - made.as_of > LATE_MS:
        raise NotRehearsed(f"it was read at {made.as_of}, and the shard is at {now}")
    if not every or (strength.rehearsed and made.as_of - strength.rehearsed < every):
        raise NotRehearsed(f"the memory was rehearsed at {strength.rehearsed}: it is too soon")
    if complaint := _unborne(rows, memory, strength, made, policy, entered=entered):
        raise NotBorneOut(complaint)
    return strength


def _unborne(
    rows: Rows,
    memory: Memory,
    strength: Strength,
    made: RehearsalMade,
    policy: Policy,
    *,
    entered: bool,
) -> str | None:
    """Returns why the rows do not support the verdict, or None: repeats the check of `core.rehearsal`."""
    verdict = Verdict(made.verdict)
    inferred = policy.supersede.inferred
    against = set(grounds.against(rows, memory, inferred=inferred))
    if verdict is Verdict.CONTESTED:
        if entered:
            against = {*grounds.against(rows, memory), *grounds.against(rows, memory, arrival=True)}
        return None if made.witness in against else "the memory that is to say otherwise does not, or is served later"
    if entered:  # by an earlier release, perhaps, which had its own order
        against.intersection_update(grounds.against(rows, memory, inferred=inferred, arrival=True))
    if against:
        return f"{min(against)} says otherwise"
    sources = grounds.made_of(rows, memory)
    groundless = bool(sources) and not grounds.left(rows, sources)
    if groundless != (verdict is Verdict.GROUNDLESS):
        return "nothing that it was made of is left" if groundless else "there is ground for the memory"
    if verdict is Verdict.HELD and not (strength.accesses + strength.reinforced and used_since(strength)):
        return "nobody used the memory since its last rehearsal"
    if verdict is Verdict.UNUSED and not strength.doubts:
        return "it would change nothing"
    return None


def used_since(strength: Strength) -> bool:
    """Whether a memory was read or said again since it was rehearsed last."""
    return strength.last_access > strength.rehearsed


def rehearsed(strength: Strength, made: RehearsalMade) -> Strength:
    """The strength after a rehearsal that was checked."""
    verdict = Verdict(made.verdict)
    return replace(
        strength,
        salience_ppm=after_ppm(strength.salience_ppm, verdict),
        replays=strength.replays + (verdict is Verdict.HELD),
        doubts=strength.doubts + 1 if verdict.doubts else 0,
        rehearsed=made.as_of,
    )


def do_rehearsed(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Rehearsed) -> Change:
    """The change of an entry. Raises NotRehearsed, also where the entry is about another memory or has other numbers
    than follow; messages.BadMessage where the service did not sign it."""
    made, entry = opened(codec, genesis, detail.made), change.entry
    if (made.memory_id, made.namespace) != (entry.memory_id, entry.namespace):
        raise NotRehearsed(f"the rehearsal is about memory {made.memory_id}, the entry is not")
    before = check(rows, made, genesis.policy, entered=True)
    after = rehearsed(before, made)
    if (before.salience_ppm, after.salience_ppm) != (detail.before_ppm, detail.after_ppm):
        raise NotRehearsed(f"a salience of {before.salience_ppm} becomes {after.salience_ppm}")
    return change.plus(after)
