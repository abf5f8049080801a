"""Caps: how much of a namespace may go, who sees to it, and that nobody gets round it."""

from __future__ import annotations

import json
import logging
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core import caps
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.identity.membership import load
from memquorum.core.journal.rows import LetGo, Strength
from memquorum.core.policy import NO_CAPS, CapsPolicy, EpochPolicy, PolicyError, TriagePolicy, from_json, to_json
from memquorum.core.records import Crossing, DecayCrossed, Decided, Proposal, Standing
from memquorum.core.tiers import ALIVE, LONG_TERM, SHORT_TERM
from memquorum.core.vote import nomination
from memquorum.ports import Candidate, DueMemory
from memquorum.telemetry.bundle import Telemetry
from streams.candidates import ALARM, Candidates
from tests.builders import genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.published import kinds, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.shelf import Shelf

DAY = 24 * 3600 * 1000
CAPS = CapsPolicy()
NOW = 1_700_000_000_000
GENESIS = genesis.make(policy=by_the_paper())


def test_a_tenth_in_an_epoch_a_quarter_in_a_day_and_three_in_any_case() -> None:
    assert caps.room(Losses(1_000), NOW, CAPS) == 100
    lost = Losses(800, ((NOW - DAY, 500), (NOW - DAY + 1, 100), (NOW - 1, 100)))
    assert caps.lately(lost, NOW, CAPS) == 200
    assert caps.room(lost, NOW, CAPS) == 50  # a quarter of the 1,000 that lived within the day, less 200
    assert [caps.room(Losses(n), NOW, CAPS) for n in (0, 1, 9, 30, 40)] == [3, 3, 3, 3, 4]
    assert caps.room(Losses(6, ((NOW - 1, 3),)), NOW, CAPS) == 0


def test_when_something_may_go_again() -> None:
    lost = Losses(750, ((NOW - DAY + 10, 200), (NOW, 50)))
    assert caps.room(lost, NOW, CAPS) == 0
    assert caps.stopped_until(lost, NOW, CAPS) == NOW + 10
    assert caps.room(lost, NOW + 10, CAPS) > 0
    assert caps.stopped_until(Losses(750), NOW, CAPS) is None


@given(
    st.integers(1, 500),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3_600_000 * 9)), min_size=1, max_size=60),
    st.sampled_from([CAPS, CapsPolicy(Fraction(1, 2), Fraction(1, 3), 1), NO_CAPS]),
)
def test_within_any_day_no_more_goes_than_its_share(
    living: int, epochs: list[tuple[int, int]], policy: CapsPolicy
) -> None:
    """Whatever is asked for and whenever: what was taken within a day never is more than the share of what lived."""
    quota, now, taken = Losses(living), NOW, list[tuple[int, int]]()
    for wanted, later in epochs:
        now += later
        count = min(wanted, quota.living, caps.room(quota, now, policy))
        quota = caps.gone(caps.changed_by(quota, -count), now, count)
        taken.append((now, count))
        within = sum(n for at, n in taken if at > now - policy.day_ms)
        assert within <= max(policy.floor, (quota.living + within) * policy.day_share)


def test_a_genesis_file_that_says_nothing_of_caps_has_the_default_ones() -> None:
    silent = json.loads(genesis.make_bytes())
    del silent["policy"]["caps"]
    assert load(json.dumps(silent).encode()).policy.caps == load(genesis.make_bytes()).policy.caps == CAPS
    assert from_json(to_json(by_the_paper())) == by_the_paper()


@pytest.mark.parametrize(
    "wrong", [{"epoch_share": "0"}, {"epoch_share": "11/10"}, {"day_share": "0"}, {"floor": 0}, {"day_ms": 0}]
)
def test_caps_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="caps"):
        from_json({"caps": wrong})


# Caps at the commit worker --------------------------------------------------------------------------------------------


def filled(codec: Codec, count: int) -> Shard:
    shard = Shard(codec, GENESIS)
    for n in range(count):
        shard.episode(f"m{n}")
    shard.tick(10_000_000)
    return shard


def proposals(*numbers: int) -> list[Proposal]:
    return [votes.proposal(memory_id(f"m{n}"), "forget") for n in numbers]


def ended(shard: Shard) -> dict[str, tuple[str, str]]:
    detail = shard.rules.codec.decode_as(Decided, shard.changes[-1].entry.detail)
    return {result.memory_ids[0]: (result.outcome, result.reason) for result in detail.results}


