r"""Impossible effects and decisions that were not taken are found, even where the journal's key is lost.

All tampering here is by a holder of the key of service:journal: chain and heads are recomputed and are in order. An
audit still finds what the members did not sign, and contradictions to the journal's own history.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from memquorum import topics
from memquorum.core.audit.findings import Kind, ShardReport
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.ids import shard_of
from memquorum.core.journal.rows import Event
from memquorum.core.policy import BudgetPolicy
from memquorum.core.records import (
    APPLIED,
    ASKS,
    MISSED,
    BallotCast,
    Commit,
    Decided,
    Destroyed,
    Lot,
    NominationProposed,
    PrePrepare,
    Result,
    Signed,
    Ticked,
    Weighed,
)
from memquorum.core.vote.columns import places_of, read
from memquorum.core.vote.kinds.kind import Opinion
from tests.builders import genesis, votes
from tests.builders.policies import by_the_paper
from tests.builders.published import (
    ACCESSED,
    DECIDED,
    DESTROYED,
    DROPPED,
    GENESIS,
    LAST,
    LATE,
    REPEATED,
    STORED,
    A,
    B,
    C,
    D,
    Published,
    kinds,
    lively,
    publish,
    resign,
)
from tests.builders.shard import Shard, memory_id

IMPOSSIBLE, UNDECIDED = Kind.EFFECT_IMPOSSIBLE, Kind.EFFECT_UNDECIDED
BESIDE = next(f"n{i}" for i in range(99) if shard_of(f"n{i}", GENESIS.shards) == 0)
ELSEWHERE = next(f"n{i}" for i in range(99) if shard_of(f"n{i}", GENESIS.shards) != 0)


@pytest.fixture(scope="module")
def shard(codec: Codec) -> Shard:
    return lively(Shard(codec, GENESIS))


@pytest.fixture
def public(shard: Shard) -> Published:
    return publish(shard)


def detail(public: Published, at: int, **changes: Any) -> None:
    public.forge(at, replace(public.detail(at), **changes))


def outcome(public: Published, at: int, of: str) -> None:
    told = public.detail(at)
    detail(public, at, used=(replace(told.used[0], outcome=of), *told.used[1:]))


# Effects --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tamper", "expected"),
    [
        pytest.param(lambda p: p.rewrite(STORED, effect="promoted"), IMPOSSIBLE, id="an effect that does not exist"),
        pytest.param(lambda p: p.rewrite(STORED, effect="ticked"), IMPOSSIBLE, id="another effect than its detail's"),
        pytest.param(lambda p: p.rewrite(STORED, effect="dropped"), IMPOSSIBLE, id="a memory suppressed"),
        pytest.param(lambda p: p.rewrite(LATE, memory_id=memory_id("x")), IMPOSSIBLE, id="another memory's id"),
        pytest.param(lambda p: p.rewrite(LATE, memory_id=None), IMPOSSIBLE, id="no memory"),
        pytest.param(lambda p: p.rewrite(LATE, namespace=None), IMPOSSIBLE, id="no namespace"),
        pytest.param(
            lambda p: p.rewrite(LATE, namespace=ELSEWHERE, memory_id=memory_id("late", ELSEWHERE)),
            IMPOSSIBLE,
            id="a namespace of another shard",
        ),
        pytest.param(lambda p: p.rewrite(LATE, effect="reinforced", memory_id=A), IMPOSSIBLE, id="the gone reinforced"),
        pytest.param(lambda p: p.rewrite(DROPPED, effect="stored"), IMPOSSIBLE, id="what was too faint stored"),
        pytest.param(lambda p: p.rewrite(REPEATED, effect="stored"), IMPOSSIBLE, id="stored twice"),
        pytest.param(lambda p: p.rewrite(LATE, effect="repeated"), IMPOSSIBLE, id="repeated though new"),
        pytest.param(lambda p: detail(p, LATE, retry=True), IMPOSSIBLE, id="another try of what did not fail"),
        pytest.param(lambda p: outcome(p, ACCESSED, MISSED), IMPOSSIBLE, id="an access suppressed"),
        pytest.param(lambda p: outcome(p, ACCESSED, ASKS), IMPOSSIBLE, id="an access to what is alive asks"),
        pytest.param(lambda p: outcome(p, ACCESSED + 1, APPLIED), IMPOSSIBLE, id="an access to nothing applied"),
        pytest.param(
            lambda p: p.rewrite(ACCESSED + 1, memory_id=A), IMPOSSIBLE, id="an access with a memory of its own"
        ),
        pytest.param(lambda p: p.rewrite(ACCESSED, effect="repeated"), IMPOSSIBLE, id="an access called repeated"),
        pytest.param(lambda p: p.rewrite(0, memory_id=A), IMPOSSIBLE, id="a tick of a memory"),
        pytest.param(lambda p: p.rewrite(LAST - 2, detail=b"junk"), Kind.UNREADABLE, id="a detail that is none"),
        pytest.param(lambda p: p.rewrite(LAST, as_of=200_501), Kind.TIME_BACKWARDS, id="time without a tick"),
        pytest.param(lambda p: p.rewrite(LAST, as_of=1), Kind.TIME_BACKWARDS, id="time running back"),
        pytest.param(lambda p: p.rewrite(LATE, source_offset=2), Kind.SOURCE_DISORDERED, id="out of order"),
        pytest.param(lambda p: p.rewrite(LAST - 3, source_offset=2), Kind.SOURCE_DISORDERED, id="a tick out of order"),
        pytest.param(lambda p: p.rewrite(LATE, source_partition=1), Kind.SOURCE_DISORDERED, id="another partition"),
        pytest.param(
            lambda p: p.rewrite(LATE, source_topic=topics.EPISODES), Kind.SOURCE_DISORDERED, id="past the wall"
        ),
        pytest.param(
            lambda p: p.rewrite(LAST, source_topic=topics.ACCEPTED), Kind.SOURCE_DISORDERED, id="no certificate's topic"
        ),
        pytest.param(lambda p: detail(p, LATE, accepted_offset=1), Kind.SOURCE_DISORDERED, id="another's content"),
    ],
)
def test_an_effect_that_cannot_be_is_named(
    public: Published, tamper: Callable[[Published], None], expected: Kind
) -> None:
    tamper(public)
    assert kinds(public.audit())[0] == expected


def test_a_tick_that_runs_backwards_moves_nothing_and_is_no_fault(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.tick(5_000)
    shard.tick(4_000)
    public = publish(shard)
    assert kinds(public.audit()) == []
    public.rewrite(1, as_of=4_000)
    assert kinds(public.audit()) == [Kind.TIME_BACKWARDS]


def test_namespaces_of_one_shard_are_kept_apart(codec: Codec) -> None:
    """Neither said again nor read across namespaces; and what is not alive is not read at all."""
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("b", namespace=BESIDE, outcome="reinforced", reinforces=A)
    shard.access(A, 2_000, namespace=BESIDE)
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    shard.access(A, 11_000)
    public = publish(shard)
    assert kinds(public.audit()) == []
    for at in (2, 5):
        tampered = publish(shard)
        outcome(tampered, at, APPLIED)
        assert kinds(tampered.audit())[0] == IMPOSSIBLE
    public.rewrite(1, effect="reinforced", memory_id=A)
    assert kinds(public.audit())[0] == IMPOSSIBLE


def test_a_tick_that_says_where_the_shard_never_stood_is_named(public: Published) -> None:
    tick = public.rules.codec.decode_as(Ticked, public.entry(DESTROYED - 1).detail)
    detail(public, DESTROYED - 1, standing=replace(tick.standing, interactions=tick.standing.interactions + 1))
    assert kinds(public.audit())[0] == IMPOSSIBLE


def tick_on(public: Published, at: int, as_of: int) -> None:
    """Another time at a tick, and at all that follows it."""
    entries = [public.entry(i) for i in range(len(public.entries))]
    codec = public.rules.codec
    tick = replace(codec.decode_as(Ticked, entries[at].detail), as_of=as_of)
    entries[at] = replace(entries[at], detail=codec.encode(tick))
    public.chain([replace(e, as_of=as_of) if i >= at else e for i, e in enumerate(entries)])


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(lambda p: detail(p, DESTROYED, memory_ids=(A, B)), id="one that was promoted"),
        pytest.param(lambda p: detail(p, DESTROYED, memory_ids=(D,)), id="one that is alive"),
        pytest.param(lambda p: detail(p, DESTROYED, memory_ids=(memory_id("nobody"),)), id="one that nobody knows"),
        pytest.param(lambda p: tick_on(p, DESTROYED - 1, 200_499), id="before its grace time ended"),
        pytest.param(lambda p: p.remove(DECIDED), id="with the decision taken out"),
    ],
)
def test_a_key_destroyed_without_decision_is_named(public: Published, tamper: Callable[[Published], None]) -> None:
    tamper(public)
    # A decision taken out leaves ticks that stand elsewhere than they say, too.
    assert UNDECIDED in kinds(public.audit())


def test_a_dropped_episodes_key_is_destroyed_once_and_not_before_its_grace_time_ended(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.tick(2_000)
    shard.episode("faint", at=1_500, outcome="below_threshold")
    shard.tick(2_499)
    early = publish(shard)
    shard.tick(2_500)
    shard.destroy(memory_id("faint"))
    assert publish(shard).audit(store=True).ok
    shard.destroy(memory_id("faint"))
    assert kinds(publish(shard).audit()) == [UNDECIDED]
    hasty = Shard(codec, GENESIS)
    for change in shard.changes[: len(early.entries)]:
        hasty.work.absorb(change)
        hasty.changes.append(change)
    hasty.destroy(memory_id("faint"))
    found = publish(hasty).audit().findings
    assert [f.kind for f in found] == [UNDECIDED]
    assert "kept until 2500" in found[0].expected


def test_an_echo_of_the_living_is_not_destroyed(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.episode("echo", outcome="reinforced", reinforces=A)
    shard.destroy(memory_id("echo"))
    assert kinds(publish(shard).audit()) == [UNDECIDED]


def test_the_many_echoes_of_a_memory_go_in_several_entries_and_again_after_a_crash(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    for n in range(3):
        shard.episode(f"echo {n}", outcome="reinforced", reinforces=A)
    shard.tick(100_000)
    shard.decide([votes.proposal(A, "forget")])
    shard.tick(10_000_000)
    shard.destroy(memory_id("echo 0"), memory_id("echo 1"))
    shard.destroy(memory_id("echo 0"), memory_id("echo 1"))
    shard.destroy(memory_id("echo 2"), A)
    assert publish(shard).audit(store=True).ok
    shard.destroy(memory_id("echo 2"))
    assert kinds(publish(shard).audit()) == [UNDECIDED]


def test_a_key_is_destroyed_once(public: Published, codec: Codec) -> None:
    shard = lively(Shard(codec, GENESIS))
    shard.destroy(A)
    assert kinds(publish(shard).audit()) == [UNDECIDED]


# Decisions ------------------------------------------------------------------------------------------------------------


def test_a_decision_taken_out_shows_in_the_next(public: Published) -> None:
    public.remove(DECIDED)
    assert Kind.DECISION_DISORDERED in kinds(public.audit())


def test_a_decision_put_in_again_is_out_of_turn(public: Published) -> None:
    entries = [public.entry(i) for i in range(len(public.entries))]
    public.chain([*entries, replace(entries[DECIDED], seq=18, as_of=200_500)])
    assert kinds(public.audit()) == [Kind.DECISION_DISORDERED]


@pytest.mark.parametrize(
    ("as_of", "offset"),
    [
        pytest.param(10_000, 0, id="another tick's"),
        pytest.param(20_000, 2, id="the future"),
        pytest.param(10_000, 1, id="no tick"),
        pytest.param(10_000, 99, id="an offset that is not there"),
    ],
)
def test_a_vote_about_another_time_is_named(codec: Codec, as_of: int, offset: int) -> None:
    """The age of a memory must be the age that it had: a nomination cannot make memories older than they are."""
    shard = Shard(codec, GENESIS)
    shard.tick(5_000)
    shard.episode("a")
    shard.tick(10_000)
    shard.tick(12_000)
    shard.work._state = replace(shard.rows.state, as_of=as_of)  # what `decide` takes for the vote's time
    shard.decide([votes.proposal(A, "forget")], accepted_offset=offset)
    public = publish(shard)
    public.rewrite(4, as_of=12_000)
    assert kinds(public.audit())[0] == Kind.NOMINATION_UNTIMELY


def test_a_score_that_does_not_follow_from_what_is_said_is_named(codec: Codec) -> None:
    """No vote depends on it, so nobody but an audit finds it."""
    made = genesis.make(policy=by_the_paper(budget=BudgetPolicy(tokens="greenhouse=64/fifo")))
    psi, net = (500_000, 0, 0, 0, 0, 0, 0), 142_857 // 2
    weighed = Weighed("fifo", 0, 64, 90, 30, "episodic", 0, psi, net, net * 1_000_000 // 30, "oldest")

    def audited(told: Weighed | None) -> list[Kind]:
        shard = Shard(codec, made)
        shard.episode("a")
        shard.tick(12_000)
        shard.decide([replace(votes.proposal(A, "forget"), reason="budget", weighed=told)])
        return kinds(publish(shard).audit())

    assert Kind.SCORE_WRONG not in audited(weighed)
    for told in (None, replace(weighed, net_ppm=net + 1), replace(weighed, policy="lru"), replace(weighed, held=64)):
        assert Kind.SCORE_WRONG in audited(told)


def test_a_draw_that_a_subject_cannot_pay_for_is_named_and_what_is_withheld_is_counted(codec: Codec) -> None:
    drawing = BudgetPolicy(tokens="greenhouse=64/worth", epsilon_ppm=1_000_000, subject_epsilon_ppm=2_000_000)
    made = genesis.make(policy=by_the_paper(budget=drawing))

    def audited(*lots: Lot) -> ShardReport:
        shard = Shard(codec, made)
        for name in "abc":
            shard.episode(name, subject="ada" if name != "b" else "bob")
        shard.tick(12_000)
        for lot in lots:
            told = Weighed("worth", 0, 64, 90, 30, "episodic", None, (), None, None, "by lot", lot)
            shard.decide([replace(votes.proposal(A, "evict"), reason="budget", weighed=told)], votes.nobody)
        return publish(shard).audit()

    sound = audited(Lot(3, (A, B), 0), Lot(2, (C, B), 0), Lot(1, (), 2))
    assert sound.findings == () and sound.counts.scores_withheld == 3
    (found,) = audited(Lot(3, (A, B), 0), Lot(2, (C, B), 0), Lot(2, (A,), 1)).findings
    assert found.kind == Kind.SCORE_WRONG
    assert f"cost the subject of {A} 3000000, where 2000000 is all" in found.found
    assert "ada" not in str(found)
    assert [one.kind for one in audited(Lot(2, (D,), 0)).findings] == [Kind.SCORE_WRONG]


def results(public: Published, **by_memory: str) -> None:
    decided = public.detail(DECIDED)
    names = {"A": A, "B": B, "C": C, "D": D}
    wanted = {names[name]: outcome for name, outcome in by_memory.items()}
    changed = tuple(replace(r, outcome=wanted.get(r.memory_ids[0], r.outcome)) for r in decided.results)
    public.forge(DECIDED, replace(decided, results=changed))


@pytest.mark.parametrize(
    "tamper",
    [
        pytest.param(lambda p: results(p, A="kept"), id="the forgotten kept"),
        pytest.param(lambda p: results(p, A="voided"), id="the forgotten voided"),
        pytest.param(lambda p: results(p, C="forgotten"), id="the kept forgotten"),
        pytest.param(lambda p: results(p, D="forgotten"), id="what was touched since forgotten"),
        pytest.param(lambda p: results(p, B="kept"), id="the promoted kept"),
        pytest.param(lambda p: detail(p, DECIDED, results=p.detail(DECIDED).results[:3]), id="a result left out"),
        pytest.param(
            lambda p: detail(
                p, DECIDED, results=(*p.detail(DECIDED).results, Result((C,), "forget", "forgotten", "quorum"))
            ),
            id="a result added",
        ),
        pytest.param(
            lambda p: detail(p, DECIDED, results=p.detail(DECIDED).results[::-1]), id="results in another order"
        ),
    ],
)
def test_results_that_do_not_follow_are_named(public: Published, tamper: Callable[[Published], None]) -> None:
    tamper(public)
    assert kinds(public.audit())[0] == Kind.RESULTS_WRONG


# Certificates ---------------------------------------------------------------------------------------------------------


class Forger:
    """Takes the first decision's certificate apart and puts it together with something in it changed."""

    def __init__(self, public: Published) -> None:
        self.public = public
        self.codec = public.rules.codec
        self.decided: Decided = public.detail(DECIDED)
        self.body = self.open(self.decided.pre_prepare, PrePrepare)

    def open(self, data: bytes, kind: type) -> Any:
        return self.codec.decode_as(kind, self.codec.decode_as(Signed, data).body)

    def sign(self, signer: str, record: Any, key: str | None = None) -> bytes:
        return resign(self.public.rules, signer, key or signer, self.codec.encode(record))

    def commits(self, commits: list[bytes]) -> None:
        self.public.forge(DECIDED, replace(self.decided, commits=tuple(commits)))

    def commit(self, member: int, key: str | None = None, **changes: Any) -> bytes:
        commit = replace(self.open(self.decided.commits[0], Commit), member=member, **changes)
        return self.sign(f"member:{member}", commit, key)

    def pre_prepare(self, key: str | None = None, agreed: bool = True, **changes: Any) -> None:
        """Another pre-prepare, and commits of all members on it: what a primary with every member's consent could do.

        Not `agreed`: the commits stay those on the true one.
        """
        body = replace(self.body, **changes)
        commits = self.decided.commits
        if agreed:
            commit = self.open(commits[0], Commit)
            digest = proposal_digest(body)
            commits = tuple(
                self.sign(f"member:{m}", replace(commit, member=m, digest=digest, view=body.view, seq=body.seq))
                for m in range(4)
            )
        signed = self.sign(f"member:{body.member}", body, key)
        told = replace(
            self.decided, pre_prepare=signed, commits=commits, epoch=body.epoch, view=body.view, seq=body.seq
        )
        self.public.rewrite(DECIDED, detail=self.codec.encode(told), event_id=proposal_digest(body).hex())

    def ballot(self, at: int, key: str | None = None, **changes: Any) -> bytes:
        ballot = replace(self.open(self.body.ballots[at], BallotCast), **changes)
        return self.sign(f"member:{ballot.member}", ballot, key)

    def ballots(self, *ballots: bytes) -> None:
        self.pre_prepare(ballots=ballots)

    def voting(self, at: int, opinion: Opinion) -> bytes:
        """A member's ballot with another opinion on C, which was kept, under the signature that it had."""
        signed = self.codec.decode_as(Signed, self.body.ballots[at])
        ballot = self.open(self.body.ballots[at], BallotCast)
        proposed = NOMINATION(self)
        said = read(ballot, proposed, places_of(proposed), self.public.rules.genesis.policy).opinions
        terms = votes.terms(proposed.proposals, (*said[:2], opinion, said[3]))
        return self.codec.encode(replace(signed, body=self.codec.encode(replace(ballot, terms=terms))))


