"""Requests to forget are nominated at once, first, and never beyond the caps."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.decay import span_ms
from memquorum.core.identity.messages import open_signed
from memquorum.core.policy import CapsPolicy, ConsolidatePolicy, EpochPolicy, Policy
from memquorum.core.records import (
    Crossing,
    DecayCrossed,
    JournalEntry,
    NominationProposed,
    RestoreRequested,
    Standing,
)
from memquorum.ports import Candidate
from memquorum.telemetry.bundle import Telemetry
from streams.nomination_stage import Nomination
from streams.stage import Arrival
from tests.builders import genesis as cluster
from tests.builders import votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import memory_id
from tests.builders.shelf import Shelf

NOW = 1_700_000_000_000
SPACE, NEXT = "n2", "n13"  # of shard 1
GENESIS = cluster.make(policy=by_the_paper(epoch=EpochPolicy(proposals_max=3)))
SPAN = span_ms(GENESIS.policy)
OLD, FRESH, OTHER = (memory_id(name, SPACE) for name in ("old", "fresh", "other"))
CROSSED = (Crossing(OLD, NOW - SPAN, 299_999),)
STANDING = Standing(4, NOW, 0, 10, 0, NOW)
TICK = DecayCrossed(1, NOW, 33, 9, CROSSED, STANDING)
FORGET = votes.restore(GENESIS, FRESH, namespace=SPACE, action="forget", order_id=memory_id("first"))


def candidate(own: str, used: int = NOW, namespace: str = SPACE) -> Candidate:
    return Candidate(own, namespace, "short-term", NOW - SPAN, used, 400_000, early=False)


def requested(codec: Codec, order: Any, offset: int = 7) -> bytes:
    data = votes.signed(codec, GENESIS, "operator", order)
    detail = codec.encode(RestoreRequested(data, NOW))
    return codec.encode(
        JournalEntry(1, 3, NOW, "requested", order.order_id, topics.ACCEPTED, 1, offset, detail, order.namespace)
    )


def nominate(codec: Codec, shelf: Shelf, policy: Policy | None = None, **changes: Any) -> NominationProposed | None:
    genesis = GENESIS if policy is None else replace(GENESIS, policy=policy)
    stage = Nomination(codec, genesis, cluster.seed_of("service:nomination"), shelf, shelf)  # type: ignore[arg-type]
    tick = replace(TICK, **changes)
    outputs = stage.process([Arrival(1, tick.journal_seq, codec.encode(tick))])
    return open_signed(codec, GENESIS, outputs[0].value, NominationProposed)[1] if outputs else None


@pytest.fixture
def shelf(codec: Codec) -> Shelf:
    return Shelf(alive=[candidate(OLD, NOW - SPAN), candidate(FRESH)], requested=[requested(codec, FORGET)])


def proposed(made: NominationProposed | None) -> list[tuple[str, str, str]]:
    assert made is not None and made.order is None
    return [(p.memory_ids[0], p.kind, p.reason) for p in made.proposals]


def test_what_is_asked_for_opens_an_epoch_and_comes_first(codec: Codec, shelf: Shelf) -> None:
    """Nothing else would open an epoch now; due memories go along, so that no request delays them."""
    made = nominate(codec, shelf)
    assert made is not None and made.trigger == f"forget/{FORGET.order_id}"
    assert proposed(made) == [(FRESH, "forget", "asked"), (OLD, "forget", "decayed")]
    assert ("requests", 1, NOW - GENESIS.policy.forget.grace_ms, 33, 4) in shelf.asked


def test_a_memory_that_is_due_is_nominated_once(codec: Codec, shelf: Shelf) -> None:
    shelf.requested = [requested(codec, replace(FORGET, memory_ids=(OLD,)))]
    assert proposed(nominate(codec, shelf)) == [(OLD, "forget", "asked")]


def test_what_rests_or_is_of_another_namespace_is_not_nominated(codec: Codec, shelf: Shelf) -> None:
    shelf.alive = [candidate(FRESH, namespace="elsewhere"), candidate(OLD, NOW - SPAN)]
    assert nominate(codec, shelf) is None
    shelf.alive = []
    assert nominate(codec, shelf) is None
    # An epoch that is due anyway is opened by its due memories, and does not mention the request.
    shelf.alive = [candidate(OLD, NOW - SPAN)]
    made = nominate(codec, shelf, standing=replace(STANDING, last_epoch_at=0))
    assert made is not None and (made.trigger, proposed(made)) == ("interval", [(OLD, "forget", "decayed")])


@pytest.mark.parametrize("retained", [SPACE, "n*", f"m {SPACE}"])
def test_what_a_namespace_keeps_is_not_nominated_and_takes_no_other_ones_place(
    codec: Codec, shelf: Shelf, retained: str
) -> None:
    policy = replace(GENESIS.policy, consolidate=ConsolidatePolicy(retained=retained))
    assert nominate(codec, shelf, policy) is None
    shelf.alive = [*shelf.alive, candidate(OTHER, NOW - SPAN, namespace="other")]
    made = nominate(
        codec, shelf, policy, crossed=(*CROSSED, Crossing(OTHER, NOW - SPAN, 1)),
        standing=replace(STANDING, last_epoch_at=0, alive=GENESIS.policy.epoch.capacity + 1),
    )  # fmt: skip
    assert proposed(made) == [(OTHER, "forget", "decayed")]


def test_caps_stand_before_a_request(codec: Codec, shelf: Shelf) -> None:
    shelf.stands = {SPACE: Losses(10, ((NOW - 1, 500),))}
    assert nominate(codec, shelf, by_the_paper(caps=CapsPolicy())) is None


def test_a_request_that_cannot_be_nominated_keeps_no_other_waiting(codec: Codec, shelf: Shelf) -> None:
    back = votes.restore(GENESIS, OTHER, namespace=SPACE, order_id=memory_id("second"))
    shelf.requested = [requested(codec, replace(FORGET, memory_ids=(OTHER,))), requested(codec, back, 8)]
    made = nominate(codec, shelf)
    assert made is not None and made.trigger == f"restore/{back.order_id}"
    assert [(p.memory_ids[0], p.kind) for p in made.proposals] == [(OTHER, "restore")]


@pytest.mark.parametrize("said", [{}, {"action": "rollback", "version": 1}])
def test_restores_leave_every_second_epoch_to_what_is_due(codec: Codec, shelf: Shelf, said: dict[str, Any]) -> None:
    back = votes.restore(GENESIS, OTHER, namespace=SPACE, order_id=memory_id("back"), **said)
    shelf.requested = [requested(codec, back)]
    restore, due = f"restore/{back.order_id}", replace(STANDING, last_epoch_at=0)

    def opened_by(standing: Standing) -> str | None:
        made = nominate(codec, shelf, standing=standing)
        return made.trigger if made else None

    assert [opened_by(replace(due, last_epoch=last)) for last in (4, 5, 6, 7)] == [restore, "interval"] * 2
    # Without other due memories, or with none that can be nominated, no epoch is kept free.
    assert opened_by(replace(STANDING, last_epoch=5)) == restore
    # A request to forget takes due memories along: they need not wait for another epoch.
    shelf.requested.append(requested(codec, FORGET, 8))
    assert opened_by(replace(due, last_epoch=5)) == f"forget/{FORGET.order_id}"
    del shelf.requested[1]
    shelf.alive = []
    assert opened_by(replace(due, last_epoch=5)) == restore


def test_a_restore_is_hidden_behind_no_request_to_forget_of_its_namespace(codec: Codec, shelf: Shelf) -> None:
    """An agent that asks again and again always has a first request; a waiting one must not make a restore
    the second.
    """
    waits = replace(FORGET, memory_ids=(OTHER,))
    back = votes.restore(GENESIS, OTHER, namespace=SPACE, order_id=memory_id("back"))
    elsewhere = votes.restore(GENESIS, OTHER, namespace=NEXT, order_id=memory_id("elsewhere"))
    shelf.requested = [requested(codec, waits), requested(codec, elsewhere, 9), requested(codec, back, 8)]
    made = nominate(codec, shelf)
    assert made is not None and made.trigger == f"restore/{back.order_id}"


@pytest.mark.parametrize(("age_s", "warned"), [(0, 0), (60, 1), (3_600, 0)])
def test_it_warns_where_the_scales_disagree_whoever_proposed_it(
    codec: Codec, shelf: Shelf, caplog: pytest.LogCaptureFixture, age_s: int, warned: int
) -> None:
    """σ² of a memory that was used a minute ago is 0.19; what decay alone nominates has at most 0.09."""
    shelf.alive = [candidate(OLD, NOW - SPAN), candidate(FRESH, NOW - age_s * 1_000)]
    shown = Telemetry().stage("nomination")
    stage = Nomination(codec, GENESIS, cluster.seed_of("service:nomination"), shelf, shelf, shown=shown)  # type: ignore[arg-type]
    arrivals = [Arrival(1, TICK.journal_seq, codec.encode(TICK))]
    with caplog.at_level(logging.WARNING, "streams.nomination_stage"):
        assert stage.process(arrivals)
    assert shown.meters.ambiguous.labels("1")._value.get() == warned
    said = [r.getMessage() for r in caplog.records if "disagree" in r.getMessage()]
    assert [FRESH in line and OLD not in line for line in said] == [True] * warned
