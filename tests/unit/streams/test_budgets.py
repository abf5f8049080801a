"""The nomination stage where a namespace holds more tokens than its budget."""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.budgets.claims import AGE, BUDGET, FINISHED, OUTLIVED, UNUSED, wrong
from memquorum.core.caps import Losses
from memquorum.core.decay import span_ms
from memquorum.core.identity.messages import open_signed
from memquorum.core.policy import (
    NO_CAPS,
    PPM,
    BudgetPolicy,
    CapsPolicy,
    ConsolidatePolicy,
    ForgetPolicy,
    Policy,
    Retention,
)
from memquorum.core.records import Crossing, DecayCrossed, Lot, NominationProposed, Proposal, Standing
from memquorum.core.tiers import DRAFT, LONG_TERM, SHORT_TERM
from memquorum.ports import Candidate, Weighted
from memquorum.telemetry.bundle import Telemetry
from streams.nomination_stage import Nomination
from streams.stage import Arrival
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.shelf import Shelf

NOW = 1_790_000_000_000
HOUR = 3600 * 1000
MINUTE = 60 * 1000
STANDING = Standing(last_epoch=4, last_epoch_at=NOW - MINUTE, interactions=0, alive=5)
SEED = cluster.seed_of("service:nomination")


def _policy(tokens: str = "n=64/fifo", caps: CapsPolicy = NO_CAPS, **budget: object) -> Policy:
    return by_the_paper(caps=caps, budget=BudgetPolicy(tokens=tokens, **budget))  # type: ignore[arg-type]


def _memory(name: str, age: int, tokens: int = 30, *, tier: str = SHORT_TERM, **told: object) -> Weighted:
    at = NOW - age * HOUR
    values = {"rests": False, "protections": (), "needs": (), **told}
    return Weighted(
        Candidate(name, "n", tier, at, NOW - 1_000, 400_000, early=False), "episodic", tokens, 0, 0, 0, 0,
        worth_ppm=10 * PPM, novelty_ppm=None, **values,  # type: ignore[arg-type]
    )  # fmt: skip


def _shelf(*weighs: Weighted) -> Shelf:
    alive = [one.candidate for one in weighs if one.candidate.tier != DRAFT]
    return Shelf(weighs=list(weighs), alive=alive, stands={"n": Losses(living=len(alive))})


class Stage:
    """The stage over a shelf, and ticks one after the other."""

    def __init__(self, codec: Codec, shelf: Shelf, policy: Policy) -> None:
        self._codec, self._genesis, self._ticks = codec, cluster.make(policy=policy), 0
        self.shelf = shelf
        self.shown = Telemetry().stage("nomination")
        self.stage = Nomination(codec, self._genesis, SEED, shelf, shelf, shown=self.shown)

    def tick(self, standing: Standing = STANDING, *crossed: Crossing, after: int = 0) -> NominationProposed | None:
        self._ticks += 1
        tick = DecayCrossed(1, NOW + after, 33, self._ticks, crossed, standing)
        outputs = self.stage.process([Arrival(1, self._ticks, self._codec.encode(tick), traceparent=None)])
        return open_signed(self._codec, self._genesis, outputs[0].value, NominationProposed)[1] if outputs else None

    def again(self) -> None:
        """Marks the sent nominations as lost: they may be sent again."""
        self.stage._sent.clear()


def _told(record: NominationProposed | None) -> list[tuple[str, str]]:
    falling = [one for one in (record.proposals if record else ()) if one.kind in ("forget", "evict")]
    assert all((one.kind == "evict") == (one.reason in (*OUTLIVED, BUDGET)) for one in falling)
    return [(one.memory_ids[0], one.reason) for one in falling]


A, B, C = _memory("a", 3), _memory("b", 2), _memory("c", 1)


def test_what_is_over_budget_opens_an_epoch_and_says_why(codec: Codec) -> None:
    policy = _policy()
    record = Stage(codec, _shelf(C, A, B), policy).tick()
    assert record is not None
    assert record.trigger == BUDGET
    assert _told(record) == [("a", BUDGET)]
    weighed = record.proposals[0].weighed
    assert weighed is not None
    assert (weighed.policy, weighed.version, weighed.budget, weighed.held, weighed.tokens) == ("fifo", 0, 64, 90, 30)
    assert weighed.why == "oldest"
    assert weighed.features[4] == PPM // 5  # worth 10 of 50
    assert wrong(record.proposals[0], policy.budget, 0) is None


