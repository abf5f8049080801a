"""The audit judges trials and admissions again: who holds the journal's key and lies about them is found."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.audit import admissions
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.experience import rounds, trial
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import AdmissionRow, Change, TaskRow, WeightRow
from memquorum.core.records import Signed, TrialMade, Tried
from tests.builders import genesis, trials, votes
from tests.builders.published import POLICY, Published, kinds, publish
from tests.builders.shard import Shard, memory_id
from tests.builders.trials import agree, drawn, proposal, signed, statistics, tell

GENESIS = genesis.make(policy=POLICY, **trials.entitled())
A, B, C = (memory_id(name) for name in "abc")
HEARD, AGREED, ADMITTED, LIED, TOLD, SETTLED = 5, 6, 7, 8, 9, 10  # counted from 0


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """A is admitted; of B one verifier lies and it is rejected all the same; C is erased of a task's."""
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(C, "promote")], lambda _, __: False)
    made.decide([proposal(A, agree(made, A))])
    for at, (who, helped) in enumerate(zip(drawn(made, B, 1), (3, 0, 0), strict=True), 2):
        tell(made, signed(codec, GENESIS, statistics(GENESIS, B, 1, helped), who), at)
    agree(made, C, helped=2, offset=9)
    made.decide([votes.proposal(C, "forget")])
    made.tick(1_000_001_000)
    made.destroy(C)
    return made


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


def test_what_is_true_is_found_to_be(public: Published) -> None:
    assert kinds(public.audit(store=True, accepted=True)) == []
    assert [public.entry(at).effect for at in (HEARD, AGREED, ADMITTED, LIED)] == ["tried", "tried", "decided", "tried"]
    assert public.detail(SETTLED).status == "rejected"
    assert [one["status"] for one in public.tables["admission"]] != []


def test_what_was_found_of_it_before_is_counted_in(shard: Shard, codec: Codec) -> None:
    """Three tasks that deny it and three that need it make no memory that helps."""
    denied = statistics(GENESIS, B, 2, 0)
    denied = replace(denied, judged=tuple(replace(one, reward_with=-1_000_000 * denied.runs) for one in denied.judged))
    for at, who in enumerate(drawn(shard, B, 2)[:2], 20):
        tell(shard, signed(codec, GENESIS, denied, who), at)
    agree(shard, B, position=3, helped=3, offset=22)
    public = publish(shard)
    last = len(shard.changes) - 1
    assert public.detail(last).status == "rejected" and public.detail(last).score_ppm == 1_000_000
    assert kinds(public.audit(store=True, accepted=True)) == []
    public.forge(last, replace(public.detail(last), status="agreed"))
    assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())


@pytest.mark.parametrize(("at", "changed"), [
    (HEARD, {"status": "agreed"}), (HEARD, {"score_ppm": 1}), (AGREED, {"status": "rejected"}),
    (AGREED, {"score_ppm": 999_999}), (AGREED, {"status": "heard", "score_ppm": None}), (LIED, {"status": "apart"}),
    (SETTLED, {"status": "agreed"}), (SETTLED, {"status": "apart", "score_ppm": None}),
])  # fmt: skip
def test_what_does_not_follow_is_found(public: Published, at: int, changed: dict[str, Any]) -> None:
    public.forge(at, replace(public.detail(at), **changed))
    found = public.audit().findings
    assert (found[0].kind, found[0].seq) == (Kind.EFFECT_IMPOSSIBLE, at + 1)


@pytest.mark.parametrize("case", ["another's", "not drawn", "other sums", "another candidate"])
def test_a_trial_that_nobody_may_tell_is_found(public: Published, shard: Shard, codec: Codec, case: str) -> None:
    detail: Tried = public.detail(HEARD)
    made = codec.decode_as(TrialMade, codec.decode_as(Signed, detail.made).body)
    outsider = next(one for one in trials.VERIFIERS if one not in drawn(shard, A, 1))
    told = trial.read(made.statistics)
    by = outsider if case == "not drawn" else made.verifier
    more = {"signer": f"service:{outsider}"} if case == "another's" else {}
    told = replace(told, runs=1) if case == "other sums" else told
    told = replace(told, candidate=B) if case == "another candidate" else told
    public.forge(HEARD, replace(detail, made=signed(codec, GENESIS, told, by, **more)))
    found = public.audit().findings
    assert (found[0].kind, found[0].seq) == (Kind.EFFECT_IMPOSSIBLE, HEARD + 1)


def test_the_same_trial_a_second_time_is_found(public: Published) -> None:
    public.forge(AGREED, public.detail(HEARD))
    found = public.audit().findings
    assert (found[0].kind, found[0].seq) == (Kind.EFFECT_IMPOSSIBLE, AGREED + 1)
    assert "something" in str(found[0])


