"""The audit judges again what was asked to be rolled back, what members decided, and what the weight came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.experience import weights
from memquorum.core.experience.weights import Weight
from memquorum.core.journal import rollbacks
from tests.builders import genesis, trials, votes
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.shard import Shard, memory_id
from tests.builders.trials import agree, proposal

GENESIS = genesis.make(policy=POLICY, **trials.entitled())
A, C = memory_id("a"), memory_id("c")
T = memory_id("t")
ORDER = votes.rollback(GENESIS, A, 1)
EARLY = replace(ORDER, order_id=memory_id("early"))


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A is admitted, asked to be rolled back too early, did harm, is rolled back, and helps again."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("c")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))])
    made.ask(EARLY, 1_000_000_000)
    made.task("t", (A,))
    made.feedback(T, (), (A,))
    made.tick(1_000_000_001)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.ask(ORDER, 1_000_000_001)
    made.task("u", (A,))
    made.tick(1_000_000_002)
    made.restore(ORDER)
    made.feedback(T, (A,), (), event_id="no more")
    made.task("v", (A,))
    made.tick(1_000_000_003)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    return made


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


def at(public: Published, effect: str) -> int:
    return next(n for n in range(len(public.entries)) if public.entry(n).effect == effect)


def rolled_back(public: Published) -> int:
    """Returns the position of the decision."""
    return next(
        n for n in range(len(public.entries))
        if public.entry(n).effect == "decided" and public.detail(n).results[0].kind == "rollback"
    )  # fmt: skip


def test_what_is_true_is_found_to_be(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True)) == []
    told = [(one["version"], one["cause"], one["weight_ppm"]) for one in public.tables["weight"]]
    assert told == [
        (1, "admitted", 1_000_000), (2, "used", 850_000), (3, "used", 950_000), (4, "rolled back", 1_000_000),
        (5, "used", 1_100_000),
    ]  # fmt: skip


def void(public: Published) -> None:
    """Members have said yes; the journal says that nothing came of it."""
    place = rolled_back(public)
    told = public.detail(place)
    none = replace(told.results[0], outcome="voided", reason="not alive")
    public.forge(place, replace(told, results=(none,)))


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (lambda p: p.rewrite(at(p, "requested"), effect="declined"), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(at(p, "declined"), effect="requested"), Kind.EFFECT_IMPOSSIBLE),
        (
            lambda p: p.forge(at(p, "declined"), replace(p.detail(at(p, "declined")), why="not alive")),
            Kind.EFFECT_IMPOSSIBLE,
        ),
        (
            lambda p: p.forge(at(p, "requested"), replace(p.detail(at(p, "requested")), why="not alive")),
            Kind.EFFECT_IMPOSSIBLE,
        ),
        (void, Kind.RESULTS_WRONG),
    ],
)
def test_what_did_not_happen_so_is_found(
    public: Published, tamper: Callable[[Published], None], expected: Kind
) -> None:
    tamper(public)
    assert expected in kinds(public.audit())


@pytest.mark.parametrize(("column", "value"), [("weight_ppm", 5), ("cause", "used"), ("losses", 3)])
def test_a_row_that_was_changed_is_found(public: Published, column: str, value: object) -> None:
    public.tables["weight"][3][column] = value
    assert kinds(public.audit(store=True)) == [Kind.ROW_ALTERED]


@pytest.mark.parametrize("wrong", [{"weight_ppm": 999_999}, {"gains": 9}, {"losses": 1}, {"version": 9}])
def test_a_rule_that_gives_another_weight_is_found(
    shard: Shard, public: Published, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, int]
) -> None:
    """The audit keeps what each version weighed, and shares nothing with the rule."""

    def otherwise(now: Weight, versions: Mapping[int, Weight], to: int) -> Weight:
        return replace(weights.rolled_back(now, versions, to), **wrong)

    monkeypatch.setattr(rollbacks, "rolled_back", otherwise)
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


def test_a_weight_that_is_moved_again_by_what_was_said_of_an_earlier_task_is_found(
    public: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = rollbacks.voted

    def since_ever(*given: object, since: int) -> object:
        return kept(*given, since=0)  # type: ignore[arg-type]

    monkeypatch.setattr(rollbacks, "voted", since_ever)
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
