"""The row of merging: what a store of summaries loses where those that say the same become one (SPEC C §8).

The source merges summaries whose cosine is above 0.97, keeps the one with the higher score, and expects 20 to 35 % less
"in systems with multiple agents writing independent summaries about the same user". So there are, besides what the
consolidator makes of a conversation, summaries that several made of the same. They are those of four agents that served
one customer of tau-bench, and the three accounts of each conversation in LoCoMo, which a model wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.consolidation.frame import Material
from bench.consolidation.sessions import TAU
from bench.consolidation.shrinking import sets
from bench.kept import Row
from bench.sets import LOCOMO, records, there
from memquorum.core import ids
from memquorum.core.consolidation.alike import cliques, stands_for
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM
from memquorum.core.reading.agreement import ComparedText
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.kinds.merge import TAKES
from memquorum.ports import Candidate, Peer

SOURCE_PPM = 970_000
_EXPECTED = 20.0
_QUICK = 2
Fits = Callable[[Peer, ComparedText, Peer, ComparedText], bool]


@dataclass(frozen=True)
class Spared:
    """The summaries that merging leaves of some. `apart`: of pairs above the cosine, those the rules keep apart."""

    before: int
    after: int
    went: int
    near: int
    apart: int


def merging(material: Material) -> Row:
    """Measures the characters that merging spares, by the source's rule and by the shipped one."""
    row = Row("merging", "what merging spares of a store of summaries, by cosine alone and as it is shipped")
    least = material.policy.consolidate.merge_alike_ppm
    for name, pools in _pools(material).items():
        found = [_peers(material, f"{name} {at}", texts) for at, texts in enumerate(pools)]
        row.figure(f"summaries, {name}", sum(map(len, found)), "")
        for rule, ppm, fits in (
            ("cosine of 0.97 alone", SOURCE_PPM, _any), ("cosine of 0.9 alone", 900_000, _any),
            ("as it is shipped", least, stands_for),
        ):  # fmt: skip
            told = [spared(some, ppm, fits) for some in found]
            before = sum(one.before for one in told)
            row.figure(f"spared, {name}, {rule}", 100 * (1 - sum(one.after for one in told) / max(1, before)), "%")
            row.figure(f"went, {name}, {rule}", sum(one.went for one in told), "")
        above = [spared(some, SOURCE_PPM, stands_for) for some in found]
        row.figure(f"pairs above 0.97, {name}", sum(one.near for one in above), "")
        row.figure(f"of them not provably the same, {name}", sum(one.apart for one in above), "")
        nearest = [cosine for some in found for cosine in _nearest(some)]
        for part in (50, 95):
            value = float(np.percentile(nearest, part)) if nearest else 0.0
            row.figure(f"cosine to the nearest other, p{part}, {name}", value, "")
        row.at_least(f"spared, {name}, as it is shipped", _EXPECTED)
    for name in sets(material):
        some = material.stored(name)
        again, said = sum(sum(one.repeated.values()) for one in some), sum(len(one.talk.texts) for one in some)
        row.figure(f"turns that became one with a memory at their arrival, {name}", 100 * again / said, "%")
    row.note(
        "characters of summaries that are alike in what they are about, their source and their restrictions; of those "
        "that say the same the one with the higher score stays. The source counts pairs above a cosine of 0.97 and "
        "looks at no words; 0.9 stands beside it, and is nobody's rule"
    )
    row.note(
        "not to be had: summaries that several agents wrote in words of their own about one user, as the source has "
        "them; no set at hand has any but LoCoMo's three accounts, which differ in length"
    )
    return row


def spared(some: Sequence[Peer], least_ppm: int, fits: Fits) -> Spared:
    """Merges once as the daily merge does, and counts."""
    groups = cliques(some, least_ppm, TAKES, 0, fits=fits)
    gone = {one.candidate.memory_id for group in groups for one in group[1:]}
    before = sum(len(one.text) for one in some)
    after = sum(len(one.text) for one in some if one.candidate.memory_id not in gone)
    said = [ComparedText(one.text) for one in some]
    near = [(a, b) for a, b, cosine in _pairs(some) if cosine * PPM >= least_ppm]
    apart = sum(not fits(some[a], said[a], some[b], said[b]) for a, b in near)
    return Spared(before, after, len(gone), len(near), apart)


def _any(one: Peer, mine: ComparedText, other: Peer, theirs: ComparedText) -> bool:
    return True


def _cosines(some: Sequence[Peer]) -> Any:
    rows = np.array([one.vector for one in some], np.float64).reshape(len(some), -1)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows @ rows.T


def _pairs(some: Sequence[Peer]) -> Iterator[tuple[int, int, float]]:
    near = _cosines(some)
    for a, b in zip(*np.triu_indices(len(some), 1), strict=True):
        yield int(a), int(b), float(near[a, b])


def _nearest(some: Sequence[Peer]) -> list[float]:
    if len(some) < 2:
        return []
    near = _cosines(some)
    np.fill_diagonal(near, -1)
    return [float(one) for one in near.max(axis=1)]


def _peers(material: Material, pool: str, texts: Sequence[str]) -> list[Peer]:
    vectors = material.vectors.of(texts) if texts else []
    return [
        Peer(
            Candidate(ids.memory_id(pool, str(at)), pool, SHORT_TERM, at, at, PPM // 2, False), text,
            np.asarray(vector, np.float32), Marks(pool),
        )
        for at, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]  # fmt: skip


def _pools(material: Material) -> Mapping[str, list[list[str]]]:
    """The stores of summaries, each of which is about one conversation or one customer."""
    found = dict[str, list[list[str]]]()
    for name in sets(material):
        made = {one.stored.talk.name: [each.record.content for each in one.agreed] for one in material.left(name)}
        found[f"the consolidator's of {name}"] = list(made.values())
        if name == TAU:
            customers = dict[str, list[str]]()
            for talk, texts in made.items():
                customers.setdefault(talk.split("-")[1], []).extend(texts)
            found["four agents' of a customer"] = list(customers.values())
    if there(material.data, LOCOMO):
        found["three accounts of a conversation"] = material.some(list(_accounts(material)), _QUICK)
    return found


def _accounts(material: Material) -> Iterator[list[str]]:
    """Yields what LoCoMo says of each conversation: observations, events, and summaries of sessions."""
    for sample in records(material.data, LOCOMO, "conversation", "qa"):
        seen = (one for of in sample.get("observation", {}).values() for said in of.values() for one, *_ in said)
        events = (
            one for of in sample.get("event_summary", {}).values()
            for who, said in of.items() if who != "date" for one in said
        )  # fmt: skip
        yield [*seen, *events, *sample.get("session_summary", {}).values()]


ROWS = {"merging": merging}
