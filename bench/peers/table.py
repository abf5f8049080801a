"""Figures of each system, and goals for memquorum's, from what the runs told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.kept import Row
from bench.peers.driver import BATCH
from bench.peers.questions import Task, hits
from bench.reference import quantile

OURS, FLOOR = "memquorum", "floor"
TITLES = {
    FLOOR: "psycopg and pgvector's HNSW index",
    "mem0": "mem0 on pgvector, infer=False",
    "langgraph": "LangGraph's PostgresStore",
    OURS: "memquorum, the whole line over HTTP",
}
SEARCH, AGAIN, ADD, DELETE = "search, first time", "search, again", "add, one by one", "delete one"
BATCHED, HIT, RETRIEVED = f"add, batches of {BATCH}", "hit@10", "retrieve: hit@10"
PEEKED = "the same (peek), again"
_TIMED = {SEARCH: "search ms", AGAIN: "again ms", ADD: "add ms", DELETE: "delete ms"}
# Figures of ours alone, or not of all.
_BESIDE = {
    "search, 0.1 s apart": "paced ms",
    "search that counts as no use (peek)": "peek ms",
    PEEKED: "peek again ms",
    "search by the SDK, again": "sdk ms",
    "retrieve": "retrieve ms",
    "an HTTP exchange alone": "http ms",
    "the encoder alone, a question": "encoder ms",
}
# With what follows from it in the line: each hit's use is a record that goes the way of an episode.
_WORK = {
    "processor time of a search, all processes": "cpu ms",
    "processor time of a search that counts as no use (peek)": "peek cpu ms",
}


def row(name: str, told: Mapping[str, Any], task: Task) -> Row:
    """A system's row: its figures, and what it found by question."""
    made = Row(name, TITLES[name])
    for figure, key in {**_TIMED, **_BESIDE}.items():
        if key in told:
            made.figure(f"{figure}: p50", quantile(told[key], 0.5), "ms")
            made.figure(f"{figure}: p95", quantile(told[key], 0.95), "ms")
    for figure, key in _WORK.items():
        if key in told:
            made.figure(figure, told[key], "ms")
    made.figure(ADD, len(told["add ms"]) / sum(told["add ms"]) * 1_000, "1/s")
    made.figure(BATCHED, len(task.texts) / told["batched s"], "1/s")
    made.figure(HIT, hits(told["found"], task.questions), "")
    made.series["found"] = plain(told["found"])
    if "retrieved" in told:
        made.figure(RETRIEVED, hits(told["retrieved"], task.questions), "")
        made.series["retrieved"] = plain(told["retrieved"])
    for key in ("versions", "network", "served"):
        if told.get(key) is not None:
            made.series[key] = told[key]
    return made


def absent(name: str, why: str) -> Row:
    """The row of a system that was not measured."""
    made = Row(name, TITLES[name])
    made.note(why)
    made.series["absent"] = why
    return made


def plain(found: Sequence[Sequence[int]]) -> list[str]:
    """A question a line: the places of the texts that were found, best first."""
    return [" ".join(map(str, places)) for places in found]


def judge(rows: Mapping[str, Row]) -> None:
    """Gives our row its ratios and goals, and every row its ratio to the floor."""
    here = {name: made for name, made in rows.items() if made.figures}
    ours, floor = here.get(OURS), here.get(FLOOR)
    for name, made in here.items():
        if floor is not None and name != FLOOR:
            made.compare(f"{SEARCH}: p50", "the floor's", floor.value(f"{SEARCH}: p50"), "ms")
    if ours is None:
        return
    if floor is not None:
        for quantile_ in ("p50", "p95"):
            _ratio(ours, f"{SEARCH}: {quantile_}", floor, 1, at_least=False)
    if "mem0" in here:
        name = f"{AGAIN}: mem0's p50 ÷ ours"
        ours.figure(name, here["mem0"].value(f"{AGAIN}: p50") / ours.value(f"{AGAIN}: p50"), "")
        ours.at_least(name, 5)
        if f"{PEEKED}: p50" in {figure.name for figure in ours.figures}:
            ratio = here["mem0"].value(f"{AGAIN}: p50") / ours.value(f"{PEEKED}: p50")
            ours.figure(f"{AGAIN}: mem0's p50 ÷ ours where we peek too", ratio, "")
    for other in ("mem0", "langgraph"):
        if other in here:
            name = f"{BATCHED} ÷ {other}'s one by one"
            ours.figure(name, ours.value(BATCHED) / here[other].value(ADD), "")
            ours.at_least(name, 2)
            _ratio(ours, BATCHED, here[other], 2, at_least=True)
    ours.at_least(RETRIEVED, 0.6)


def _ratio(ours: Row, figure: str, other: Row, limit: float, *, at_least: bool) -> None:
    name = f"{figure} ÷ {other.name}'s"
    ours.figure(name, ours.value(figure) / other.value(figure), "")
    (ours.at_least if at_least else ours.at_most)(name, limit)
