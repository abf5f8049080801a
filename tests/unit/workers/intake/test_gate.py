from __future__ import annotations

import itertools

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.avro import Codec
from memquorum.core.intake import Intent, Origin, Refusal
from memquorum.core.quota import MINUTE_MS, Limits, Plan
from memquorum.core.reasons import Reason
from memquorum.telemetry.bundle import Telemetry
from workers.intake.gate import Gate

NOW = 1_750_000_000_000


offsets = itertools.count()


def accepted(topic: str, text: str) -> Intent:
    answer = intake.accept(Codec([]), text.encode(), Origin(topic, 0, next(offsets)), NOW, False)
    assert not isinstance(answer, Refusal)
    return answer


def episode(namespace: str) -> Intent:
    return accepted(topics.EPISODES, f'{{"agent": "a", "content": "x", "namespace": "{namespace}"}}')


def let_in(gate: Gate, tries: int, now_ms: int, namespace: str = "greenhouse") -> int:
    """Returns how many of so many new episodes pass."""
    return sum(not isinstance(gate.limited(episode(namespace), 9, now_ms), Refusal) for _ in range(tries))


def gauge(telemetry: Telemetry) -> float | None:
    return telemetry.meters.registry.get_sample_value("memquorum_over_quota_namespaces", {"stage": "intake"})


@pytest.fixture
def telemetry() -> Telemetry:
    return Telemetry()


def test_what_is_over_the_limit_is_refused_and_told_of_for_a_minute(telemetry: Telemetry) -> None:
    gate = Gate(Plan(Limits(20)), telemetry.stage("intake"), 0)
    assert let_in(gate, 2, 0) == 2
    assert (telemetry.health.able()[1].get("alarms"), gauge(telemetry)) == (None, 0)
    answer = gate.limited(episode("greenhouse"), 9, 0)
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.OVER_QUOTA, "namespace")
    assert "20 episodes a minute and has used 20; this needs 1. Publish it again in 3 s" in answer.detail
    alarms = telemetry.health.able()[1]["alarms"]
    assert isinstance(alarms, dict) and alarms["over quota"].startswith("greenhouse: ") and gauge(telemetry) == 1
    gate.turn(MINUTE_MS - 1)
    assert "alarms" in telemetry.health.able()[1]
    gate.turn(MINUTE_MS)
    assert "alarms" not in telemetry.health.able()[1] and gauge(telemetry) == 0


def test_only_episodes_are_counted_and_none_that_is_refused_for_itself(telemetry: Telemetry) -> None:
    gate = Gate(Plan(Limits(1)), telemetry.stage("intake"), 0)
    use = accepted(topics.ACCESSES, f'{{"agent": "a", "memory_ids": ["{"0" * 8}-0000-0000-0000-{"0" * 12}"]}}')
    tick = accepted(topics.CLOCK, f'{{"as_of": {NOW}}}')
    wrong = Refusal(Reason.BAD_JSON, None, "no JSON")
    for _ in range(9):
        assert [gate.limited(one, 9, 0) for one in (use, tick, wrong)] == [use, tick, wrong]
    assert let_in(gate, 2, 0) == 1
    assert gate.limited(use, 9, 0) is use


def test_tasks_and_what_helped_in_them_count_as_episodes_and_are_no_memories(telemetry: Telemetry) -> None:
    """A task that is told of a thousand times takes no more room than its namespace may have."""
    gate = Gate(Plan(Limits(40)), telemetry.stage("intake"), 0)
    named = f'"task": "{"0" * 8}-0000-0000-0000-{"0" * 12}", "helped": ["{"1" * 8}-0000-0000-0000-{"0" * 12}"]'

    def feedback(event: str = "") -> Intent:
        own = f', "event_id": "{event}"' if event else ""
        return accepted(topics.FEEDBACK, f'{{"agent": "a", "namespace": "greenhouse", {named}{own}}}')

    def task() -> Intent:
        said = '"goal": "g", "outcome": "failed", "namespace": "greenhouse"'
        return accepted(topics.TASKS, f'{{"agent": "a", {said}}}')

    answers = [gate.limited(make(), 9, 0) for make in (task, feedback, feedback, task, feedback, task)]
    assert [isinstance(one, Refusal) for one in answers] == [False] * 4 + [True] * 2
    assert let_in(gate, 1, 0) == 0 and let_in(gate, 1, 0, "mill") == 1
    again = [gate.limited(feedback("f1"), 9, MINUTE_MS) for _ in range(2)]
    assert not any(isinstance(one, Refusal) for one in again), "a repetition takes nothing of what new ones need"


def test_a_batch_that_waited_long_does_not_cost_what_was_published_meanwhile(telemetry: Telemetry) -> None:
    gate = Gate(Plan(Limits(60)), telemetry.stage("intake"), 0)
    for now, waited, most in ((0, False, 6), (10 * MINUTE_MS, True, 600), (11 * MINUTE_MS, False, 60)):
        if not waited:
            # Batches came all the while.
            for at in range(max(0, now - MINUTE_MS), now, 1000):
                gate.turn(at)
        gate.turn(now)
        assert let_in(gate, 2_000, now) == most


def test_an_outage_counts_once_and_before_the_first_record(telemetry: Telemetry) -> None:
    gate = Gate(Plan(Limits(60)), telemetry.stage("intake"), 0)
    gate.begin(10 * MINUTE_MS, 1_000)
    assert let_in(gate, 2_000, 1_000) == 606
    # Given other partitions, it counts on.
    gate.begin(10 * MINUTE_MS, 1_000)
    assert let_in(gate, 1, 1_000) == 0


def test_who_publishes_the_same_again_takes_no_room_of_others(telemetry: Telemetry) -> None:
    gate = Gate(Plan(Limits(20)), telemetry.stage("intake"), 0)
    said = episode("greenhouse")
    assert [gate.limited(said, 9, 0) for _ in range(3)] == [said] * 3
    answer = gate.limited(said, 9, 0)
    assert isinstance(answer, Refusal) and "let in before, and the namespace may repeat 20 episodes" in answer.detail
    assert let_in(gate, 3, 0) == 1