def test_a_namespace_is_read_once_for_an_epoch_that_its_budget_opens(codec: Codec) -> None:
    stage = Stage(codec, _shelf(C, A, B), _policy())
    assert stage.tick() is not None
    asked = [question[0] for question in stage.shelf.asked]
    assert asked.count("spaces") == 1, "once for both looks"
    assert "weighted" not in asked and "held" not in asked, "never as a whole"
    stage.again()
    stage.shelf.weighs.append(_memory("d", 4))
    stage.shelf.alive.append(stage.shelf.weighs[-1].candidate)
    assert _told(stage.tick()) == [("d", BUDGET), ("a", BUDGET)], "what was read before is not used again"


def test_who_is_within_budget_or_has_none_opens_none(codec: Codec) -> None:
    assert Stage(codec, _shelf(A, B), _policy()).tick() is None
    assert Stage(codec, _shelf(A, B, C), _policy("other=64")).tick() is None
    unlimited = Stage(codec, _shelf(A, B, C), _policy(""))
    assert unlimited.tick() is None
    assert not [question for question in unlimited.shelf.asked if question[0] == "spaces"]


def test_it_is_asked_only_so_long_after_the_last_epoch(codec: Codec) -> None:
    stage = Stage(codec, _shelf(A, B, C), _policy())
    assert stage.tick(replace(STANDING, last_epoch_at=NOW - MINUTE + 1)) is None
    assert not [question for question in stage.shelf.asked if question[0] == "spaces"]


def test_an_epoch_for_another_reason_takes_it_along_and_does_not_count_on_what_decayed(codec: Codec) -> None:
    policy = _policy()
    old = Candidate("a", "n", SHORT_TERM, NOW, NOW - span_ms(policy), 400_000, early=False)
    shelf = _shelf(replace(A, candidate=old), B, C, _memory("d", 0))
    shelf.alive[0] = old
    record = Stage(codec, shelf, policy).tick(
        replace(STANDING, last_epoch_at=NOW - HOUR), Crossing("a", old.last_access, 299_999)
    )
    assert record is not None
    assert record.trigger == "interval"
    # 120 tokens, two memories too many: members may keep what decayed.
    assert _told(record) == [("b", BUDGET), ("c", BUDGET), ("a", "decayed")]
    stage = Stage(codec, shelf, replace(policy, caps=CapsPolicy(floor=1)))
    shelf.stands = {"n": Losses(4)}
    assert _told(stage.tick(replace(STANDING, last_epoch_at=NOW - HOUR), Crossing("a", old.last_access, 299_999))) == [
        ("b", BUDGET)
    ], "it takes what room the budget leaves"


def test_what_is_beyond_a_budget_and_has_decayed_is_asked_as_what_is_beyond_it(codec: Codec) -> None:
    policy = _policy()
    old = replace(A.candidate, last_access=NOW - span_ms(policy))
    shelf = _shelf(replace(A, candidate=old), B, C)
    record = Stage(codec, shelf, policy).tick(STANDING, Crossing("a", old.last_access, 299_999))
    assert _told(record) == [("a", BUDGET)]


def test_what_is_too_old_goes_anyway_and_counts(codec: Codec) -> None:
    shelf = _shelf(A, B, C, _memory("d", 0))
    shelf.old = [C.candidate]
    stage = Stage(codec, shelf, _policy(ttl_ms=(HOUR, 0, 0, 0)))
    assert _told(stage.tick()) == [("c", AGE), ("a", BUDGET)]


