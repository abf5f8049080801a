"""Configurations follow from one another by orders: one step at a time, and none that could not bear a liar."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consensus.certificate import (
    BadCertificate,
    check_decision,
    check_pre_prepare,
    follow,
    looked_back,
)
from memquorum.core.consensus.viewchange import check_view_change
from memquorum.core.identity.membership import Genesis, GenesisError, Member
from memquorum.core.identity.messages import UnknownConfiguration, open_any
from memquorum.core.orders.configuration import STEPS, apply, configuration_digest, next_id, order_id
from memquorum.core.records import Commit, PrePrepare, Signed, ViewChange
from memquorum.schema_files import load_codec
from tests import examples
from tests.builders.genesis import make, public_key
from tests.builders.votes import configuring, decision, nobody, order, proposal, signed

CODEC, GENESIS = load_codec(), make()
NEW = {"member": 4, "name": "auditor", "role": "review", "public_key": public_key("member:4"), "weight_milli": 1000}


def ordered(genesis: Genesis, action: str, **changes: Any) -> Genesis:
    return apply(genesis, order(genesis, action, **changes))


def test_each_step_changes_what_it_says_and_nothing_else() -> None:
    before = GENESIS.members
    added = ordered(GENESIS, "add", **NEW)
    assert added.members == (*before, Member(4, "auditor", "review", public_key("member:4"), 1000))
    assert ordered(added, "remove", member=2).members == (*before[:2], *added.members[3:])
    assert ordered(GENESIS, "weight", member=2, weight_milli=1300).members[2] == replace(before[2], weight_milli=1300)
    key = public_key("member:3'")
    assert ordered(GENESIS, "rotate", member=3, public_key=key).members[3] == replace(before[3], public_key=key)
    rated = ordered(GENESIS, "reliability", reliabilities=(1000, 900, 1000, 800))
    assert [m.reliability_milli for m in rated.members] == [1000, 900, 1000, 800]
    served = ordered(GENESIS, "rotate-service", name="journal", public_key=public_key("service:journal'"))
    assert served.services == GENESIS.services | {"journal": public_key("service:journal'")}
    assert served.members == before and configuration_digest(served) != configuration_digest(replace(GENESIS, config=1))
    for made in (added, rated):
        assert (made.config, made.previous, made.cluster, made.policy) == (1, GENESIS, GENESIS.cluster, GENESIS.policy)


@pytest.mark.parametrize(
    ("action", "changes", "complaint"),
    [
        ("promote", {}, "not one of add, remove"),
        ("add", NEW | {"member": 5}, "next member has id 4, not 5"),
        ("add", NEW | {"member": 3}, "next member has id 4, not 3"),
        ("add", NEW | {"name": ""}, "name: must be printable"),
        ("add", NEW | {"role": " "}, "role: must be printable"),
        ("add", NEW | {"name": "member-1"}, "share a name"),
        ("add", NEW | {"public_key": b"short"}, "32 bytes"),
        ("add", NEW | {"public_key": public_key("member:2")}, "has, or had, this key"),
        ("add", NEW | {"public_key": public_key("service:journal")}, "has, or had, this key"),
        ("add", NEW | {"public_key": public_key("operator")}, "share a key"),
        ("add", NEW | {"weight_milli": 0}, "positive"),
        ("add", NEW | {"weight_milli": 2500}, "third of the weight"),
        ("remove", {"member": 4}, "no member 4"),
        ("remove", {"member": 0}, "3 members"),
        ("rotate", {"member": -1, "public_key": public_key("x")}, "no member -1"),
        ("rotate", {"member": 0, "public_key": public_key("member:0")}, "has, or had, this key"),
        ("rotate-service", {"name": "commit", "public_key": public_key("x")}, "not one of the services nomination"),
        ("rotate-service", {"name": "journal", "public_key": public_key("service:nomination")}, "has, or had, this"),
        ("rotate-service", {"name": "journal", "public_key": public_key("member:2")}, "has, or had, this key"),
        ("rotate-service", {"name": "journal", "public_key": public_key("operator")}, "share a key"),
        ("weight", {"member": 0, "weight_milli": 1500}, "this weight already"),
        ("weight", {"member": 0, "weight_milli": -1}, "positive"),
        ("weight", {"member": 0, "weight_milli": 2**31}, "positive"),
        ("weight", {"member": 0, "weight_milli": 1750}, "third of the weight"),
        ("reliability", {"reliabilities": (1000, 1000, 1000)}, "3 reliabilities for 4 members"),
        ("reliability", {"reliabilities": (1000,) * 4}, "these reliabilities already"),
        ("reliability", {"reliabilities": (1000, 1000, 1000, 0)}, "lies in"),
        ("reliability", {"reliabilities": (1001, 1000, 1000, 1000)}, "lies in"),
        ("reliability", {"reliabilities": (1000, 1000, 200, 200)}, "third of Σ"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_name(action: str, changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(GenesisError, match=complaint):
        ordered(GENESIS, action, **changes)


def test_an_order_means_one_configuration_and_can_be_carried_out_once() -> None:
    wanted = order(GENESIS, "weight", member=2, weight_milli=1200)
    made = apply(GENESIS, wanted)
    with pytest.raises(GenesisError, match="for configuration 0, and 1 is in force"):
        apply(made, wanted)
    # Two shards may have come to a configuration 1 each of its own.
    other = ordered(GENESIS, "weight", member=3, weight_milli=1200)
    with pytest.raises(GenesisError, match="another configuration 1 than this shard's"):
        apply(other, order(made, "weight", member=2, weight_milli=1000))
    with pytest.raises(GenesisError):
        apply(make(shards=8), wanted)


def test_neither_an_id_nor_a_key_comes_again() -> None:
    added = ordered(GENESIS, "add", **NEW)
    left = ordered(added, "remove", member=4)
    assert next_id(left) == 5
    for again in (NEW, NEW | {"member": 5}):
        with pytest.raises(GenesisError, match=r"id 5, not 4|has, or had, this key"):
            ordered(left, "add", **again)
    rotated = ordered(GENESIS, "rotate", member=2, public_key=public_key("member:2'"))
    with pytest.raises(GenesisError, match="has, or had, this key"):
        ordered(rotated, "rotate", member=2, public_key=public_key("member:2"))


def test_who_spoke_for_an_agent_and_left_is_followed_by_the_hash() -> None:
    genesis = make(5, agents={"planner": 1, "scout": 2})
    left = ordered(genesis, "remove", member=1)
    assert left.agents == {"scout": 2}
    assert left.member_of("planner") in {0, 2, 3, 4}


# Any line of orders --------------------------------------------------------------------------------------------------

steps = st.tuples(
    st.sampled_from(list(STEPS)), st.integers(-1, 8), st.integers(-1, 3000), st.lists(st.integers(-1, 1001), max_size=8)
)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(steps, max_size=12))
def test_whatever_is_ordered_every_configuration_bears_f_liars(wanted: list[tuple[str, int, int, list[int]]]) -> None:
    genesis, used = GENESIS, {0, 1, 2, 3}
    for count, (action, member, weight, rates) in enumerate(wanted):
        told = (rates + [1000] * genesis.n)[: genesis.n]
        try:
            made = ordered(
                genesis, action, member=next_id(genesis) if action == "add" else member, role="r",
                name=("nomination", "journal")[count % 2] if action == "rotate-service" else f"m{count}",
                public_key=public_key(f"key {count}"), weight_milli=weight, reliabilities=tuple(told),
            )  # fmt: skip
        except GenesisError:
            continue
        ids = [m.id for m in made.members]
        assert made.n >= 4 and ids == sorted(set(ids)) and len({m.public_key for m in made.members}) == made.n
        for weigh in (lambda m: m.weight_milli, lambda m: m.voice):
            weights = sorted(map(weigh, made.members), reverse=True)
            assert 3 * sum(weights[: made.f]) < sum(weights)
        # One step: the quorum of the configuration before is there without the new member of this one.
        assert len(set(made.members) ^ set(genesis.members)) <= 2 or action == "reliability"
        new = set(ids) - {m.id for m in genesis.members}
        assert not new & used
        used |= new
        assert made.of(genesis.config) is genesis and configuration_digest(made) != configuration_digest(genesis)
        genesis = made


# Certificates --------------------------------------------------------------------------------------------------------

WEIGHT = {"member": 2, "weight_milli": 1200}
KEY = {"member": 1, "public_key": public_key("member:1'")}


def test_a_decision_holds_everything_that_the_next_configuration_follows_from() -> None:
    first = configuring(CODEC, GENESIS, order(GENESIS, "weight", **WEIGHT), epoch=3)
    checked = check_decision(CODEC, GENESIS, *first)
    one = checked.configures
    assert one is not None and (one.config, one.begins, one.members[2].weight_milli) == (1, 4, 1200)
    assert checked.outcomes[0].outcome == "configured"
    second = configuring(CODEC, one, order(one, "rotate", member=0, public_key=public_key("member:0'")), epoch=9)
    two = follow(CODEC, GENESIS, [first, second])
    assert (two.config, two.begins, two.key_of("member:0")) == (2, 10, public_key("member:0'"))
    assert [two.at(seq).config for seq in (1, 3, 4, 9, 10, 99)] == [0, 0, 1, 1, 2, 2]
    assert [c and c.config for c in map(two.of, (0, 1, 2, 3, -1))] == [0, 1, 2, None, None]
    # Later decisions are signed by the new configuration's keys, and only those count.
    assert check_decision(CODEC, two, *decision(CODEC, two, [proposal("m", "forget")], epoch=10)).configures is None
    for wrong in (one, GENESIS):
        with pytest.raises(BadCertificate, match="of configuration 2"):
            check_decision(CODEC, wrong, *decision(CODEC, two, [proposal("m", "forget")], epoch=10))
    with pytest.raises(BadCertificate, match="configuration 2 does not decide sequence 9"):
        check_decision(CODEC, two, *decision(CODEC, two, [proposal("m", "forget")], epoch=9))


def test_a_quorum_that_does_not_want_it_leaves_everything_as_it_is() -> None:
    kept = configuring(CODEC, GENESIS, order(GENESIS, "weight", **WEIGHT), nobody)
    checked = check_decision(CODEC, GENESIS, *kept)
    assert checked.configures is None and checked.outcomes[0].outcome == "kept"
    with pytest.raises(BadCertificate, match="does not change configuration 0"):
        follow(CODEC, GENESIS, [kept])
    two_of_four = configuring(CODEC, GENESIS, order(GENESIS, "weight", **WEIGHT), lambda member, _: member < 2)
    assert check_decision(CODEC, GENESIS, *two_of_four).configures is None


def bent(**changes: Any) -> tuple[bytes, list[bytes]]:
    """A decision of an order that is wrong somewhere."""
    return configuring(CODEC, GENESIS, replace(order(GENESIS, "weight", **WEIGHT), **changes))


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (lambda: bent(cluster=b"c" * 32), "of another cluster"),
        (lambda: bent(config=1), "of configuration 1"),
        (lambda: bent(base=b"b" * 32), "another configuration 0 than"),
        (lambda: bent(member=9), "no member 9"),
        (lambda: bent(weight_milli=1750, member=0), "third of the weight"),
        (lambda: forged("member:0"), "signed a record that only operator"),
        (lambda: forged("service:nomination"), "signed a record that only operator"),
        (lambda: nominated(order=None, proposals=[proposal("m", "configure")]), "kind 'configure' needs an order"),
        (lambda: nominated(order=b""), "no single-object Avro"),
        (lambda: nominated(proposals=[proposal("m", "configure")]), "has to propose this order and nothing else"),
        (lambda: nominated(shard=1), "is for shard 0, not 1"),
    ],
)
def test_an_order_that_breaks_a_rule_is_in_no_certificate(made: Any, complaint: str) -> None:
    with pytest.raises(BadCertificate, match=complaint):
        check_pre_prepare(CODEC, GENESIS, made()[0])


def forged(signer: str) -> tuple[bytes, list[bytes]]:
    wanted = order(GENESIS, "weight", **WEIGHT)
    return nominated(order=signed(CODEC, GENESIS, signer, wanted))


def nominated(**changes: Any) -> tuple[bytes, list[bytes]]:
    """The order's own proposal, with something else around it."""
    body = CODEC.encode(order(GENESIS, "weight", **WEIGHT))
    own = replace(proposal(order_id(body), "configure"), namespace="")
    given = {"proposals": [own], "order": signed(CODEC, GENESIS, "operator", CODEC.decode(body))} | changes
    return decision(CODEC, GENESIS, **given)


