"""The memories that an order to erase names in a store, and what is left of them: the same on both adapters."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.journal.rows import Answered, EventKey, GoalDue, Guarded, RowKeys
from memquorum.core.policy import ForgetPolicy
from memquorum.core.records import ErasedEpisode, ErasureOrdered, OrderAccepted, OrderFound, Signed
from memquorum.ports import Unattested
from tests.builders import genesis, protections, votes
from tests.builders.erasures import accepted, among, entitled, ordered, signed
from tests.builders.policies import by_the_paper
from tests.builders.repetitions import CASES, shard_with
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.support.stores import World, clear

GENESIS = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=500)), **entitled(signed=()))
BESIDE = "n0"
A, B, C = (memory_id(name) for name in "abc")


@pytest.fixture
def shard(world: World, codec: Codec) -> Shard:
    """A, of ada, has an echo, and a child in a ring with it; B is gone, its child C is not; another namespace too."""
    shard = world.shard(codec, GENESIS)
    shard.tick(1_000)
    shard.episode("a", subject="ada", source="feed", derives_from=(memory_id("child"),))
    shard.episode("b", subject="ada")
    same = {"subject": "ada", "source": "feed", "derives_from": (A,)}
    shard.episode("echo", agent="reviewer", outcome="reinforced", reinforces=A, **same)
    shard.episode("child", agent="reviewer", derives_from=(memory_id("echo"),))
    shard.episode("faint", agent="ada", outcome="below_threshold", derives_from=(memory_id("child"),))
    shard.episode("c", agent="reviewer", derives_from=(B,))
    shard.episode("x", namespace=BESIDE, subject="ada", derives_from=(A,))
    shard.access(A, 1_500, event_id="read")
    shard.tick(2_000)
    shard.decide([votes.proposal(B, "forget")])
    shard.tick(3_000)
    shard.destroy(B)
    world.flush(shard)
    return shard


def of(selector: str, value: str, world: World, namespace: str = NAMESPACE) -> dict[str, str]:
    found = world.store.taken(namespace, selector, value)
    assert [one.memory_id for one in found] == sorted(one.memory_id for one in found)
    assert all((one.commitment is None) == (one.was in ("reinforced", "dropped")) for one in found)
    names = {memory_id(name): name for name in ("a", "b", "c", "echo", "child", "faint")}
    return {names.get(one.memory_id, one.memory_id): one.was for one in found}


FAMILY = {"a": "short-term", "echo": "reinforced", "child": "short-term", "faint": "dropped"}


@pytest.mark.parametrize(
    ("selector", "value", "expected"),
    [
        # B is gone; what was made of it is not.
        ("subject", "ada", FAMILY | {"c": "short-term"}),
        ("source", "feed", FAMILY),
        ("memory", A, FAMILY),
        ("memory", memory_id("child"), FAMILY),
        ("memory", memory_id("faint"), {"faint": "dropped"}),
        ("memory", B, {"c": "short-term"}),
        ("memory", memory_id("nobody"), {}),
        ("memory", memory_id("x", BESIDE), {}),
        ("agent", "reviewer", FAMILY | {"c": "short-term"}),
        ("agent", "nobody", {}),
        ("source", "", {}),
        ("namespace", "", FAMILY | {"c": "short-term"}),
    ],
)
def test_what_is_named(world: World, shard: Shard, selector: str, value: str, expected: dict[str, str]) -> None:
    assert of(selector, value, world) == expected


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_says_the_same_goes_where_nothing_else_supports_it(world: World, codec: Codec, case: Any) -> None:
    first, again, (selector, value), expected = case
    shard = shard_with(world.shard(codec, GENESIS), first, again)
    shard.episode("d", derives_from=(A,))
    world.flush(shard)
    assert set(of(selector, value, world)) == expected | ({memory_id("d")} if "a" in expected else set())


def test_what_becomes_of_a_summary_is_told_with_it(world: World, codec: Codec) -> None:
    shard = world.shard(codec, GENESIS)
    four = [memory_id(f"said {k}") for k in range(4)]
    for at, subject in enumerate(("ada", "bob", "bob", "cleo")):
        shard.episode(f"said {at}", 1_000 + at, subject=subject)
    summary = memory_id("sum")
    shard.summary("sum", four, at=1_003)
    shard.tick(2_000)
    shard.consolidate(summary, four)
    world.flush(shard)

    def summaries_by_was(selector: str, value: str) -> dict[str, str | None]:
        found = world.store.taken(NAMESPACE, selector, value)
        return {one.was: one.summary for one in found if one.was != "sealed"} | {
            "sealed": next((one.summary for one in found if one.was == "sealed"), None)
        }

    assert summaries_by_was("subject", "ada") == {"short-term": "anew", "sealed": None}
    assert summaries_by_was("subject", "bob") == {"short-term": "few", "sealed": None}
    assert summaries_by_was("memory", summary) == {"short-term": "named", "sealed": None}
    assert summaries_by_was("namespace", "") == {"short-term": "named", "sealed": None}
    shard.tick(2_000 + GENESIS.policy.forget.grace_ms)
    world.flush(shard)
    assert summaries_by_was("subject", "ada") == {"short-term": "over", "sealed": None}


def test_another_namespaces_is_never_named(world: World, shard: Shard) -> None:
    assert of("subject", "ada", world, BESIDE) == {memory_id("x", BESIDE): "short-term"}
    assert of("memory", A, world, BESIDE) == {memory_id("x", BESIDE): "short-term"}
    assert of("agent", "reviewer", world, BESIDE) == {}


def carry_out(world: World, shard: Shard, codec: Codec, found: list[ErasedEpisode], **changes: Any) -> OrderAccepted:
    said = ordered(GENESIS, **changes)
    record = accepted(said, signed(codec, GENESIS, said), 5_000)
    shard.erase(record, found, most=2)
    world.flush(shard)
    return record


def test_what_was_erased_is_not_there_and_not_named_again(world: World, shard: Shard, codec: Codec) -> None:
    record = carry_out(world, shard, codec, world.store.taken(NAMESPACE, "subject", "ada"))
    for selector, value in (("subject", "ada"), ("memory", A), ("namespace", "")):
        assert of(selector, value, world) == {}
    assert of("subject", "ada", world, BESIDE) == {memory_id("x", BESIDE): "short-term"}
    again = world.reopen()
    wanted: frozenset[EventKey] = frozenset({(NAMESPACE, A), (NAMESPACE, memory_id("nobody")), (BESIDE, A)})
    with again.store.transaction({shard.rows.state: RowKeys(frozenset({A}), erased=wanted)}) as transaction:
        rows = transaction.rows[0]
    assert rows.memories[A].tier == "gone" and not rows.strengths
    assert set(rows.erased) == {(NAMESPACE, A)}
    (tombstone,) = again.store.start(GENESIS.cluster, GENESIS.shards)[0].tombstones
    assert (tombstone.namespace, tombstone.order_id) == (NAMESPACE, record.event_id)
    assert (tombstone.selector, tombstone.value, tombstone.accepted_at) == ("subject", "ada", 5_000)
    assert not again.store.start(GENESIS.cluster, GENESIS.shards)[1].tombstones


def test_what_is_not_attested_is_told_until_it_is(world: World, shard: Shard, codec: Codec) -> None:
    record = carry_out(world, shard, codec, world.store.taken(NAMESPACE, "subject", "ada"))
    said = codec.decode_as(ErasureOrdered, codec.decode_as(Signed, record.order).body)
    found = OrderFound(record.order, 5_000, shard.offset)
    assert world.stored.unattested(0) == [Unattested(found)]
    assert world.stored.unattested(1) == []
    for vote, left in ((lambda *_: False, [Unattested(found, (2,))]), (votes.everybody, [])):
        shard.tick(shard.rows.state.as_of + 1_000)
        epoch = shard.rows.state.last_epoch + 1
        pre_prepare, commits = votes.attesting(
            codec, GENESIS, found, said, vote, shard=0, epoch=epoch, seq=epoch, as_of=shard.rows.state.as_of,
            accepted_offset=shard.offset,
        )  # fmt: skip
        checked = check_decision(codec, GENESIS, pre_prepare, commits)
        place = applying.RecordPosition(topics.PRE_PREPARES, 0, 0)
        shard._absorb(applying.apply_decision(shard.rules, shard.rows, place, checked, commits))
        world.flush(shard)
        assert world.stored.unattested(0) == left
        state = world.reopen().store.start(GENESIS.cluster, GENESIS.shards)[0].state
        assert (state, state.unattested) == (shard.rows.state, len(left))


def test_an_echo_goes_without_what_it_repeated(world: World, shard: Shard, codec: Codec) -> None:
    carry_out(world, shard, codec, among(NAMESPACE, {"echo": "reinforced"}), selector="memory",
              value=memory_id("echo"))  # fmt: skip
    assert "echo" not in of("memory", A, world) and of("memory", A, world)["a"] == "short-term"


def test_what_comes_late_has_no_row_of_what_is_dropped(world: World, shard: Shard, codec: Codec) -> None:
    carry_out(world, shard, codec, world.store.taken(NAMESPACE, "subject", "ada"))
    shard.episode("late", subject="ada")
    world.flush(shard)
    assert of("memory", memory_id("late"), world) == {}
    assert of("subject", "ada", world) == {}
    assert world.store.keys_due([0]) == {}


def test_what_is_protected_is_counted_and_a_goal_is_due_as_a_whole(world: World, codec: Codec) -> None:
    shard = world.shard(codec, GENESIS)
    for name in "abc":
        shard.episode(name)
    orders = [("need", "a", 1, "sow", 5_000), ("need", "b", 2, "sow", 5_500), ("need", "c", 3, "reap", 5_900)]
    for action, name, number, goal, at in [*orders, ("pin", "a", 4, "case", 1)]:
        record = protections.accepted(codec, action, memory_id(name), number, cluster=GENESIS.cluster, reference=goal)
        shard.protect(replace(record, accepted_at=at))
    shard.tick(6_500)
    (first,) = shard.changes[3].of(Answered)
    world.flush(shard)
    due = GoalDue(NAMESPACE, "goal:sow", 5_500, tuple(sorted(map(memory_id, "ab"))))
    assert world.store.goals_due({0: 1_000}, 10) == {0: due}
    assert world.store.goals_due({0: 1_000}, 1) == {0: replace(due, memory_ids=due.memory_ids[:1])}
    assert world.store.goals_due({0: 1_001}, 10) == {} == world.store.goals_due({1: 0}, 10)
    keys = RowKeys(orders=frozenset({first.digest, b"another"}), guarded=frozenset({NAMESPACE, "elsewhere"}))
    with world.store.transaction({shard.rows.state: keys}) as transaction:
        rows = transaction.rows[0]
    assert (set(rows.answered), dict(rows.guarded)) == ({first.digest}, {NAMESPACE: Guarded(1, 3)})
    assert world.store.answered(0, [first.digest, b"another"]) == {first.digest}
    assert world.store.answered(1, [first.digest]) == set()


def test_who_erases_a_source_of_a_merged_summary_takes_the_one_that_stays(world: World, codec: Codec) -> None:
    """A remaining summary is made again where its own sources are left; those merged into it do not count."""
    shard = world.shard(codec, GENESIS)
    shard.tick(1_000)
    made = {"few": "ab", "one": "cde", "two": "fgh"}
    for name, sources in made.items():
        for source in sources:
            shard.episode(source, session="s1")
        shard.summary(name, [memory_id(source) for source in sources])
        shard.consolidate(memory_id(name), [memory_id(source) for source in sources])
    few, one, two = map(memory_id, made)
    world.flush(shard)
    assert {i.memory_id for i in world.store.taken(NAMESPACE, "memory", memory_id("f"))} == {memory_id("f"), two}
    shard.merge(one, two)
    shard.merge(few, one)
    world.flush(shard)
    found = {i.memory_id: i.was for i in world.store.taken(NAMESPACE, "memory", memory_id("f"))}
    assert found == {memory_id("f"): "sealed", two: "sealed", one: "sealed", few: "short-term"}
    assert {i.memory_id for i in world.store.taken(NAMESPACE, "memory", memory_id("a"))} == {memory_id("a"), few}
    fates = {i.memory_id: i.summary for i in world.store.taken(NAMESPACE, "memory", memory_id("f"))}
    assert fates == {memory_id("f"): None, two: "few", one: "anew", few: "few"}


def named(world: World) -> dict[str, tuple[str, ...]]:
    """The links to names that a store holds."""
    if world.dsn is None:
        return {i: clear.named for i, clear in world.store.contents.items() if clear.named}
    with psycopg.connect(world.dsn) as connection:
        rows = connection.execute("SELECT memory_id::text, named FROM content WHERE named IS NOT NULL")
        return {memory_id: tuple(found) for memory_id, found in rows}


def test_an_erased_subject_is_in_no_link_of_what_stays(world: World, codec: Codec) -> None:
    shard = world.shard(codec, GENESIS)
    said = {A: ("friendOf ada", "isA pump"), B: ("friendOf ada",), C: ("friendOf ada lee", "isA ada")}

    def put(event: str, at: int, namespace: str = NAMESPACE) -> str:
        own = memory_id(event, namespace)
        shard.episode(event, at, subject="ben", namespace=namespace)
        world.flush(shard, {own: replace(clear(own), named=said.get(own, ("friendOf ada",)))})
        return own

    for event in "abc":
        put(event, 1_000)
    beside = put("x", 1_000, BESIDE)
    assert named(world) == said | {beside: ("friendOf ada",)}
    wanted = ordered(GENESIS, "subject", "ada")
    shard.erase(accepted(wanted, signed(codec, GENESIS, wanted), 1_500), [])
    world.flush(shard)
    assert named(world) == {A: ("isA pump",), C: ("friendOf ada lee",), beside: ("friendOf ada",)}
    # An older episode that comes late adds nothing about her; a newer one does.
    put("late", 1_400)
    after = put("after", 1_600)
    assert named(world) == {
        A: ("isA pump",), C: ("friendOf ada lee",), beside: ("friendOf ada",), after: ("friendOf ada",)
    }  # fmt: skip


def test_by_age_goes_what_is_older_of_its_types_and_what_was_made_of_it(world: World, codec: Codec) -> None:
    """Whatever it became: promoted, sealed, an echo, dropped, or gone with something made of it that is not."""
    shard = world.shard(codec, GENESIS)
    shard.tick(1_000)
    for name in ("a", "b", "long", "gone"):
        shard.episode(name)
    shard.episode("echo", at=9_000, outcome="reinforced", reinforces=A)
    again = {"agent": "reviewer", "subject": "planner", "outcome": "reinforced", "reinforces": memory_id("long")}
    shard.episode("again", at=900, **again)
    shard.episode("faint", outcome="below_threshold")
    shard.episode("child", at=9_000, derives_from=(memory_id("gone"),))
    shard.episode("task", type="task")
    shard.episode("social", type="social")
    shard.episode("young", at=1_500)
    shard.episode("x", namespace=BESIDE)
    shard.decide([votes.proposal(memory_id("gone"), "forget")])
    shard.tick(2_000)
    shard.destroy(memory_id("gone"))
    shard.decide([votes.proposal(memory_id("long"), "promote"), votes.proposal(B, "forget")])
    world.flush(shard)

    def named_by_age(value: str) -> dict[str, str]:
        names = ("a", "b", "long", "again", "echo", "faint", "child", "task", "social", "young")
        known = {memory_id(name): name for name in names}
        return {known.get(i, i): was for i, was in of("age", value, world).items()}

    old = {"a": "short-term", "b": "sealed", "long": "long-term", "echo": "reinforced", "again": "reinforced"}
    old |= {"faint": "dropped", "child": "short-term"}
    assert named_by_age("episodic before 1970-01-01T00:00:01.001Z") == old
    assert named_by_age("episodic before 1970-01-01T00:00:01.000Z") == {"again": "reinforced"}
    assert named_by_age("episodic,task before 1970-01-01T00:00:01.001Z") == old | {"task": "short-term"}
    assert named_by_age("social before 1970-01-01T00:00:01.500Z") == {"social": "short-term"}
    assert named_by_age("episodic before 1970-01-01T00:00:01.501Z") == old | {"young": "short-term"}


@pytest.mark.parametrize(
    ("held", "left"), [("a", "bc d"), ("c", "b  d"), ("d", "abc "), ("b", "a c d")], ids=lambda one: one
)
def test_by_age_stays_what_is_held_and_what_it_was_made_of(world: World, codec: Codec, held: str, left: str) -> None:
    """C was made of A, and nothing of B; D of nothing."""
    shard = world.shard(codec, GENESIS)
    shard.tick(1_000)
    for name in "abd":
        shard.episode(name)
    shard.episode("c", derives_from=(A,))
    shard.protect(protections.accepted(codec, "hold", memory_id(held), cluster=GENESIS.cluster))
    world.flush(shard)
    found = {one.memory_id for one in world.store.taken(NAMESPACE, "age", "episodic before 1970-01-01T00:00:02.000Z")}
    assert found == {memory_id(name) for name in left if name != " "}
