"""Metrics and health: what is defined is exposed, with its sentence, and what is exposed is defined."""

from __future__ import annotations

import re

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from memquorum.telemetry import metrics
from memquorum.telemetry.health import STILL_S, STUCK_S, Health
from memquorum.telemetry.metrics import Definition, Meters


@pytest.mark.parametrize("of", metrics.ALL, ids=lambda of: of.name)
def test_every_metric_has_a_sentence_and_a_name_of_its_kind(of: Definition) -> None:
    assert re.fullmatch(r"[A-Z0-9][^\n]{20,}[.]", of.sentence)
    assert of.name.endswith("_total") == (of.kind == "counter")
    assert of.name.endswith("_seconds") == (of.kind == "histogram" or of in (metrics.STILL, metrics.SCORE_WAIT))
    assert re.match(r"memquorum_|messaging_|http_", of.name)
    assert all(re.fullmatch(r"[a-z_]+", label) for label in of.labels)
    assert not {"agent", "namespace", "memory_id", "subject", "session"} & set(of.labels)


def test_what_is_exposed_is_what_is_defined() -> None:
    meters = Meters()
    followed = (
        metrics.LAG, metrics.IGNORED, metrics.STILL, metrics.WAITING, metrics.ALARM, metrics.SLOWED,
        metrics.CACHED, metrics.CACHES,
    )  # fmt: skip
    for definition in followed:
        meters.follow(definition, lambda of=definition: {tuple("x" for _ in of.labels): 3})  # type: ignore[misc]
    for definition, meter in (
        (metrics.CONSUMED, meters.consumed), (metrics.SENT, meters.sent), (metrics.REFUSED, meters.refused),
        (metrics.JOURNALLED, meters.journalled), (metrics.DECISIONS, meters.decisions), (metrics.LATE, meters.late),
        (metrics.HELD_BACK, meters.held_back), (metrics.MISBEHAVIOUR, meters.misbehaviour),
        (metrics.AMBIGUOUS, meters.ambiguous),
        (metrics.EPISODES, meters.episodes), (metrics.KNOWN_TEXTS, meters.known_texts),
        (metrics.LEFT_OUT, meters.left_out), (metrics.CACHE_SEARCHES, meters.cache_searches),
        (metrics.REJECTED, meters.rejected),
        (metrics.REHEARSALS, meters.rehearsals), (metrics.REHEARSED, meters.rehearsed), (metrics.TRIALS, meters.tried),
        (metrics.ADMISSIONS, meters.admissions), (metrics.WEBHOOKS, meters.webhooks),
    ):  # fmt: skip
        meter.labels(*definition.labels).inc()
    meters.epochs.labels("replica").inc()
    meters.trying.inc(0.1)
    meters.experience.labels("admitted").set(2)
    meters.gain.labels("0").set(-0.25)
    meters.memories.labels("commit").set(3)
    meters.namespaces.labels("commit").set(1)
    meters.open.labels("0").set(2)
    meters.over_quota.labels("intake").set(1)
    meters.full.labels("intake").set(1)
    meters.failed.labels("consolidator").set(1)
    meters.failed_rules.labels("salience", "agreement").inc()
    meters.stopped.labels("0").set(1)
    meters.beyond.labels("0", "pinned").set(1)
    meters.accounts_spent.labels("0").set(0.4)
    meters.accounts_closed.labels("0").set(1)
    meters.score_wait.labels("commit", "0").set(1)
    meters.view.labels("0").set(1)
    meters.checkpoint.labels("0").set(64)
    for histogram in (meters.worked, meters.latency):
        histogram.labels("a").observe(0.1)
    meters.requests.labels("/search", "200").observe(0.1)
    families = {f.name: f for f in text_string_to_metric_families(generate_latest(meters.registry).decode())}
    exposed = {f.name + ("_total" if f.type == "counter" else ""): f for f in families.values()}
    assert exposed.keys() == {of.name for of in metrics.ALL}
    for of in metrics.ALL:
        assert (exposed[of.name].type, exposed[of.name].documentation) == (of.kind, of.sentence)
        assert {*of.labels} <= set(exposed[of.name].samples[0].labels) | {"le"}


def test_what_is_followed_is_read_at_every_scrape() -> None:
    meters, lag = Meters(), {("intake", "a", "0"): 1.0}
    meters.follow(metrics.LAG, lambda: lag)
    meters.follow(metrics.LAG, lambda: {("commit", "b", "1"): 7})
    assert meters.registry.get_sample_value(metrics.LAG.name, dict(stage="intake", topic="a", partition="0")) == 1
    lag["intake", "a", "0"] = 5.0
    assert meters.registry.get_sample_value(metrics.LAG.name, dict(stage="intake", topic="a", partition="0")) == 5
    assert meters.registry.get_sample_value(metrics.LAG.name, dict(stage="commit", topic="b", partition="1")) == 7


def test_a_loop_that_stands_still_is_not_alive() -> None:
    now = [0.0]
    health = Health(clock=lambda: now[0])
    now[0] = STILL_S - 1
    assert health.live() == (True, {"alive": True, "turned_s_ago": STILL_S - 1})
    now[0] = STILL_S
    assert health.live()[0] is False
    health.turn()
    assert health.live()[0] is True


def test_a_loop_that_waits_for_an_answer_that_does_not_come_is_not_ready() -> None:
    now = [0.0]
    health = Health(clock=lambda: now[0])
    health.ready()
    now[0] = STUCK_S - 1
    assert health.able()[0] is True
    now[0] = STUCK_S
    able, told = health.able()
    assert (able, told["waits_for"]) == (False, {"answer": "what it asked 8 s ago does not answer"})
    health.turn()
    assert health.able()[0] is True


def test_readiness_says_what_it_waits_for_and_pressure_alone_is_no_reason() -> None:
    health = Health()
    assert health.able() == (False, {"ready": False, "waits_for": {"start": "it starts"}, "slowed_by": {}})
    health.ready()
    health.slow("salience", "4096 records wait for their scores")
    assert health.able() == (
        True, {"ready": True, "waits_for": {}, "slowed_by": {"salience": "4096 records wait for their scores"}}
    )  # fmt: skip
    health.wait("vault", "it does not answer")
    health.slow("salience", None)
    assert health.able() == (
        False, {"ready": False, "waits_for": {"vault": "it does not answer"}, "slowed_by": {}}
    )  # fmt: skip
    health.go("vault")
    health.go("never waited for")
    assert health.able()[0] is True
