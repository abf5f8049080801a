"""Restores the agents' latest episodes from the accepted stream when a shard begins here (SPEC B, episodic buffer).

The buffers live in process memory. A process that takes a shard over, after a kill or a rebalance, would judge the
agents' next episodes as if nothing had gone before, and what is small talk for the tenth time would be new again. So it
reads the shard's last accepted episodes once more; the outcomes stand, nothing is written. The score of an episode that
was stored has its vector; the other episodes are encoded again.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from memquorum.core import sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import EpisodeAccepted, EpisodeScored
from memquorum.core.salience import Signals
from memquorum.ports import Past, StreamUnavailable, Vault, VaultUnavailable, Vector
from streams.encoding import Encoding

log = logging.getLogger(__name__)

MOST = 256
"""Episodes of a shard that are recalled: four agents' buffers full. To encode all takes one to three seconds."""
_SCORES = 2 * MOST
"""So many of the shard's last scores are read for vectors. Each episode has one, which comes a moment later."""
_REACHES = (300, 2_000, 10_000)
"""The distances at which they are looked for, in records: between episodes lie ticks and accesses."""
_BATCH = 32


class Recalled(Struct, frozen=True):
    """An episode that was judged before."""

    memory_id: str
    namespace: str
    agent: str
    vector: Vector
    text: str
    signals: Signals


def signals_of(episode: EpisodeAccepted) -> Signals:
    """The signals that an episode carries."""
    return Signals(None, episode.reward_ppm, episode.confidence_ppm, episode.uncertainty_ppm)


def keys_of(vault: Vault, memory_ids: Iterable[str]) -> dict[str, bytes]:
    """The keys that exist. Whatever the vault's failure is, it is no episode's fault: all wait, by VaultUnavailable."""
    try:
        return vault.open(memory_ids)
    except VaultUnavailable:
        raise
    except Exception as error:
        raise VaultUnavailable(f"vault: {error!r}") from error


class Recall:
    """Opens what the past holds, and encodes what it holds no vector of."""

    def __init__(self, codec: Codec, *, past: Past, encoding: Encoding, vault: Vault, each: int) -> None:
        """`each`: how many episodes an agent's buffer holds."""
        self._codec, self._past, self._encoding, self._vault, self._each = codec, past, encoding, vault, each

    def before(self, shard: int, offset: int) -> list[Recalled]:
        """The last episodes of each agent before the offset, oldest first; those that cannot be opened are left out.

        Raises StreamUnavailable, VaultUnavailable or EncoderUnavailable: ask again later.
        """
        if offset == 0:
            return []
        episodes: list[EpisodeAccepted] = []
        for reach in _REACHES:
            try:
                values = self._past.before(shard, offset, reach)
            except Exception as error:
                raise StreamUnavailable(f"accepted episodes of shard {shard} before {offset}: {error!r}") from error
            episodes = [episode for value in values if (episode := self._episode(value)) is not None]
            if len(episodes) >= MOST or reach >= offset:
                break
        last = self._last(episodes[-MOST:])
        keys = keys_of(self._vault, {episode.memory_id for episode in last})
        texts, vectors = self._opened(last, keys), self._stored(shard, keys)
        absent = [(episode.memory_id, text) for episode, text in texts if episode.memory_id not in vectors]
        for at in range(0, len(absent), _BATCH):
            vectors |= self._encoded(absent[at : at + _BATCH])
        found = [
            Recalled(one.memory_id, one.namespace, one.agent, vectors[one.memory_id], text, signals_of(one))
            for one, text in texts
            if one.memory_id in vectors
        ]
        log.info("salience: %d episodes of shard %d recalled, %d encoded again", len(found), shard, len(absent))
        return found

    def _stored(self, shard: int, keys: Mapping[str, bytes]) -> dict[str, Vector]:
        """The vectors of the encoder in use that the shard's last scores have, by memory."""
        try:
            values, _ = self._past.scored(shard, None, _SCORES)
        except Exception as error:
            raise StreamUnavailable(f"scores of shard {shard}: {error!r}") from error
        return sealing.open_vectors(
            (score.memory_id, keys[score.memory_id], score.sealed_embedding)
            for score in map(self._score, values)
            if score is not None and score.sealed_embedding is not None and score.memory_id in keys
        )

    def _score(self, value: bytes) -> EpisodeScored | None:
        try:
            record = self._codec.decode(value)
        except DecodeError:
            return None
        return record if isinstance(record, EpisodeScored) and record.encoder == self._encoding.name else None

    def _episode(self, value: bytes) -> EpisodeAccepted | None:
        try:
            record = self._codec.decode(value)
        except DecodeError:
            return None
        lived = isinstance(record, EpisodeAccepted) and record.summary is None and record.counts
        return record if lived else None

    def _last(self, episodes: Sequence[EpisodeAccepted]) -> list[EpisodeAccepted]:
        """Keeps of each agent as many as its buffer holds."""
        seen: Counter[tuple[str, str]] = Counter()
        kept: list[EpisodeAccepted] = []
        for episode in reversed(episodes):
            seen[episode.namespace, episode.agent] += 1
            if seen[episode.namespace, episode.agent] <= self._each:
                kept.append(episode)
        return kept[::-1]

    def _opened(
        self, episodes: Sequence[EpisodeAccepted], keys: Mapping[str, bytes]
    ) -> list[tuple[EpisodeAccepted, str]]:
        found: list[tuple[EpisodeAccepted, str]] = []
        for episode in episodes:
            key = keys.get(episode.memory_id)
            if key is None:  # destroyed: nobody is to be reminded of it
                continue
            try:
                found.append((episode, sealing.open_text(key, episode.sealed_content, episode.memory_id)))
            except ValueError:
                log.warning("salience: the accepted content of %s cannot be opened", episode.memory_id)
        return found

    def _encoded(self, wanted: Sequence[tuple[str, str]]) -> dict[str, Vector]:
        encoded: dict[str, Vector] = {}
        for (memory_id, _), found in zip(wanted, self._encoding.vectors(wanted), strict=True):
            if isinstance(found, Exception):
                # It could not be encoded the first time either, and surrounds nothing.
                log.warning("salience: %s cannot be encoded: %s", memory_id, type(found).__name__)
            else:
                encoded[memory_id] = found
        return encoded
