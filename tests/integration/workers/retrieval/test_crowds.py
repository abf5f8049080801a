"""A namespace of many memories is asked through indexes of its own, finds what it found, and shows nobody else more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from bench.texts import sentences
from db import copying, crowds, sweeping
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.ids import memory_id
from memquorum.core.journal.rows import Memory, Strength
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Question
from memquorum.encoders.hashing import HashingEncoder

ENCODER = HashingEncoder(64)
# A name that would end a literal, a statement's parameter or a pattern.
HERS, THEIRS = "it's 100%s", "mill"
COUNTS = {HERS: 400, THEIRS: 50}


@pytest.fixture
def store(databases: tuple[str, str]) -> str:
    dsn = databases[0]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("INSERT INTO shard (shard, hash, as_of) VALUES (0, '', 1) ON CONFLICT DO NOTHING")
        for seed, (namespace, count) in enumerate(COUNTS.items()):
            put(connection, namespace, sentences(count, seed))
        connection.execute("ANALYZE")
    return dsn


def put(connection: psycopg.Connection, namespace: str, texts: list[str]) -> None:
    named = [memory_id(namespace, f"e{at}") for at in range(len(texts))]
    ids = [copying.raw_id(one) for one in named]
    vectors, name = ENCODER.encode(texts), ENCODER.name
    rows: dict[str, list[tuple[Any, ...]]] = {
        "memory_copy": [
            copying.raw(Memory(m, 0, namespace, "a", "a", f"e{at}", "short-term", at, 9, b"c" * 32, name,
                                  False, None, 0, None, at, session="s")) for at, m in enumerate(named)
        ],
        "content_copy": [(m, text, namespace) for m, text in zip(ids, texts, strict=True)],
        "embedding_copy": [
            (m, namespace, copying.raw_vector(v), name) for m, v in zip(ids, vectors, strict=True)
        ],
        "strength_copy": [copying.raw(Strength(m, 0, "short-term", 1, 0, 0, 0)) for m in named],
    }  # fmt: skip
    for statement, given in rows.items():
        copying.copy(connection, statement, given)


@pytest.fixture
async def reads(store: str) -> AsyncIterator[Reads]:
    found = Reads(store)
    await found.open()
    yield found
    await found.close()


def question(namespace: str, filters: Filters | None = None) -> Question:
    text = "Which pump failed at step 7 because the filter was clogged, says Amsel?"
    return Question(namespace, text, {ENCODER.name: ENCODER.encode([text])[0]}, filters or Filters())


async def hits_and_candidates(reads: Reads, namespace: str, sight: Sight) -> tuple[list[str], dict[str, Candidate]]:
    """Returns the hits of a search, and a retrieval's candidates."""
    wanted = question(namespace)
    hits = await reads.search(sight, namespace, ENCODER.name, wanted.vectors[ENCODER.name], 10)
    candidates, _ = await reads.candidates(sight, wanted, DEFAULTS)
    return [hit.memory_id for hit in hits], {one.hit.memory_id: one for one in candidates}


def first(candidates: dict[str, Candidate]) -> list[str]:
    """Those whose words say most."""
    said = [(-one.words, name) for name, one in candidates.items() if one.words is not None]
    return [name for _, name in sorted(said)[:10]]


async def test_it_finds_what_reading_all_finds(store: str, reads: Reads) -> None:
    sight = Sight((HERS,))
    hits, candidates = await hits_and_candidates(reads, HERS, sight)
    passed = await reads.passed(sight, question(HERS))
    made = list(crowds.keep(store, 100))
    assert [one.index for one in made] == [crowds.near(HERS, ENCODER.name), crowds.words(HERS)]
    assert list(crowds.keep(store, 100)) == []
    anew = Reads(store)
    await anew.open()
    try:
        through, those = await hits_and_candidates(anew, HERS, sight)
        assert await anew._crowds.whole(question(HERS))
        assert through == hits and first(those) == first(candidates)
        assert {n: (one.words, one.hit.score) for n, one in those.items() if n in candidates and one.words} == {
            n: (candidates[n].words, candidates[n].hit.score)
            for n, one in those.items()
            if n in candidates and one.words
        }
        assert await anew.passed(sight, question(HERS)) == passed
        # With a filter all is read, as before.
        assert not await anew._crowds.whole(question(HERS, Filters(agents=("a",))))
        assert not await anew._crowds.near(THEIRS, ENCODER.name)
        # Another tenant finds nothing in it, and does not spoil what is known of it.
        assert await hits_and_candidates(anew, HERS, Sight((THEIRS,))) == ([], {})
        again, names = await hits_and_candidates(anew, HERS, sight)
        assert (again, names.keys()) == (through, those.keys())
    finally:
        await anew.close()