def test_nothing_else_stands_in_an_epoch_that_configures() -> None:
    body = CODEC.encode(order(GENESIS, "weight", **WEIGHT))
    sealed = signed(CODEC, GENESIS, "operator", CODEC.decode(body))
    with pytest.raises(BadCertificate, match="nothing else"):
        check_pre_prepare(CODEC, GENESIS, decision(CODEC, GENESIS, [proposal("m", "forget")], order=sealed)[0])


# The services' keys --------------------------------------------------------------------------------------------------

NOMINATION, JOURNAL = (
    {"name": name, "public_key": public_key(f"service:{name}'")} for name in ("nomination", "journal")
)


def test_a_lost_nomination_key_is_not_needed_to_replace_it_and_counts_no_more_afterwards() -> None:
    wanted = order(GENESIS, "rotate-service", **NOMINATION)
    decided = configuring(CODEC, GENESIS, wanted)
    one = follow(CODEC, GENESIS, [decided])
    assert one.key_of("service:nomination") == public_key("service:nomination'")
    # The old key alone cannot even propose it, nor could a key come into force that nobody holds.
    with pytest.raises(BadCertificate, match="signature is not service:nomination's"):
        check_pre_prepare(CODEC, GENESIS, configuring(CODEC, GENESIS, wanted, makes=GENESIS)[0])
    # Its earlier signatures are valid, and no later one.
    before = decision(CODEC, GENESIS, [proposal("m", "forget")])
    assert check_decision(CODEC, one.at(1), *before)
    after = decision(CODEC, one, [proposal("m", "forget")], epoch=2)
    assert check_decision(CODEC, one, *after)
    stolen = decision(CODEC, one, [proposal("m", "forget")], epoch=2, makes=GENESIS)
    with pytest.raises(BadCertificate, match="signature is not service:nomination's"):
        check_decision(CODEC, one, *stolen)


