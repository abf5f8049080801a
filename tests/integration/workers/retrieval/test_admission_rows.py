"""A memory's way into experience, loaded from Postgres, agrees with the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from db import experience_reads
from db.reads import Reads
from db.standing import Clear
from db.store import PostgresStore
from memquorum.core.access import Sight
from memquorum.core.accounts import pages
from memquorum.core.api.answers import Admission, Experienced
from memquorum.core.avro import Codec
from memquorum.core.ids import session_event_id
from memquorum.core.journal.rows import RowKeys
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval.query import Filters
from tests.builders import genesis, trials, tried, votes
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, drawn, proposal, signed, statistics, tell
from tests.support.stores import clear

GENESIS = genesis.make(**trials.entitled())
POLICY = ExperiencePolicy()
A, B = memory_id("a"), memory_id("b")


@pytest.fixture
def shard(databases: tuple[str, str], codec: Codec) -> Shard:
    """A was admitted, though one verifier lied."""
    made = Shard(codec, GENESIS)
    made.episode("a", sensitivity_ppm=300_000)
    made.episode("b")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], lambda _, __: False)
    said = []
    for at, (who, helped) in enumerate(zip(drawn(made, A, 1), (0, 3, 3), strict=True)):
        said.append(signed(codec, GENESIS, statistics(GENESIS, A, 1, helped), who))
        tell(made, said[-1], at)
    made.decide([proposal(A, said[1:])])
    write(databases[0], made)
    return made


def write(dsn: str, made: Shard, texts: Mapping[str, Clear] | None = None) -> None:
    """Puts a shard into the store. `texts`: what each memory says; without them something that is its own."""
    store = PostgresStore(dsn)
    store.start(GENESIS.cluster, GENESIS.shards)
    net = made.work.net()
    with store.transaction({net.before: RowKeys()}) as transaction:
        transaction.write([net], {i: texts[i] if texts else clear(i) for i in net.revealed}, {})
    store.close()


async def read_admission(
    dsn: str, memory: str, namespaces: tuple[str, ...] | None = (NAMESPACE,), **gates: int
) -> Admission | None:
    reads = Reads(dsn)
    await reads.open()
    try:
        return await reads.admission(Sight(namespaces), memory, replace(Filters(), **gates), lambda _: POLICY)
    finally:
        await reads.close()


async def test_all_of_it_is_told(shard: Shard, databases: tuple[str, str]) -> None:
    found = await read_admission(databases[0], A)
    assert found is not None
    assert (found.status, found.score, found.least, found.weight, found.version) == ("admitted", 1.0, 0.05, 1.0, 1)
    assert [(one.verifier, one.position, one.score, one.agrees) for one in found.trials] == [
        (who, 1, score, score == 1.0) for who, score in zip(drawn(shard, A, 1), (0.0, 1.0, 1.0), strict=True)
    ]
    assert [(judge.without, judge.reward, judge.tokens) for judge in found.trials[1].judges] == [(0.0, 1.0, 3.0)] * 3
    (vote,) = found.votes
    assert (vote.epoch, vote.outcome, vote.yes) == (2, "admitted", 4)
    (weight,) = found.weights
    assert (weight.version, weight.weight, weight.epoch, weight.helped, weight.harm) == (1, 1.0, 2, 3, 0)
    assert (weight.cause, weight.uses, [one.gain for one in weight.tasks]) == ("admitted", 3, [1.0] * 3)


async def test_of_what_nobody_tried_that_is_told(shard: Shard, databases: tuple[str, str]) -> None:
    whole = Admission(B, NAMESPACE, "provisional", 0.05, tier="short-term", judges=0, judges_needed=3)
    assert await read_admission(databases[0], B) == whole


@pytest.mark.parametrize(("enough", "status"), [(False, "provisional"), (True, "untried")])
async def test_it_is_told_how_many_tasks_may_judge_it(
    databases: tuple[str, str], codec: Codec, enough: bool, status: str
) -> None:
    made, texts = Shard(codec, GENESIS), dict[str, Clear]()

    def task(name: str, x: float, y: float, **said: Any) -> None:
        made.task(name, **said)
        texts[memory_id(name, said.get("namespace", NAMESPACE))] = tried.clear("It says so.", x, y, goal="What?")

    task("source", 1.0, 0.0)
    made.episode("b", derives_from=(memory_id("source"),))
    texts[B] = tried.clear("It is so.", 1.0, 0.0)
    task("near", 0.26, 0.97)
    task("far", 0.24, 0.97)
    task("failed", 1.0, 0.0, ended="failed")
    for name in ("second", "third")[: 1 + enough]:
        task(name, 0.9, 0.1)
    write(databases[0], made, texts)
    found = await read_admission(databases[0], B)
    assert found is not None and (found.status, found.judges, found.judges_needed) == (status, 2 + enough, 3)


@pytest.mark.parametrize("case", ["heard since it was rejected", "promoted", "in its slot", "its own session"])
async def test_as_many_tasks_may_judge_it_as_verifiers_count(
    databases: tuple[str, str], codec: Codec, case: str
) -> None:
    """Three come after it, or after it was rejected, whatever has come of the memory since."""
    made, texts = Shard(codec, GENESIS), dict[str, Clear]()
    session = session_event_id("host", NAMESPACE, None, "morning")

    def says(name: str, goal: str = "") -> None:
        texts[memory_id(name)] = tried.clear("It says so.", 1.0, 0.0, **({"goal": goal} if goal else {}))

    def tasks(*names: str) -> None:
        for name in names:
            made.task(name)
            says(name, "What?")

    def decide(memory: str, vote: votes.Vote) -> None:
        made.tick(made.rows.state.as_of + 1_000_000_000)
        made.decide([votes.proposal(memory, "promote")], vote)

    slot: dict[str, Any] = {"explicit": True, "slot": "s" * 32, "label": "l" * 32}
    made.episode("a", **(slot if case == "in its slot" else {}))
    if case != "its own session":
        tasks("early")
    own = {"promoted": {"contradicts": (A,)}, "in its slot": slot, "its own session": {"session": "morning"}}
    made.episode("b", **own.get(case, {}))
    says("a")
    says("b")
    decide(A if case != "in its slot" else B, votes.nobody)
    if case == "heard since it was rejected":
        agree(made, B, helped=0)
        assert made.rows.admissions[B].status == "rejected"
    tasks("first", "second", "third", *([session] if case == "its own session" else []))
    decide(B, votes.everybody if case == "promoted" else votes.nobody)
    if case == "heard since it was rejected":
        tell(made, signed(codec, GENESIS, statistics(GENESIS, B, 2), drawn(made, B, 2)[0]), 9)
    write(databases[0], made, texts)
    found = await read_admission(databases[0], B)
    assert found is not None and found.judges == 3


async def test_what_was_rejected_twice_has_one_s_in_the_list_and_alone(
    databases: tuple[str, str], codec: Codec
) -> None:
    """Both show S over all tasks that were asked."""
    made = Shard(codec, GENESIS)
    made.episode("b")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    denied = statistics(GENESIS, B, 1, 0)
    denied = replace(denied, judged=tuple(replace(one, reward_with=-1_000_000 * denied.runs) for one in denied.judged))
    for at, who in enumerate(drawn(made, B, 1)[:2]):
        tell(made, signed(codec, GENESIS, denied, who), at)
    made.tick(1_000_000_001)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    agree(made, B, position=2, helped=0, offset=9)
    write(databases[0], made)
    (listed,), _ = await list_experiences(databases[0])
    alone = await read_admission(databases[0], B)
    assert alone is not None and listed.status == alone.status == "rejected"
    assert listed.score == alone.score == -0.5, "denied by three, of no use to three"


async def test_what_is_out_of_sight_or_kept_back_is_not_there(shard: Shard, databases: tuple[str, str]) -> None:
    assert await read_admission(databases[0], A, ("mill",)) is None
    assert await read_admission(databases[0], A, sensitivity_max=100_000) is None
    assert await read_admission(databases[0], memory_id("nobody")) is None


async def list_experiences(
    dsn: str, namespaces: tuple[str, ...] | None = (NAMESPACE,), gates: Filters | None = None, **more: Any
) -> tuple[list[Experienced], dict[str, int]]:
    reads, page = Reads(dsn), pages.Experienced(namespace=NAMESPACE, limit=10, gates=gates or Filters(), **more)
    await reads.open()
    try:
        return await reads.experiences(Sight(namespaces), page), await reads.counted(Sight(namespaces), page)
    finally:
        await reads.close()


async def test_what_was_tried_is_listed_with_its_weight_and_counted_by_how_it_stands(
    shard: Shard, databases: tuple[str, str]
) -> None:
    (one,), counts = await list_experiences(databases[0])
    assert counts == {"admitted": 1}
    assert (one.memory_id, one.status, one.text) == (A, "admitted", clear(A).text)
    assert (one.score, one.weight, one.version, one.helped, one.harm, one.epoch) == (1.0, 1.0, 1, 3, 0, 2)
    assert await list_experiences(databases[0], statuses=("rejected",)) == ([], counts)
    assert (await list_experiences(databases[0], behind=(one.journal_seq, A)))[0] == []
    assert (await list_experiences(databases[0], behind=(one.journal_seq + 1, A)))[0] == [one]
    assert await list_experiences(databases[0], ("mill",)) == ([], {})
    assert await list_experiences(databases[0], gates=Filters(sensitivity_max=100_000)) == ([], {})


async def test_of_more_than_are_counted_those_that_changed_last_are(
    databases: tuple[str, str], codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Shard(codec, GENESIS)
    for name in "ab":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(B, "promote")], votes.nobody)
    agree(made, A)
    agree(made, B, helped=0, offset=9)
    write(databases[0], made)
    assert (await list_experiences(databases[0]))[1] == {"agreed": 1, "rejected": 1}
    monkeypatch.setattr(experience_reads, "COUNTED", 1)
    assert (await list_experiences(databases[0]))[1] == {"rejected": 1}


async def test_what_is_not_alive_rests_in_the_list_as_it_does_alone(shard: Shard, databases: tuple[str, str]) -> None:
    with psycopg.connect(databases[0]) as connection:
        connection.execute("UPDATE memory SET tier = 'superseded' WHERE id = %s::uuid", (A,))
    (one,), counts = await list_experiences(databases[0])
    alone = await read_admission(databases[0], A)
    assert alone is not None and (alone.status, alone.stood) == ("resting", "admitted")
    assert (one.status, counts) == ("resting", {"resting": 1})
    assert await list_experiences(databases[0], statuses=("admitted",)) == ([], counts)
    assert (await list_experiences(databases[0], statuses=("resting",)))[0] == [one]
