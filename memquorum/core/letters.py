"""Dead letters: the bytes of a refused record, sealed under a key of their own, without an author."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core import authorship, ids, labelling, linking, sealing
from memquorum.core.experience import texts
from memquorum.core.intake import Origin
from memquorum.core.policy import PPM
from memquorum.core.reasons import Reason
from memquorum.core.records import EpisodeAccepted, EpisodeRecorded, IntakeRefused, Link, TaskFinished
from memquorum.core.records.episodes import SHARES

KEPT_MS = 7 * 24 * 3600 * 1000
"""Milliseconds that the topic keeps dead letters, and a failed episode its key (schemas/topics says the same)."""


def seal_payload(letter: str, key: bytes, nonce: bytes, payload: bytes) -> bytes:
    """A refused record's bytes, sealed under the dead letter's own key."""
    return sealing.seal(key, nonce, payload, _letter(letter))


def open_payload(letter: str, key: bytes, sealed: bytes) -> bytes:
    """Opens a refused record's bytes, to be read. Raises SealError."""
    return sealing.open_sealed(key, sealed, _letter(letter))


def _letter(letter: str) -> bytes:
    return f"memquorum/dead-letter/1/{letter}".encode()


def of_failed(
    accepted: EpisodeAccepted, text: str, key: bytes | None, nonce: bytes, *, why: str, at: int
) -> IntakeRefused:
    """The letter of an episode that was let in and then could not be encoded or judged. `key`: the memory's own, under
    which the letter's payload is sealed too: an erasure reaches it, and it can be opened for as long as the episode;
    None: its payload is not kept. `why`: repeats nothing of the content. `at`: milliseconds since 1970.
    """
    payload, signature = b"", None
    if key is not None and accepted.sealed_signed is not None:
        opened = sealing.open_signed(key, accepted.sealed_signed, accepted.memory_id)
        signature, payload = opened[: authorship.SIGNATURE_BYTES], opened[authorship.SIGNATURE_BYTES :]
    elif key is not None:
        whole = replace(accepted, links=_links(accepted, key))
        payload = _finished(accepted, text) if accepted.task is not None else _said(whole, text, _labels(accepted, key))
    return IntakeRefused(
        origin_topic=accepted.origin_topic,
        origin_partition=accepted.origin_partition,
        origin_offset=accepted.origin_offset,
        reason=Reason.FAILED,
        detail=f"let in, and then it could not be encoded or judged ({why}); replayed it is tried again",
        refused_at=at,
        key_id=accepted.memory_id,
        sealed_payload=seal_payload(accepted.memory_id, key, nonce, payload) if key is not None else b"",
        signature=signature,
    )


def _links(accepted: EpisodeAccepted, key: bytes) -> tuple[Link, ...]:
    """Its links as they were published; without those to names where the names cannot be opened."""
    try:
        return linking.published(accepted, key)
    except ValueError:  # SealError too: what failed has its letter all the same
        return tuple(link for link in accepted.links if link.to is not None)


def _labels(accepted: EpisodeAccepted, key: bytes) -> dict[str, Any]:
    """Returns the labels of an episode as they were published; nothing if they cannot be opened."""
    try:
        filed = labelling.opened(accepted, key)
    except ValueError:
        return {}
    return {"key": filed.key, "path": filed.path, "attributes": labelling.read(filed.attributes)}


def _said(accepted: EpisodeAccepted, text: str, labels: Mapping[str, Any]) -> bytes:
    """An episode as it could have been published, with the ids that it was given."""
    said = {name: getattr(accepted, name) for name in EpisodeRecorded.__struct_fields__ if hasattr(accepted, name)}
    shares = {name: getattr(accepted, f"{name}_ppm") for name in SHARES}
    said |= {"links": [{n: v for n, v in asdict(link).items() if v is not None} for link in accepted.links]}
    said |= labels
    said |= {"content": text} | {name: ppm / PPM for name, ppm in shares.items() if ppm is not None}
    return json.dumps({name: value for name, value in said.items() if value or type(value) in (int, float)}).encode()


def _finished(accepted: EpisodeAccepted, text: str) -> bytes:
    """A finished task as it could have been published, with the ids that it was given."""
    assert accepted.task is not None
    task = accepted.task
    said = {name: getattr(accepted, name) for name in TaskFinished.__struct_fields__ if hasattr(accepted, name)}
    said |= asdict(texts.read(text)) | {"outcome": task.outcome, "said_by": task.said_by, "seed": task.seed}
    said |= {"configuration": task.configuration.hex(), "finished_at": accepted.occurred_at}
    said |= {"retrieved": accepted.derives_from}
    if accepted.sensitivity_ppm is not None and accepted.suggested is None:
        said["sensitivity"] = accepted.sensitivity_ppm / PPM
    return json.dumps({name: value for name, value in said.items() if value or type(value) in (int, float)}).encode()


def dead_letter_id(origin: Origin) -> str:
    """The vault id of a refused payload's key: the same again on a redelivery, never a memory's."""
    return ids.place_uuid(f"{topics.REFUSED}/{origin.topic}", origin.partition, origin.offset)