def test_a_decision_takes_no_more_than_the_cap_whatever_was_nominated_and_voted(codec: Codec) -> None:
    shard = filled(codec, 40)
    change = shard.decide(proposals(*range(40)))
    assert sum(ends == ("forgotten", "quorum") for ends in ended(shard).values()) == 4
    assert sum(ends == ("kept", "cap") for ends in ended(shard).values()) == 36
    assert change.of(LetGo) == (LetGo(0, NAMESPACE, 1, 10_000_000, 4, 36),)
    assert (shard.rows.state.alive, len(change.ended(Strength))) == (36, 4)
    kept = shard.rows.strengths[next(i for i, ends in ended(shard).items() if ends[0] == "kept")]
    assert (kept.kept, kept.rest) == ({}, {})  # nobody wanted it kept: it does not rest


def test_what_most_agree_to_let_go_goes_first(codec: Codec) -> None:
    shard = filled(codec, 12)
    # Three of the members find these less relevant than the others; one finds them more so, and is outvoted.
    good = [memory_id(f"m{n}") for n in (7, 2, 9)]
    pairs = proposals(*range(12))
    lowest = {p.memory_ids[0] for p in pairs if p.memory_ids[0] in good}

    def opinions(member: int, proposal: Proposal) -> int:
        liked = proposal.memory_ids[0] in lowest
        return 100_000 if liked == (member != 3) else 200_000

    shard.decide(pairs, opinions)
    assert {i for i, ends in ended(shard).items() if ends[0] == "forgotten"} == lowest


def test_the_day_counts_over_epochs_and_an_audit_asks_again(codec: Codec) -> None:
    shard = filled(codec, 40)
    for epoch in range(4):
        shard.decide(proposals(*range(epoch * 8, epoch * 8 + 8)))
    assert [c.of(LetGo)[0].forgotten for c in shard.changes[-4:]] == [4, 3, 3, 0]  # 10 of 40 within the day
    shard.tick(10_000_000 + DAY)
    shard.decide(proposals(*range(32, 40)))
    assert shard.changes[-1].of(LetGo)[0].forgotten == 3
    public = publish(shard)
    assert kinds(public.audit(store=True)) == []
    decided = public.detail(-1)
    forged = tuple(replace(r, outcome="forgotten", reason="quorum") for r in decided.results)
    public.forge(len(public.entries) - 1, replace(decided, results=forged))
    assert kinds(public.audit())[0] == Kind.RESULTS_WRONG


def test_an_erasure_is_no_forgetting_and_another_namespace_has_its_own_cap(codec: Codec) -> None:
    shard = filled(codec, 10)
    other = "team-7"  # of shard 0 too
    shard.episode("x", namespace=other)
    shard.tick(10_000_001)
    theirs = votes.proposal(memory_id("x", other), "forget", namespace=other)
    shard.decide([*proposals(*range(10)), theirs])
    assert {one.namespace: one.forgotten for one in shard.changes[-1].of(LetGo)} == {NAMESPACE: 3, other: 1}


# Caps at the nomination -----------------------------------------------------------------------------------------------

POLICY = by_the_paper(epoch=EpochPolicy(proposals_max=8))
SPAN = 10 * DAY
STANDING = Standing(last_epoch=4, last_epoch_at=0, interactions=0, alive=10)


def candidate(name: str, namespace: str, tier: str = SHORT_TERM) -> Candidate:
    return Candidate(name, namespace, tier, NOW - SPAN, NOW - SPAN, 400_000, early=False)


def shelf(alive: list[Candidate], **stands: Losses) -> Shelf:
    due = [DueMemory(c.memory_id, c.namespace, c.last_access) for c in alive]
    return Shelf(alive=alive, due_memories=due, stands=stands)


def tick(shelf: Shelf) -> DecayCrossed:
    crossed = tuple(Crossing(m.memory_id, m.last_access, 0) for m in shelf.due(1, dict.fromkeys(ALIVE, NOW - SPAN), 8))
    return DecayCrossed(1, NOW, 33, 9, crossed, STANDING)


def test_no_more_is_nominated_than_the_cap_leaves() -> None:
    full = shelf([candidate(f"a{n}", "a") for n in range(7)] + [candidate("b", "b")], a=Losses(40), b=Losses(2))
    found = Candidates(full).candidates(tick(full), STANDING, POLICY)
    assert found.rooms == {"a": 4, "b": 3}
    record = nomination.build(genesis.make(policy=POLICY), STANDING, tick(full), "interval", nomination.Offers(found))
    assert record is not None
    assert [p.memory_ids[0] for p in record.proposals] == ["a0", "a1", "a2", "a3", "b"]


