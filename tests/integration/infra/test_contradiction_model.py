"""The whole line with an operator's model of contradictions: what the rules leave open is marked and voted on by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from infra import genesis, settings, supervisor
from memquorum.client import Memory
from memquorum.core.policy import UNCAPPED
from tests.builders import contradicting
from tests.support.clock import tick
from tests.support.waiting import until

START, HOUR = 1_750_000_000_000, 3_600_000
OLDER, NEWER = "Valve 3 leaks at 4 bar.", "Some say that valve 3 not leaks at 4 bar at all."


def test_members_vote_by_the_model_that_their_policy_names(tmp_path: Path) -> None:
    digest = contradicting.written(tmp_path / "model")
    configured = replace(
        settings.load({}, tmp_path / "line"), clock="driven", encoder="hashing", throwaway=True,
        contradiction_path=tmp_path / "model", contradiction_digest=digest,
    )  # fmt: skip
    genesis.create(configured, policy={"supersede": {"model": digest, "inferred": True}, "caps": UNCAPPED})
    with supervisor.started(configured) as line:
        tick(line, START)
        with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace="plant", agent="planner") as memory:
            older = memory.add(OLDER, wait=True, reward=0.9)
            newer = memory.add(NEWER, wait=True, reward=0.9)
            found = {hit.memory_id: hit.conflicts_with for hit in memory.search("valve 3", peek=True)}
            assert found[newer.memory_id] == (older.memory_id,)
            tick(line, START + 2 * HOUR)
            until(lambda: memory.get(older.memory_id).tier == "superseded")
            vote = memory.explain(older.memory_id).account["votes"][-1]
    assert {one["score_ppm"] for one in vote["opinions"]} == {750_000}
