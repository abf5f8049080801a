"""An erasure in a journal is followed to its order, and to everything that the order names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.core.orders.aged import CLOCKS_MS
from memquorum.core.orders.configuration import POLICY
from memquorum.core.policy import ErasePolicy, ForgetPolicy, written
from memquorum.core.records import Erased, OrderAccepted
from tests.builders import genesis, protections, votes
from tests.builders.configured import carried_out
from tests.builders.erased import ALL, AT, GENESIS, D, filled, order
from tests.builders.erasures import NAMESPACE, accepted, among, entitled, ordered, signed
from tests.builders.policies import by_the_paper
from tests.builders.published import Published, kinds, publish
from tests.builders.shard import Shard, memory_id

# Positions in the journal, counted from 0: filled has nine entries.
ERASED, SECOND, LAST, LATE, AGAIN = 9, 10, 11, 12, 13


def lively(codec: Codec) -> Shard:
    shard = filled(Shard(codec, GENESIS))
    shard.erase(order(codec), among(NAMESPACE, ALL), most=2)
    shard.episode("late", subject="ada")
    shard.erase(order(codec), [], repeated=True)
    shard.episode("new", at=AT + 1)
    return shard


@pytest.fixture
def public(codec: Codec) -> Published:
    return publish(lively(codec))


def test_a_whole_erasure_is_found_whole(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True, words=True)) == []


def detail(public: Published, at: int, **changes: object) -> None:
    public.forge(at, replace(public.detail(at), **changes))


def left_out(public: Published) -> None:
    """One episode fewer than the order names."""
    detail(public, LAST, episodes=())


def one_more(public: Published) -> None:
    told: Erased = public.detail(LAST)
    (other,) = among(NAMESPACE, {"d": "short-term"})
    detail(public, LAST, episodes=(*told.episodes, other))


def unsigned(public: Published) -> None:
    said = ordered(GENESIS)
    forged = signed(public.rules.codec, GENESIS, said, seed=genesis.seed_of("service:journal"))
    for at in (ERASED, SECOND, LAST):
        detail(public, at, order=forged)


def of_another(public: Published) -> None:
    other = signed(public.rules.codec, GENESIS, ordered(GENESIS, value="grace"))
    for at in (ERASED, SECOND, LAST):
        detail(public, at, order=other)


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        (left_out, Kind.ERASURE_INCOMPLETE),
        (one_more, Kind.EFFECT_UNDECIDED),
        (unsigned, Kind.ORDER_INVALID),
        (of_another, Kind.EFFECT_UNDECIDED),
        (lambda p: detail(p, ERASED, parts=2), Kind.ERASURE_INCOMPLETE),
        (lambda p: detail(p, SECOND, residue_until=AT), Kind.ERASURE_INCOMPLETE),
        (lambda p: p.remove(SECOND), Kind.ERASURE_INCOMPLETE),
        (lambda p: p.rewrite(AGAIN, effect="erased"), Kind.ORDER_REPEATED),
        (lambda p: p.rewrite(ERASED, effect="repeated"), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: p.rewrite(ERASED, event_id="another"), Kind.ORDER_INVALID),
        (lambda p: detail(p, LATE, outcome="below_threshold"), Kind.EFFECT_IMPOSSIBLE),
        (lambda p: detail(p, AGAIN + 1, outcome="erased"), Kind.EFFECT_IMPOSSIBLE),
    ],
)
def test_what_an_order_does_not_say_is_found(
    public: Published, tamper: Callable[[Published], None], expected: Kind
) -> None:
    tamper(public)
    assert expected in kinds(public.audit())


def test_the_accepted_stream_has_to_hold_the_order(public: Published) -> None:
    codec = public.rules.codec
    at = public.entry(ERASED).source_offset
    there = codec.decode_as(OrderAccepted, public.accepted[at] or b"")
    public.accepted[at] = codec.encode(replace(there, accepted_at=AT + 1))
    assert Kind.RECORD_CONTRADICTED in kinds(public.audit(accepted=True))
    public.accepted[at] = None
    assert Kind.RECORD_MISSING in kinds(public.audit(accepted=True))


def test_an_order_that_was_let_in_may_not_be_passed_over(codec: Codec) -> None:
    shard = filled(Shard(codec, GENESIS))
    shard._place(order(codec))
    shard.tick(2_000)
    assert kinds(publish(shard).audit(accepted=True)) == [Kind.RECORD_SKIPPED]


@pytest.mark.parametrize(
    ("table", "change", "expected"),
    [
        ("erasure", {"episodes": 4}, Kind.ROW_ALTERED),
        ("erasure", {"accepted_at": 1}, Kind.ROW_ALTERED),
        ("erased", {"was": "late"}, Kind.ROW_ALTERED),
        ("provenance", {"echo": False}, Kind.ROW_ALTERED),
        ("event", {"subject": "grace"}, Kind.ROW_ALTERED),
        ("memory", {"source": "elsewhere"}, Kind.ROW_ALTERED),
    ],
)
def test_altered_rows_are_found(public: Published, table: str, change: dict[str, object], expected: Kind) -> None:
    public.tables[table][0] |= change
    assert expected in kinds(public.audit(store=True))


@pytest.mark.parametrize("table", ["erasure", "erased", "provenance"])
def test_missing_and_added_rows_are_found(public: Published, table: str) -> None:
    row = public.tables[table].pop()
    assert {Kind.ROW_MISSING, Kind.ROWS_CUT} & set(kinds(public.audit(store=True)))
    public.tables[table] += [row, row | {"seq": 10**6, "first_seq": 10**6, "parent": D}]
    assert Kind.ROW_ADDED in kinds(public.audit(store=True))


def test_what_is_still_there_is_d_alone(public: Published) -> None:
    assert next(row["id"] for row in public.tables["memory"] if row["tier"] != "gone") == D


def summed_up(codec: Codec) -> Shard:
    """A shard with a summary of four memories, one of which is erased with it."""
    shard = Shard(codec, GENESIS)
    shard.tick(1_000)
    said = [memory_id(f"said {k}") for k in range(4)]
    for at, one in enumerate(("ada", "bob", "cleo", "dora")):
        shard.episode(f"said {at}", subject=one)
    shard.summary("sum", said)
    shard.tick(1_100)
    shard.consolidate(memory_id("sum"), said)
    (one,), (made,) = among(NAMESPACE, {"said 0": "sealed"}), among(NAMESPACE, {"sum": "short-term"})
    shard.erase(order(codec), [one, replace(made, summary="anew")])
    shard.summary("again", said[1:], renews=memory_id("sum"))
    shard.tick(1_200)
    shard.consolidate(memory_id("again"), said[1:])
    return shard


def test_what_becomes_of_a_summary_follows_from_the_history(codec: Codec) -> None:
    public = publish(summed_up(codec))
    assert kinds(public.audit(store=True, accepted=True)) == []
    at = next(at for at in range(99) if public.entry(at).effect == "erased")
    told: Erased = public.detail(at)
    for fate in ("few", None):
        wrong = tuple(replace(one, summary=fate) if one.summary else one for one in told.episodes)
        detail(public, at, episodes=wrong)
        assert Kind.EFFECT_UNDECIDED in kinds(public.audit()), fate


@pytest.mark.parametrize(
    ("table", "change"),
    [("erasure", {"anew": 0}), ("erased", {"summary": "few"}), ("memory", {"told_by": D}), ("memory", {"renews": D})],
)
def test_altered_rows_of_summaries_are_found(codec: Codec, table: str, change: dict[str, object]) -> None:
    public = publish(summed_up(codec))
    public.tables[table][0] |= change
    assert Kind.ROW_ALTERED in kinds(public.audit(store=True))


OLD = "episodic before 1970-01-01T00:00:01.200Z"
RULED = genesis.make(
    policy=by_the_paper(
        forget=ForgetPolicy(grace_ms=500), erase=ErasePolicy("green*=episodic:1h", every_ms=60_000)
    ),
    **entitled(signed=()),
)  # fmt: skip
HOUR = 3_600_000


def aged(codec: Codec, found: dict[str, str], at: int = AT, made: Genesis = GENESIS, **said: Any) -> Shard:
    """A shard for an erasure by age: a is old, c was made of it and is not, and it was repeated; b is held, and so is
    d, which e was made for; f is of another type, and g was dropped.
    """
    shard = Shard(codec, made)
    shard.tick(1_000)
    shard.episode("a")
    shard.episode("echo", at=1_500, outcome="reinforced", reinforces=memory_id("a"))
    shard.episode("b")
    shard.episode("c", at=1_500, derives_from=(memory_id("a"),))
    shard.episode("d")
    shard.episode("e", at=1_500, derives_from=(memory_id("d"),))
    shard.episode("f", type="task")
    shard.episode("g", outcome="below_threshold")
    shard.episode("young", at=1_200)
    for number, name in enumerate("be", start=1):
        shard.protect(protections.accepted(codec, "hold", memory_id(name), number, cluster=made.cluster))
    signer = "service:erasure" if "rule" in said else "operator"
    wanted = ordered(made, "age", said.pop("value", OLD), **said)
    shard.erase(accepted(wanted, signed(codec, made, wanted, signer), at), among(NAMESPACE, found))
    return shard


OLDER = {"a": "short-term", "echo": "reinforced", "c": "short-term", "g": "dropped"}


def test_an_order_by_age_takes_what_is_older_and_leaves_what_is_held(codec: Codec) -> None:
    assert kinds(publish(aged(codec, OLDER)).audit(store=True, accepted=True)) == []


@pytest.mark.parametrize("name", OLDER)
def test_nothing_that_is_older_is_left_out(codec: Codec, name: str) -> None:
    found = {one: was for one, was in OLDER.items() if one != name}
    assert Kind.ERASURE_INCOMPLETE in kinds(publish(aged(codec, found)).audit())


@pytest.mark.parametrize("name", ["d", "f", "young"])
def test_nothing_else_goes_by_age(codec: Codec, name: str) -> None:
    assert Kind.EFFECT_UNDECIDED in kinds(publish(aged(codec, {**OLDER, name: "short-term"})).audit())


@pytest.mark.parametrize(
    ("value", "at", "rule", "wrong"),
    [
        ("episodic before 1970-01-01T00:00:01.200Z", 1_200 + HOUR, 0, False),
        ("episodic before 1970-01-01T00:00:01.200Z", 1_200 + HOUR - CLOCKS_MS - 1, 0, True),
        ("episodic,task before 1970-01-01T00:00:01.200Z", 1_200 + HOUR, 0, True),
        ("episodic before 1970-01-01T00:00:01.200Z", 1_200 + HOUR, 1, True),
    ],
)
def test_an_order_of_a_rule_says_what_that_rule_says(codec: Codec, value: str, at: int, rule: int, wrong: bool) -> None:
    found = OLDER | ({"f": "short-term"} if "task" in value else {})
    public = publish(aged(codec, found, at, RULED, value=value, rule=rule, ordered_at=at))
    assert kinds(public.audit()) == ([Kind.ORDER_INVALID] if wrong else [])


@pytest.mark.parametrize(("rule", "wrong"), [(1, False), (0, True)])
def test_an_order_of_a_rule_that_came_in_force_later_is_judged_by_that_rule(
    codec: Codec, rule: int, wrong: bool
) -> None:
    shard = Shard(codec, GENESIS)
    shard.tick(1_000)
    shard.episode("a")
    shard.tick(200_000)
    carried_out(shard, POLICY, policy=written(RULED.policy))
    made, at = shard.rules.genesis, 1_200 + HOUR
    wanted = ordered(made, "age", OLD, rule=rule, ordered_at=at)
    said = accepted(wanted, signed(codec, made, wanted, "service:erasure"), at)
    shard.erase(said, among(NAMESPACE, {"a": "short-term"}))
    public = replace(publish(shard), rules=Rules(codec, GENESIS))
    assert kinds(public.audit()) == ([Kind.ORDER_INVALID] if wrong else [])


TURN = 60_000
"""Of the rule; what was said at the first second is an hour old at this turn after the hour, and not before."""


def neglected(
    codec: Codec, *turns: int, made: Genesis = RULED, between: Callable[[Shard], object] | None = None
) -> Shard:
    """A shard with an ignored rule: c was made of a; b is held, and so is what was made of d; f is of another type.

    No order comes at these turns after the hour; `between` runs between the first and the next of them.
    """
    shard = Shard(codec, made)
    shard.tick(1_000)
    for name in "abd":
        shard.episode(name)
    shard.episode("c", at=HOUR, derives_from=(memory_id("a"),))
    shard.episode("e", at=HOUR, derives_from=(memory_id("d"),))
    shard.episode("f", type="task")
    for number, name in ((1, "b"), (3, "e")):
        shard.protect(protections.accepted(codec, "hold", memory_id(name), number, cluster=made.cluster))
    for at, turn in enumerate(turns):
        shard.tick(HOUR + turn * TURN)
        if at == 0 and between is not None:
            between(shard)
    return shard


def overdue(shard: Shard) -> list[str]:
    found = publish(shard).audit(store=True, accepted=True).findings
    assert {one.kind for one in found} <= {Kind.ERASURE_OVERDUE}
    return [f"{one.where}: {one.found}" for one in found]


ONE = ["episodic memories of 'greenhouse': 1 that nobody ordered to erase, the oldest of 1970-01-01T00:00:01.000Z"]


def test_what_is_too_old_and_nobody_ordered_for_a_whole_turn_is_found(codec: Codec) -> None:
    assert overdue(neglected(codec, 1, 2)) == ONE
    assert overdue(neglected(codec, 1, 2, 9)) == ONE


@pytest.mark.parametrize("turns", [(), (1,), (0, 1), (0,), (7,)])
def test_what_has_just_come_of_age_is_not_overdue_however_far_time_has_gone(
    codec: Codec, turns: tuple[int, ...]
) -> None:
    assert overdue(neglected(codec, *turns)) == []


def test_without_a_rule_nothing_is_overdue(codec: Codec) -> None:
    assert overdue(neglected(codec, 1, 2, 9, made=GENESIS)) == []


def test_what_was_ordered_is_not_overdue(codec: Codec) -> None:
    def order_it(shard: Shard) -> None:
        wanted = ordered(RULED, "age", OLD, rule=0, ordered_at=HOUR + TURN)
        data = signed(codec, RULED, wanted, "service:erasure")
        shard.erase(accepted(wanted, data, HOUR + TURN), among(NAMESPACE, {"a": "short-term", "c": "short-term"}))

    assert overdue(neglected(codec, 1, 2, between=order_it)) == []


def test_what_came_late_or_was_let_go_by_a_hold_has_a_turn_of_its_own(codec: Codec) -> None:
    def release(shard: Shard) -> None:
        order = protections.accepted(codec, "release", memory_id("b"), 2, cluster=RULED.cluster)
        shard.protect(order)
        shard.episode("late", at=1_001)

    assert overdue(neglected(codec, 1, 2, between=release)) == ONE
    assert overdue(neglected(codec, 1, 2, 3, between=release)) == [ONE[0].replace("1 that", "3 that")]


def test_what_is_gone_is_overdue_as_long_as_something_that_was_made_of_it_is_there(codec: Codec) -> None:
    def forget(shard: Shard) -> None:
        shard.decide([votes.proposal(memory_id("a"), "forget")])
        shard.tick(HOUR + TURN + 600)
        shard.destroy(memory_id("a"))

    assert overdue(neglected(codec, 1, 2, between=forget)) == ONE
