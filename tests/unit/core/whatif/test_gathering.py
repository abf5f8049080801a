"""The events of a journal and a query log: on journals that the commit worker's own rules wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.budgets.items import HELD, LONG_TERM, NEEDED, PINNED, accesses_ppm
from memquorum.core.policy import Policy
from memquorum.core.records import Proposal, QueryAsked
from memquorum.core.whatif.events import (
    Asked,
    Back,
    Came,
    Ended,
    Epoch,
    Event,
    Guarded,
    Linked,
    SummedUp,
    Used,
    Voted,
)
from memquorum.core.whatif.gathering import SAME_MS, Gathered
from tests.builders import genesis, trials, votes
from tests.builders.erasures import accepted as erasure
from tests.builders.erasures import among, entitled, ordered, signed
from tests.builders.protections import accepted as protection
from tests.builders.published import POLICY
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make(**entitled(signed=()))
A, B, C, S = (memory_id(e) for e in "abcs")
T = 1_790_000_000_000


@pytest.fixture
def shard(codec: Codec) -> Shard:
    return Shard(codec, GENESIS)


def _events(
    shard: Shard, *asked: QueryAsked, policy: Policy | None = None, namespace: str | None = None
) -> list[Event]:
    gathered = Gathered(shard.rules.codec, policy or Policy(), namespace)
    for change in shard.changes:
        gathered.take(change.entry)
    for one in asked:
        gathered.ask(one)
    found = list(gathered.namespaces())
    return list(found[0][1]) if found else []


def _of(events: Sequence[Event], kind: type[Event]) -> list[Any]:
    return [one for one in events if isinstance(one, kind)]


def _query(at: int, *answered: str, agent: str = "reviewer") -> QueryAsked:
    return QueryAsked(f"q{at}", NAMESPACE, agent, at, "key", b"", answered)


def test_what_came_weighs_what_it_says_and_links_what_it_was_made_of(shard: Shard) -> None:
    shard.episode("a", T, sensitivity_ppm=700_000)
    shard.episode("b", T + 1, derives_from=(A,), type="task")
    shard.episode("c", T + 2, contradicts=(A,))
    first, second, third = (one.item for one in _of(_events(shard), Came))
    characters = shard.accepted[0].characters  # type: ignore[union-attr]
    assert first.tokens == -(-characters // 4)
    assert (first.created, first.needs, first.sensitivity_ppm, first.type) == (T, (), 700_000, "episodic")
    # A derived memory is as bound as its source, and needs it.
    assert (second.needs, second.sensitivity_ppm, second.type) == ((A,), 700_000, "task")
    assert third.needs == ()
    links = _of(_events(shard), Linked)
    assert [(one.memory_id, one.centrality_ppm) for one in links] == [(A, accesses_ppm(1)), (A, accesses_ppm(2))]


def test_reads_are_reads_and_repetitions_are_not(shard: Shard) -> None:
    shard.episode("a", T)
    shard.episode("b", T + 1, "reinforced", reinforces=A)
    shard.access(A, T + 2)
    assert [(one.memory_id, one.when, one.read) for one in _of(_events(shard), Used)] == [
        (A, T + 1, False), (A, T + 2, True)
    ]  # fmt: skip


def test_a_use_that_a_logged_answer_explains_is_that_querys(shard: Shard) -> None:
    shard.episode("a", T)
    shard.access(A, T + 2)
    shard.access(A, T + 3)
    asked = _query(T + 2, A)
    assert [one.when for one in _of(_events(shard, asked), Used)] == [T + 3], "one answer explains one use"
    assert [one.answered for one in _of(_events(shard, asked), Asked)] == [(A,)]
    for other in (_query(T + 4 + SAME_MS, A), _query(T + 2, B), _query(T + 2, A, agent="eve")):
        assert len(_of(_events(shard, other), Used)) == 2


def test_votes_end_raise_and_bring_back(shard: Shard) -> None:
    for event in "abc":
        shard.episode(event, T)
    shard.tick(T + 10**9)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "forget")], lambda _, p: p.memory_ids == (A,))
    shard.decide([votes.proposal(C, "promote")])
    events = _events(shard)
    assert [one.memory_id for one in _of(events, Voted)] == [A]
    assert [(one.memory_id, one.why) for one in _of(events, Guarded)] == [(C, LONG_TERM)]
    assert [one.at for one in _of(events, Epoch)] == [T + 10**9]
    assert not _of(events, Back)


def test_votes_on_experience_leave_a_memory_promoted_or_not(codec: Codec) -> None:
    shard = trials.experienced(codec, genesis.make(policy=POLICY, **trials.entitled()), "abc", outside="d")
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([votes.proposal(A, "promote")])
    shard.decide([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    assert shard.rows.admissions[B].merged_into == A
    assert [(one.memory_id, one.why) for one in _of(_events(shard), Guarded)] == [(A, LONG_TERM)]


def test_a_summary_takes_the_place_of_its_sources_unless_they_are_kept_raw(shard: Shard) -> None:
    shard.episode("a", T)
    shard.episode("b", T)
    shard.summary("s", (A, B), T + 1)
    shard.tick(T + 2)
    assert not _of(_events(shard), SummedUp), "it waits for its vote"
    shard.consolidate(S, (A, B))
    (summed,) = _of(_events(shard), SummedUp)
    assert (summed.item.memory_id, summed.item.needs, set(summed.sources)) == (S, (), {A, B})
    assert not _of(_events(shard), Back)
    policy = Policy()
    strict = replace(policy, consolidate=replace(policy.consolidate, strict=NAMESPACE))
    assert _of(_events(shard, policy=strict), SummedUp)[0].sources == ()


def test_a_general_form_takes_nobodys_place_and_is_read_by_none_of_these(shard: Shard) -> None:
    shard.episode("a", T)
    shard.tick(T + 1)
    before = _events(shard)
    shard.general("form", A, occurred_at=T + 1)
    shard.generalise(memory_id("form"), A)
    shard.access(memory_id("form"), T + 2)
    told = _events(shard)
    assert not _of(told, SummedUp) and not _of(told, Back)
    assert [one for one in told if getattr(one, "memory_id", A) != A] == []
    assert len(told) == len(before)


def test_what_protects_is_told_the_strongest_first(codec: Codec, shard: Shard) -> None:
    shard.episode("a", T)
    for number, (action, told) in enumerate([("need", {"reference": "deploy"}), ("pin", {}), ("hold", {})], 1):
        shard.protect(protection(codec, action, A, number, cluster=GENESIS.cluster, **told))
    assert [one.why for one in _of(_events(shard), Guarded)] == [NEEDED, PINNED, HELD]


def test_what_was_erased_ended_so(codec: Codec, shard: Shard) -> None:
    shard.episode("a", T)
    shard.episode("b", T)
    order = ordered(GENESIS)
    shard.erase(erasure(order, signed(codec, GENESIS, order), T + 5), among(NAMESPACE, {"a": "memory"}))
    assert [(one.memory_id, one.erased) for one in _of(_events(shard), Ended)] == [(A, True)]


def test_one_namespace_alone_and_queries_of_what_never_came(shard: Shard) -> None:
    shard.episode("a", T)
    shard.episode("x", T, namespace="attic")
    assert len(_of(_events(shard, namespace="attic"), Came)) == 1
    assert _events(shard, namespace="cellar") == []
    assert _events(Shard(shard.rules.codec, GENESIS), _query(T, A)) == []
