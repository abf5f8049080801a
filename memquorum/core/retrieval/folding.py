"""Folds hits that are provably the same text into the best of them, where nothing is lost by it.

Ten agents who report one event in the same words are ten memories: each is about its agent. A reader is given one, with
the ids of the others and who said them. Folded is only what is about the same, filed alike and in the same slot; "I"
said by two agents speaks of two. Only what the reader was given anyhow is folded, so nothing is told of other memories.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.contained import Failures
from memquorum.core.text.agreement import Said


def place(hit: Hit, said: Said) -> Hashable:
    """What two hits share that may be folded. `said`: the hit's text, as read."""
    about = None if hit.subject in ("", hit.agent) else hit.subject
    speaker = hit.agent if said.personal else None
    filed = msgspec.json.encode(hit.attributes, order="sorted")
    return said.fingerprint, about, speaker, hit.key, hit.path, filed, hit.excerpt


def also_by(hit: Hit, other: Hit) -> tuple[str, ...]:
    """Who else said a hit, with those who said another one that is folded into it."""
    more = (one for one in (other.agent, *other.also_by) if one != hit.agent)
    return tuple(dict.fromkeys((*hit.also_by, *more)))


def fold(hits: Sequence[Hit], failures: Failures | None = None) -> list[Hit]:
    """The hits, each text once, where it stands first; with the ids of the others, and who said them. `failures`: takes
    what a rule fails on, which is folded into nothing."""
    failures, found = failures or Failures(), dict[Hashable, Hit]()
    for hit in hits:
        where: Hashable = failures.answer("agreement", [hit.memory_id], hit.memory_id, place, hit, Said(hit.text))
        best = found.get(where)
        if best is None:
            found[where] = hit
        else:
            ids = tuple(dict.fromkeys((*best.folded, hit.memory_id, *hit.folded)))
            against = tuple(dict.fromkeys((*best.conflicts_with, *hit.conflicts_with)))
            found[where] = replace(best, folded=ids, also_by=also_by(best, hit), conflicts_with=against)
    return list(found.values())
