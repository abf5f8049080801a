"""Assigns event ids to agents: the first agent that uses an id owns it, and another agent's record is refused as taken.

The vault stores the owner of the id (`core.ids.claim`) with each key, in the same statement that makes the key, so that
of two processes of intake one is first. A refused record goes to a dead letter with its payload; without it if the
agent repeats an event that was forgotten, since the letter would outlive the forgetting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from memquorum.core import ids, intake, letters
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import AccessAccepted, FeedbackAccepted
from memquorum.ports import Owner, Vault
from workers.intake.arrivals import Judged, wanted

EPISODE, USE, FEEDBACK = "episode", "use", "feedback"
"""The kinds of record between which an event id cannot be shared."""
# A vault namespace that no record can have: '!' is no character of a namespace.
_EVENTS = "!events"
_SUBJECT = "event"
TAKEN = Refusal(
    Reason.TAKEN,
    "event_id",
    "another agent, or a record of another kind, used this event id first; publish under another "
    "event id, or leave it out",
)
FORGOTTEN = Refusal(
    Reason.FORGOTTEN,
    "event_id",
    "this agent's episode with this event id was forgotten or dropped, and its key destroyed; publish under a new "
    "event id to repeat it. The payload was not kept",
)
_NOT_YOURS = Refusal(Reason.BAD_ID, "event_id", intake.NOT_YOURS)


def attested(vault: Vault, origins: Sequence[Origin]) -> list[Origin]:
    """Returns the origins, without the place of a first refusal that no dead letter confirms.

    The event id follows from that place: naming a place that has no record yet would use up another publisher's id.
    Raises VaultUnavailable.
    """
    named = {one: letters.dead_letter_id(Origin(one.topic, *one.first)) for one in origins if one.first is not None}
    known = vault.owners(set(named.values())) if named else {}
    return [one if named.get(one, "") in known or one.first is None else replace(one, first=None) for one in origins]


def keyed(vault: Vault, judged: Sequence[Judged]) -> tuple[list[Judged], dict[str, bytes]]:
    """Returns the records with the final answers, by the owners of their event ids, and the keys that they need.

    A repeated call gives the same. Raises VaultUnavailable.
    """
    known = _as_before(vault, judged)
    claims = _whose(vault, known)
    needed = [key for one in known for key in (*wanted(one.origin, one.answer), *_bare(one.answer))]
    if not needed:
        return known, {}
    keys = vault.create(list(dict.fromkeys(needed)), claims)
    owners = vault.owners([event for event in claims if event not in keys])
    settled = [replace(one, answer=_settled(one.answer, claims, keys, owners)) for one in known]
    # A letter of a forgotten event keeps no payload, so it needs no key.
    refused = [key for one in settled if one.answer is TAKEN for key in wanted(one.origin, one.answer)]
    return settled, keys | vault.create(list(dict.fromkeys(refused))) if refused else keys


def _whose(vault: Vault, judged: Sequence[Judged]) -> dict[str, bytes]:
    """Finds the claim of this batch that counts for each event id: the one that the vault has, or else the first."""
    found = dict[str, dict[bytes, None]]()
    for event, claim in _claims(judged):
        found.setdefault(event, {})[claim] = None
    several = [event for event, said in found.items() if len(said) > 1]
    owners = vault.owners(several) if several else {}
    first = {event: next(iter(said)) for event, said in found.items()}
    had = {event: one.claim for event, one in owners.items() if one.claim is not None and one.claim in found[event]}
    return {**first, **had}


def _as_before(vault: Vault, judged: Sequence[Judged]) -> list[Judged]:
    """The records with the event ids of earlier releases if such a release let them in, and with a refusal for those
    that bear an id of the form that intake makes without having been given it."""
    asked = dict[str, EpisodeIntent]()
    for answer in (one.answer for one in judged):
        if isinstance(answer, EpisodeIntent):
            if answer.earlier is not None:
                asked[ids.memory_id(answer.namespace, answer.earlier)] = answer
            elif ids.made_by_intake(answer.event_id):
                asked[answer.memory_id] = answer
    owners = vault.owners(asked) if asked else {}
    return [replace(one, answer=_known(one.answer, owners)) for one in judged] if asked else [*judged]


def _known(answer: Intent | Refusal, owners: Mapping[str, Owner]) -> Intent | Refusal:
    if not isinstance(answer, EpisodeIntent):
        return answer
    if answer.earlier is None:
        made = ids.made_by_intake(answer.event_id)
        owner = owners.get(answer.memory_id)
        own = ids.claim(EPISODE, answer.namespace, answer.agent)
        return _NOT_YOURS if made and (owner is None or owner.claim != own) else answer
    before = ids.memory_id(answer.namespace, answer.earlier)
    owner = owners.get(before)
    if owner is None or owner.claim is not None or not owner.of(answer.subject):
        return answer
    return replace(answer, event_id=answer.earlier, memory_id=before)


def _claim(answer: Intent | Refusal) -> tuple[str, bytes] | None:
    """The claim of an answer: the memory id of its event id, and its owner. None if the id cannot be claimed by
    others."""
    if isinstance(answer, EpisodeIntent):
        return answer.memory_id, ids.claim(EPISODE, answer.namespace, answer.agent)
    if not isinstance(answer, AccessAccepted | FeedbackAccepted) or ids.is_made(answer.event_id):
        return None
    kind = USE if isinstance(answer, AccessAccepted) else FEEDBACK
    return ids.memory_id(answer.namespace, answer.event_id), ids.claim(kind, answer.namespace, answer.agent)


def _claims(judged: Sequence[Judged]) -> Iterator[tuple[str, bytes]]:
    return (claim for one in judged if (claim := _claim(one.answer)) is not None)


def _bare(answer: Intent | Refusal) -> Iterator[tuple[str, str, str]]:
    """The vault's row of an event id that has no memory: its key seals nothing."""
    claimed = None if isinstance(answer, EpisodeIntent) else _claim(answer)
    if claimed is not None:
        yield claimed[0], _EVENTS, _SUBJECT


def _settled(
    answer: Intent | Refusal, claims: Mapping[str, bytes], keys: Mapping[str, bytes], owners: Mapping[str, Owner]
) -> Intent | Refusal:
    """The answer, or a refusal if its event id belongs to another. `claims`: the claim of this batch that counts, by
    event id; `owners`: of the ids that have no key for that claim."""
    claimed = _claim(answer)
    if claimed is None:
        return answer
    event, claim = claimed
    if event in keys:
        return answer if claims[event] == claim else TAKEN
    subject = answer.subject if isinstance(answer, EpisodeIntent) else _SUBJECT
    return FORGOTTEN if owners[event].admits(claim, subject) else TAKEN
