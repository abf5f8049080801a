"""Collecting decisions: what completes one, what never does, and what one liar can make it keep."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import assembly
from memquorum.core.commit.assembly import COMMIT, PRE_PREPARE, Assembly, Certified, DigestConflict
from memquorum.core.consensus.certificate import Checked, Verified
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.core.records import Commit, PrePrepare, Signed
from memquorum.schema_files import load_codec
from tests import examples
from tests.builders import genesis, votes
from workers.commit.commit_shard import Batch, CommitShard

CODEC = load_codec()
GENESIS = genesis.make()
WANTED = [votes.proposal("0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11", "forget")]


def make(decided_seq: int = 0, decided: dict[int, bytes] | None = None) -> Assembly:
    return Assembly(CODEC, GENESIS, 0, decided_seq, decided or {})


def decision(epoch: int = 1, **arguments: object) -> tuple[bytes, list[bytes]]:
    return votes.decision(CODEC, GENESIS, WANTED, epoch=epoch, **arguments)  # type: ignore[arg-type]


def digest_of(commits: list[bytes]) -> bytes:
    return CODEC.decode_as(Commit, CODEC.decode_as(Signed, commits[0]).body).digest


def fed(target: Assembly, pre_prepare: bytes | None, commits: list[bytes], offset: int = 0) -> Assembly:
    if pre_prepare is not None:
        target.pre_prepare(offset, pre_prepare)
    for at, data in enumerate(commits):
        target.commit(offset + at, data)
    return target


def first_certified(target: Assembly) -> Certified:
    certified = target.next(1)
    assert certified is not None
    return certified


def test_a_quorum_and_its_pre_prepare_are_a_decision() -> None:
    pre_prepare, commits = decision()
    target = make()
    for at, data in enumerate(commits[:2]):
        target.commit(at, data)
    target.pre_prepare(9, pre_prepare)
    assert target.next(1) is None
    target.commit(2, commits[2])
    certified = first_certified(target)
    assert (certified.checked.digest, certified.commits, certified.offset) == (
        digest_of(commits), tuple(commits[:3]), 9
    )  # fmt: skip
    assert first_certified(target) == certified  # asking takes nothing away
    target.decided(certified)
    assert target.next(1) is None
    assert target.refusals == []


def test_a_certificate_is_checked_while_its_commits_are_on_their_way_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[bytes] = []
    really = assembly.check_pre_prepare

    def counted(codec: Codec, genesis_: Genesis, data: bytes, verified: Verified) -> Checked:
        checked.append(data)
        return really(codec, genesis_, data, verified)

    monkeypatch.setattr(assembly, "check_pre_prepare", counted)
    pre_prepare, commits = decision()
    target = fed(make(), pre_prepare, [])
    assert checked == [pre_prepare]
    first_certified(fed(target, None, commits))
    target.pre_prepare(9, pre_prepare)
    assert checked == [pre_prepare]
    # Nor is an invalid one verified each time that it comes.
    empty, _ = votes.decision(CODEC, GENESIS, WANTED, voters=())
    target, refused = make(), len(checked)
    for offset in range(5):
        target.pre_prepare(offset, empty)
    assert checked[refused:] == [empty]
    assert target.refusals == []


def test_it_waits_until_the_nominations_tick_is_applied() -> None:
    target = fed(make(), *decision(accepted_offset=7))
    assert target.next(7) is None
    assert target.next(8) is not None


def test_decisions_come_in_the_order_of_their_sequences() -> None:
    target = fed(fed(make(), *decision(2)), *decision(1))
    first = first_certified(target)
    assert first.checked.body.seq == 1
    target.decided(first)
    assert first_certified(target).checked.body.seq == 2


@pytest.mark.parametrize("order", [(0, 0, 0, 1), (0, 1, 0, 1)])
def test_a_member_counts_once(order: tuple[int, ...]) -> None:
    pre_prepare, commits = decision()
    assert fed(make(), pre_prepare, [commits[i] for i in order]).next(1) is None


def test_commits_of_two_views_make_no_quorum() -> None:
    """The proposal has the same digest in both, and still each view needs its own quorum."""
    pre_prepare, commits = decision(view=0)
    other, others = decision(view=1)
    assert digest_of(commits) == digest_of(others)
    target = fed(fed(make(), pre_prepare, commits[:2]), other, others[2:])
    assert target.next(1) is None
    target.commit(9, others[1])
    assert first_certified(target).checked.body.view == 1


def altered(data: bytes) -> bytes:
    signed = CODEC.decode_as(Signed, data)
    return CODEC.encode(replace(signed, signature=bytes(64)))


def resigned(data: bytes, signer: str, **changes: object) -> bytes:
    body = CODEC.decode(CODEC.decode_as(Signed, data).body)
    return votes.signed(CODEC, GENESIS, signer, replace(body, **changes))


def test_what_proves_nothing_is_refused_with_its_reason() -> None:
    pre_prepare, commits = decision()
    target = make()
    target.commit(1, altered(commits[0]))
    target.commit(2, resigned(commits[0], "member:1"))  # member 1 speaks as member 0
    target.commit(3, resigned(commits[0], "member:0", shard=1))
    target.commit(4, b"rubbish")
    target.pre_prepare(5, altered(pre_prepare))
    target.pre_prepare(6, resigned(pre_prepare, "member:1", member=1))  # not the primary of view 0
    reasons = ["signature", "a record that only", "in the partition of shard 0", "Signed|neither|first bytes|not a",
               "signature", "not the primary"]  # fmt: skip
    assert len(target.refusals) == len(reasons)
    for told, reason in zip(target.refusals, reasons, strict=True):
        assert any(word in told for word in reason.split("|")), told
    assert fed(target, None, commits[:2]).next(1) is None


def test_a_certificate_that_does_not_hold_is_refused_once() -> None:
    thin, commits = decision(voters=[0, 1])  # two ballots, where N - f = 3 are needed
    target = fed(make(), thin, commits)
    assert target.next(1) is None
    assert target.next(1) is None
    assert len(target.refusals) == 1
    assert "2 ballots" in target.refusals[0]


def test_a_contradiction_is_told_whenever_it_comes() -> None:
    one, other = decision(), decision(as_of=2_000_000_000)
    before = fed(fed(make(), None, one[1][:3]), None, other[1][:2])
    with pytest.raises(DigestConflict, match="shard 0, sequence 1"):
        before.commit(9, other[1][2])
    after = fed(make(), *one)
    after.decided(first_certified(after))
    fed(after, None, other[1][:2])
    with pytest.raises(DigestConflict):
        after.commit(9, other[1][2])
    restarted = make(1, {1: digest_of(one[1])})
    fed(restarted, None, other[1][:2])
    with pytest.raises(DigestConflict):
        restarted.commit(9, other[1][3])


def test_fewer_than_a_quorum_may_contradict_without_a_halt() -> None:
    one, other = decision(), decision(as_of=2_000_000_000)
    target = fed(fed(make(), *one), None, other[1][:2])
    target.decided(first_certified(target))
    assert target.next(1) is None


def test_the_cursor_stays_at_the_first_that_waits() -> None:
    pre_prepare, commits = decision()
    target = make()
    assert target.cursor(COMMIT, 5) == 5
    target.commit(5, commits[0])
    target.commit(6, commits[1])
    target.pre_prepare(3, pre_prepare)
    assert (target.cursor(COMMIT, 7), target.cursor(PRE_PREPARE, 4)) == (5, 3)
    target.commit(7, commits[2])
    target.decided(first_certified(target))
    assert (target.cursor(COMMIT, 8), target.cursor(PRE_PREPARE, 4)) == (8, 4)
    target.commit(8, commits[3])  # late, agrees
    assert target.cursor(COMMIT, 9) == 9
    target.commit(9, decision(as_of=2_000_000_000)[1][0])  # late, differs: may become a contradiction
    assert target.cursor(COMMIT, 10) == 9


def test_what_lies_far_ahead_is_read_again_when_its_time_comes() -> None:
    target = make()
    far = assembly.WINDOW + 1
    pre_prepare, commits = decision(far)
    target.pre_prepare(70, pre_prepare)
    target.commit(80, commits[0])
    target.commit(81, commits[1])
    assert target.rewind() == {}
    assert (target.cursor(COMMIT, 82), target.cursor(PRE_PREPARE, 71)) == (80, 70)
    fed(target, *decision(1))
    target.decided(first_certified(target))
    assert target.rewind() == {PRE_PREPARE: 70, COMMIT: 80}
    assert target.rewind() == {}
    assert target.cursor(COMMIT, 82) == 82


def test_a_restart_before_a_topic_is_read_again_does_not_pass_it_over() -> None:
    standing = SimpleNamespace(
        state=SimpleNamespace(shard=0, decided_seq=0), cursors={}, decided={}, configured=(), tombstones=()
    )
    line = CommitShard(Rules(CODEC, GENESIS), standing)  # type: ignore[arg-type]
    line.take(topics.COMMITS, 80, decision(assembly.WINDOW + 1)[1][0], None)
    line.take(topics.COMMITS, 81, decision(assembly.WINDOW + 2)[1][0], None)
    fed(line.decisions, *decision(1), offset=82)
    line.decisions.decided(first_certified(line.decisions))
    assert line.rewind() == {topics.COMMITS: 80}
    assert line.cursors(Batch(None, [])) == {(0, topics.COMMITS): 80}
    fed(line.decisions, *decision(2), offset=86)
    line.decisions.decided(first_certified(line.decisions))
    assert line.rewind() == {topics.COMMITS: 80}  # of the first nothing was read again yet


def test_a_sequence_out_of_all_reach_pins_nothing() -> None:
    pre_prepare, commits = decision(10**12)
    target = fed(make(), pre_prepare, commits, offset=5)
    assert (target.cursor(COMMIT, 99), target.cursor(PRE_PREPARE, 99)) == (99, 99)


def test_each_sequence_ahead_is_read_again_from_its_own_place() -> None:
    """A liar's early message for one sequence moves the place of no other."""
    target = make()
    far = assembly.WINDOW + 1
    target.commit(3, decision(assembly.REACH)[1][0])
    target.commit(70, decision(far)[1][1])
    target.commit(80, decision(far + 1)[1][1])
    assert target.cursor(COMMIT, 99) == 3
    for epoch, place in ((1, 70), (2, 80)):
        fed(target, *decision(epoch), offset=90)
        target.decided(first_certified(target))
        assert target.rewind() == {COMMIT: place}
    assert target.rewind() == {}