YES = Opinion(True, 0, (0, 0, 0, 0))
FORGERIES: dict[str, Callable[[Forger], None]] = {
    "no commits": lambda f: f.commits([]),
    "too few commits": lambda f: f.commits([f.commit(0), f.commit(1)]),
    "one member's commit twice": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(1)]),
    "one member's commit twice, beyond the quorum": lambda f: f.commits([*f.decided.commits[:3], f.commit(2)]),
    "a commit by another's key": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, key="member:3")]),
    "a stranger's commit": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(9)]),
    "a commit on something else": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, digest=bytes(32))]),
    "a commit of another view": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, view=1)]),
    "a commit of another slot": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, seq=2)]),
    "a commit of another shard": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, shard=1)]),
    "a commit of another cluster": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, cluster=bytes(32))]),
    "a commit of another configuration": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2, config=1)]),
    "a commit that is junk": lambda f: f.commits([f.commit(0), f.commit(1), f.commit(2), b"junk"]),
    "one bad commit beyond the quorum": lambda f: f.commits([*f.decided.commits[:3], f.commit(3, key="member:0")]),
    "a pre-prepare by another's key": lambda f: f.pre_prepare(key="member:1"),
    "a pre-prepare of no primary": lambda f: f.pre_prepare(member=1),
    "a pre-prepare that nobody committed to": lambda f: f.pre_prepare(agreed=False, ballots=f.body.ballots[:3]),
    "a pre-prepare of another epoch": lambda f: f.pre_prepare(epoch=2),
    "too few ballots": lambda f: f.ballots(*f.body.ballots[:2]),
    "no ballots": lambda f: f.ballots(),
    "one member's ballot twice": lambda f: f.ballots(*f.body.ballots[:3], f.body.ballots[2]),
    "ballots out of order": lambda f: f.ballots(*f.body.ballots[::-1]),
    "a ballot by another's key": lambda f: f.ballots(*f.body.ballots[:3], f.ballot(3, key="member:0")),
    "a stranger's ballot": lambda f: f.ballots(*f.body.ballots[:3], f.ballot(3, member=7)),
    "a ballot on another nomination": lambda f: f.ballots(*f.body.ballots[:3], f.ballot(3, nomination=bytes(32))),
    "a ballot of another epoch": lambda f: f.ballots(*f.body.ballots[:3], f.ballot(3, epoch=2)),
    "a vote changed": lambda f: f.ballots(*(f.voting(m, YES) for m in range(4))),
    "terms that cannot be true": lambda f: f.ballots(
        *f.body.ballots[:3], f.ballot(3, terms=b"\1" * len(f.open(f.body.ballots[3], BallotCast).terms))
    ),
    "a ballot without opinions": lambda f: f.ballots(*f.body.ballots[:3], f.ballot(3, terms=b"")),
    "a nomination by another's key": lambda f: f.pre_prepare(
        nomination=f.sign("service:nomination", NOMINATION(f), "service:journal")
    ),
    "a nomination by a member": lambda f: f.pre_prepare(nomination=f.sign("member:0", NOMINATION(f))),
    "another nomination under the ballots": lambda f: f.pre_prepare(
        nomination=f.sign("service:nomination", replace(NOMINATION(f), proposals=NOMINATION(f).proposals[:3]))
    ),
    "another epoch told": lambda f: f.public.forge(DECIDED, replace(f.decided, epoch=2)),
    "another view told": lambda f: f.public.forge(DECIDED, replace(f.decided, view=1)),
    "another sequence told": lambda f: f.public.forge(DECIDED, replace(f.decided, seq=2)),
    "another digest told": lambda f: f.public.rewrite(DECIDED, event_id="00"),
}


