"""Measures the rows that are asked for, or all: `make bench WHAT=vm DATA=FOLDER JSON=FILE ONLY="ROW …"`."""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench import caching, rows
from bench.crowd import crowd
from bench.kept import Outcome, Row
from bench.parts import parts
from bench.right import votes
from bench.right.frame import Material, Measure
from bench.vm import apart, beside, claims, lasting, page, rehearsed
from bench.vm.fleet import AGENTS, Said, vote
from memquorum.encoders.onnx import OnnxEncoder
from tests.simulation import scale

_CACHE = Path(tempfile.gettempdir()) / "memquorum-vectors"
_MEMORIES = 10_000
_MEMBERS = (4, 7, 10)
_EPOCHS = 4
_K, _HALF = 10, 16


def hits(material: Material) -> Row:
    """VM-7: how often what is used again stands in the cache."""
    row = Row("VM-7", "hits of the cache on repeated use")
    caching.hit_rates(row, 1 if material.quick else 2, 50 if material.quick else 500)
    row.at_least("s = 1.0: hits of a cache for 10,000", 50)
    row.at_least("s = 1.0: hits of a cache for 1,000", 50)
    row.note(
        "use is Zipf's of exponent s over 1,000 memories at first and some 8,500 in the end: 10,000 is what a cache is "
        "shipped with and holds them all, 1,000 are a ninth. s = 1.4 gives the paper's cache the hits that it reports"
    )
    return row


def speed(material: Material) -> Row:
    """VM-9: a repeated search through the service, without its cache and with it."""
    row = Row("VM-9", "the gain of a repeated search by the cache")
    people = crowd(_MEMORIES, OnnxEncoder(), 5)
    with parts() as running:
        caching.service(row, running, people, 200 if material.quick else 1_000, 0)
    gain = row.value("repeated query, without cache: p50") / row.value("repeated query, with cache: p50")
    row.figure("repeated query, p50 without cache ÷ with", gain, "")
    row.at_least("repeated query, p50 without cache ÷ with", 10)
    gain = row.value("repeated retrieval, without cache: p50") / row.value("repeated retrieval, with cache: p50")
    row.figure("repeated retrieval, p50 without cache ÷ with", gain, "")
    row.at_least("repeated retrieval, p50 without cache ÷ with", 5)
    row.note(
        f"over HTTP, one after the other, {_MEMORIES:,} memories in the namespace. SPEC B compares with a model's full "
        "inference, of which this house has none: the comparison is with the same search by the store"
    )
    return row


def alike(material: Material) -> Row:
    """VM-11: how alike members vote whose agents said other things."""
    return replace(votes.correlation(material), name="VM-11")


def lively(material: Material) -> Row:
    """P41: every nomination ends while f members say nothing, and what deserves it is promoted all the same."""
    row = Row("P41", "nominations that end while members are silent")
    late = 0.0
    for n in _MEMBERS[:1] if material.quick else _MEMBERS:
        silent = range((n - 1) // 3)
        decided = 0
        with suppress(scale.Undecided):
            late = max(late, scale.measure(n, epochs=_EPOCHS - 1, proposals=16, silent=silent).first_s)
            decided = _EPOCHS
        row.figure(f"{n} members, {len(silent)} silent: epochs decided", decided, f"of {_EPOCHS}")
        row.at_least(f"{n} members, {len(silent)} silent: epochs decided", _EPOCHS)
    row.figure("the first by the timers, at most", late, "s")
    said = [Said(f"c{at}", AGENTS[0], f"Pump {at} runs at {at + 7} bar.", 1) for at in range(20)]
    again = [replace(one, name=f"{one.name}/{who}", agent=who) for one in said for who in AGENTS[1:]]
    for who in range(len(AGENTS)):
        kept_up = vote(material.vectors.of, said, again, silent=(who,)).promoted
        row.figure(f"promoted without member {who}", 100 * float(kept_up.mean()), "%")
        row.at_least(f"promoted without member {who}", 100)
    row.note(
        "the real core on a log in memory, epochs of 16 proposals each; silent members are the first primaries, "
        "so the first epoch waits for the view changes that leave them. Below: 20 claims that all four agents said, "
        "one member of four casts no ballot; τ_c = 0.67 of all weight, the heaviest member has 0.3"
    )
    return row


def small(material: Material) -> Row:
    """OP-26: what the nearest ten are with vectors of fewer bits."""
    row = Row("OP-26", "smaller vectors in the cache")
    people = crowd(_MEMORIES, OnnxEncoder(), 5)
    _, queries = people.questions(100 if material.quick else 1_000, 7)
    exact = _nearest(people.vectors, queries)
    for bits in (16, 8, 4):
        found = _nearest(_rounded(people.vectors, bits), queries)
        shared = [len(np.intersect1d(a, b)) for a, b in zip(exact, found, strict=True)]
        row.figure(f"recall@{_K}, {bits} bits", 100 * float(np.mean(shared)) / _K, "%")
    row.at_least(f"recall@{_K}, 8 bits", 99)
    row.at_least(f"recall@{_K}, 4 bits", 99)
    row.note(
        f"{len(queries):,} queries among {_MEMORIES:,} vectors of the shipped encoder's sentences and of mixtures of "
        "them, against float32; a vector's values are rounded to steps of its own largest. The store keeps 16 bits "
        "(halfvec), the cache computes with 32"
    )
    return row


def _rounded(vectors: NDArray[np.float32], bits: int) -> NDArray[np.float32]:
    if bits == _HALF:
        return vectors.astype(np.float16).astype(np.float32)
    steps = 2 ** (bits - 1) - 1
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    rounded: NDArray[np.float32] = np.round(vectors / largest * steps) * (largest / steps)
    return rounded


def _nearest(vectors: NDArray[np.float32], queries: NDArray[np.float32]) -> NDArray[np.int64]:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: NDArray[np.int64] = np.argsort(-(queries @ units.T), axis=1, kind="stable")[:, :_K]
    return found


# In the order of the page; what has no row here says there that it is not measured.
ROWS: Mapping[str, Measure] = {
    "VM-7": hits,
    **claims.ROWS,
    "VM-9": speed,
    "VM-10": lasting.knowledge,
    "VM-11": alike,
    "VM-11-ways": apart.ways,
    "P41": lively,
    "P42": rehearsed.old_share,
    "T16": beside.readers,
    "OP-26": small,
}
ONLY = tuple(ROWS)


def run(given: Namespace) -> Outcome:
    """Measures, and keeps the figures; 1 where a row could not be measured, but for a set that is not there."""
    material = Material(given.data, given.cache or _CACHE, quick=given.quick)
    return rows.measure(given, ROWS, material, page.RESULTS, page.draw)
