"""A client that lost its brokers permanently is told from one whose brokers are down."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from infra.embedded.processes import free_port
from tests.support.waiting import until
from workers.kafka import loop
from workers.kafka.reach import Asker, BrokersLost, Fresh, Reach


class Asked:
    """Answers as it is told to, one answer for each question."""

    def __init__(self, *answers: bool, brokers: int = 3) -> None:
        self.answers, self._brokers = list(answers), brokers

    def list_topics(self, *, timeout: float) -> SimpleNamespace:
        assert timeout <= 4
        if not self.answers.pop(0):
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return SimpleNamespace(brokers=dict.fromkeys(range(self._brokers)))


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def begun(*fresh: bool, brokers: int = 3) -> tuple[Reach, Time, Asked]:
    time, other = Time(), Asked(*fresh, brokers=brokers)
    return Reach(lambda: other, time), time, other


def test_a_client_that_hears_something_is_asked_nothing() -> None:
    reach, time, _ = begun()
    for _ in range(3):
        time.now += 2.9
        reach.check(Asked())
        reach.heard()


def test_an_idle_client_whose_broker_answers_is_asked_every_three_seconds() -> None:
    reach, time, _ = begun()
    asked = Asked(True, True)
    for seconds, left in ((2.9, 2), (0.1, 1), (2.9, 1), (0.1, 0)):
        time.now += seconds
        reach.check(asked)
        assert len(asked.answers) == left


class Late(Asked):
    """Answers, but not within a second, as a broker that is starved of the processor."""

    def list_topics(self, *, timeout: float) -> SimpleNamespace:
        self.answers.append(timeout > 1)
        if timeout < 1:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return SimpleNamespace(brokers={0: None})


def test_a_broker_that_answers_late_is_not_lost() -> None:
    reach, time, _ = begun(*[True] * 12, brokers=1)
    late = Late()
    for _ in range(12):
        time.now += 3
        reach.check(late)
    assert late.answers.count(True) == 6


def test_brokers_that_are_down_are_waited_for() -> None:
    reach, time, other = begun(*[False] * 9)
    for _ in range(9):
        time.now += 3
        reach.check(Asked(False))
    assert other.answers == []


def test_a_client_that_alone_finds_none_for_five_seconds_is_lost() -> None:
    reach, time, _ = begun(False, *[True] * 6)
    time.now += 3
    reach.check(Asked(False))
    time.now += 2
    for _ in range(5):
        time.now += 1
        reach.check(Asked(False))
    time.now += 1
    with pytest.raises(BrokersLost, match="dropped every Kafka broker"):
        reach.check(Asked(False, False))


def test_of_a_single_broker_that_is_so_after_two_seconds() -> None:
    reach, time, _ = begun(*[True] * 3, brokers=1)
    for seconds in (3, 1):
        time.now += seconds
        reach.check(Asked(False))
    time.now += 1
    with pytest.raises(BrokersLost):
        reach.check(Asked(False, False))


def test_a_client_that_passed_by_a_broker_that_stood_still_is_not_lost() -> None:
    reach, time, _ = begun(*[True] * 12)
    time.now += 2
    for answers in ((False,) * 5, (True,), (False,) * 5):
        for answer in answers:
            time.now += 1
            reach.check(Asked(answer))
        if answers == (True,):
            time.now += 2


def test_who_asks_now_and_then_asks_by_another_client_after_an_error() -> None:
    asker = Asker("127.0.0.1:1")
    first = asker.client
    assert asker.client is first
    asker.failed()
    assert asker.client is not first


def test_an_outage_is_logged_once_a_minute_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "memquorum.kafka")
    reach, time, _ = begun(*[False] * 41)
    for _ in range(41):
        time.now += 3
        reach.check(Asked(False))
    assert [one.levelname for one in caplog.records] == ["WARNING"] * 3
    assert caplog.messages[0].startswith("no Kafka broker answers: ")
    reach.rest()
    reach.heard()
    reach.heard()
    assert caplog.messages[3:] == ["a Kafka broker answers again"]


def test_a_new_client_says_why_it_reaches_no_broker() -> None:
    with pytest.raises(KafkaException) as raised:
        Fresh({"bootstrap.servers": f"127.0.0.1:{free_port()}"}).list_topics(timeout=0.5)
    assert "Connection refused" in raised.value.args[0].str()


def _reads(away: str) -> Consumer:
    made = loop.consumer(away, "group")
    made.subscribe(["topic"])
    return made


def _writes(away: str) -> Producer:
    made = loop.producer(away)
    made.produce("topic", b"record")
    return made


@pytest.mark.parametrize("begin", [_reads, _writes])
def test_a_client_without_a_broker_writes_no_lines_of_its_own(
    begin: Callable[[str], Consumer | Producer], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    made = begin(f"127.0.0.1:{free_port()}")
    until(lambda: (made.poll(0.1), caplog.records)[1], "nothing was logged")
    (told,) = caplog.messages
    assert told.startswith("no Kafka broker answers: ") and "Connection refused" in told
    assert "FAIL" not in capfd.readouterr().err


def test_a_client_that_asks_for_offsets_before_it_polls_says_so_too(caplog: pytest.LogCaptureFixture) -> None:
    made = loop.reader(f"127.0.0.1:{free_port()}")
    with pytest.raises(KafkaException):
        made.get_watermark_offsets(TopicPartition("topic", 0), timeout=3.5)
    assert "Connection refused" in caplog.messages[0]
