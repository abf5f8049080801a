"""The genesis file is refused where it could not bear a liar; quorums are right for every N."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.identity.membership import GenesisError, load
from tests.builders.genesis import make, make_bytes, public_key


@pytest.mark.parametrize(
    ("n", "f", "q"), [(4, 1, 3), (5, 1, 4), (6, 1, 4), (7, 2, 5), (10, 3, 7), (13, 4, 9), (100, 33, 67)]
)
def test_quorums(n: int, f: int, q: int) -> None:
    genesis = make(n)
    assert (genesis.f, genesis.quorum) == (f, q)
    # Two quorums share at least one honest member, and the honest alone make one.
    assert 2 * q - n >= f + 1
    assert n - f >= q


def test_the_cluster_is_the_hash_of_the_file() -> None:
    assert make().cluster != make(shards=8).cluster
    assert make().cluster == make().cluster


def test_agents_are_spoken_for() -> None:
    genesis = make(agents={"planner": 2})
    assert genesis.member_of("planner") == 2
    assert 0 <= genesis.member_of("anyone") < 4
    assert genesis.member_of("anyone") == make().member_of("anyone")


@pytest.mark.parametrize(
    "signer", ["member:4", "member:-1", "member:01", "member:+1", "member:", "service:x", "planner", ""]
)
def test_strangers_have_no_key(signer: str) -> None:
    assert make().key_of(signer) is None


def broken(change: Any) -> bytes:
    data = json.loads(make_bytes())
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda d: d.update(format=2), "format 2"),
        (lambda d: d.update(shards=0), "shards"),
        (lambda d: d["members"].pop(), "3 members"),
        (lambda d: d["members"][0].update(id=7), "count from 0"),
        (lambda d: d["members"][0].update(name="member-1"), "share a name"),
        (lambda d: d["members"][0].update(public_key="00"), "32 bytes"),
        (lambda d: d["members"][0].update(public_key=d["members"][1]["public_key"]), "share a key"),
        (lambda d: d["members"][0].update(weight_milli=0), "positive"),
        (lambda d: d["members"][0].update(reliability_milli=1001), "reliability"),
        # SPEC A, decision 0: with weights (1.5, 1, 1, 1) the heaviest member alone holds a third.
        (lambda d: d["members"][1].update(weight_milli=1000), "third of the weight"),
        # Weights that pass, reliabilities that leave the first member a third of what counts.
        (lambda d: [m.update(reliability_milli=500) for m in d["members"][1:]], "loudest"),
        (lambda d: d["services"].pop("journal"), "services"),
        (lambda d: d["agents"].update(x=4), "unknown member"),
        (lambda d: d["policy"]["forget"].update(alpha="1/2"), "forget.alpha"),
        (lambda d: d["policy"].update(colour={}), "'colour'"),
        (lambda d: d["policy"]["decay"].update(speed=1), "decay.speed"),
        (lambda d: d["policy"]["epoch"].update(interactions="many"), "epoch.interactions"),
        (lambda d: d.pop("members"), "KeyError"),
        (lambda d: d.update(agent_keys={"a": "00"}), "32 bytes"),
        (lambda d: d.update(agent_keys={"a": d["members"][0]["public_key"]}), "share a key"),
        (lambda d: d.update(agent_keys={" a": "ab" * 32}), "no agent can have that name"),
        (lambda d: d.update(namespaces={"n": {"require_signature": True}}), "agent_keys is empty"),
        (lambda d: d.update(namespaces={"n": {"require_signature": "yes"}}), "only term is require_signature"),
        (lambda d: d.update(namespaces={"n": {"require_signatures": True}}), "only term is require_signature"),
        (
            lambda d: d.update(agent_keys={"a": "ab" * 32}, namespaces={"a/b": {"require_signature": True}}),
            "namespaces: one cannot",
        ),
        (lambda d: d.update(namespaces=[]), "AttributeError"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_name(change: Any, complaint: str) -> None:
    with pytest.raises(GenesisError, match=complaint):
        load(broken(change))


def test_who_signs_is_said_only_where_somebody_does() -> None:
    plain = make_bytes()
    assert make_bytes(agent_keys={}, signed=()) == plain
    assert "agent_keys" not in json.loads(plain)
    key = public_key("agent:planner")
    made = make_bytes(agent_keys={"planner": key}, signed={"b", "a"})
    genesis = load(made)
    assert (genesis.agent_keys, genesis.signed) == ({"planner": key}, frozenset({"a", "b"}))
    again = json.loads(made)
    assert again["namespaces"] == {"a": {"require_signature": True}, "b": {"require_signature": True}}
    again["namespaces"]["a"] = {"require_signature": False}
    assert load(json.dumps(again).encode()).signed == {"b"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda d, v: d.update(shards=v), "shards"),
        (lambda d, v: d["members"][1].update(id=v), "member id"),
        (lambda d, v: d["members"][1].update(weight_milli=v), "weight_milli"),
        (lambda d, v: d["members"][1].update(reliability_milli=v), "reliability_milli"),
        (lambda d, v: d["agents"].update(x=v), "agents"),
    ],
)
@pytest.mark.parametrize("value", [1.0, 1.5, True, "1", None])
def test_what_is_counted_is_a_whole_number(change: Any, field: str, value: object) -> None:
    with pytest.raises(GenesisError, match=field):
        load(broken(lambda d: change(d, value)))


@pytest.mark.parametrize("value", [1.0, True])
def test_the_format_is_the_number_one(value: object) -> None:
    with pytest.raises(GenesisError, match="format"):
        load(broken(lambda d: d.update(format=value)))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"\xff"])
def test_what_is_no_genesis_is_refused(content: bytes) -> None:
    with pytest.raises(GenesisError):
        load(content)


def test_members_propose_in_turn_and_the_opener_of_a_view_stays() -> None:
    genesis = make(shards=2)
    assert [genesis.primary(1, 0, seq) for seq in (1, 64, 65, 128, 129, 193, 257)] == [1, 1, 2, 2, 3, 0, 1]
    assert [genesis.primary(0, 2, seq) for seq in (1, 64, 65)] == [2, 2, 3]
    assert [genesis.opener(1, view) for view in range(5)] == [1, 2, 3, 0, 1]


def test_ids_are_names_and_no_places() -> None:
    """After a member has left, the others keep their ids; the leader is known by its id."""
    whole = make(7)
    genesis = replace(whole, members=tuple(m for m in whole.members if m.id not in (0, 3)))
    assert [genesis.primary(0, view, 1) for view in range(6)] == [1, 2, 4, 5, 6, 1]
    assert [genesis.opener(1, view) for view in range(5)] == [2, 4, 5, 6, 1]
    assert {genesis.member_of(f"agent-{i}") for i in range(64)} == {1, 2, 4, 5, 6}
    assert genesis.key_of("member:4") == public_key("member:4") and genesis.key_of("member:6") == public_key("member:6")
    assert genesis.key_of("member:0") is None and genesis.key_of("member:3") is None
    assert [m and m.id for m in map(genesis.member, range(-1, 8))] == [None, None, 1, 2, None, 4, 5, 6, None]
