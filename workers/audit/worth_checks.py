"""Checks whether worths follow from the accepted texts and the stored word counts (`core.worth`).

Those without a key are counted and not judged: they were forgotten, dropped or erased, and their word counts with the
content.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence

from memquorum.core import sealing, worth
from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.contained import Failed, attempt
from memquorum.core.reading.content import content
from memquorum.core.records import EpisodeAccepted, EpisodeScored
from memquorum.ports import Vault
from workers.audit.sealed_batches import batches

_LOG = logging.getLogger("memquorum.audit")

Written = tuple[int, bytes]
"""Offset and bytes of a record."""
_Pair = tuple[EpisodeAccepted, EpisodeScored]


def check(
    codec: Codec, shard: int, accepted: Iterable[Written], scored: Iterable[Written], vault: Vault | None
) -> Findings:
    """Computes every worth of the scored stream again. Its counts are `worths` and `worths_unread`."""
    found = Findings(shard)
    if vault is None:
        return found
    wanted = _pairs(codec, accepted, scored)
    for batch, keys in batches(vault, wanted, lambda one: one[1].memory_id, "worths"):
        _judge(batch, keys, found)
    return found


def _pairs(codec: Codec, accepted: Iterable[Written], scored: Iterable[Written]) -> Iterator[_Pair]:
    """Yields each score with a worth and its episode. Scores are in the order of their episodes; repeated ones are left
    out."""
    episodes = iter(accepted)
    waiting: dict[int, EpisodeAccepted] = {}
    read_to = 0
    for _, data in scored:
        score = _decoded(codec, data)
        if not isinstance(score, EpisodeScored):
            continue
        while read_to <= score.accepted_offset and (one := next(episodes, None)) is not None:
            read_to = one[0] + 1
            if isinstance(episode := _decoded(codec, one[1]), EpisodeAccepted):
                waiting[one[0]] = episode
        said = waiting.pop(score.accepted_offset, None)
        if said is not None and score.worth_ppm is not None:
            yield said, score


def _decoded(codec: Codec, data: bytes) -> object:
    try:
        return codec.decode(data)
    except DecodeError:
        return None  # the shard's own audit reports it


def _worth(text: str, told: worth.EarlierCounts) -> int:
    return worth.worth_ppm(content(text), told)


def _judge(batch: Sequence[_Pair], keys: dict[str, bytes], found: Findings) -> None:
    for said, score in batch:
        key = keys.get(score.memory_id)
        if key is None:
            found.counts.worths_unread += 1
            continue
        found.counts.worths += 1
        where = f"accepted offset {score.accepted_offset}, memory_id {score.memory_id}"
        try:
            text = sealing.open_text(key, said.sealed_content, said.memory_id)
            told = worth.unpack(sealing.open_counts(key, score.sealed_counts or b"", score.memory_id))
        except ValueError as error:
            found.add(Kind.WORTH_ALTERED, None, where, "counts of its words", str(error))
            continue
        follows = attempt("worth", [score.memory_id], _worth, text, told)
        if isinstance(follows, Failed):
            # A rule that fails tells nothing of the score: it is not judged, and the log says so.
            found.counts.worths -= 1
            found.counts.worths_unread += 1
            _LOG.error("%s: rule %s failed: %s", where, follows.rule, follows.error)
            continue
        if follows != score.worth_ppm:
            found.add(Kind.WORTH_ALTERED, None, where, follows, score.worth_ppm)
