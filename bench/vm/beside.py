"""T16: what rehearsals take from those who read."""

from __future__ import annotations

import multiprocessing
import time
from contextlib import closing
from itertools import chain
from multiprocessing.synchronize import Event as Flag
from typing import Any

import httpx
import numpy as np
import psycopg

from bench.crowd import crowd, fill
from bench.kept import Row
from bench.parts import Parts, names_of, parts
from bench.reference import quantile
from bench.right.frame import Material
from db.connection import READER
from db.rehearsal_reads import PostgresRehearsals
from db.store import PostgresStore
from memquorum.core.identity.membership import Genesis
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.schema_files import load_codec
from workers.rehearsal.rehearsal_turn import rehearse

_MEMORIES, _SHARD = 10_000, 0
_ROUNDS = 4
_EVERY_S = 300.0


def _rehearsing(dsn: str, genesis: Genesis, stop: Flag, took: Any) -> None:
    """One rehearsal after the other, until it is told to stop."""
    with closing(PostgresRehearsals(dsn, READER)) as memory:
        while not stop.is_set():
            made = rehearse(memory, load_codec(), genesis, budget_ms=500)
            took.put((made.took_ms, len(made.found)))


def _filled(running: Parts, material: Material) -> tuple[str, list[str]]:
    """A namespace with memories, a third of them long-term, and what is asked of it."""
    people, namespace = crowd(_MEMORIES, OnnxEncoder(), 5), names_of([_SHARD], running.genesis)[_SHARD]
    with closing(PostgresStore(running.settings.memory_dsn)) as store:
        store.start(running.genesis.cluster, running.genesis.shards)
    fill(running.settings.memory_dsn, people, [namespace])
    with psycopg.connect(running.settings.memory_dsn, autocommit=True) as connection:
        connection.execute(
            "UPDATE shard SET seq = %(n)s, as_of = (SELECT max(created) + 3600000 FROM strength) WHERE shard = %(s)s",
            {"n": _MEMORIES, "s": _SHARD},
        )
        connection.execute("UPDATE strength SET tier = 'long-term' WHERE abs(hashtext(memory_id::text)) % 3 = 0")
        connection.execute("UPDATE memory m SET tier = s.tier FROM strength s WHERE s.memory_id = m.id")
    texts, _ = people.questions(40 if material.quick else 200, 9)
    return namespace, texts


def readers(material: Material) -> Row:
    """T16: searches by the store, beside one rehearsal after the other and without."""
    row = Row("T16", "the cost of rehearsals for readers")
    with parts() as running:
        namespace, texts = _filled(running, material)
        running.start("retrieval")
        taken: dict[bool, list[float]] = {False: [], True: []}
        told: Any = multiprocessing.Queue()
        with httpx.Client(base_url=running.settings.retrieval_url, timeout=30) as client:
            # In turn, so that whatever else the machine does falls on both.
            for beside in chain.from_iterable([(False, True)] * _ROUNDS):
                stop = multiprocessing.Event()
                args = (running.settings.memory_dsn, running.genesis, stop, told)
                other = multiprocessing.Process(target=_rehearsing, args=args)
                if beside:
                    other.start()
                    told.get(timeout=60)
                for text in texts:
                    began = time.perf_counter()
                    client.post(
                        "/search", json={"namespace": namespace, "query": text, "peek": True, "exact": True}
                    ).raise_for_status()
                    taken[beside].append(1_000 * (time.perf_counter() - began))
                stop.set()
                if beside:
                    other.join(30)
        runs = [told.get() for _ in range(told.qsize())]
    took, found = ([float(one) for one in each] for each in zip(*runs, strict=True))
    for beside, said in ((False, "without rehearsals"), (True, "beside one after the other")):
        row.figure(f"search, {said}: p50", quantile(taken[beside], 0.5), "ms")
        row.figure(f"search, {said}: p95", quantile(taken[beside], 0.95), "ms")
    row.figure("a rehearsal: p50", quantile(took, 0.5), "ms")
    row.figure("a rehearsal: p95", quantile(took, 0.95), "ms")
    row.figure("memories that it looks at", float(np.mean(found)), "")
    row.figure("of the time, at one in five minutes", 100 * quantile(took, 0.5) / (1_000 * _EVERY_S), "%")
    row.at_most("a rehearsal: p95", 500)
    row.note(
        f"{_MEMORIES:,} memories, a third of them long-term; exact searches of the store one after the other over "
        "HTTP, in turns of both. Rehearsals one after the other are thousands of times as many as are shipped, which "
        "are made on an idle machine alone, with the lowest priority"
    )
    return row
