"""Folds hits that are provably the same text into the best of them, where nothing is lost by it.

Ten agents who report one event in the same words are ten memories: each is about its agent. A reader is given one, with
the ids of the others and who said them. Folded is only what is about the same, filed alike and in the same slot; "I"
said by two agents speaks of two. Only what the reader was given anyhow is folded, so nothing is told of other memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import msgspec
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.contained import Failures
from memquorum.core.reading.agreement import ComparedText
from memquorum.core.tiers import SUPERSEDED


def place(hit: Hit, said: ComparedText) -> Hashable:
    """Returns a key that is equal for two hits that may be folded. `said`: the hit's text, as read."""
    about = None if hit.subject in ("", hit.agent) else hit.subject
    speaker = hit.agent if said.personal else None
    filed = msgspec.json.encode(hit.attributes, order="sorted")
    # Replaced memories are listed by time, where the same text may come twice.
    apart = hit.memory_id if hit.tier == SUPERSEDED else None
    return said.fingerprint, about, speaker, hit.key, hit.path, filed, hit.excerpt, apart


def also_by(hit: Hit, other: Hit) -> tuple[str, ...]:
    """Returns the other agents who said a hit, with those of a hit that is folded into it."""
    more = (one for one in (other.agent, *other.also_by) if one != hit.agent)
    return tuple(dict.fromkeys((*hit.also_by, *more)))


def _fingerprint(text: ComparedText) -> Hashable:
    return text.fingerprint


def fold(hits: Sequence[Hit], failures: Failures | None = None) -> list[Hit]:
    """The hits, each text once, where it stands first; with the ids of the others, who said them, and what contradicts
    them. `failures`: takes what a rule fails on, which is folded into nothing."""
    failures, found = failures or Failures(), dict[Hashable, Hit]()
    texts = [ComparedText(hit.text) for hit in hits]
    prints = [
        failures.answer("agreement", [hit.memory_id], hit.memory_id, _fingerprint, text)
        for hit, text in zip(hits, texts, strict=True)
    ]
    several = Counter(prints)
    for hit, text, said in zip(hits, texts, prints, strict=True):
        # Most texts are there once; nothing more of those is read.
        where: Hashable = (
            said
            if several[said] == 1
            else failures.answer("agreement", [hit.memory_id], hit.memory_id, place, hit, text)
        )
        best = found.get(where)
        if best is None:
            found[where] = hit
        else:
            ids = tuple(dict.fromkeys((*best.folded, hit.memory_id, *hit.folded)))
            both = {name: (getattr(best, name), getattr(hit, name)) for name in ("conflicts_with", "overtakes")}
            told = {name: tuple(dict.fromkeys((*one, *other))) for name, (one, other) in both.items()}
            found[where] = replace(best, folded=ids, also_by=also_by(best, hit), **told)
    return list(found.values())
