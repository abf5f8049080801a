"""Decides whether an answer that was given before may be given again, and fills it in anew.

An answer follows from the texts of a namespace and from how strong its candidates are. The store says that nothing was
journaled in the namespace since but uses, and how strong the candidates are now (`Standing`). Strength only orders the
candidates: in the same order they give the same answer. The kept answer has no content: ids, numbers and places in
texts. Content comes from the store each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from memquorum.core import decay
from memquorum.core.api.answers import Answering, Around, Hit, Placed, Remembered
from memquorum.core.policy import PPM, Policy
from memquorum.core.retrieval.pieces import LOOKED
from memquorum.core.retrieval.ranking import Candidate, Ranking, Scored, strength

T = TypeVar("T", Answering, Around, Placed)

# The marks of an answer on a memory; the rest is the memory's, as the store has it.
_MARKS = ("excerpt", "overtaken", "overtakes", "conflicts_with", "also_by", "alike", "passage", "folded")
_CONTENT = {"text": "", "key": None, "path": None, "attributes": None, "subject": ""}
_REMEMBERED = tuple(name for name in Remembered.__struct_fields__ if name not in _MARKS)


class Standing(Struct, frozen=True):
    """The state of memories: when each was used last, its salience in millionths, and the time of their shard."""

    last_access: Sequence[int | None] = ()
    salience_ppm: Sequence[int | None] = ()
    as_of: int = 0


class Ranked(Struct, frozen=True):
    """A candidate as it was ranked. `worth`: of its tier."""

    memory_id: str
    relevance: float
    worth: float
    occurred_at: int
    tier: str


class Chosen(Struct, frozen=True):
    """The choice behind an answer: `ranked`, best first, by `policy`, and the `traces` of an agent. `by_value`: the
    answer depends on the scores and not only on their order."""

    ranked: tuple[Ranked, ...]
    standing: Standing
    policy: Policy
    share: float = 0.0
    by_value: bool = False
    traces: tuple[str, ...] = ()

    @property
    def watched(self) -> tuple[str, ...]:
        """The memories whose standing is asked for."""
        return (*(one.memory_id for one in self.ranked), *self.traces)

    def strengths(self, now: Standing) -> dict[str, float] | None:
        """Returns the strengths of the ranked memories now; None if the answer may be another one."""
        count = len(self.ranked)
        same = (now.as_of, *now.last_access[:count]) == (self.standing.as_of, *self.standing.last_access[:count])
        if (self.by_value and not same) or now.salience_ppm[count:] != self.standing.salience_ppm[count:]:
            return None
        if self.by_value and now.salience_ppm != self.standing.salience_ppm:
            return None
        found, keys = dict[str, float](), list[tuple[float, int, str]]()
        for one, used, ppm in zip(self.ranked, now.last_access, now.salience_ppm, strict=False):
            if used is None or ppm is None:
                return None
            of = decay.of_tier(self.policy, one.tier)
            found[one.memory_id] = strength(used, ppm / PPM, now.as_of, of, self.share)
            keys.append((-(one.relevance * found[one.memory_id] * one.worth), -one.occurred_at, one.memory_id))
        return found if all(a <= b for a, b in pairwise(keys)) else None


def chosen(ranked: Sequence[Scored], as_of: int, policy: Policy, given: Ranking) -> Chosen:
    """Tells what an answer is chosen from. `ranked`: by `ranking.rank` with the same `as_of`, `policy` and `given`."""
    hits = [one.candidate.hit for one in ranked]
    return Chosen(
        tuple(
            Ranked(hit.memory_id, one.relevance, given.tiers.get(hit.tier, 1.0), hit.occurred_at, hit.tier)
            for hit, one in zip(hits, ranked, strict=True)
        ),
        Standing(tuple(hit.last_access for hit in hits), tuple(round(hit.salience * PPM) for hit in hits), as_of),
        policy,
        given.strength_share,
        by_value=any(one.candidate.hit.made_by or one.candidate.passages for one in ranked[:LOOKED]),
    )


def beside_traces(found: Chosen, traces: Sequence[Candidate]) -> Chosen:
    """Adds an agent's traces, of which salience decides which come first."""
    hits, last = [trace.hit for trace in traces], found.standing
    standing = Standing(
        (*last.last_access, *(hit.last_access for hit in hits)),
        (*last.salience_ppm, *(round(hit.salience * PPM) for hit in hits)),
        last.as_of,
    )
    by_value = found.by_value or any(trace.hit.made_by or trace.passages for trace in traces)
    return replace(found, standing=standing, by_value=by_value, traces=tuple(hit.memory_id for hit in hits))


def emptied(item: T) -> T | None:
    """An item of an answer without its content; None if its text could not be cut from the memory's again."""
    whole = not item.excerpt or bool(item.spans)
    return replace(item, **_CONTENT) if whole and not item.diffused else None


def hit_again(item: Answering | Around | Placed, now: Hit) -> Hit:
    """The memory of a kept item as the store has it now, with the marks of the item. `now`: with its whole text."""
    text = "\n".join(now.text[start:end] for start, end in item.spans) if item.spans else now.text
    marks = {name: getattr(item, name) for name in _MARKS}
    return replace(now, text=text, **marks)


def filled(item: T, hit: Hit, strengths: Mapping[str, float]) -> T:
    """A kept item with the content and the uses of its memory, and its strength now."""
    told = asdict(hit)
    found = replace(item, **{name: told[name] for name in _REMEMBERED})
    if isinstance(found, Answering):
        return replace(found, strength=round(strengths[hit.memory_id], 6))
    return found
