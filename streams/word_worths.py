"""Computes the worth of episodes by their words, for the salience stage, from the words seen in each namespace.

The counts of words live here, in memory, and nowhere else in the clear. With every score goes what was counted of the
episode's own words, sealed under its own key. A process that takes a shard over reads the last scores again and has the
counts back, those of texts too that nobody can open any more, as far as a later text shares their words. Erased
episodes are not counted again, as their keys are gone (infra/decisions/0065).
"""

from __future__ import annotations

import logging
import os
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, msgpack

from memquorum.core import sealing, worth
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.kept import Kept
from memquorum.core.reading.content import Content, content
from memquorum.core.records import EpisodeAccepted, EpisodeScored
from memquorum.ports import Past, StreamUnavailable, Vault
from streams.latest_episodes import keys_of

log = logging.getLogger(__name__)

REACH = 50_000
"""So many of a shard's last scores are read again; of a longer history the ranks know the later part. Reading them
takes some five seconds."""
_KEYS_AT_ONCE = 1_000
# Over all namespaces: some 150 MB. Beyond it the namespace least lately heard is packed, to an eighth of its size.
_WORDS_MAX = 1_000_000
# Some 75 MB for one namespace, since numbers and names that nobody says again come without an end.
_OWN_MAX = 500_000
# Beyond it the one packed first goes, and is read again when it speaks: some seven million words.
_PACKED_MAX = 100_000_000
# The ranks of a class take as much memory as so many words.
_RANKS = 256
_LATELY_MAX, _LATELY_SIZE = 4_096, 4_000_000
# An order to erase is carried out soon, but not by the next episode: so long after it the namespace is read again.
_AGAIN_MS = (60_000, 3_600_000)


class Weighed(Struct, frozen=True):
    """The worth of an episode, and the fields that its score carries."""

    worth_ppm: int
    rank_ppm: int
    like: str
    sealed_counts: bytes
    told: worth.EarlierCounts
    said: Content


class _Heard:
    """The words of one namespace, and the worths of its texts by the class that they are ranked in."""

    def __init__(self) -> None:
        self.counts = worth.Counts()
        self.ranks: defaultdict[str, worth.Ranks] = defaultdict(worth.Ranks)

    @property
    def size(self) -> int:
        """The size in memory, counted in words."""
        return self.counts.size + _RANKS * len(self.ranks)

    def pack(self) -> bytes:
        """Writes all of it in little room; `_unpacked` reads it."""
        return msgpack.encode((*self.counts.state(), {like: one.steps() for like, one in self.ranks.items()}))


def _unpacked(data: bytes) -> _Heard:
    having, texts, long, ranks = _PACKED.decode(data)
    heard = _Heard()
    heard.counts = worth.Counts(having, texts, long)
    heard.ranks.update((like, worth.Ranks(steps)) for like, steps in ranks.items())
    return heard


_PACKED = msgpack.Decoder(tuple[dict[str, int], int, int, dict[str, dict[int, int]]])


