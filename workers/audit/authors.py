"""Checks whether agents signed the records that the accepted stream attributes to them, as long as there are keys
(`core.authorship`).

A record without a key is not judged: it was forgotten or erased, and its signed bytes went with its content. A record
for which the vault does not answer is not judged either. If no agent has a key, nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memquorum import topics
from memquorum.core import authorship, sealing
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import EpisodeAccepted
from memquorum.ports import Vault
from workers.audit.sealed_batches import batches

Accepted = tuple[int, bytes]
"""Offset and bytes of an accepted record."""


def check(codec: Codec, genesis: Genesis, shard: int, records: Iterable[Accepted], vault: Vault | None) -> Findings:
    """Checks every episode that is signed, or has to be, against its agent's signature. Its count is `authors`."""
    found = Findings(shard)
    if vault is None or not genesis.agent_keys:
        return found
    wanted = _signed(codec, genesis, records)
    for batch, keys in batches(vault, wanted, lambda one: one[1].memory_id, "authors"):
        _judge(codec, genesis, batch, keys, found)
    return found


def _signed(codec: Codec, genesis: Genesis, records: Iterable[Accepted]) -> Iterator[tuple[int, EpisodeAccepted]]:
    for offset, data in records:
        try:
            record = codec.decode(data)
        except DecodeError:
            continue  # the shard's own audit reports it
        if isinstance(record, EpisodeAccepted) and (
            record.sealed_signed is not None or record.namespace in genesis.signed
        ):
            yield offset, record


def _judge(
    codec: Codec,
    genesis: Genesis,
    batch: Sequence[tuple[int, EpisodeAccepted]],
    keys: dict[str, bytes],
    found: Findings,
) -> None:
    for offset, episode in batch:
        key = keys.get(episode.memory_id)
        if key is None:
            continue
        found.counts.authors += 1
        try:
            text = sealing.open_text(key, episode.sealed_content, episode.memory_id)
        except ValueError:
            continue  # it is never stored
        wrong = authorship.fault(
            codec, genesis, memory_id=episode.memory_id, namespace=episode.namespace, agent=episode.agent, text=text,
            sealed=episode.sealed_signed, key=key, topic=topics.EPISODES if episode.task is None else topics.TASKS,
        )  # fmt: skip
        if wrong is not None:
            where = f"accepted offset {offset}, memory_id {episode.memory_id}"
            found.add(Kind.AUTHOR_UNPROVEN, None, where, f"what {episode.agent} signed", wrong)
