"""The schedule nominates what the paper's full scan would (SPEC A, Alg. 4), on both adapters, filled by commit's rules.

`tests/unit/core/test_decay.py` searches policies and histories for a difference in the arithmetic; here they run
through the code that writes due times, and the B-tree answers.
"""

from __future__ import annotations

import random

import pytest

from memquorum.core import decay
from memquorum.core.avro import Codec
from memquorum.core.policy import DecayPolicy, Policy
from tests.builders import genesis
from tests.builders.shard import Shard, memory_id
from tests.support.stores import KINDS, World, make

NOW = 1_700_000_000_000
POLICIES = [
    Policy(),
    Policy(decay=DecayPolicy(scales_s=(0.05, 3.0), weights=(0.7, 0.3), delta=0.31)),
    Policy(decay=DecayPolicy(scales_s=(86_400.0, 2.6e6, 3.2e7), weights=(0.25, 0.25, 0.5), delta=0.123456)),
]


@pytest.fixture(params=KINDS)
def world(request: pytest.FixtureRequest) -> World:
    return make(request)


@pytest.mark.parametrize("policy", POLICIES, ids=["default", "milliseconds", "months"])
def test_what_is_due_is_what_the_scan_finds(world: World, codec: Codec, policy: Policy) -> None:
    dice = random.Random(20_250_321)
    shard = world.shard(codec, genesis.make(policy=policy))
    span = decay.span_ms(policy)
    found_some = found_part = False
    for step in range(60):
        history_step(dice, shard, step, span)
        if step % 3:
            continue
        strengths = list(shard.rows.strengths.values())
        world.flush(shard)
        # Just before, at and after an instant at which one of them falls due, where an off-by-one shows.
        as_of = dice.choice(strengths).last_access + span + dice.choice((-1, 0, 1))
        due = [memory.memory_id for memory in world.schedule.due(0, decay.unused_since(as_of, policy), 1000)]
        scanned = decay.scan([(s.memory_id, s.last_access) for s in strengths], as_of, policy)
        assert sorted(due) == sorted(scanned), f"step {step}, as of {as_of}"
        found_some = found_some or bool(due)
        found_part = found_part or 0 < len(due) < len(strengths)
    assert found_some
    assert found_part


def history_step(dice: random.Random, shard: Shard, step: int, span: int) -> None:
    """A memory more, or a use of one that is there; times come in any order, within three spans."""
    at = NOW + dice.randrange(3 * span)
    living = sorted(shard.rows.strengths)
    if not living or dice.random() < 0.4:
        shard.episode(f"e{step}", at)
    elif dice.random() < 0.5:
        shard.episode(f"e{step}", at, "reinforced", reinforces=dice.choice(living))
    else:
        shard.access(dice.choice([*living, memory_id("unknown")]), at)
