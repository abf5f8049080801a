"""The journal in words: every effect, one namespace alone, and no content."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.client import Invalid
from memquorum.client.tail import seconds_back
from memquorum.core.accounts.tail import Tail
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.commit import ordering
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.effects import EFFECTS
from memquorum.core.journal.rows import Change, GoalDue
from memquorum.core.orders.patch import SIGNER
from memquorum.core.records import APPLIED, Accessed, JournalEntry, MemoryUsed, Restored
from memquorum.core.vote.kinds import FORGET, PROMOTE
from tests.builders import (
    comparisons,
    disclosures,
    erasures,
    profiles,
    protections,
    reclassified,
    rollups,
    trials,
    votes,
)
from tests.builders import genesis as cluster
from tests.builders.rehearsals import rehearse
from tests.builders.shard import Shard, memory_id, reencode

GENESIS = cluster.make(**trials.entitled("rehearsal"), agent_keys={CONSOLIDATOR: cluster.public_key(SIGNER)})
A, B = memory_id("a"), memory_id("b")
ELSEWHERE = "attic-1"  # of the same shard


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A life: stored, repeated, reinforced, read, voted on, destroyed; and one of another namespace."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("a")
    made.episode("b")
    made.episode("c", outcome="reinforced", reinforces=B)
    made.episode("d", outcome="below_threshold")
    made.access(B, 2_000)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(A, FORGET.name), votes.proposal(B, PROMOTE.name)], lambda _, p: p.memory_ids == (A,))
    made.destroy(A)
    made.access(A, 2_000)
    reencode(made, B, 0)
    said = erasures.ordered(GENESIS, "memory", B)
    order = erasures.accepted(said, erasures.signed(codec, GENESIS, said), 2_000)
    made.erase(order, erasures.among(erasures.NAMESPACE, {"b": "short-term", "c": "reinforced"}))
    made.erase(order, [], repeated=True)
    asked = votes.restore(GENESIS, A)
    made.ask(asked, 3_000)
    asked = replace(asked, ordered_at=7)
    made.work._memories[A] = replace(made.rows.memories[A], tier="sealed", sealed_until=2_000_000_000)
    made.ask(asked, 3_000)
    made.restore(asked, Restored(A, 600_000, 0, 0, 0, 0))
    for number, action in enumerate(("hold", "hold"), 1):
        made.protect(protections.accepted(codec, action, A, number, cluster=GENESIS.cluster))
    all_of_a = erasures.ordered(GENESIS, "memory", A, order_id=memory_id("orders"))
    made.withhold(erasures.accepted(all_of_a, erasures.signed(codec, GENESIS, all_of_a), 2_000), A)
    made.protect(protections.accepted(codec, "need", A, 3, cluster=GENESIS.cluster, reference="sow"))
    made.tick(8_000_000_000)
    goal = GoalDue(erasures.NAMESPACE, "goal:sow", 5_000, (A,))
    made._absorb(ordering.apply_lapsed(made.rules, made.rows, goal))
    rests = {"tier": "sealed", "sealed_until": 9_000_000_000, "asks_after": 8_000_000_000}
    made.work._memories[A] = replace(made.rows.memories[A], **rests)
    made.work._strengths.pop(A)
    made.access(A, 8_000_000_001)
    made.episode("e")
    made.summary("sum", [memory_id("e")])
    made.episode("e2", explicit=True, supersedes=(memory_id("e"),))
    rehearse(made, memory_id("e"), "contested", witness=memory_id("e2"))
    made.protect(rollups.accepted(codec, GENESIS, rollups.wanted(GENESIS, rollups.patch(memory_id("e")))))
    made.protect(disclosures.accepted(codec, GENESIS, memory_id("e")))
    answer = comparisons.wanted(GENESIS, memory_id("e2"), (memory_id("e"), (1,)))
    made.protect(comparisons.accepted(codec, GENESIS, answer))
    slot = {"explicit": True, "slot": "5f" * 16}
    made.episode("f", 8_000_000_000, **slot)
    for number in (1, 2):
        made.episode(f"clear {number}", 8_000_000_001, clears=True, **slot)
    made.episode("f2", 8_000_000_002, agent="reviewer", **slot)
    made.episode("clear 3", 8_000_000_003, clears=True, **slot)
    made.task("t", [memory_id("e")])
    made.task("t", [memory_id("e")], "failed")
    made.task("u", ended="unknown")
    made.feedback(memory_id("t"), [memory_id("e")])
    made.feedback(memory_id("t"), others=[B])
    trials.agree(made, memory_id("e"))
    made.protect(profiles.accepted(codec, GENESIS))
    for number in (1, 2):
        order = reclassified.wanted(memory_id("e" if number == 1 else "never"), number, sensitivity_ppm=800_000)
        reclassified.apply(made, reclassified.accepted(codec, GENESIS, order))
    return made


def tail_lines(codec: Codec, changes: list[Change], namespace: str | None = None, *, ticks: bool = False) -> list[str]:
    tail = Tail(codec, namespace, ticks=ticks)
    return [line for c in changes for line in tail.lines(tail.entry(codec.encode(c.appended)))]


def test_every_effect_is_told(codec: Codec, shard: Shard) -> None:
    lines = tail_lines(codec, shard.changes, ticks=True)
    first, second, _ = trials.drawn(shard, memory_id("e"), 1)
    took, asked = {B: "short-term", memory_id("c"): "reinforced"}, votes.restore(GENESIS, A).order_id
    assert lines == [
        f"1970-01-01 00:00:00  0/1     stored      {A}  by planner in greenhouse: 23 characters, salience 0.6",
        "1970-01-01 00:00:00  0/2     repeated    event a in greenhouse: it came before and changes nothing",
        f"1970-01-01 00:00:00  0/3     stored      {B}  by planner in greenhouse: 23 characters, salience 0.6",
        f"1970-01-01 00:00:00  0/4     reinforced  {B}  by planner in greenhouse: 23 characters, salience 0.6",
        f"1970-01-01 00:00:00  0/5     dropped     {memory_id('d')}  by planner in greenhouse: 23 characters, "
        "salience 0.6, below threshold",
        f"1970-01-01 00:00:00  0/6     accessed    {B}  by reviewer in greenhouse",
        "1970-01-12 13:46:40  0/7     ticked",
        "1970-01-12 13:46:40  0/8     decided     epoch 1 by 4 members: 1 forgotten, 1 kept",
        f"                               forgotten {A} in greenhouse, proposed as test: enough members were for it",
        "1970-01-12 13:46:40  0/9     destroyed   the keys of 1 memory: nobody can read them any more",
        f"                               destroyed {A}",
        f"1970-01-12 13:46:40  0/10    accessed    {A}  by reviewer in greenhouse: it was gone already",
        f"1970-01-12 13:46:40  0/11    reencoded   {B}  in greenhouse: by bert/1 instead of hashing",
        f"1970-01-12 13:46:40  0/12    erased      the keys of 2 episodes in greenhouse, by order {erasures.ORDER}",
        *(f"                               erased    {one}, {was}" for one, was in sorted(took.items())),
        f"1970-01-12 13:46:40  0/13    repeated    order {erasures.ORDER} in greenhouse: it was answered before and "
        "changes nothing",
        f"1970-01-12 13:46:40  0/14    declined    request {asked} in greenhouse: there is nothing to vote on",
        f"1970-01-12 13:46:40  0/15    requested   request {asked} in greenhouse: to be voted on",
        "1970-01-12 13:46:40  0/16    decided     epoch 2 by 4 members: 1 restored",
        f"{'':<31}restored  {A} in greenhouse, proposed as requested: enough members were for it",
        f"1970-01-12 13:46:40  0/17    protected   {A}  in greenhouse: hold by counsel",
        f"1970-01-12 13:46:40  0/18    protected   {A}  in greenhouse: hold by counsel, which changes nothing",
        f"1970-01-12 13:46:40  0/19    withheld    order {memory_id('orders')} in greenhouse: nothing is erased, 1 of "
        "what it names is held; after the release it has to be ordered again",
        f"1970-01-12 13:46:40  0/20    protected   {A}  in greenhouse: need by counsel",
        "1970-04-03 14:13:20  0/21    ticked",
        "1970-04-03 14:13:20  0/22    lapsed      goal:sow in greenhouse: nobody ended it, and it needs 1 memory "
        "no more",
        f"1970-04-03 14:13:20  0/23    asked       {A}  by reviewer in greenhouse: it was forgotten already, and the "
        "members vote on it again",
        f"1970-04-03 14:13:20  0/24    stored      {memory_id('e')}  by planner in greenhouse: 23 characters, "
        "salience 0.6",
        f"1970-04-03 14:13:20  0/25    drafted     {memory_id('sum')}  by consolidator in greenhouse: 23 characters, "
        "salience 0.6, a summary of 1 memory that waits for its vote",
        f"1970-04-03 14:13:20  0/26    stored      {memory_id('e2')}  by planner in greenhouse: 23 characters, "
        "salience 0.6",
        f"1970-04-03 14:13:20  0/27    rehearsed   {memory_id('e')}  in greenhouse: salience 0.6 becomes 0.51",
        "1970-04-03 14:13:20  0/28    patched     roll-ups in greenhouse: 1 sentence",
        "1970-04-03 14:13:20  0/29    disclosed   texts in greenhouse: 1 memory may be sent to llm.example.org",
        "1970-04-03 14:13:20  0/30    compared    statements in greenhouse: 1 pair of memories",
        f"1970-04-03 14:13:20  0/31    stored      {memory_id('f')}  by planner in greenhouse: 23 characters, "
        "salience 0.6",
        f"1970-04-03 14:13:20  0/32    cleared     {memory_id('clear 1')}  by planner in greenhouse: a write of "
        f"nothing, and takes away {memory_id('f')}",
        f"1970-04-03 14:13:20  0/33    cleared     {memory_id('clear 2')}  by planner in greenhouse: a write of "
        "nothing where nothing was",
        f"1970-04-03 14:13:20  0/34    stored      {memory_id('f2')}  by reviewer in greenhouse: 23 characters, "
        "salience 0.6",
        f"1970-04-03 14:13:20  0/35    cleared     {memory_id('clear 3')}  by planner in greenhouse: a write of "
        "nothing, which leaves something until members vote on it",
        f"1970-04-03 14:13:20  0/36    finished    {memory_id('t')}  by planner in greenhouse: a task that succeeded, "
        "says planner, given 1 memory",
        f"1970-04-03 14:13:20  0/37    contradicted {memory_id('t')}  by planner in greenhouse: a task that failed, "
        "says planner, given 1 memory, otherwise than was said first, which stands",
        f"1970-04-03 14:13:20  0/38    finished    {memory_id('u')}  by planner in greenhouse: a task that ended, "
        "given 0 memories",
        f"1970-04-03 14:13:20  0/39    assessed    {memory_id('t')}  by reviewer in greenhouse: 1 helped, 0 did not",
        f"1970-04-03 14:13:20  0/40    unfounded   {memory_id('t')}  by reviewer in greenhouse: 0 helped, 1 did not; "
        f"not counted: never retrieved in the task: {B}",
        f"1970-04-03 14:13:20  0/41    tried       {memory_id('e')}  in greenhouse: by {first}: too few have told the "
        "same yet",
        f"1970-04-03 14:13:20  0/42    tried       {memory_id('e')}  in greenhouse: by {second}: verifiers agree that "
        "it helps, and members are to vote on it, S = 1",
        "1970-04-03 14:13:20  0/43    profiled    a subject's profile in greenhouse",
        f"1970-04-03 14:13:20  0/44    reclassified {memory_id('e')}  in greenhouse: other limits of use hold for "
        "3 memories",
        f"1970-04-03 14:13:20  0/45    reclassified {memory_id('never')}  in greenhouse: it changes nothing",
    ]
    assert {change.entry.effect for change in shard.changes} == set(EFFECTS)


def test_ticks_are_told_only_where_they_are_asked_for(codec: Codec, shard: Shard) -> None:
    assert len(tail_lines(codec, shard.changes)) == len(tail_lines(codec, shard.changes, ticks=True)) - 2


def test_one_namespace_alone_with_its_votes_and_its_ends(codec: Codec, shard: Shard) -> None:
    other = Shard(codec, GENESIS)
    other.episode("a", namespace=ELSEWHERE)
    elsewhere = votes.proposal(memory_id("a", ELSEWHERE), FORGET.name, namespace=ELSEWHERE)
    other.tick(1_000_000_000)
    other.decide([elsewhere])
    other.destroy(*elsewhere.memory_ids)
    mixed = shard.changes + other.changes
    assert tail_lines(codec, mixed, "greenhouse") == tail_lines(codec, shard.changes)
    assert len(tail_lines(codec, mixed, ELSEWHERE)) == 5
    assert tail_lines(codec, mixed, "nowhere", ticks=True) == []


def test_what_is_no_entry_is_said_so(codec: Codec) -> None:
    with pytest.raises(DecodeError):
        Tail(codec).entry(b"nonsense")


@pytest.mark.parametrize(
    ("since", "seconds"),
    [("now", 0.0), ("start", None), ("90s", 90.0), ("10m", 600.0), ("1.5h", 5400.0), ("1d", 86400.0)],
)
def test_where_to_begin(since: str, seconds: float | None) -> None:
    assert seconds_back(since) == seconds


@pytest.mark.parametrize("since", ["", "yesterday", "-1h", "1w", "h", "1e3s"])
def test_what_is_no_time_is_refused(since: str) -> None:
    with pytest.raises(Invalid, match="start, now"):
        seconds_back(since)


def test_no_name_forges_a_line(codec: Codec) -> None:
    name = "x\x1b[2J\n1970-01-01 00:00:00  0/2     decided     epoch 9 by 4 members: 9 forgotten"
    detail = codec.encode(Accessed(agent=name, accessed_at=1, used=(MemoryUsed(A, APPLIED),)))
    entry = JournalEntry(
        shard=0, seq=1, as_of=0, effect="accessed", event_id="e", source_topic="t", source_partition=0,
        source_offset=0, detail=detail, namespace="n", memory_id="m",
    )  # fmt: skip
    (line,) = Tail(codec).lines(entry)
    assert r"by x\u001b[2J\u000a1970" in line
    assert "\n" not in line