def NOMINATION(forger: Forger) -> NominationProposed:
    return forger.open(forger.body.nomination, NominationProposed)


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_certificate_is_named(public: Published, forgery: str) -> None:
    FORGERIES[forgery](Forger(public))
    report = public.audit()
    assert kinds(report)[0] == Kind.CERTIFICATE_INVALID
    assert report.findings[0].seq == DECIDED + 1


def test_a_certificate_of_the_least_that_it_takes_is_good(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.tick(10_000)
    shard.decide([votes.proposal(A, "forget")])
    public = publish(shard)
    decided = public.detail(2)
    public.forge(2, replace(decided, commits=decided.commits[1:]))
    assert kinds(public.audit()) == []


def test_every_decision_is_checked_and_destroyed_details_too(public: Published) -> None:
    assert isinstance(public.detail(DESTROYED), Destroyed) and isinstance(public.detail(LAST), Decided)
    detail(public, LAST, commits=())
    assert kinds(public.audit()) == [Kind.CERTIFICATE_INVALID]


def test_what_failed_may_be_tried_again_and_only_as_another_try(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for outcome in ("failed", "failed", "stored", "stored"):
        shard.episode("a", outcome=outcome)
    assert [change.entry.effect for change in shard.changes] == ["dropped", "dropped", "stored", "repeated"]
    assert kinds(publish(shard).audit()) == []
    forged = publish(shard)
    detail(forged, 2, retry=False)
    assert IMPOSSIBLE in kinds(forged.audit())


def test_what_failed_has_a_row_until_it_is_tried_again(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for name, outcome in (("a", "failed"), ("b", "failed"), ("a", "failed"), ("c", "stored"), ("a", "stored")):
        shard.episode(name, outcome=outcome)
    public = publish(shard)
    assert [row["event_id"] for row in public.tables["event"]] == ["b", "c", "a"]
    assert kinds(public.audit(store=True, accepted=True)) == []
    # The failure that stands has its row; one that was tried again has none beside its last.
    gone, left, late = publish(shard), publish(shard), publish(shard)
    del gone.tables["event"][0]
    assert [(f.kind, f.seq) for f in gone.audit(store=True).findings] == [(Kind.ROW_MISSING, 2)]
    events = [change.one(Event) for change in shard.changes if change.one(Event) is not None]
    left.tables["event"].insert(0, asdict(events[0]))
    assert [(f.kind, f.seq) for f in left.audit(store=True).findings] == [(Kind.ROW_ADDED, 1)]
    late.tables["event"][-1:] = []
    late.tables["event"].insert(1, asdict(events[2]))
    assert [(f.kind, f.seq) for f in late.audit(store=True).findings] == [(Kind.ROW_ADDED, 3), (Kind.ROW_MISSING, 5)]
