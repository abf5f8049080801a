"""The effects of a policy: the same rules as nomination, votes and commit, applied to the living memories."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from msgspec.structs import replace

from infra.policy_command import changed
from infra.policy_preview import lines, run
from infra.settings import Settings, SettingsError
from memquorum.core import caps
from memquorum.core.caps import Losses
from memquorum.core.decay import span_ms
from memquorum.core.policy import BudgetPolicy, CapsPolicy, EpochPolicy, Policy
from memquorum.core.records import Standing
from memquorum.core.vote.grounds import MemberContext
from memquorum.core.vote.preview import Alive, Outlook, Vote, outlook, votes
from memquorum.ports import Candidate
from tests.builders import genesis

NOW = 1_700_000_000_000
POLICY = Policy()
SPAN = span_ms(POLICY)
STANDING = Standing(last_epoch=4, last_epoch_at=0, interactions=0, alive=40)


def candidate(number: int, unused: int = SPAN, namespace: str = "n") -> Candidate:
    at = NOW - unused
    return Candidate(f"m{number:02}", namespace, "short-term", at, at, 400_000, early=False)


def look(
    alive: Sequence[Alive], policy: Policy = POLICY, quota: Losses | None = None, as_of: int = NOW,
    beyond: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Outlook:  # fmt: skip
    def judge(_: str, asked: Sequence[Candidate]) -> dict[str, Vote]:
        return {c.memory_id: Vote(c.memory_id != "m00", 4, 100_000) for c in asked}

    losses = {"n": quota or Losses(len(alive))}
    (found,) = outlook(STANDING, 1, alive, losses, as_of=as_of, policy=policy, judge=judge, members=4, beyond=beyond)
    return found


def test_who_is_due_who_is_left_out_and_what_the_caps_leave() -> None:
    old = [Alive(candidate(n), rests=n in (1, 2), protected=n in (2, 3)) for n in range(20)]
    young = [Alive(candidate(n, 5), rests=False, protected=False) for n in range(20, 40)]
    found = look([*old, *young])
    assert (found.living, found.due, found.resting, found.protected) == (40, 20, 1, 2)
    assert (found.judged, found.let_go, found.reasons) == (17, 16, {"decayed": 17})
    assert (found.room, found.nominated, found.forgotten, found.day_left) == (4, 4, 3, 10)
    assert [(e.memory_id, e.vote.let_go, e.now) for e in found.examples] == [
        ("m00", False, True), ("m04", True, True), ("m05", True, True),
    ]  # fmt: skip
    assert found.stopped_until is None
    lost = Losses(30, ((NOW - 5, 10),))
    stopped = look([*old, *young], quota=lost)
    assert (stopped.room, stopped.nominated, stopped.stopped_until) == (0, 0, NOW - 5 + POLICY.caps.day_ms)
    assert caps.room(lost, NOW, POLICY.caps) == 0
    told = "\n".join(lines([found, stopped], {1: POLICY}))
    assert "20 due" in told and "STOPPED" in told and "m04" in told and "3 would be forgotten" in told


def test_what_is_beyond_a_budget_goes_before_what_is_due() -> None:
    old = [Alive(candidate(n), rests=False, protected=False) for n in range(20)]
    young = [Alive(candidate(n, 5), rests=False, protected=False) for n in range(20, 40)]
    found = look([*old, *young], beyond={"n": ["m30", "m00", "m31"]})
    assert (found.due, found.beyond, found.room) == (20, 3, 4)
    assert found.named == ["m30", "m00", "m31", "m01"] and (found.nominated, found.forgotten) == (4, 4)
    assert [(e.memory_id, e.now) for e in found.examples] == [("m00", True), ("m01", True), ("m02", False)]
    many = look([*old, *young], beyond={"n": [f"m{n}" for n in range(20, 30)]})
    assert (many.named, many.beyond) == (["m20", "m21", "m22", "m23"], 10)
    limited = replace(POLICY, budget=BudgetPolicy(tokens="n=64/hybrid"))
    told = "\n".join(lines([many], {1: limited}))
    assert "10 are beyond its budget, and go in turn before what is due: --policy hybrid, which is in force" in told


def test_another_policy_and_later_days_tell_another_story() -> None:
    young = [Alive(candidate(n, 5), rests=False, protected=False) for n in range(40)]
    assert look(young).due == 0
    assert look(young, as_of=NOW + SPAN).due == 40
    crowded = look(young, replace(POLICY, epoch=EpochPolicy(capacity=35)))
    assert (crowded.reasons, crowded.nominated) == ({"pressure": 5}, 4)
    assert look(young, replace(POLICY, caps=CapsPolicy(Fraction(1, 2)))).room == 10  # the day's quarter


def test_what_is_older_than_its_type_may_become_is_due_for_its_age_alone() -> None:
    young = [Alive(candidate(n, 60_001 + n), rests=False, protected=n == 3, type="task") for n in range(4)]
    other = Alive(candidate(4, 60_001), rests=False, protected=False)
    policy = replace(POLICY, budget=replace(POLICY.budget, ttl_ms=(0, 0, 0, 60_000)))
    found = look([*young, other], policy)
    assert (found.due, found.protected, found.reasons) == (4, 1, {"age": 3})
    assert [(e.memory_id, e.reason, e.vote.let_go) for e in found.examples] == [
        ("m02", "age", True), ("m01", "age", True), ("m00", "age", True),
    ]  # fmt: skip
    assert look([*young, other], policy, as_of=NOW - 4).due == 0
    assert look([*young, other]).due == 0


def test_days_that_are_over_cannot_be_asked_for() -> None:
    for days in (-3.0, float("nan"), float("inf")):
        with pytest.raises(SettingsError, match="must be 0 to a thousand years"):
            run(Settings(memory_dsn="postgresql://nowhere"), Namespace(days=days))


def test_what_expired_is_told_with_its_score_lowest_first() -> None:
    day = 24 * 3_600_000
    alive = [candidate(0, 2 * day), candidate(1, day), candidate(2, day), replace(candidate(3, day), fades=False)]
    alive[1] = replace(alive[1], salience_ppm=500_000)
    found = look([Alive(one, rests=False, protected=False) for one in alive])
    assert found.reasons == {"expired": 3}
    assert [(one.memory_id, one.decay_score_ppm) for one in found.examples] == [
        ("m00", 3_291), ("m02", 36_287), ("m01", 45_358),
    ]  # fmt: skip
    told = "\n".join(lines([found], {1: POLICY}))
    assert "decay score 0.0033, expired" in told
    crowded, looser = (replace(POLICY, epoch=EpochPolicy(capacity=n)) for n in (36, 39))  # 40 alive in the shard
    found = look([Alive(one, rests=False, protected=False) for one in (*alive, candidate(4, 5))], crowded)
    assert found.reasons == {"pressure": 4}, "what expired is too much, too"
    found = look([Alive(one, rests=False, protected=False) for one in (*alive, candidate(4, 5))], looser)
    assert found.reasons == {"expired": 2, "pressure": 1}


def test_the_votes_are_those_that_members_would_cast() -> None:
    made = genesis.make()
    near, far = np.array([1, 0, 0], np.float32), np.array([0, 1, 0], np.float32)
    asked = [candidate(0, 100 * SPAN), candidate(1, 100 * SPAN), candidate(2, 100 * SPAN), candidate(3, 100 * SPAN)]
    late = [(1, 0.1, 0), (1, 0, 0.1), (1, 0.1, 0.1), (0, 0, 1), (-1, 0, 0.5), (0, -1, 0)]
    context = MemberContext.of("n", [(f"e{at}", np.array(one, np.float32), None) for at, one in enumerate(late)])
    seen, ranks = dict.fromkeys(range(4), context), {f"m0{n}": 600_000 for n in range(3)}
    vectors = {"m00": near, "m01": far, "m03": near}
    found = votes(made, POLICY, asked, as_of=NOW, vectors=vectors, ranks=ranks, contexts=seen)
    # Near; far; one whose embedding nobody knows; one whose worth nobody does.
    assert [found[f"m0{n}"].let_go for n in range(4)] == [False, True, False, False]
    assert [found[f"m0{n}"].yes for n in range(4)] == [0, 4, 0, 0]
    assert found["m01"].agreed_ppm < POLICY.forget.theta_ppm <= found["m00"].agreed_ppm
    # One member's agents speak of something near: the others outvote it, unless its words are worth more.
    one = {**dict.fromkeys(range(3), MemberContext("n")), 3: context}
    found = votes(made, POLICY, asked[:1], as_of=NOW, vectors=vectors, ranks=ranks, contexts=one)
    assert (found["m00"].let_go, found["m00"].yes) == (True, 3)
    found = votes(made, POLICY, asked[:1], as_of=NOW, vectors=vectors, ranks={"m00": 700_000}, contexts=one)
    assert (found["m00"].let_go, found["m00"].yes) == (False, 0)


def test_a_policy_is_changed_by_a_file_and_by_single_settings(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"decay": {"delta": 0.4}, "caps": {"floor": 5}}))
    found = changed(POLICY, file, ["caps.day_share=1/3", "forget.theta_ppm=300000", "decay.scales_s=[1, 2, 3]"])
    assert (found.decay.delta, found.decay.scales_s, found.caps.floor) == (0.4, (1.0, 2.0, 3.0), 5)
    assert (found.caps.day_share, found.forget.theta_ppm) == (Fraction(1, 3), 300_000)
    assert found.epoch == POLICY.epoch


@pytest.mark.parametrize("wrong", ["caps.day=1", "floor=3", "caps.floor=", "caps.floor=0", "caps.floor=many"])
def test_a_setting_that_cannot_be_is_named(wrong: str) -> None:
    with pytest.raises(SettingsError, match="policy: "):
        changed(POLICY, None, [wrong])
