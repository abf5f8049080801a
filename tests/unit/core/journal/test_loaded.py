"""A row that nobody loaded is no row that is not there: who asks for it is told so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.journal.loaded import NotLoaded, known
from memquorum.core.journal.rows import RowKeys, Rows
from memquorum.core.journal.workset import Workset
from tests.builders import genesis
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id, scored

A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
ORDER = b"\1" * 32

# By the field of Rows: what is loaded with it, that, another key, and one that no row can have.
ASKED: dict[str, tuple[RowKeys, Any, Any, Any]] = {
    "memories": (RowKeys(frozenset({A})), A, B, "no id"),
    "strengths": (RowKeys(frozenset({A})), A, B, ""),
    "events": (RowKeys(events=frozenset({(NAMESPACE, "a")})), (NAMESPACE, "a"), (NAMESPACE, "b"), None),
    "erased": (RowKeys(erased=frozenset({(NAMESPACE, A)})), (NAMESPACE, A), (NAMESPACE, B), (NAMESPACE, None)),
    "losses": (RowKeys(losses=frozenset({(NAMESPACE, 5)})), NAMESPACE, "other", "\0"),
    "protected": (RowKeys(protected=frozenset({A})), (A, "pin"), (B, "pin"), ("no id", "pin")),
    "answered": (RowKeys(orders=frozenset({ORDER})), ORDER, b"", None),
    "admissions": (RowKeys(admissions=frozenset({A})), A, B, "no id"),
    "trials": (RowKeys(trials=frozenset({(A, 3)})), (A, 3), (A, 4), ("no id", 3)),
    "nominated": (RowKeys(epochs=frozenset({3})), 3, 4, None),
    "weights": (RowKeys(weights=frozenset({A})), A, B, "no id"),
    "grounds": (RowKeys(grounds=frozenset({A})), A, B, "no id"),
    "tasks": (RowKeys(uses=5), A, None, None),
    "feedback": (RowKeys(uses=5), A, None, None),
    "guarded": (RowKeys(guarded=frozenset({NAMESPACE})), NAMESPACE, "other", None),
}


def rows(shard: Shard, keys: RowKeys | None) -> Rows:
    """The shard's rows, as a store gives those that are asked for."""
    now = shard.rows
    if keys is None:
        return now
    return Rows(
        now.state,
        {key: row for key, row in now.memories.items() if key in keys.memories},
        {key: row for key, row in now.strengths.items() if key in keys.memories},
        {key: row for key, row in now.events.items() if key in keys.events},
        loaded=keys,
    )


@pytest.mark.parametrize("name", ASKED)
def test_what_was_asked_for_may_be_absent_and_nothing_else(codec: Codec, name: str) -> None:
    keys, asked, other, never = ASKED[name]
    held = getattr(Workset(rows(Shard(codec, genesis.make()), keys)).rows, name)
    assert asked not in held and (never is None or never not in held)
    if hasattr(held, "get"):
        assert held.get(asked, 7) == 7
        with pytest.raises(KeyError):
            held[asked]
    if other is None:  # of these all are asked for, or none
        held, other = getattr(Workset(rows(Shard(codec, genesis.make()), RowKeys())).rows, name), asked
    ways: list[Callable[[], object]] = [lambda: other in held]
    if hasattr(held, "get"):
        ways += [lambda: held.get(other), lambda: held[other]]
    for ask in ways:
        with pytest.raises(NotLoaded, match="was not loaded"):
            ask()


def test_each_kind_of_row_is_looked_after() -> None:
    assert set(known(RowKeys())) == set(ASKED) == set(asdict(Shard(None, genesis.make()).rows)) - {"state", "loaded"}  # type: ignore[arg-type]


def test_of_all_rows_whatever_is_not_there_is_absent(codec: Codec) -> None:
    shard = Shard(codec, genesis.make())
    assert shard.rows.memories.get(B) is None and (B, "pin") not in shard.rows.protected


def judged(shard: Shard, forgotten: str | None) -> str:
    """The effect of an episode that says `a` again, made of `b`; with a key forgotten when its rows were loaded."""
    episode = accepted("c", 1_000, derives_from=(B,))
    found = applying.Scored(0, scored(episode, 2, "reinforced", reinforces=A))
    keys = applying.touches(shard.rules.codec, episode, found)
    assert keys.memories == {A, B, C}
    work = Workset(rows(shard, replace(keys, memories=keys.memories - {forgotten})))
    place = applying.RecordPosition(topics.ACCEPTED, 0, 2)
    return applying.apply_episode(shard.rules, work.rows, place, episode, scored=found, readable=True).entry.effect


@pytest.mark.parametrize("forgotten", [A, B, C])
def test_a_load_that_is_forgotten_takes_no_wrong_branch(codec: Codec, forgotten: str) -> None:
    shard = Shard(codec, genesis.make())
    shard.episode("a")
    shard.episode("b")
    assert judged(shard, None) == "reinforced"
    with pytest.raises(NotLoaded, match=forgotten):
        judged(shard, forgotten)


def test_a_row_that_was_not_loaded_is_not_written_as_a_new_one(codec: Codec) -> None:
    shard = Shard(codec, genesis.make())
    change = shard.episode("a")
    with pytest.raises(NotLoaded, match=A):
        Workset(Rows(change.state, loaded=RowKeys())).absorb(change)