def test_the_key_of_a_nomination_opens_no_other_order() -> None:
    """The next key of the nominations nominates the order that makes it, and nothing else before that is decided."""
    made = apply(GENESIS, order(GENESIS, "rotate-service", **NOMINATION))
    for made_by_it in (
        configuring(CODEC, GENESIS, order(GENESIS, "weight", **WEIGHT), makes=made),
        configuring(CODEC, GENESIS, order(GENESIS, "rotate-service", **JOURNAL), makes=made),
        decision(CODEC, GENESIS, [proposal("m", "forget")], makes=made),
    ):
        with pytest.raises(BadCertificate, match="signature is not service:nomination's"):
            check_pre_prepare(CODEC, GENESIS, made_by_it[0])


def test_who_looks_back_finds_nominations_of_every_key() -> None:
    decided = configuring(CODEC, GENESIS, order(GENESIS, "rotate-service", **NOMINATION))
    one = follow(CODEC, GENESIS, [decided])
    pre_prepares = (decided[0], decision(CODEC, one, [proposal("m", "forget")], epoch=2)[0])
    nominations = [CODEC.decode_as(PrePrepare, CODEC.decode_as(Signed, data).body).nomination for data in pre_prepares]
    assert [looked_back(CODEC, one, data).config for data in nominations] == [0, 1]
    with pytest.raises(UnknownConfiguration):
        looked_back(CODEC, GENESIS, nominations[1])