async def test_what_is_for_certain_purposes_is_not_counted_as_passed(store: str, reads: Reads) -> None:
    with psycopg.connect(store, autocommit=True) as link:
        link.execute("UPDATE memory SET purposes = 'billing' WHERE namespace = %s AND created %% 20 = 7", [HERS])
    sight = Sight((HERS,))
    assert await reads.passed(sight, question(HERS)) == ({ENCODER.name: 380}, {"purpose": 20})
    list(crowds.keep(store, 100))
    anew = Reads(store)
    await anew.open()
    try:
        assert await anew._crowds.whole(question(HERS))
        assert await anew.passed(sight, question(HERS)) == ({ENCODER.name: 380}, {"purpose": 20})
    finally:
        await anew.close()


async def test_no_sample_of_its_vectors_outlives_what_is_erased(store: str) -> None:
    list(crowds.keep(store, 100))
    with psycopg.connect(store, autocommit=True) as link:
        link.execute("ANALYZE")
        sampled = "SELECT count(*) FROM pg_stats WHERE tablename LIKE 'near_%' OR tablename LIKE 'words_%'"
        assert link.execute(sampled).fetchone() == (0,)


async def test_the_functions_that_look_past_row_security_tell_nothing_of_others(store: str) -> None:
    list(crowds.keep(store, 100))
    with psycopg.connect(store) as link:
        link.execute("SET LOCAL ROLE memquorum_tenant")
        for sight, seen in ((THEIRS, False), ("", False), (HERS, True), ("it*", True)):
            link.execute("SELECT set_config('memquorum.namespaces', %s, true)", [sight])
            holders = link.execute("SELECT sum(holders) FROM word_holders(%s, '{pump,''amsel''}')", [HERS]).fetchone()
            best = link.execute("SELECT count(*) FROM words_best(%s, 'pump', '{pump}', '{1}', 9, 9)", [HERS]).fetchone()
            assert holders is not None and best is not None and (bool(holders[0]), best[0] > 0) == (seen, seen)


async def test_what_is_gone_is_not_found_and_a_sweep_takes_the_indexes(store: str) -> None:
    list(crowds.keep(store, 100))
    with psycopg.connect(store, autocommit=True) as link:
        link.execute(
            "DELETE FROM content WHERE namespace = %s AND memory_id < '80000000-0000-0000-0000-000000000000'", [HERS]
        )
        link.execute(
            "DELETE FROM embedding WHERE namespace = %s AND memory_id < '80000000-0000-0000-0000-000000000000'", [HERS]
        )
    reads = Reads(store)
    await reads.open()
    try:
        hits, candidates = await hits_and_candidates(reads, HERS, Sight((HERS,)))
        assert len(hits) == 10 and all(name >= "8" for name in [*hits, *candidates])
    finally:
        await reads.close()
    swept = [step.what for step in sweeping.sweep(store, sweeping.MEMORY)]
    assert swept[:2] == sorted([crowds.near(HERS, ENCODER.name), crowds.words(HERS)])
    assert [one.dropped for one in crowds.keep(store, 100)] == [False, False]
    # Smaller than half of what makes a crowd.
    assert [one.dropped for one in crowds.keep(store, 1_000)] == [True, True]


async def test_what_is_for_certain_purposes_is_not_in_its_answers(store: str) -> None:
    sight = Sight((HERS,))
    assert list(crowds.keep(store, 100))
    found = Reads(store)
    await found.open()
    try:
        hits, candidates = await hits_and_candidates(found, HERS, sight)
        kept = {*hits[:3], *first(candidates)[:3]}
        with psycopg.connect(store, autocommit=True) as connection:
            connection.execute("UPDATE memory SET purposes = 'billing' WHERE id = ANY(%s::uuid[])", [list(kept)])
        less, fewer = await hits_and_candidates(found, HERS, sight)
        assert len(less) == 10 and [one for one in hits if one not in kept] == less[: len(set(hits) - kept)]
        assert not kept & fewer.keys() and await found._crowds.whole(question(HERS))
        wanted = question(HERS, Filters(purpose="billing"))
        vector = wanted.vectors[ENCODER.name]
        given = await found.search(sight, HERS, ENCODER.name, vector, 10, filters=wanted.filters)
        assert [hit.memory_id for hit in given] == hits and given[0].purposes == ("billing",)
    finally:
        await found.close()
