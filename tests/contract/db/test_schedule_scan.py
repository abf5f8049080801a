"""The schedule nominates what the paper's full scan would (SPEC A, Alg. 4), on both adapters, filled by commit's rules.

`tests/unit/core/test_decay.py` searches policies and histories for a difference in the arithmetic; here they run
through the code that writes due times, and the B-tree answers.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from memquorum.core import decay, triage
from memquorum.core.avro import Codec
from memquorum.core.policy import DecayPolicy, Policy, TriagePolicy
from tests.builders import genesis
from tests.builders.shard import Shard, memory_id
from tests.support.stores import World

NOW = 1_700_000_000_000
POLICIES = [
    Policy(),
    Policy(decay=DecayPolicy(scales_s=(0.05, 3.0), weights=(0.7, 0.3), delta=0.31)),
    Policy(decay=DecayPolicy(scales_s=(86_400.0, 2.6e6, 3.2e7), weights=(0.25, 0.25, 0.5), delta=0.123456)),
]


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


TRIAGES = [
    Policy(),
    Policy(triage=TriagePolicy(rate_ppm=3_600_000_000, slow_rate_ppm=7_200_000, slow_ppm=500_000, expire_ppm=200_000)),
]


@pytest.mark.parametrize("policy", TRIAGES, ids=["default", "seconds"])
def test_what_expires_is_what_a_scan_finds(world: World, codec: Codec, policy: Policy) -> None:
    """SPEC B's full scan, Alg. 17: nothing is found before it has expired, and what has by its grade is found. Under
    pressure the schedule's order is that of the scores, to the hundredth of a salience."""
    dice = random.Random(20_251_125)
    shard = world.shard(codec, genesis.make(policy=policy))
    span = triage.span_ms(600_000, 0, policy)
    assert span is not None
    found_some = found_part = False
    for step in range(40):
        history_step(dice, shard, step, span, salience=dice.randrange(1_000_001))
        if step % 3:
            continue
        strengths = list(shard.rows.strengths.values())
        world.flush(shard)
        one = dice.choice(strengths)
        as_of = one.last_access + (triage.span_ms(one.salience_ppm, 0, policy) or 0) + dice.choice((-1, 0, 1))
        grades = world.schedule.grades(0)
        assert {triage.grade(s.salience_ppm, s.replays) for s in strengths} == set(grades)
        found = {m.memory_id for m in world.schedule.fading(0, triage.expiring(grades, as_of, policy), as_of, 1000)}
        ages = {s.memory_id: (s, max(0, as_of - s.last_access)) for s in strengths}
        scanned = {i for i, (s, age) in ages.items() if triage.expired(s.salience_ppm, s.replays, age, policy)}
        # A use in the future has no age that a schedule could ask for.
        used = {i: (s, age) for i, (s, age) in ages.items() if s.last_access <= as_of}
        late = {i for i, (s, age) in used.items() if triage.expired(s.salience_ppm + 9_999, s.replays, age, policy)}
        assert late <= found <= scanned, f"step {step}, as of {as_of}"
        order = world.schedule.fading(0, triage.falling(grades, policy), as_of, 1000)
        scores = [
            triage.decay_score_ppm(ages[m.memory_id][0].salience_ppm, 0, ages[m.memory_id][1], policy) for m in order
        ]
        assert len(order) == len(strengths)
        assert all(later > score - 10_000 for score, later in itertools.pairwise(scores))
        found_some = found_some or bool(found)
        found_part = found_part or 0 < len(found) < len(strengths)
    assert found_some
    assert found_part


def history_step(dice: random.Random, shard: Shard, step: int, span: int, **said: Any) -> None:
    """A memory more, or a use of one that is there; times come in any order, within three spans."""
    at = NOW + dice.randrange(3 * span)
    living = sorted(shard.rows.strengths)
    if not living or dice.random() < 0.4:
        shard.episode(f"e{step}", at, **said)
    elif dice.random() < 0.5:
        shard.episode(f"e{step}", at, "reinforced", reinforces=dice.choice(living))
    else:
        shard.access(dice.choice([*living, memory_id("unknown")]), at)