def test_what_is_voted_on_for_another_reason_counts_until_that_is_decided(
    codec: Codec, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = _shelf(A, B, C, _memory("d", 0))
    shelf.disputed = [(B.candidate, A.candidate)]
    record = Stage(codec, shelf, _policy()).tick()
    assert record is not None
    assert [(one.kind, one.memory_ids) for one in record.proposals] == [
        ("evict", ("c",)), ("evict", ("d",)), ("supersede", ("b", "a")),
    ]  # fmt: skip
    small = _shelf(A, B, replace(C, protections=("pin",)))
    small.disputed = [(B.candidate, A.candidate)]
    with caplog.at_level(logging.WARNING, "streams.budget_choice"):
        Stage(codec, small, _policy()).tick()
    (line,) = [one.message for one in caplog.records]
    assert "stays 26 tokens beyond its budget of 64; all that it holds may not go now: 30 pinned, 60 voted on" in line


def test_a_long_line_of_the_decayed_leaves_an_epochs_proposals_to_what_is_beyond_a_budget(codec: Codec) -> None:
    policy = replace(_policy(), epoch=replace(Policy().epoch, proposals_max=16))
    at = NOW - span_ms(policy)
    old = [Candidate(f"old{i}", "other", SHORT_TERM, NOW, at, 400_000, early=False) for i in range(16)]
    crossed = [Crossing(one.memory_id, at, 299_999) for one in old]

    def told(beyond: int) -> list[str]:
        shelf = _shelf(*(_memory(f"{age:02}", age) for age in range(beyond + 2)))
        shelf.alive += old
        shelf.stands["other"] = Losses(len(old))
        return [reason for _, reason in _told(Stage(codec, shelf, policy).tick(STANDING, *crossed))]

    assert told(9) == [BUDGET] * 9 + ["decayed"] * 7
    assert told(30) == [BUDGET] * 15 + ["decayed"], "a sixteenth is left to what decayed"


def test_namespaces_beyond_their_budgets_take_turns(codec: Codec) -> None:
    policy = replace(_policy("*=64/fifo"), epoch=replace(Policy().epoch, proposals_max=4))
    great = [_memory(f"{age:02}", age) for age in range(40)]
    small = [
        replace(one, candidate=replace(one.candidate, memory_id=f"s{at}", namespace="small"))
        for at, one in enumerate(great[:4])
    ]
    record = Stage(codec, _shelf(*great, *small), policy).tick()
    assert _told(record) == [("39", BUDGET), ("s3", BUDGET), ("38", BUDGET), ("s2", BUDGET)]


def test_what_is_older_than_its_type_may_become_is_nominated_by_the_next_epoch(codec: Codec) -> None:
    shelf = _shelf(A, B)
    shelf.old = [A.candidate, B.candidate]
    stage = Stage(codec, shelf, _policy("", ttl_ms=(HOUR, 0, 3 * HOUR, 0)))
    assert stage.tick() is None, "it opens no epoch"
    assert _told(stage.tick(replace(STANDING, last_epoch_at=NOW - HOUR))) == [("a", AGE), ("b", AGE)]
    wanted = ("aged", 1, ("episodic", NOW - HOUR), ("social", NOW - 3 * HOUR), Policy().epoch.proposals_max)
    assert shelf.asked.count(wanted) == 1
    without = Stage(codec, _shelf(A, B), _policy("", ttl_ms=(0, 0, 0, 0)))
    without.tick(replace(STANDING, last_epoch_at=NOW - HOUR))
    assert not [question for question in without.shelf.asked if question[0] == "aged"]


def test_what_nobody_used_and_steps_of_finished_tasks_are_nominated_by_the_next_epoch(codec: Codec) -> None:
    shelf = _shelf(A, B)
    shelf.left, shelf.scaffold = [A.candidate], [A.candidate, B.candidate]
    rules = "n=social:1h"
    stage = Stage(codec, shelf, replace(_policy(""), forget=ForgetPolicy(unused=rules)))
    assert stage.tick() is None, "it opens no epoch"
    assert _told(stage.tick(replace(STANDING, last_epoch_at=NOW - HOUR))) == [("a", UNUSED), ("b", FINISHED)]
    wanted = ("unused", 1, Retention("n", {"social": HOUR}), NOW, Policy().epoch.proposals_max)
    assert shelf.asked.count(wanted) == 1
    without = Stage(codec, _shelf(A, B), _policy(""))
    without.tick(replace(STANDING, last_epoch_at=NOW - HOUR))
    assert not [question for question in without.shelf.asked if question[0] == "unused"]


def test_what_is_protected_stays_and_is_told_by_its_reason(codec: Codec, caplog: pytest.LogCaptureFixture) -> None:
    kept = (
        replace(A, protections=("pin",)), replace(B, protections=("goal:deploy",)), replace(C, rests=True),
        _memory("long", 9, tier=LONG_TERM), _memory("held", 9, protections=("hold", "pin")),
    )  # fmt: skip
    stage = Stage(codec, _shelf(*kept), _policy())
    with caplog.at_level(logging.WARNING, "streams.budget_choice"):
        assert stage.tick() is None
    (line,) = [one.message for one in caplog.records]
    reasons = "30 held, 30 long-term, 30 needed, 30 pinned, 30 resting"
    assert f"stays 86 tokens beyond its budget of 64; all that it holds may not go now: {reasons}" in line
    shown = stage.shown
    assert {r: shown.meters.registry.get_sample_value("memquorum_beyond_budget_tokens", {"shard": "1", "reason": r})
            for r in ("pinned", "held", "capped")} == {"pinned": 30, "held": 30, "capped": None}  # fmt: skip
    notes = shown.health.able()[1]["notes"]
    assert notes == {"beyond their budgets": f"'n': 86 tokens; all that it holds may not go now: {reasons}"}
    # Nothing may be forgotten: it is read again only after a change, and reported only once.
    stage.shelf.asked.clear()
    assert stage.tick() is None
    assert [question for question in stage.shelf.asked if question[0] == "weighted_some"] == []
    stage.shelf.weighs.append(_memory("new", 0))
    stage.shelf.alive.append(stage.shelf.weighs[-1].candidate)
    assert _told(stage.tick()) == [("new", BUDGET)]
    stage.shelf.weighs.clear()
    assert stage.tick(replace(STANDING, last_epoch=5)) is None
    assert shown.meters.registry.get_sample_value(
        "memquorum_beyond_budget_tokens", {"shard": "1", "reason": "pinned"}
    ) == 0  # fmt: skip
    assert shown.health.able()[1]["notes"] == {"beyond their budgets": "nothing"}


def test_what_a_vote_kept_rests_and_the_next_in_order_is_nominated(codec: Codec) -> None:
    stage = Stage(codec, _shelf(A, B, C), _policy())
    assert _told(stage.tick()) == [("a", BUDGET)]
    stage.shelf.weighs[0] = replace(A, rests=True)
    assert _told(stage.tick(replace(STANDING, last_epoch=5))) == [("b", BUDGET)]


def test_no_more_is_nominated_than_the_caps_leave(codec: Codec) -> None:
    many = [_memory(f"{age:02}", age) for age in range(20)]
    record = Stage(codec, _shelf(*many), _policy(caps=CapsPolicy())).tick()
    assert _told(record) == [("19", BUDGET), ("18", BUDGET), ("17", BUDGET)]


def test_what_decayed_takes_no_cap_of_what_is_beyond_a_budget(codec: Codec) -> None:
    policy = _policy(caps=CapsPolicy())
    at = NOW - span_ms(policy)
    old = [Candidate(f"old{i}", "n", SHORT_TERM, NOW, at, 400_000, early=False) for i in range(3)]
    many = [_memory(f"{age:02}", age) for age in range(10)]
    shelf = _shelf(*(replace(A, candidate=one) for one in old), *many)
    record = Stage(codec, shelf, policy).tick(
        replace(STANDING, last_epoch_at=NOW - HOUR), *(Crossing(one.memory_id, at, 299_999) for one in old)
    )
    assert _told(record) == [("09", BUDGET), ("08", BUDGET), ("07", BUDGET)]


def test_reflection_counts_on_the_summary_that_is_voted_on(codec: Codec) -> None:
    draft = _memory("draft", 0, 10, tier=DRAFT, needs=("a", "b"))
    shelf = _shelf(A, B, C, draft)
    shelf.summed_up = [(draft.candidate, one.candidate) for one in (A, B)]
    stage = Stage(codec, shelf, _policy("n=64/reflection"))
    stage.tick()
    record = stage.tick(replace(STANDING, last_epoch_at=NOW - HOUR), after=MINUTE)
    assert record is not None
    assert [(one.kind, one.memory_ids) for one in record.proposals] == [("consolidate", ("draft", "a", "b"))]


def test_where_the_policy_reflects_summaries_come_before_evictions(codec: Codec) -> None:
    """The consolidator has a minute for them, once for each breach."""
    stage = Stage(codec, _shelf(A, B, C), _policy("n=64/hybrid"))
    assert stage.tick() is None and stage.tick(after=MINUTE - 1) is None
    assert len(_told(stage.tick(after=MINUTE))) == 1
    stage.again()
    assert len(_told(stage.tick(after=MINUTE + 1))) == 1, "it has waited"
    whole = list(stage.shelf.weighs)
    stage.shelf.weighs = whole[:1]
    stage.again()
    assert stage.tick(after=2 * MINUTE) is None, "within the budget"
    stage.shelf.weighs = whole
    assert stage.tick(after=3 * MINUTE) is None and _told(stage.tick(after=4 * MINUTE)), "another breach"
    strict = replace(_policy("n=64/hybrid"), consolidate=ConsolidatePolicy(strict="n"))
    assert len(_told(Stage(codec, _shelf(A, B, C), strict).tick())) == 1, "no summary is made there"


@pytest.mark.parametrize(
    ("apart_ppm", "gone"), [(500_000, []), (500_001, [("c", BUDGET)])], ids=["near enough", "too far"]
)
def test_a_summary_that_is_too_far_makes_no_room(codec: Codec, apart_ppm: int, gone: list[tuple[str, str]]) -> None:
    draft = replace(_memory("draft", 0, 10, tier=DRAFT, needs=("a", "b")), distortion_ppm=apart_ppm)
    shelf = _shelf(A, B, C, draft)
    shelf.summed_up = [(draft.candidate, one.candidate) for one in (A, B)]
    stage = Stage(codec, shelf, _policy("n=64/reflection"))
    stage.tick()
    record = stage.tick(replace(STANDING, last_epoch_at=NOW - HOUR), after=MINUTE)
    assert record is not None
    assert [one.memory_ids for one in record.proposals if one.kind == "consolidate"] == [("draft", "a", "b")]
    assert _told(record) == gone, "and what it is about is in one vote alone"


def test_lots_are_drawn_under_the_stages_secret(codec: Codec) -> None:
    many = _shelf(*(_memory(f"{age:02}", age) for age in range(20)))
    first, again = (_told(Stage(codec, many, _policy("n=64/random")).tick()) for _ in range(2))
    assert first == again
    assert len(first) == 18
    assert first != sorted(first, reverse=True)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"score": 1}, "score 1 of"),
        ({"policy": "lru"}, "policy 'lru' with 64 tokens is not that of namespace 'n'"),
        ({"budget": 70}, "with 70 tokens is not that"),
        ({"version": 3}, "policy 3 is not in force, 0 is"),
        ({"held": 64}, "64 tokens are within the budget of 64"),
        ({"features": (1, 2)}, "no such features, type or weight"),
        ({"type": "dream"}, "no such features, type or weight"),
    ],
)
def test_what_does_not_follow_from_what_is_said_is_found(
    codec: Codec, changes: dict[str, object], complaint: str
) -> None:
    policy = _policy()
    record = Stage(codec, _shelf(A, B, C), policy).tick()
    assert record is not None
    proposal: Proposal = record.proposals[0]
    assert proposal.weighed is not None
    told = wrong(replace(proposal, weighed=replace(proposal.weighed, **changes)), policy.budget, 0)
    assert told is not None
    assert complaint in told
    assert wrong(replace(proposal, weighed=None), policy.budget, 0) == "reason 'budget' without a score"
    assert wrong(replace(proposal, reason="decayed"), policy.budget, 0) == "reason 'decayed' with a score"


