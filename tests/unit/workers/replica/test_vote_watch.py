"""The spans of a vote in one seat: what completed a step is its parent, and strangers leave nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec.structs import replace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import check_pre_prepare
from memquorum.core.consensus.events import Decided, Message, Send
from memquorum.core.vote.kinds import FORGET
from memquorum.telemetry import recording, tracing
from memquorum.telemetry.bundle import Telemetry
from memquorum.telemetry.tracing import Tracing, trace_of_vote
from tests.builders import genesis as cluster
from tests.builders import votes
from workers.replica.vote_telemetry import VoteWatch

GENESIS = cluster.make()
MEMORY = "0f5fa48a-7b7f-5f2e-9d0f-0e8f66a0c1aa"
EPOCH = 5


def header(number: int, epoch: int = EPOCH, flags: str = "01") -> str:
    """The context of the message with this number, of the vote on an epoch of shard 0."""
    return f"00-{trace_of_vote(GENESIS.cluster, 0, epoch):032x}-{number:016x}-{flags}"


def send(message: Message) -> Send:
    return Send(message, f"slot/{message}", b"d", b"data", 1)


@dataclass
class Seat:
    telemetry: Telemetry
    kept: InMemorySpanExporter
    watch: VoteWatch
    provider: TracerProvider

    def hear(self, topic: str, number: int, *says: Message, epoch: int = EPOCH, flags: str = "01") -> None:
        """Takes a message, and says what follows from it."""
        self.watch.heard(topic, number, header(number, epoch, flags), 1_000)
        self.say(*says)
        self.watch.over()

    def say(self, *says: Message) -> None:
        for message in says:
            self.watch.says(send(message))

    def produce(self, message: Message) -> str | None:
        parent, hop = self.watch.sending(send(message), "out")
        hop.end()
        return parent

    def spans(self) -> list[ReadableSpan]:
        self.provider.force_flush()
        return list(self.kept.get_finished_spans())

    def value(self, name: str, **labels: str) -> float | None:
        return self.telemetry.meters.registry.get_sample_value(name, labels)


@pytest.fixture
def seat() -> Seat:
    kept = InMemorySpanExporter()
    provider = recording.provider("replica-0", kept)
    telemetry = Telemetry(tracing=Tracing(provider.get_tracer(tracing.NAME), lambda: False))  # it begins no trace
    return Seat(telemetry, kept, VoteWatch(GENESIS, 0, EPOCH, telemetry.stage("replica")), provider)


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def links_of(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]


def test_the_message_that_completes_a_step_is_its_parent_and_the_others_are_linked(seat: Seat) -> None:
    for number in (1, 2, 3):
        seat.hear(topics.PREPARES, number, *([Message.COMMIT] if number == 3 else []))
    assert seat.produce(Message.COMMIT) is not None
    process, sent = sorted(seat.spans(), key=lambda span: span.name)
    assert (process.name, parent_of(process), links_of(process)) == (f"process {topics.PREPARES}", 3, [1, 2])
    assert process.context is not None and parent_of(sent) == process.context.span_id
    assert (process.attributes or {})["memquorum.epoch"] == EPOCH


def test_a_ballot_that_waited_follows_from_the_nomination_and_takes_as_long_as_it_waited(seat: Seat) -> None:
    seat.hear(topics.NOMINATIONS, 1)
    seat.hear(topics.BALLOTS, 2)  # another member was quicker
    seat.say(Message.BALLOT)
    seat.produce(Message.BALLOT)
    process = next(span for span in seat.spans() if span.name.startswith("process"))
    assert (process.name, parent_of(process), links_of(process)) == (f"process {topics.NOMINATIONS}", 1, [])


def test_two_messages_out_of_one_are_of_one_span(seat: Seat) -> None:
    seat.hear(topics.PRE_PREPARES, 1, Message.PREPARE, Message.COMMIT)
    produced = [seat.watch.sending(send(message), "out") for message in (Message.PREPARE, Message.COMMIT)]
    for _, hop in produced:  # the broker has both
        hop.end()
    assert len({parent for parent, _ in produced}) == 2
    assert sorted(span.name for span in seat.spans()) == [f"process {topics.PRE_PREPARES}", "send out", "send out"]


@pytest.mark.parametrize(("epoch", "flags"), [(EPOCH - 1, "01"), (EPOCH + 9, "01"), (EPOCH, "00")])
def test_other_epochs_and_the_unsampled_leave_nothing(seat: Seat, epoch: int, flags: str) -> None:
    seat.hear(topics.PREPARES, 1, Message.COMMIT, epoch=epoch, flags=flags)
    assert seat.produce(Message.COMMIT) is None
    assert seat.spans() == []


def test_a_flood_of_contexts_is_bounded(seat: Seat) -> None:
    for number in range(1, 1_000):
        seat.hear(topics.PREPARES, number)
    assert sum(map(len, seat.watch._kept.values())) == 8 * GENESIS.n


def test_what_comes_early_for_the_next_epoch_is_of_its_trace(seat: Seat, codec: Codec) -> None:
    seat.hear(topics.NOMINATIONS, 9, epoch=EPOCH + 1)
    seat.watch.decided(decided(codec))
    seat.say(Message.BALLOT)
    seat.produce(Message.BALLOT)
    process = next(span for span in seat.spans() if span.name.startswith("process"))
    assert parent_of(process) == 9


def test_what_follows_from_the_message_that_decided_belongs_to_the_next_epoch(seat: Seat, codec: Codec) -> None:
    seat.hear(topics.NOMINATIONS, 9, epoch=EPOCH + 1)
    seat.watch.heard(topics.COMMITS, 7, header(7), 1_000)
    seat.watch.decided(decided(codec))
    seat.say(Message.BALLOT)
    seat.watch.over()
    parent = seat.produce(Message.BALLOT)
    assert parent is not None
    assert parent[3:35] == f"{trace_of_vote(GENESIS.cluster, 0, EPOCH + 1):032x}"


def decided(codec: Codec, without: int | None = None) -> Decided:
    proposals = [votes.proposal(MEMORY, FORGET.name)]
    pre_prepare, commits = votes.decision(codec, GENESIS, proposals, epoch=EPOCH)
    checked = check_pre_prepare(codec, GENESIS, pre_prepare)
    if without is not None:
        checked = replace(checked, ballots=tuple(b for b in checked.ballots if b.member != without))
    return Decided(1, EPOCH, checked, commits, b"decisions")


def test_an_epoch_is_counted_with_who_was_late_and_how_long_it_took(seat: Seat, codec: Codec) -> None:
    end = replace(decided(codec, without=2), left_out=(2,))
    seat.hear(topics.NOMINATIONS, 1)
    seat.watch.asked(end.checked.nomination)
    assert seat.value("memquorum_open_proposals", shard="0") == 1
    seat.watch.heard(topics.COMMITS, 7, header(7), 1_000)
    seat.watch.decided(end)
    seat.watch.over()
    assert seat.value("memquorum_open_proposals", shard="0") == 0
    assert seat.value("memquorum_epochs_decided_total", stage="replica") == 1
    assert seat.value("memquorum_ballots_late_total", member="2") == 1
    assert seat.value("memquorum_ballots_late_total", member="1") is None
    assert seat.value("memquorum_ballots_left_out_total", proposer=str(end.checked.body.member)) == 1
    assert seat.value("memquorum_latency_seconds_count", stage="replica") == 1
    (span,) = seat.spans()
    assert (span.name, parent_of(span)) == (f"process {topics.COMMITS}", 7)
    assert (span.attributes or {})["memquorum.ballots"] == 3


def test_a_nomination_that_is_refused_is_open_no_more(seat: Seat, codec: Codec) -> None:
    seat.watch.asked(decided(codec).checked.nomination)
    seat.watch.refused()
    assert seat.value("memquorum_open_proposals", shard="0") == 0
