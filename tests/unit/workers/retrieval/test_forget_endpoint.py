"""Proposals to forget over HTTP: shown first, then voted on like any other."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from memquorum.core import access
from memquorum.core.accounts.forgetting import Used, standing
from memquorum.core.accounts.restoring import Resting, decided
from memquorum.core.api.answers import Restoring
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.decay import decay_ppm, span_ms
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import PPM, ForgetPolicy, Policy
from tests.builders.served import (
    GENESIS,
    HERS,
    ORDER,
    REQUESTED,
    THEIRS,
    Served,
    answered,
    bearer,
    client_of,
    make,
    stored,
)
from workers.retrieval.door import Door

ASKED = {"namespace": "greenhouse", "memory_ids": [HERS, THEIRS]}
POLICY = Policy()


@pytest.fixture
def service(codec: Codec) -> Served:
    return make(codec, Door(None))


@pytest.fixture
def client(service: Served) -> TestClient:
    return client_of(service)


@pytest.mark.parametrize("dry", [{}, {"dry_run": True}, {"dry_run": None}])
def test_nothing_is_proposed_unless_it_is_said_twice(client: TestClient, service: Served, dry: dict[str, Any]) -> None:
    told = client.post("/orders/forget", json=ASKED | dry).json()
    assert (told["status"], told["dry_run"], told["order_id"], service.sent) == ("nothing asked", True, None, [])
    mine, other = told["memories"]
    assert (mine["memory_id"], mine["status"], mine["relevance_below"]) == (
        HERS,
        "alive",
        pytest.approx(0.012, abs=0.01),
    )
    assert mine["detail"].endswith("it was kept lately, so the members pass it over in their next three votes")
    assert mine["numbers"].endswith("not proposed before epoch 11 (the next is 8)")
    # Another tenant's memory is one that there is not.
    assert other == {
        "memory_id": THEIRS, "status": "unknown", "detail": "this namespace has no such memory", "decay": None,
        "relevance_below": None, "numbers": None,
    }  # fmt: skip


def test_what_is_alive_is_proposed_and_the_decision_waited_for(
    client: TestClient, service: Served, codec: Codec
) -> None:
    answer = client.post("/orders/forget", json=ASKED | {"dry_run": False, "reference": "spring cleaning"})
    told = answer.json()
    assert (answer.status_code, told["status"], told["dry_run"], told["epoch"]) == (200, "decided", False, 7)
    assert [one["status"] for one in told["memories"]] == ["forgotten", "unknown"]
    ((_, _, data),) = service.sent
    order = REQUEST.opened(codec, GENESIS, data)[1]
    assert (order.action, order.memory_ids, order.reference) == ("forget", (HERS,), "spring cleaning")
    assert client.get(f"/orders/{order.order_id}").json()["says"] == {"action": "forget"}


def test_what_is_not_decided_in_time_is_said_so(client: TestClient, service: Served) -> None:
    service.carries_out = False
    answer = client.post("/orders/forget?wait_ms=0", json=ASKED | {"dry_run": False})
    assert (answer.status_code, answer.json()["status"]) == (202, "asked")


PROTECTIONS = [
    ("pin", "manual", "pinned by ada (manual), order"),
    ("hold", "case 3", "held by ada (case 3), order"),
    ("goal:pump", "pump", "needed by the goal 'pump', as ordered by ada, order"),
]


@pytest.mark.parametrize(("kind", "reference", "words"), PROTECTIONS)
def test_what_is_protected_is_said_at_once_and_not_proposed(
    client: TestClient, service: Served, kind: str, reference: str, words: str
) -> None:
    store: Any = service.reads
    store.protected = [(HERS, kind, ORDER, "ada", reference, 6, "service:erasure")]
    for dry in (True, False):
        told = client.post("/orders/forget", json=ASKED | {"dry_run": dry}).json()
        assert (told["status"], service.sent) == ("nothing asked", [])
        assert (told["memories"][0]["status"], told["memories"][0]["relevance_below"]) == ("protected", None)
        assert told["memories"][0]["detail"].startswith(f"it is {words} {ORDER}: it is not forgotten while that stands")


def test_a_namespace_at_its_cap_is_said_so_and_nothing_is_waited_for(client: TestClient, service: Served) -> None:
    store: Any = service.reads
    store.losses["greenhouse"] = Losses(90, ((0, 50),))
    service.carries_out = False
    says = "lost as much as may be forgotten in a day: nothing more goes before 1970-01-02 00:00:00 UTC"
    assert says in client.post("/orders/forget", json=ASKED).json()["memories"][0]["detail"]
    began = time.monotonic()
    told = client.post("/orders/forget", json=ASKED | {"dry_run": False}).json()
    assert time.monotonic() - began < 5
    assert (told["status"], told["memories"][0]["status"], len(service.sent)) == ("asked", "alive", 1)
    assert says in told["memories"][0]["detail"]


@pytest.mark.parametrize(("action", "status"), [("forget", "protected"), ("restore", "sealed")])
def test_what_nobody_has_voted_on_says_where_its_memories_stand(
    client: TestClient, service: Served, action: str, status: str
) -> None:
    store: Any = service.reads
    store.protected = [(HERS, "pin", ORDER, "ada", None, 6, "operator")]
    store.resting_rows = {HERS: Resting(HERS, "sealed", 1, 9, 2, False)}
    waiting = (Restoring(HERS, "asked", ""),)
    store.orders[REQUESTED] = answered(REQUESTED, "restore", "asked", says={"action": action}, memories=waiting)
    told = client.get(f"/orders/{REQUESTED}").json()
    assert (told["status"], [one["status"] for one in told["memories"]]) == ("asked", [status])


def test_it_takes_the_right_to_forget(tmp_path: Path, codec: Codec) -> None:
    file = tmp_path / "keys.json"
    stored(file, (1, (access.FORGET,), ("greenhouse",)), (2, (access.ERASE, access.READ), ("*",)))
    client = client_of(make(codec, Door(file)))
    assert client.post("/orders/forget", json=ASKED, headers=bearer(2, "erase")).status_code == 403
    assert (
        client.post("/orders/forget", json=ASKED | {"namespace": "mill"}, headers=bearer(1, "forget")).status_code
        == 403
    )
    assert client.post("/orders/forget", json=ASKED, headers=bearer(1, "forget")).status_code == 200


@pytest.mark.parametrize("age", [0, 60_000, 10**7])
def test_below_that_relevance_a_member_says_forget_and_from_it_on_keep(age: int) -> None:
    (one,) = standing(["m"], [Used("m", "short-term", 10**9 - age, 0, 10**9)], POLICY)
    assert one.decay is not None and one.relevance_below is not None
    decay, below, given = decay_ppm(10**9 - age, 10**9, POLICY), round(one.relevance_below * PPM), POLICY.forget

    def forgets(relevance: int) -> bool:
        score = (given.omega_decay_ppm * decay + given.omega_relevance_ppm * relevance) // PPM
        return score < given.theta_ppm

    assert one.decay == decay / PPM and not forgets(below + 1)
    assert forgets(below - 1) if below else not forgets(0)


def test_what_is_forgotten_or_never_let_go_is_said_so() -> None:
    never = Policy(forget=ForgetPolicy(theta_ppm=0))
    (one,) = standing(["m"], [Used("m", "long-term", 0, 0, span_ms(never))], never)
    assert one.relevance_below == 0 and "no member lets go what was used so lately" in one.detail
    (one,) = standing(["m"], [Used("m", "finished", None, 0, 5)], POLICY)
    assert (one.status, "a finished task, on which nobody votes" in one.detail) == ("unknown", True)
    (one,) = standing(["m"], [Used("m", "sealed", None, 0, 5)], POLICY)
    assert (one.status, one.decay) == ("forgotten", None)


@pytest.mark.parametrize(
    ("outcome", "reason", "status"),
    [
        ("forgotten", "quorum", "forgotten"),
        ("kept", "too_few_votes", "kept"),
        ("kept", "cap", "kept"),
        ("voided", "touched since", "kept"),
        ("", "", "kept"),
    ],
)
def test_every_end_is_told(outcome: str, reason: str, status: str) -> None:
    assert decided(HERS, outcome, reason, action="forget").status == status


@pytest.mark.parametrize(
    ("rests", "protected", "why"),
    [
        (11, False, "it was kept before, and the members pass it over for some votes: ask again later"),
        (11, True, f"it is pinned by ada, order {ORDER}: it is not forgotten while that stands"),
        (0, False, "only so many can go at once, of its namespace and in all, and others came first: ask again"),
    ],
)
def test_what_an_epoch_did_not_speak_of_says_which_reason_holds(
    client: TestClient, service: Served, rests: int, protected: bool, why: str
) -> None:
    store: Any = service.reads
    store.rests = rests
    store.protected = [(HERS, "pin", ORDER, "ada", None, 6, "operator")] if protected else []
    told = tuple(decided(one, "", "", action="forget") for one in (HERS, THEIRS))
    says = {"action": "forget"}
    store.orders[REQUESTED] = answered(REQUESTED, "restore", "decided", says=says, memories=told, epoch=7)
    mine, other = client.get(f"/orders/{REQUESTED}").json()["memories"]
    assert mine["detail"].startswith(f"it was not put to the vote: {why}")
    assert other["detail"] == "it was not put to the vote: this namespace has no such memory"


@pytest.mark.parametrize(
    ("rank", "told", "plain"),
    [
        (
            0,
            "nearness to what the member's agents did lately is below 0.93",
            "a member lets it go if its agents did little like it lately",
        ),
        (950_000, "0.95 when it came: no member lets it go", "its words are too rare for any member to let it go"),
    ],
)
def test_a_dry_run_says_what_follows_from_the_rank_of_its_worth(rank: int, told: str, plain: str) -> None:
    now, policy = 10**10, POLICY
    (one,) = standing(["m"], [Used("m", "short-term", now - span_ms(policy), 0, now, 1, rank)], policy)
    assert one.numbers is not None
    assert "if its relevance to it is below 0.47" in one.numbers and told in one.numbers
    assert one.detail.startswith("it was last used ") and plain in one.detail and "0." not in one.detail
    (one,) = standing(["m"], [Used("m", "short-term", 0, 0, 10**13, 1, 10_000)], policy)
    assert one.numbers is not None and one.numbers.endswith("0.01 when it came: each lets it go")
    assert one.detail.endswith("so long ago that each member lets it go")