def test_what_was_promoted_is_the_last_to_go_under_pressure() -> None:
    """However long nobody used it; and to demote it makes the shard no smaller, so it takes no other's place."""
    kept = [replace(candidate(f"kept{n}", "a", LONG_TERM), last_access=NOW - 9 * SPAN) for n in range(3)]
    alive = [*kept, *(replace(candidate(f"new{n}", "a"), last_access=NOW - n) for n in range(3))]
    held = Shelf(
        alive=alive, due_memories=[DueMemory(c.memory_id, "a", c.last_access, c.tier) for c in alive],
        stands={"a": Losses(40)},
    )  # fmt: skip
    quiet = DecayCrossed(1, NOW, 33, 9, (), STANDING)

    def unused(over: int) -> list[str]:
        standing = Standing(last_epoch=4, last_epoch_at=0, interactions=0, alive=POLICY.epoch.capacity + over)
        return [one.memory_id for one in Candidates(held).candidates(quiet, standing, POLICY).evicted]

    assert unused(2) == ["new0", "new1"]
    assert unused(5) == ["new0", "new1", "new2", "kept0", "kept1"]
    assert unused(0) == []


def test_what_goes_first_is_of_the_lowest_score_then_without_one() -> None:
    alive = [candidate(name, "a") for name in ("wanted", "low", "lower", "kept")]
    alive[0] = replace(alive[0], fades=False)
    alive[3] = replace(alive[3], tier=LONG_TERM)
    due = [DueMemory(c.memory_id, "a", c.last_access, c.tier) for c in alive]
    held = Shelf(alive=alive, due_memories=due, fallen=[due[2], due[1]], stands={"a": Losses(40)})
    standing = Standing(last_epoch=4, last_epoch_at=0, interactions=0, alive=POLICY.epoch.capacity + 4)
    policy = replace(POLICY, triage=TriagePolicy(expire_ppm=0))
    found = Candidates(held).candidates(DecayCrossed(1, NOW, 33, 9, (), STANDING), standing, policy)
    assert [one.memory_id for one in found.evicted] == ["lower", "low", "wanted", "kept"]
    assert list(found.expired) == []


def test_a_full_namespace_does_not_keep_back_what_expired_in_another() -> None:
    stopped = Losses(30, ((NOW - 5, 10),))
    alive = [*(candidate(f"a{n}", "a") for n in range(20)), candidate("b", "b")]
    fallen = [DueMemory(c.memory_id, c.namespace, c.last_access) for c in alive]
    full = Shelf(alive=alive, fallen=fallen, stands={"a": stopped, "b": Losses(2)})
    found = Candidates(full).candidates(DecayCrossed(1, NOW, 33, 9, (), STANDING), STANDING, POLICY)
    assert found.rooms == {"a": 0, "b": 3}
    assert "b" in [c.memory_id for c in found.expired]


def test_one_namespaces_cap_holds_up_nobody_else_and_is_told(caplog: pytest.LogCaptureFixture) -> None:
    stopped = Losses(30, ((NOW - 5, 10),))
    full = shelf([candidate(f"a{n}", "a") for n in range(20)] + [candidate("b", "b")], a=stopped, b=Losses(2))
    telemetry = Telemetry()
    asked = Candidates(full, telemetry.stage("nomination"))
    with caplog.at_level(logging.INFO):
        found = asked.candidates(tick(full), STANDING, POLICY)
    assert found.rooms == {"a": 0, "b": 3}
    assert "b" in [c.memory_id for c in found.crossed]
    assert "nothing more of it is nominated" in caplog.text and str(NOW - 5 + DAY) in caplog.text
    _, told = telemetry.health.able()
    assert "forgotten in a:" in str(told["alarms"]) and ALARM in str(told["alarms"])
    assert telemetry.meters.registry.get_sample_value("memquorum_forgetting_stopped", {"shard": "1"}) == 1
    full.stands["a"] = Losses(30)
    with caplog.at_level(logging.INFO):
        asked.candidates(tick(full), STANDING, POLICY)
    assert "may be nominated to be forgotten again" in caplog.text
    assert "alarms" not in telemetry.health.able()[1]


def test_what_is_only_demoted_raises_no_alarm_and_holds_up_nothing() -> None:
    stopped = Losses(30, ((NOW - 5, 10),))
    long_ago = [candidate(f"a{n}", "a", LONG_TERM) for n in range(20)]
    full, telemetry = shelf([*long_ago, candidate("b", "b")], a=stopped, b=Losses(2)), Telemetry()
    found = Candidates(full, telemetry.stage("nomination")).candidates(tick(full), STANDING, POLICY)
    assert "alarms" not in telemetry.health.able()[1]
    assert found.rooms == {}
    assert {"a0", "a7"} <= {c.memory_id for c in found.crossed}
