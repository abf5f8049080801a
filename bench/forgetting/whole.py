r"""Whole meetings: the memories a day after each, one vote's result on every act, and budgets.

The fleet replays a meeting as it was spoken: salience stores an act, merges it into an equal one, or drops it; due
memories are voted on, epochs begin after 100 acts, and after the meeting once an hour for a day. An act counts as kept
if it is a memory of its own that is alive then. A sentence of the summary survives if one of the acts behind it is
kept, be it merged into another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.forgetting import measures
from bench.forgetting.measures import Flags
from bench.forgetting.meetings import Meeting
from bench.forgetting.said import PARTS, RULES, Said

SHARES = (0.5, 0.3, 0.2)
ALIVE = (*(f"vote, {rule}" for rule in RULES), "line, as it is")
"""The results that are saved act by act."""
_DRAWS = 20
_LONG, _LENGTHS = 8, (3, 5, 8, 13, 10_000)


def measure(talks: Sequence[Said]) -> dict[str, Any]:
    """All meetings."""
    rows = [_of_meeting(said) for said in talks]
    wanted = np.concatenate([said.meeting.wanted for said in talks])
    systems = {name: [row["counts"][name] for row in rows] for name in rows[0]["counts"]}
    budgets = {
        f"{share:.0%}": {
            name: _budget([row["budgets"][f"{share:.0%}"][name] for row in rows])
            for name in rows[0]["budgets"][f"{share:.0%}"]
        }
        for share in SHARES
    }
    areas = {
        name: measures.rounded([measures.area(np.concatenate([row["signals"][name] for row in rows]), wanted)])[0]
        for name in rows[0]["signals"]
    }
    return {
        "meetings": len(rows),
        "acts": len(wanted),
        "wanted": round(float(wanted.mean()), 4),
        "sentences": sum(len(said.meeting.sentences) for said in talks),
        "systems": {name: _system(counts) for name, counts in systems.items()},
        "survives": {name: _survives(rows, name) for name in rows[0]["survives"]},
        "budgets": budgets,
        "areas": areas,
        "lengths": _lengths(rows, wanted),
        "rows": [{key: row[key] for key in ("of", "acts", "alive")} for row in rows],
    }


def _lengths(rows: Sequence[Mapping[str, Any]], wanted: Flags) -> dict[str, dict[str, float]]:
    """Returns the shares of acts of so many words that people and votes keep; and their share of all acts."""
    words = np.concatenate([row["signals"]["length in words"] for row in rows])
    kept = {name: np.concatenate([row["voted"][name] for row in rows]) for name in rows[0]["voted"]}
    found = {}
    for low, high in pairwise((1, *_LENGTHS)):
        chosen = (words >= low) & (words < high)
        found[f"{low} to {high - 1} words" if high < _LENGTHS[-1] else f"{low} words and more"] = {
            "of all": round(float(chosen.mean()), 4),
            "people": round(float(wanted[chosen].mean()), 4),
        } | {name: round(float(flags[chosen].mean()), 4) for name, flags in kept.items()}
    return found


def _of_meeting(said: Said) -> dict[str, Any]:
    meeting, theta = said.meeting, said.policy.forget.theta_ppm
    wanted, words, length = meeting.wanted, meeting.words, len(meeting.acts)
    due = {name: said.due(range(length), rule) for name, rule in {**RULES, **PARTS}.items()}
    turns = {name: one.turns for name, one in due.items()}
    kept: dict[str, Flags] = {}
    for name, lived in said.lived.items():
        kept[f"line, {name}"] = lived.own
    kept |= {f"vote, {name}": turns[name] >= theta for name in RULES}
    held = {f"line, {name}": lived.held for name, lived in said.lived.items()} | {
        f"vote, {name}": turns[name] >= theta for name in turns
    }
    kept |= {f"vote, {name}": turns[name] >= theta for name in PARTS}
    kept |= {
        f"length, {_LONG} words or more": words >= _LONG,
        "keep everything": np.ones(length, bool),
        "random half": np.random.default_rng(1).random(length) < 0.5,
    }
    orders: dict[str, NDArray[Any]] = {f"vote, {name}": turns[name] for name in turns} | {
        "salience: novelty when said": said.salience,
        "length in words": words,
        "rare words": said.rarity,
        "rank of worth": due["as it is"].ranks,
        "latest kept (FIFO, LRU)": np.arange(length),
    }
    budgets: dict[str, Any] = {}
    for share in SHARES:
        chosen = {name: measures.most(order, round(share * length)) for name, order in orders.items()}
        told = {name: {**measures.count(own, wanted), **survivors(meeting, own)} for name, own in chosen.items()}
        budgets[f"{share:.0%}"] = told | {"random": _random(meeting, round(share * length))}
    return {
        "of": meeting.name, "acts": length, "signals": orders, "budgets": budgets,
        "voted": {f"vote, {name}": kept[f"vote, {name}"] for name in RULES},
        "counts": {name: measures.count(own, wanted) for name, own in kept.items()},
        "survives": {name: survivors(meeting, own) for name, own in held.items()},
        "alive": {name: measures.hexed(kept[name]) for name in ALIVE},
    }  # fmt: skip


def survivors(meeting: Meeting, kept: Flags) -> dict[str, float]:
    """Counts the sentences that have an act left, and all sentences."""
    return {
        "left": sum(1 for acts in meeting.sentences if kept[list(acts)].any()),
        "sentences": len(meeting.sentences),
    }


def _random(meeting: Meeting, count: int) -> dict[str, float]:
    random, length = np.random.default_rng(1), len(meeting.acts)
    found: list[dict[str, float]] = []
    for _ in range(_DRAWS):
        kept = measures.most(random.random(length), count)
        found.append({**measures.count(kept, meeting.wanted), **survivors(meeting, kept)})
    return {key: sum(one[key] for one in found) / _DRAWS for key in found[0]}


def _system(counts: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    return {name: round(value, 4) for name, value in measures.ratios(counts).items()} | {
        f"{name} interval": measures.rounded(measures.spread(counts, _ratio(name))) for name in ("f1", "balanced")
    }


def _ratio(name: str) -> Callable[[Sequence[Mapping[str, int]]], float]:
    return lambda rows: measures.ratios(rows)[name]


def _share(rows: Sequence[Mapping[str, float]]) -> float:
    return sum(row["left"] for row in rows) / sum(row["sentences"] for row in rows)


def _budget(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    whole = measures.ratios(rows)
    return {
        "survive": round(_share(rows), 4),
        "interval": measures.rounded(measures.spread(rows, _share)),
        "f1": round(whole["f1"], 4),
        "balanced": round(whole["balanced"], 4),
    }


def _survives(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    found = [row["survives"][name] for row in rows]
    return {"survive": round(_share(found), 4), "interval": measures.rounded(measures.spread(found, _share))}