def _alike(name: str, subject: str = "", spent: int = 0) -> Weighted:
    return replace(_memory(name, 1), worth_ppm=10 * PPM + ord(name[-1]), subject=subject or name, spent_ppm=spent)


DRAWS = {"epsilon_ppm": PPM, "subject_epsilon_ppm": 2 * PPM}


def test_where_near_ties_are_drawn_no_features_and_no_score_are_told(codec: Codec) -> None:
    policy = _policy("n=64/worth", **DRAWS)
    record = Stage(codec, _shelf(*(_alike(name, "ada" if name < "c" else "bob") for name in "abcdef")), policy).tick()
    assert record is not None
    told = [one.weighed for one in record.proposals]
    assert len(told) == 4
    assert all(one is not None and one.features == () for one in told)
    assert {(one.sensitivity_ppm, one.net_ppm, one.score) for one in told if one is not None} == {(None, None, None)}
    assert all(wrong(one, policy.budget, 0) is None for one in record.proposals)
    first, second, third, last = [one.lot for one in told if one is not None]
    assert first is not None and second is not None and len(first.charged) == len(second.charged) == 2
    assert third == Lot(1, (), 2), "ada and bob have paid for two draws, and pay for no more"
    assert last is None, "nothing else lies within the margin"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"features": (0,) * 7}, "withheld where near-ties are drawn"),
        ({"score": 3}, "withheld where near-ties are drawn"),
        ({"sensitivity_ppm": 0}, "withheld where near-ties are drawn"),
        ({"lot": Lot(3, (), 0)}, "a lot among 3 that 0 subjects pay for"),
        ({"lot": Lot(1, ("a",), 0)}, "a lot among 1 that 1 subjects pay for"),
        ({"lot": Lot(2, ("a", "b", "c"), 0)}, "a lot among 2 that 3 subjects pay for"),
        ({"lot": Lot(3, ("a", "a"), 0)}, "a lot among 3 that 2 subjects pay for"),
    ],
)
def test_what_is_told_though_it_is_to_be_withheld_is_found(
    codec: Codec, changes: dict[str, object], complaint: str
) -> None:
    policy = _policy("n=64/worth", **DRAWS)
    record = Stage(codec, _shelf(*map(_alike, "abcdef")), policy).tick()
    assert record is not None
    proposal = record.proposals[0]
    assert proposal.weighed is not None
    told = wrong(replace(proposal, weighed=replace(proposal.weighed, **changes)), policy.budget, 0)
    assert told is not None and complaint in told
    off = wrong(proposal, _policy("n=64/worth").budget, 0)
    assert off == "a lot, or no score, where near-ties stand in their order"


