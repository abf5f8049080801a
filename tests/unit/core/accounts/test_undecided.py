"""An open epoch, told from the messages of members: only what is authentic counts, and only a namespace's own is
told."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.accounts import undecided
from memquorum.core.accounts.undecided import Heard
from memquorum.core.api.answers import OpenEpoch
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare, Signed
from tests.builders import core, votes
from tests.builders.core import CODEC, GENESIS, NOMINATION, PRE_PREPARE, SAID

HERE = votes.GREENHOUSE


def nominated(*data: bytes, last: int = 0) -> undecided.Opened | None:
    heard = [Heard(NominationProposed, one, 1_000 + at) for at, one in enumerate(data)]
    return undecided.opened(CODEC, GENESIS, last, heard)


def told(*heard: tuple[Any, bytes, int], namespace: str = HERE, hidden: set[str] | None = None) -> OpenEpoch | None:
    epoch = nominated(NOMINATION)
    assert epoch is not None
    one = undecided.underway(CODEC, epoch, [Heard(*each) for each in heard])
    return undecided.told(one, namespace, hidden or set())


def test_the_latest_nomination_behind_the_last_decision_is_open() -> None:
    later = core.nomination(epoch=2)
    found = nominated(NOMINATION, later)
    assert found is not None and (found.nominated.data, found.at) == (later, 1_001)
    assert nominated(NOMINATION, later, last=2) is None and nominated() is None


@pytest.mark.parametrize(
    "strange",
    [b"", b"x" * 90, core.signed("member:0", CODEC.decode(CODEC.decode_as(Signed, NOMINATION).body)),
     core.nomination(cluster=bytes(32)), core.nomination(config=7), core.BALLOTS[0]],
)  # fmt: skip
def test_what_nobody_may_nominate_opens_nothing(strange: bytes) -> None:
    assert nominated(strange) is None


def test_ballots_and_phases_are_told_as_they_come() -> None:
    found = told()
    assert found is not None and found.steps == () and found.quorum == GENESIS.quorum
    assert [one.at for one in found.ballots] == [None] * GENESIS.n and [one.yes for one in found.proposals] == [0, 0]
    said = [(BallotCast, core.BALLOTS[2], 50), (BallotCast, core.ballot(1, NOMINATION, yes=False), 60)]
    found = told(*said, (PrePrepare, PRE_PREPARE, 70), (Prepare, core.prepare(1, SAID), 90),
                 (Prepare, core.prepare(2, SAID), 80), (Commit, core.commit(2, SAID), 95))  # fmt: skip
    assert found is not None and (found.epoch, found.opened_at, found.trigger) == (1, 1_000, "interval")
    assert [(one.member, one.at, one.yes) for one in found.ballots] == [
        (0, None, ()), (1, 60, ()), (2, 50, (0, 1)), (3, None, ()),
    ]  # fmt: skip
    assert [(one.position, one.yes, one.quorum) for one in found.proposals] == [(0, 1, 3), (1, 1, 3)]
    assert found.proposals[0].weight_ppm == found.ballots[2].voice_ppm < found.proposals[0].needed_ppm
    assert [(one.step, one.member, one.at) for one in found.steps] == [
        ("pre-prepare", 0, 70), ("prepare", 2, 80), ("prepare", 1, 90), ("commit", 2, 95),
    ]  # fmt: skip


def test_what_proves_nothing_does_not_count() -> None:
    other = core.nomination(as_of=core.AS_OF + 1)
    forged = core.signed(
        "member:1", votes.BallotCast(GENESIS.cluster, 0, 0, 1, 2, core.named(NOMINATION), core.terms())
    )
    heard = [
        (BallotCast, core.ballot(0, other), 1), (BallotCast, forged, 2), (BallotCast, b"x", 3),
        (BallotCast, core.ballot(3, NOMINATION, terms=core.LIES), 4), (BallotCast, core.BALLOTS[1], 5),
        (BallotCast, core.ballot(1, NOMINATION, yes=False), 6), (Prepare, core.prepare(1, SAID), 7), (Commit, b"", 8),
        (PrePrepare, core.pre_prepare(other, [core.ballot(m, other) for m in range(4)]), 9),
    ]  # fmt: skip
    found = told(*heard)
    assert found is not None and [one.at for one in found.ballots] == [None, 5, None, None]
    assert found.ballots[1].yes == (0, 1), "a member's first ballot counts"
    assert found.steps == (), "nothing was proposed that a prepare could name"


def test_only_the_namespaces_own_is_told() -> None:
    assert told(namespace="mill") is None
    found = told((BallotCast, core.BALLOTS[0], 5), hidden={"m1"})
    assert found is not None and [one.memory_ids for one in found.proposals] == [("m2",)]
    assert found.ballots[0].yes == (1,)
    assert told(hidden={"m1", "m2"}) is None


def test_an_order_that_opened_it_is_not_named() -> None:
    epoch = nominated(NOMINATION)
    assert epoch is not None
    record = replace(epoch.nominated.record, trigger="restore/7f0f3f3e-2222-5c3a-9d2f-0d5c0f6f1a11")
    one = undecided.underway(CODEC, replace(epoch, nominated=replace(epoch.nominated, record=record)), [])
    found = undecided.told(one, HERE, set())
    assert found is not None and found.trigger == "restore"
