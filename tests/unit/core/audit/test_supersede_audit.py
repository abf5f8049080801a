"""An audit accepts superseded and restored memories; it finds a claim that the votes do not support."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.records import Proposal, Restored
from tests.builders import erasures, genesis, votes
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id

GENESIS = genesis.make(policy=POLICY, **erasures.entitled())
A, B, C = memory_id("a"), memory_id("b"), memory_id("c")
ORDER = votes.restore(GENESIS, A)
KEPT = 5


@pytest.fixture
def public(codec: Codec) -> Published:
    """B contradicts A, is not believed at first and then is; C contradicts both; A is asked back."""
    shard = Shard(codec, GENESIS)
    shard.tick(900)
    shard.episode("a", 500)
    shard.episode("b", 600, contradicts=(A,))
    shard.access(A, 700)
    shard.tick(200_000)
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)], votes.nobody)
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    shard.episode("c", 200_050, contradicts=(A, B))
    shard.ask(ORDER, 200_100)
    shard.tick(200_200)
    shard.restore(ORDER, Restored(A, 600_000, 1, 0, 1, 0))
    return publish(shard)


def test_a_sound_history_is_found_sound(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True, words=True)) == []


def test_a_supersession_that_members_refused_is_noticed(public: Published) -> None:
    told = public.detail(KEPT)
    (result,) = told.results
    assert result.outcome == "kept"
    public.forge(KEPT, replace(told, results=(replace(result, outcome="superseded", reason="quorum"),)))
    assert Kind.RESULTS_WRONG in kinds(public.audit())


def test_another_row_of_what_contradicts_is_noticed(public: Published) -> None:
    rows = public.tables["conflict"]
    assert [(row["newer"], row["older"]) for row in rows] == [(B, A), (C, B)]
    rows[1]["older"] = A
    assert kinds(public.audit(store=True)) != []
