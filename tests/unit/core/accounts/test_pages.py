"""The requests of lists for people: filters, cursors, and the kinds of orders that a key may see."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from memquorum.core.access import AUDIT, ERASE, EVERYONE, FORGET, Caller, Denied
from memquorum.core.accounts import pages
from memquorum.core.accounts.pages import EFFECTS, Seated
from memquorum.core.ids import shard_of
from memquorum.core.retrieval.paging import cursor
from memquorum.core.retrieval.query import BadRequest, Filters
from tests.builders.shard import NAMESPACE, memory_id

A = memory_id("a")
READ: dict[str, Callable[[bytes], Any]] = {
    "goals": pages.read_goals,
    "pins": pages.read_pins,
    "holds": pages.read_holds,
    "orders": lambda body: pages.read_orders(body, EVERYONE),
    "epochs": lambda body: pages.read_epochs(body, 4),
    "members": lambda body: pages.read_members(body, 4),
}
EACH = pytest.mark.parametrize("what", pages.LISTS)


def read_request(what: str, **body: Any) -> Any:
    return READ[what](json.dumps({"namespace": NAMESPACE} | body).encode())


@EACH
def test_a_page_goes_on_where_its_own_list_ended_and_no_other_does(what: str) -> None:
    place: str | int = "sow seeds; & more" if what == "goals" else 7
    behind = read_request(what, cursor=cursor(what, NAMESPACE, place)).behind
    assert behind == ("goal:sow seeds; & more" if what == "goals" else 7)
    for other, where in ((next(one for one in pages.LISTS if one != what), NAMESPACE), (what, "mill")):
        with pytest.raises(BadRequest, match="a cursor of another list, or of another namespace") as refused:
            read_request(what, cursor=cursor(other, where, place))
        assert refused.value.field == "cursor"


@EACH
@pytest.mark.parametrize("place", ["", "zz", "-3", "9" * 16, "1.2", "\u0661"])
def test_a_cursor_that_leads_nowhere_is_refused(what: str, place: str) -> None:
    wrong = cursor(what, NAMESPACE, 1).partition(".")[0] + "." + place
    for value in ("", "x", wrong):
        with pytest.raises(BadRequest) as refused:
            read_request(what, cursor=value)
        assert refused.value.field == "cursor"


def test_a_shard_s_cursor_is_not_the_namespace_s_of_that_name() -> None:
    with pytest.raises(BadRequest, match="a cursor of another list"):
        pages.read_epochs(json.dumps({"namespace": "3", "cursor": cursor("epochs", 3, 9)}).encode(), 4)
    body = json.dumps({"shard": 3, "cursor": cursor("epochs", 3, 9)}).encode()
    assert pages.read_epochs(body, 4).behind == 9


def test_what_is_asked_of_what_protects() -> None:
    pin = read_request("pins", memory_id=A.upper(), ordered_by="key 1", reference="ticket-7", since=5, until=6, limit=3)
    assert (pin.kind, pin.memory_id, pin.ordered_by, pin.reference) == ("pin", A, "key 1", "ticket-7")
    assert (pin.since, pin.until, pin.limit, pin.gates) == (5, 6, 3, Filters())
    assert read_request("holds").kind == "hold" and read_request("holds", purpose="billing").gates.purpose == "billing"
    assert read_request("goals", goals=["sow"], memory_id=A).goals == ("goal:sow",)


def test_of_orders_a_key_sees_the_kinds_that_it_may_give_and_all_with_audit() -> None:
    def effects(*rights: str, **body: Any) -> set[str]:
        caller = Caller("k", ("*",), frozenset(rights))
        return set(pages.read_orders(json.dumps(body).encode(), caller).effects)

    assert effects(ERASE) == {"erased", "withheld"}
    assert effects(FORGET) == {"protected", "reclassified", "requested", "declined"}
    assert effects(AUDIT) == set(EFFECTS)
    assert effects(ERASE, FORGET) == set(EFFECTS) - {"profiled"}, "a profile is for its subject, and for an audit"
    assert effects(AUDIT, kinds=["erase"], effects=["withheld", "protected"]) == {"withheld"}
    assert effects(ERASE, effects=["protected"]) == set()
    with pytest.raises(Denied, match="'forget' or 'audit'"):
        effects(ERASE, kinds=["protect"])


def test_a_namespace_is_of_one_shard_and_a_shard_of_none() -> None:
    assert read_request("members", roles=["review"], seated=True) == Seated(
        namespace=NAMESPACE, shard=shard_of(NAMESPACE, 4), limit=100, seated=True, roles=("review",)
    )
    assert pages.read_members(b'{"shard": 3}', 4) == Seated(namespace=None, shard=3, limit=100)
    for shard, wrong in ((1, {"namespace": NAMESPACE}), (4, {}), (-1, {})):
        for read in (pages.read_members, pages.read_epochs):
            with pytest.raises(BadRequest) as refused:
                read(json.dumps({"shard": shard, **wrong}).encode(), 4)
            assert refused.value.field == "shard"


@pytest.mark.parametrize(
    ("what", "wrong", "field"),
    [
        ("goals", {"goals": []}, "goals"),
        ("goals", {"memory_id": "x"}, "memory_id"),
        ("pins", {"sensitivity_max": 2}, "sensitivity_max"),
        ("pins", {"ordered_by": ""}, "ordered_by"),
        ("pins", {"goals": ["sow"]}, "goals"),
        ("holds", {"since": 6, "until": 6}, "until"),
        ("holds", {"reference": "\0"}, "reference"),
        ("orders", {"kinds": ["patch"]}, "kinds"),
        ("orders", {"effects": []}, "effects"),
        ("epochs", {"kinds": ["erases"]}, "kinds"),
        ("members", {"roles": []}, "roles"),
        ("members", {"limit": 0}, "limit"),
        ("epochs", {"limit": 1_001}, "limit"),
        ("pins", {"namespace": "a b"}, "namespace"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_field(what: str, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read_request(what, **wrong)
    assert refused.value.field == field


@pytest.mark.parametrize("field", ["since", "until"])
def test_what_was_tried_has_no_one_time_by_which_it_could_be_listed(field: str) -> None:
    asked = json.dumps({"namespace": NAMESPACE, field: 1_700_000_000_000}).encode()
    with pytest.raises(BadRequest) as refused:
        pages.read_experiences(asked)
    assert (refused.value.code, refused.value.field) == ("unknown_field", field)
