"""The 200 acts that people kept or not: what the members' vote makes of each, once, when decay brings it up.

Voted when an act that nobody read has crossed δ, 30 min 39 s after it was said; each member's context is what the last
64 acts of its own speaker left by then, as the line has it. All 200 count as stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.forgetting import measures
from bench.forgetting.measures import Flags
from bench.forgetting.said import RULES, Said

_LATER = 24 * 3_600_000


def measure(said: Mapping[str, Said], wanted: Sequence[tuple[str, int, bool]]) -> dict[str, Any]:
    """`said`: the meetings by name; `wanted`: the items."""
    by_meeting: dict[str, list[int]] = {}
    for name, at, _ in wanted:
        by_meeting.setdefault(name, []).append(at)
    rows = {(name, row["i"]): row for name, acts in by_meeting.items() for row in _of_meeting(said[name], acts)}
    found = [rows[name, at] | {"keep": int(keep)} for name, at, keep in wanted]
    labels, groups = np.array([keep for _, _, keep in wanted]), [said[name].meeting.series for name, _, _ in wanted]
    theta = next(iter(said.values())).policy.forget.theta_ppm
    words = _column(found, "words")
    systems: dict[str, Flags] = {}
    for name in RULES:
        systems[f"vote, {name}"] = _column(found, f"turns, {name}") >= theta
        systems[f"vote, {name}, a day later"] = _column(found, f"later, {name}") >= theta
        systems[f"vote, {name}, θ from the other teams"] = measures.kept_by_other_groups(
            _column(found, f"turns, {name}"), labels, groups
        )
    systems |= {
        "length, limit from the other teams": measures.kept_by_other_groups(words, labels, groups),
        "length, limit from these 200": words >= measures.threshold(words, labels),
        "random": np.random.default_rng(1).random(len(labels)) < 0.5,
        "majority (keep everything)": np.ones(len(labels), bool),
    }
    signals = {f"vote, {name}": _column(found, f"turns, {name}") for name in RULES}
    signals |= {"salience: novelty when said": _column(found, "salience"), "length in words": words}
    signals |= {"rare words": _column(found, "rare"), "rank of worth": _column(found, "rank")}
    return {
        "items": len(found),
        "meetings": len(by_meeting),
        "systems": {name: _told(kept, labels) for name, kept in systems.items()},
        "areas": {name: _area(values, labels) for name, values in signals.items()},
        "rows": found,
    }


def _of_meeting(said: Said, acts: Sequence[int]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"of": said.meeting.name, "i": at, "words": said.meeting.acts[at].words, "salience": int(said.salience[at]),
         "rare": round(float(said.rarity[at]), 3)}
        for at in acts
    ]  # fmt: skip
    for name, rule in RULES.items():
        due = said.due(acts, rule)
        near, later = due.relevances, said.turn(due, _LATER)
        for at, row in enumerate(rows):
            row["rank"] = int(due.ranks[at])
            row[f"relevance, {name}"] = near[:, at].tolist()
            row[f"turns, {name}"], row[f"later, {name}"] = int(due.turns[at]), int(later[at])
    return rows


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[Any]:
    return np.array([row[name] for row in rows])


def _told(kept: Flags, wanted: Flags) -> dict[str, Any]:
    right = int((kept == wanted).sum())
    return {
        "accuracy": round(measures.accuracy(kept, wanted), 4),
        "interval": measures.rounded(measures.wilson(right, len(kept))),
        "balanced": round(measures.balanced(kept, wanted), 4),
        "kept": round(float(kept.mean()), 4),
    }


def _area(values: NDArray[Any], wanted: Flags) -> list[float]:
    units = list(zip(values.tolist(), wanted.tolist(), strict=True))

    def figure(some: Sequence[Any]) -> float:
        return measures.area(np.array([v for v, _ in some]), np.array([w for _, w in some], bool))

    return measures.rounded((measures.area(values, wanted), *measures.spread(units, figure)))