def test_a_long_past_is_caught_up_with() -> None:
    """More decisions wait in the topics than are within reach, and a liar's junk lies at their beginning."""
    last = assembly.REACH + assembly.WINDOW + 3
    line = Topics(make())
    junk = [decision(seq)[1][0] for seq in (10**12, assembly.REACH, assembly.WINDOW + 1)]
    made = [decision(epoch) for epoch in range(1, last + 1)]
    line.write(COMMIT, *junk, *(data for _, commits in made for data in commits[1:]))
    line.write(PRE_PREPARE, *(data for data, _ in made))
    for epoch in range(1, last + 1):
        certified = first_certified(line.target)
        assert certified.checked.body.seq == epoch
        line.target.decided(certified)
        line.read()
    assert line.target.next(1) is None


def test_a_liar_pushes_out_only_its_own() -> None:
    pre_prepare, commits = decision()
    target = make()
    target.pre_prepare(0, pre_prepare)
    for member in (1, 2, 3):
        target.commit(member, commits[member])
    for view in range(1, 40):
        target.commit(100 + view, resigned(commits[0], "member:0", view=view, digest=bytes([view]) * 32))
        if GENESIS.primary(0, view, 1) == 0:
            target.pre_prepare(100 + view, resigned(pre_prepare, "member:0", view=view))
    held = target._slots[1]
    assert len(held.commits[0]) == assembly.PER_MEMBER
    assert len(held.pre_prepares[0]) == assembly.PER_MEMBER
    # A decision stands, whatever its primary proposes afterwards.
    assert first_certified(target).offset == 0