class Worths:
    """The counts of all namespaces of the shards that this process holds."""

    def __init__(
        self, codec: Codec, past: Past | None, vault: Vault, clock: Callable[[], int], words_max: int = _WORDS_MAX
    ) -> None:
        """`past`: None, for tests: nothing went before. `clock`: milliseconds since 1970."""
        self._codec, self._past, self._vault, self._clock, self._words_max = codec, past, vault, clock, words_max
        self._heard: OrderedDict[tuple[int, str], _Heard] = OrderedDict()
        self._packed = Kept[tuple[int, str], bytes](len, _PACKED_MAX)
        # Namespaces that are packed, or of which nothing is in memory though something was said there.
        self._away: set[tuple[int, str]] = set()
        self._erased: dict[tuple[int, str], list[int]] = {}
        # The latest weighed episodes: one that is delivered again is weighed as it was, and counts once. A different
        # text under the same id is weighed by its own words, and does not count.
        self._lately = Kept[tuple[int, str], Weighed](_characters, _LATELY_SIZE, _LATELY_MAX)

    def begin(self, shard: int, offset: int) -> None:
        """Reads again what the shard heard before an accepted offset. Raises StreamUnavailable and VaultUnavailable."""
        self.leave(shard)
        self._read(shard, offset, None)

    def leave(self, shard: int) -> None:
        """Another process holds the shard."""
        for key in [key for key in self._heard if key[0] == shard]:
            del self._heard[key]
        for kept in (self._packed, self._lately):
            for key in [key for key in kept if key[0] == shard]:
                del kept[key]
        self._away = {key for key in self._away if key[0] != shard}
        self._erased = {key: due for key, due in self._erased.items() if key[0] != shard}

    def ready(self, places: Iterable[tuple[int, str, int]]) -> None:
        """Brings back the namespaces of (shard, namespace, accepted offset) that are not in memory, or were erased in.
        Raises StreamUnavailable and VaultUnavailable."""
        now = self._clock()
        for shard, namespace, offset in places:
            key = shard, namespace
            due = self._erased.get(key, [])
            if due and due[0] <= now:
                self._erased[key] = [at for at in due if at > now]
                self._drop(key)
            if key in self._away:
                packed = self._packed.pop(key, None)
                if packed is None:
                    self._read(shard, offset, namespace)
                else:
                    self._heard[key] = _unpacked(packed)
                self._away.discard(key)

    def erased(self, shard: int, namespace: str) -> None:
        """An order to erase stands in the stream: what the namespace has said is read again without it."""
        key = shard, namespace
        self._erased[key] = [self._clock() + after for after in _AGAIN_MS]
        self._drop(key)

    def weigh(self, shard: int, accepted: EpisodeAccepted, text: str, key: bytes) -> Weighed:
        """Weighs an episode by all that was said before it."""
        heard, said = self._of(shard, accepted.namespace), content(text)
        like = worth.SUMMARY if accepted.summary is not None else worth.like(accepted.type, accepted.role)
        memory_id = accepted.memory_id
        earlier = self._lately.get((shard, memory_id))
        if earlier is not None and (earlier.said, earlier.like) == (said, like):
            told, value, rank = earlier.told, earlier.worth_ppm, earlier.rank_ppm
        else:
            told = heard.counts.tell(said)
            value = worth.worth_ppm(said, told)
            rank = heard.ranks[like].rank_ppm(value)
        sealed = sealing.seal_counts(key, os.urandom(sealing.NONCE_BYTES), told.pack(), memory_id)
        return Weighed(value, rank, like, sealed, told, said)

    def take(self, shard: int, accepted: EpisodeAccepted, weighed: Weighed) -> None:
        """The episode was said, and goes before what comes next."""
        if (shard, accepted.memory_id) in self._lately:
            return
        self._lately[shard, accepted.memory_id] = weighed
        heard = self._of(shard, accepted.namespace)
        if weighed.like != worth.SUMMARY:
            heard.counts.take(weighed.told.having)
        heard.ranks[weighed.like].add(weighed.worth_ppm)

    def _of(self, shard: int, namespace: str) -> _Heard:
        heard = self._heard.setdefault((shard, namespace), _Heard())
        self._heard.move_to_end((shard, namespace))
        return heard

    def _drop(self, key: tuple[int, str]) -> None:
        self._packed.pop(key, None)
        if self._heard.pop(key, None) is not None:
            self._away.add(key)

    def bound(self) -> None:
        """Packs the namespaces least lately heard while there are too many words; each forgets rare words beyond its
        own bound."""
        words = sum(heard.size for heard in self._heard.values())
        while words > self._words_max and len(self._heard) > 1:
            key, heard = self._heard.popitem(last=False)
            words -= heard.size
            self._packed[key] = heard.pack()
            self._away.add(key)
        for heard in self._heard.values():
            heard.counts.bound(_OWN_MAX)

    def _read(self, shard: int, offset: int, namespace: str | None) -> None:
        """The shard's last scores of episodes before an offset, those of one namespace or of all."""
        if self._past is None or offset == 0:
            return
        try:
            values, _ = self._past.scored(shard, None, REACH)
        except Exception as error:
            raise StreamUnavailable(f"scores of shard {shard}: {error!r}") from error
        before: dict[str, EpisodeScored] = {}
        for record in map(self._score, values):
            if record is not None and record.accepted_offset < offset and namespace in (None, record.namespace):
                before.setdefault(record.memory_id, record)
        scores = list(before.values())
        for at in range(0, len(scores), _KEYS_AT_ONCE):
            self._recall(shard, scores[at : at + _KEYS_AT_ONCE])
        log.info("salience: the words of %d episodes of shard %d recalled", len(scores), shard)

    def _score(self, value: bytes) -> EpisodeScored | None:
        try:
            record = self._codec.decode(value)
        except DecodeError:
            return None
        return record if isinstance(record, EpisodeScored) and record.worth_ppm is not None else None

    def _recall(self, shard: int, scores: Sequence[EpisodeScored]) -> None:
        keys = keys_of(self._vault, [score.memory_id for score in scores])
        for score in scores:
            heard, told = self._of(shard, score.namespace), _told(score, keys.get(score.memory_id))
            if score.like == worth.SUMMARY:
                pass
            elif told is None:
                heard.counts.take(())
            else:
                heard.counts.recall(told)
            heard.ranks[score.like or ""].add(score.worth_ppm or 0)


def _characters(weighed: Weighed) -> int:
    """Returns the total length of the words of an episode, and some for each."""
    return sum(16 + len(word) for word in weighed.said.stems)


def _told(score: EpisodeScored, key: bytes | None) -> worth.EarlierCounts | None:
    """Returns the counts of an episode's words; None if they cannot be opened."""
    if key is None or score.sealed_counts is None:
        return None
    try:
        return worth.unpack(sealing.open_counts(key, score.sealed_counts, score.memory_id))
    except ValueError:
        return None