def test_a_result_that_the_journal_does_not_bear_out_is_found(public: Published) -> None:
    """Without the trial that made them agree the vote was about nothing."""
    entries = [public.entry(at) for at in range(len(public.entries)) if at != AGREED]
    public.chain([replace(entry, seq=at) for at, entry in enumerate(entries, 1)])
    assert Kind.RESULTS_WRONG in kinds(public.audit())


@pytest.mark.parametrize(("table", "column", "value"), [
    ("trial", "score_ppm", 5), ("trial", "statistics", b"x"), ("admission", "status", "demoted"),
    ("admission", "weight_ppm", 5), ("admission", "since", 77), ("admission", "gains", 9), ("weight", "cause", "used"),
    ("weight", "losses", 9), ("weight", "weight_ppm", 5), ("weight", "evidence", "[]"),
])  # fmt: skip
def test_a_row_that_was_changed_is_found(public: Published, table: str, column: str, value: object) -> None:
    public.tables[table][0][column] = value
    assert kinds(public.audit(store=True)) == [Kind.ROW_ALTERED]
    public.tables[table].pop()
    assert Kind.ROW_MISSING in kinds(public.audit(store=True))


def test_a_first_weight_that_is_not_what_s_says_is_told(shard: Shard) -> None:
    change = next(one for one in shard.changes if one.of(WeightRow))
    detail = shard.rules.codec.decode(change.entry.detail)
    assert admissions.Admissions().absorb(shard.rules, change, detail) is None
    rows = tuple(replace(row, weight_ppm=5) if isinstance(row, WeightRow) else row for row in change.rows)
    wrong = admissions.Admissions().absorb(shard.rules, replace(change, rows=rows), detail)
    assert wrong == "5 for S = 1000000, not 1000000"
    by_s = replace(GENESIS.policy.experience, first_ppm=0, weight_most_ppm=900_000)
    judged = replace(shard.rules, genesis=replace(GENESIS, policy=replace(GENESIS.policy, experience=by_s)))
    assert admissions.Admissions().absorb(judged, change, detail) == "1000000 for S = 1000000, not 900000"


# Weights that moved --------------------------------------------------------------------------------------------------


@pytest.fixture
def used(codec: Codec) -> Shard:
    """A and B are admitted; two tasks were given both, and of one of them something is said twice."""
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A)), proposal(B, agree(made, B, offset=9))])
    made.task("t", (A, B, C))
    made.task("u", (A, B), ended="failed")
    for at, helped in enumerate([(A,), (), (B,)]):
        made.tick(1_000_000_001 + at)
        made.decide([votes.proposal(C, "promote")], votes.nobody)
        made.feedback(memory_id("u"), helped, (B,) if helped == (A,) else ())
    made.tick(1_000_000_009)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    return made


def test_what_moved_as_it_must_is_found_to_be_right(used: Shard) -> None:
    rows = [row for change in used.changes for row in change.of(WeightRow)]
    assert [(row.version, row.cause) for row in rows[2:4]] == [(2, "used")] * 2 and len(rows) == 7
    assert kinds(publish(used).audit(store=True, accepted=True)) == []


def followed(shard: Shard, *broken: Change) -> list[str]:
    """Returns an audit's findings about the weights, entry by entry.

    `broken`: changes that replace those of their sequences.
    """
    by, found, codec = {one.entry.seq: one for one in broken}, admissions.Admissions(), shard.rules.codec
    told = (
        found.absorb(shard.rules, by.get(one.entry.seq, one), codec.decode(one.entry.detail)) for one in shard.changes
    )
    return [one for one in told if one is not None]


@pytest.mark.parametrize("changed", [
    {"weight_ppm": 1_000_001}, {"version": 3}, {"gains": 9}, {"losses": 9}, {"memory_id": C}, {"cause": "admitted"},
])  # fmt: skip
def test_a_weight_that_does_not_follow_from_what_was_used_is_told(used: Shard, changed: dict[str, Any]) -> None:
    assert followed(used) == []
    change = next(one for one in used.changes if any(row.cause == "used" for row in one.of(WeightRow)))
    at = next(at for at, row in enumerate(change.rows) if isinstance(row, WeightRow))
    rows = [replace(row, **changed) if here == at else row for here, row in enumerate(change.rows)]
    assert followed(used, replace(change, rows=tuple(rows)))
    assert followed(used, replace(change, rows=tuple(row for row in change.rows if not isinstance(row, WeightRow))))


