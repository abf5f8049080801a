"""A seat's reports: proven faults, signed, each once, and bounded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memquorum.core.consensus.events import Message, Note, Noted
from memquorum.core.consensus.evidence import convict
from memquorum.core.identity.messages import open_signed, sign
from memquorum.core.records import Misbehaved
from memquorum.telemetry import metrics
from memquorum.telemetry.metrics import Meters
from tests.builders.accusations import LATER
from tests.builders.core import BALLOTS, CODEC, GENESIS, NOMINATION, OTHER, SAID, commit, pre_prepare, prepare
from tests.builders.genesis import seed_of
from workers.replica import accuser
from workers.replica.accuser import Accuser


class Bench:
    """An accuser of member 1 in shard 0, and its counts."""

    def __init__(self) -> None:
        self.meters = Meters()
        self.accuser = Accuser(
            CODEC,
            GENESIS,
            shard=0,
            me=1,
            sign=lambda body: CODEC.encode(sign(GENESIS.cluster, "member:1", seed_of("member:1"), body)),
            meters=self.meters,
        )

    def counted(self, member: int, rule: str) -> float | None:
        return self.meters.registry.get_sample_value(metrics.MISBEHAVIOUR.name, dict(member=str(member), rule=rule))


def conflict(message: Message, member: int, make: Callable[..., bytes], seq: int = 1) -> Noted:
    return Noted(Note.CONFLICT, message, member, "two", (make(member, SAID, seq), make(member, OTHER, seq)))


def test_a_report_is_signed_and_convicts() -> None:
    bench = Bench()
    bench.accuser.noted(conflict(Message.COMMIT, 3, commit))
    (report,) = bench.accuser.take()
    signed, record = open_signed(CODEC, GENESIS, report.data, Misbehaved)
    assert (signed.signer, record.member, report.name) == ("member:1", 1, "0/0/0/1/commit/3/equivocation")
    assert convict(CODEC, GENESIS, record).accused == 3
    assert bench.accuser.take() == []
    assert bench.counted(3, "equivocation") == 1


def test_each_fault_is_reported_once() -> None:
    bench = Bench()
    for _ in range(2):
        for message, make in ((Message.PREPARE, prepare), (Message.COMMIT, commit)):
            bench.accuser.noted(conflict(message, 3, make))
            bench.accuser.noted(conflict(message, 2, make))
    assert len(bench.accuser.take()) == 4
    assert bench.counted(3, "equivocation") == 2


@pytest.mark.parametrize(
    "noted",
    [
        Noted(Note.INVALID, Message.PRE_PREPARE, 0, "epoch 2, 1 is next"),
        Noted(Note.LATE, Message.PRE_PREPARE, 0, "late"),
        # A later release's record is invalid here, but its sender is no liar.
        Noted(Note.INVALID, Message.PRE_PREPARE, 0, "?", (pre_prepare(NOMINATION, [LATER] * 4),)),
        Noted(Note.INVALID, Message.BALLOT, 3, "?", (NOMINATION, BALLOTS[3])),
    ],
)
def test_what_is_not_proven_is_not_reported(noted: Noted) -> None:
    bench = Bench()
    bench.accuser.noted(noted)
    assert bench.accuser.take() == []
    assert bench.counted(noted.member, "bad-pre-prepare") is None


def test_who_lies_without_end_does_not_fill_the_topic_and_hides_nobody_else() -> None:
    bench = Bench()
    for seq in range(1, 50):
        bench.accuser.noted(conflict(Message.COMMIT, 3, commit, seq))
    bench.accuser.noted(conflict(Message.COMMIT, 2, commit))
    assert [report.name.split("/")[-2] for report in bench.accuser.take()] == ["3"] * 32 + ["2"]


def test_what_the_topic_does_not_take_is_counted_and_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accuser, "_BYTES_MAX", 100)
    bench = Bench()
    bench.accuser.noted(conflict(Message.COMMIT, 3, commit))
    assert bench.accuser.take() == []
    assert bench.counted(3, "equivocation") == 1