def flood(epoch: int = 1, count: int = 2 * assembly.PER_MEMBER) -> list[tuple[bytes, list[bytes]]]:
    """Other proposals of the primary of view 0 for one sequence, each with what members would commit to it."""
    return [decision(epoch, as_of=2_000_000_000 + at) for at in range(count)]


class Topics:
    """The two topics of a shard, and a reader that honours `rewind` as the commit worker does."""

    def __init__(self, target: Assembly) -> None:
        self.target = target
        self.records: dict[str, list[bytes]] = {PRE_PREPARE: [], COMMIT: []}
        self.read_to = {PRE_PREPARE: 0, COMMIT: 0}
        self.rewound: list[dict[str, int]] = []

    def write(self, kind: str, *data: bytes) -> None:
        self.records[kind] += data
        self.read()

    def read(self) -> None:
        for _ in range(100):
            for kind, take in ((PRE_PREPARE, self.target.pre_prepare), (COMMIT, self.target.commit)):
                for at in range(self.read_to[kind], len(self.records[kind])):
                    take(at, self.records[kind][at])
                self.read_to[kind] = len(self.records[kind])
            again = self.target.rewind()
            if not again:
                return
            self.rewound.append(again)
            self.read_to |= again
        pytest.fail("it is read again without an end")

    def restart(self) -> None:
        self.read_to = {kind: self.target.cursor(kind, at) for kind, at in self.read_to.items()}
        self.target = make()
        self.read()