@pytest.mark.parametrize("changed", [
    {"weight_ppm": 500_001}, {"version": 2}, {"gains": 1}, {"evidence": '[["t", 1, 1]]'}, {"cause": "admitted"},
    {"memory_id": C},
])  # fmt: skip
def test_a_general_form_that_weighs_otherwise_than_its_share_is_told(used: Shard, changed: dict[str, Any]) -> None:
    used.general("form", A)
    used.tick(used.rows.state.as_of + 1)
    change = used.generalise(memory_id("form"), A)
    assert followed(used) == []
    rows = [
        replace(row, **changed) if isinstance(row, WeightRow) and row.cause == "general" else row for row in change.rows
    ]
    assert rows != list(change.rows) and followed(used, replace(change, rows=tuple(rows)))
    without = [row for row in change.rows if not (isinstance(row, WeightRow) and row.cause == "general")]
    assert followed(used, replace(change, rows=tuple(without))), "members took it in, and it weighs nothing"


def test_what_is_wrong_with_a_part_of_an_entry_stops_no_following_of_the_rest(codec: Codec) -> None:
    """One decision moves A, falsely, and admits B: how B moves later is judged by that."""
    made = Shard(codec, GENESIS)
    for name in "abc":
        made.episode(name)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))])
    trial_of_b = proposal(B, agree(made, B, offset=9))
    made.task("t", (A,))
    made.tick(1_000_000_001)
    change = made.decide([trial_of_b])
    assert {(row.memory_id, row.cause) for row in change.of(WeightRow)} == {(A, "used"), (B, "admitted")}
    made.task("u", (A, B))
    made.tick(1_000_000_002)
    assert len(made.decide([votes.proposal(C, "promote")], votes.nobody).of(WeightRow)) == 2
    assert followed(made) == []
    rows = tuple(
        replace(row, gains=9) if isinstance(row, WeightRow) and row.memory_id == A else row for row in change.rows
    )
    (told,) = followed(made, replace(change, rows=rows))
    assert f"of {A}, not" in told


@pytest.mark.parametrize("changed", [{"weight_ppm": 5}, {"status": "demoted"}, {"since": 0}, {"losses": 7}])
def test_a_memory_that_stands_otherwise_than_it_weighs_is_told(used: Shard, changed: dict[str, Any]) -> None:
    change = next(one for one in used.changes if any(row.cause == "used" for row in one.of(WeightRow)))
    rows = tuple(replace(row, **changed) if isinstance(row, AdmissionRow) else row for row in change.rows)
    assert "stands as" in followed(used, replace(change, rows=rows))[0]


def test_the_rule_the_audit_and_a_rebuild_weigh_alike_whatever_is_said(codec: Codec) -> None:
    """Tasks and what is said of them at random: the rule's rows pass the audit, which shares no code with it, and are
    made again in whatever batches."""
    for seed in range(12):
        dice, made = random.Random(seed), Shard(codec, GENESIS)
        for name in "abc":
            made.episode(name)
        made.tick(1_000_000_000)
        made.decide([votes.proposal(C, "promote")], votes.nobody)
        waiting = [proposal(one, agree(made, one, offset=9 * at)) for at, one in enumerate((A, B))]
        for at in range(40):
            some = dice.sample((A, B, C), dice.randint(1, 3))
            kind = dice.randrange(5)
            if kind < 2 or at == 0:
                made.task(f"t{at}", some, ended=dice.choice(["succeeded", "failed", "unknown"]))
            elif kind < 4:
                task = dice.choice([row for change in made.changes for row in change.of(TaskRow)])
                said = [one for one in some if one in task.retrieved]
                cut = dice.randint(0, len(said))
                made.feedback(task.memory_id, said[:cut], said[cut:])
            else:
                made.tick(1_000_000_001 + at)
                what = [waiting.pop()] if waiting and dice.random() < 0.6 else [votes.proposal(C, "promote")]
                passes = what[0].kind == "admit"
                back = dice.choice([0, 0, 3])
                made.decide(
                    what, votes.everybody if passes else votes.nobody,
                    accepted_offset=max(made.offset - back, 0),
                )  # fmt: skip
        assert followed(made) == [], seed
        weights = [row for change in made.changes for row in change.of(WeightRow)]
        for size in (1, 5, 1_000):
            replay = Replay(made.rules, 0)
            read = [replay.read(codec.encode(change.appended)) for change in made.changes]
            taken = (replay.take(read[at : at + size]).net for at in range(0, len(read), size))
            assert [row for net in taken for row in net.of(WeightRow)] == weights and replay.state == made.rows.state


def test_what_rests_shorter_or_longer_than_members_refused_it_is_told(
    codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("c")
    made.tick(1_000_000_000)
    made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A))], votes.nobody)
    for _ in range(2):
        made.tick(made.rows.state.as_of + 1)
        made.decide([votes.proposal(C, "promote")], votes.nobody)
    made.decide([proposal(A, agree(made, A, position=4, offset=9))], votes.nobody)
    public = publish(made)
    assert kinds(public.audit(store=True, accepted=True)) == []
    for rests in (lambda refusals: 0, lambda refusals: refusals, lambda refusals: 3):
        monkeypatch.setattr(rounds, "rests", rests)
        assert Kind.EFFECT_IMPOSSIBLE in kinds(public.audit())