def test_without_an_operator_the_membership_holds_for_ever() -> None:
    genesis = make(operator=None)
    assert genesis.operator is None and genesis.key_of("operator") is None
    wanted = order(genesis, "weight", **WEIGHT)
    with pytest.raises(BadCertificate, match="names no operator"):
        check_pre_prepare(CODEC, genesis, decision(CODEC, genesis, [proposal("m", "configure")], order=b"x")[0])
    assert apply(genesis, wanted).config == 1  # the rules are one thing, who may order another


def test_who_looks_back_judges_by_the_configuration_that_a_message_names() -> None:
    one = follow(CODEC, GENESIS, [configuring(CODEC, GENESIS, order(GENESIS, "rotate", **KEY))])
    old = signed(CODEC, GENESIS, "member:1", Commit(GENESIS.cluster, 0, 0, 0, 1, 1, b"d" * 32))
    new = signed(CODEC, one, "member:1", Commit(GENESIS.cluster, 1, 0, 0, 2, 1, b"d" * 32))
    assert open_any(CODEC, one, old, Commit)[1] is GENESIS
    assert open_any(CODEC, one, new, Commit)[1] is one
    with pytest.raises(UnknownConfiguration):
        open_any(CODEC, GENESIS, new, Commit)


def test_a_view_change_at_the_first_sequence_is_proven_by_the_configuration_before() -> None:
    decided = configuring(CODEC, GENESIS, order(GENESIS, "rotate", **KEY))
    one = follow(CODEC, GENESIS, [decided])
    change = ViewChange(GENESIS.cluster, 1, 0, 1, 2, 1, tuple(decided[1][:3]), None)
    assert check_view_change(CODEC, one, signed(CODEC, one, "member:1", change)).record.seq == 2
    later = decision(CODEC, one, [proposal("m", "forget")], epoch=2)
    change = replace(change, seq=3, commits=tuple(later[1][:3]))
    assert check_view_change(CODEC, one, signed(CODEC, one, "member:1", change)).record.seq == 3
    with pytest.raises(BadCertificate):
        check_view_change(CODEC, one, signed(CODEC, one, "member:1", replace(change, commits=tuple(decided[1][:3]))))