@pytest.mark.parametrize("before", [0, 3, assembly.PER_MEMBER, 2 * assembly.PER_MEMBER])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_flood_of_pre_prepares_hides_no_decision(before: int, restarted: bool) -> None:
    pre_prepare, commits = decision()
    others = [data for data, _ in flood()]
    line = Topics(make())
    line.write(PRE_PREPARE, *others[:before], pre_prepare, *others[before:])
    if restarted:
        line.restart()
    line.write(COMMIT, *commits[1:])
    assert first_certified(line.target).checked.digest == digest_of(commits)
    assert len(line.rewound) == (before >= assembly.PER_MEMBER)
    line.target.decided(first_certified(line.target))
    line.read()
    assert line.target.cursor(PRE_PREPARE, 99) == 99
    assert len(line.rewound) == (before >= assembly.PER_MEMBER)


@pytest.mark.parametrize("before", [0, 3, assembly.PER_MEMBER, 2 * assembly.PER_MEMBER])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_flood_of_commits_hides_no_decision(before: int, restarted: bool) -> None:
    """The liar's own commit may be the one that others counted: it is found again, however it is buried."""
    pre_prepare, commits = decision()
    others = [votes_of[0] for _, votes_of in flood()]
    line = Topics(make())
    line.write(PRE_PREPARE, pre_prepare)
    line.write(COMMIT, *others[:before], commits[0], *others[before:])
    if restarted:
        line.restart()
    line.write(COMMIT, commits[1])
    assert line.target.next(1) is None
    line.write(COMMIT, commits[2])
    assert len(first_certified(line.target).commits) == 3
    assert len(line.rewound) <= 1


def test_a_quorum_whose_pre_prepare_never_comes_is_looked_for_once() -> None:
    _, commits = decision()
    line = Topics(make())
    line.write(PRE_PREPARE, *(data for data, _ in flood()))
    line.write(COMMIT, *commits)
    assert line.target.next(1) is None
    assert line.rewound == [{PRE_PREPARE: assembly.PER_MEMBER}]


def test_a_decision_that_cannot_be_applied_is_let_go() -> None:
    target = fed(make(), *decision(epoch=5, seq=1))
    target.reject(first_certified(target), ValueError("epoch 5, awaited 1"))
    assert target.next(1) is None
    assert "awaited 1" in target.refusals[0]


@settings(max_examples=examples(40), deadline=None)
@given(st.permutations(range(5)), st.lists(st.integers(0, 4), max_size=4))
def test_the_order_of_arrival_does_not_matter(order: list[int], again: list[int]) -> None:
    pre_prepare, commits = decision()
    target = make()
    for at, which in enumerate([*order, *again]):
        if which == 4:
            target.pre_prepare(at, pre_prepare)
        else:
            target.commit(at, commits[which])
    certified = first_certified(target)
    assert certified.checked.digest == digest_of(commits)
    assert len(certified.commits) == 4
    assert PrePrepare is type(certified.checked.body)