def test_an_epoch_draws_once_and_another_one_or_another_secret_otherwise(codec: Codec) -> None:
    policy = _policy("n=64/worth", **{**DRAWS, "subject_epsilon_ppm": 100 * PPM})

    def drawn(epoch: int) -> list[tuple[str, str]]:
        stage = Stage(codec, _shelf(*(_alike(f"m{chr(97 + at)}") for at in range(12))), policy)
        first = _told(stage.tick(replace(STANDING, last_epoch=epoch)))
        stage.again()
        assert _told(stage.tick(replace(STANDING, last_epoch=epoch))) == first, "a second try draws the same"
        return first

    assert len({tuple(drawn(epoch)) for epoch in range(4)}) == 4


def test_what_an_epoch_charged_is_told_once_it_is_decided_though_nothing_is_nominated_then(codec: Codec) -> None:
    stage = Stage(codec, _shelf(*(_alike(name) for name in "abcd")), _policy("n=64/worth", **DRAWS))
    assert stage.tick() is not None

    def spent() -> float | None:
        return stage.shown.meters.registry.get_sample_value("memquorum_draws_spent_ratio", {"shard": "1"})

    assert spent() == 0, "the epoch is not decided"
    stage.shelf.weighs = [_alike("a", spent=PPM), _alike("b", spent=2 * PPM)]
    assert stage.tick() is None and spent() == 0, "the epoch is not decided yet"
    assert stage.tick(replace(STANDING, last_epoch=5, last_epoch_at=NOW)) is None and spent() == 1
    told = "a subject has spent ε = 2 at most, 1 have spent what they may"
    assert stage.shown.health.able()[1]["notes"]["draws among near-ties"] == told


def test_who_has_spent_what_it_may_is_told_in_numbers_and_by_no_name(codec: Codec) -> None:
    shelf = _shelf(*(_alike(name, "ada", 2 * PPM) for name in "abc"), _alike("d", "bob", PPM // 2))
    stage = Stage(codec, shelf, _policy("n=64/worth", **DRAWS))
    record = stage.tick()
    assert record is not None
    assert [one.memory_ids[0] for one in record.proposals] == ["a", "b"], "in their order"
    lots = [one.weighed.lot for one in record.proposals if one.weighed is not None]
    assert lots == [Lot(1, (), 2), None]
    registry = stage.shown.meters.registry
    assert registry.get_sample_value("memquorum_draws_spent_ratio", {"shard": "1"}) == 1
    assert registry.get_sample_value("memquorum_draws_refused_subjects", {"shard": "1"}) == 1
    assert stage.shown.health.able()[1]["notes"]["draws among near-ties"] == (
        "a subject has spent ε = 2 at most, 1 have spent what they may"
    )
    stage.stage.assigned(frozenset({1}))
    assert registry.get_sample_value("memquorum_draws_spent_ratio", {"shard": "1"}) == 0
    assert stage.shown.health.able()[1]["notes"]["draws among near-ties"] == "none"
