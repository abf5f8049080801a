"""Another policy is an order: the operator signs it, the members decide, and who follows the journal judges by it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from db.store import Start
from memquorum.core.accounts import explain, telling
from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.commit.applying import Scored
from memquorum.core.commit.assembly import Certified
from memquorum.core.commit.spine import Item
from memquorum.core.consensus.certificate import BadCertificate, Verified, check_decision, check_pre_prepare, follow
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import DecisionRow, Dropped
from memquorum.core.orders.configuration import POLICY, apply, configuration_digest, order_id
from memquorum.core.orders.restore import REQUEST, check, most
from memquorum.core.policy import (
    CapsPolicy,
    DecayPolicy,
    EpochPolicy,
    LearnedPolicy,
    Policy,
    PolicyError,
    PromotePolicy,
    ProtectionPolicy,
    SaliencePolicy,
    differences,
    read,
    to_json,
    written,
)
from memquorum.core.records import PrePrepare, RestoreOrdered, Signed
from memquorum.schema_files import load_codec
from tests.builders.configured import carried_out
from tests.builders.facts import facts
from tests.builders.genesis import make
from tests.builders.published import publish
from tests.builders.shard import NAMESPACE, Shard, accepted, memory_id, scored
from tests.builders.votes import configuring, decision, order, proposal, signed
from workers.commit.commit_shard import Batch, CommitShard
from workers.retrieval.configurations import Configurations as Served

CODEC, GENESIS = load_codec(), make()
FIRST = GENESIS.policy
SHORT = replace(FIRST, forget=replace(FIRST.forget, grace_ms=5_000, theta_ppm=500_000))
HOUR = 3_600_000


def ordered(genesis: Genesis, policy: Policy) -> Genesis:
    return apply(genesis, order(genesis, POLICY, policy=written(policy)))


def test_an_order_makes_a_configuration_with_another_policy_and_changes_nothing_else() -> None:
    made = ordered(GENESIS, SHORT)
    assert (made.policy, made.config, made.previous, made.policy_version) == (SHORT, 1, GENESIS, 1)
    assert (made.members, made.services, made.founding) == (GENESIS.members, GENESIS.services, GENESIS)
    assert configuration_digest(made) != configuration_digest(replace(made, policy=FIRST))
    later = apply(made, order(made, "weight", member=2, weight_milli=1200))
    assert (later.policy, later.config, later.policy_version) == (SHORT, 2, 1)
    back = ordered(later, FIRST)
    assert (back.policy, back.policy_version, back.at(1).policy) == (FIRST, 3, FIRST)


def first_policy_json(**changes: dict[str, Any]) -> str:
    """The first policy, as an order holds it, with other settings, some of which no policy has."""
    data = json.loads(written(FIRST))
    for section, values in changes.items():
        data[section] = data.get(section, {}) | values
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON"),
        ("[]", "list is no object"),
        ("{}", "leaves out decay.scales_s, "),
        (first_policy_json(mood={"good": 1}), "unknown section 'mood'"),
        (first_policy_json(forget={"haste": 1}), r"unknown setting forget\.haste"),
        (first_policy_json(forget={"theta_ppm": "much"}), "'much' is not a int"),
        (first_policy_json(budget={"ttl_ms": 5}), r"budget\.ttl_ms = 5 is not a list of four"),
        (first_policy_json(budget={"priority_ppm": 5}), r"budget\.priority_ppm = 5 is not a list of three"),
        (first_policy_json(decay={"scales_s": 5}), r"decay\.scales_s = 5 is not a list$"),
        (first_policy_json(forget={"theta_ppm": 1_000_001}), r"forget\.theta_ppm must lie in \[0, 1000000\]"),
        (first_policy_json(forget={"grace_ms": 10**15}), r"forget\.grace_ms must lie in"),
        (first_policy_json(forget={"alpha": "1/2"}), r"forget\.alpha must lie in \(1/2, 1\]"),
        (first_policy_json(forget={"alpha": "3/4"}), r"forget\.alpha must not be above 7/10: without the 1 loudest"),
        (first_policy_json(decay={"delta": 2}), r"decay\.delta must lie between"),
        (first_policy_json(caps={"day_ms": 10**12}), r"caps\.day_ms must lie in"),
        (first_policy_json(epoch={"proposals_max": 99}), r"proposals_max must not be below 100: a request that stands"),
        (first_policy_json(epoch={"retry_ms": 10**9}), r"epoch\.retry_ms must lie in"),
        (first_policy_json(salience={"encode_threshold": 0.1}), r"salience\.encode_threshold: only the genesis file"),
        (first_policy_json(forget={"theta_ppm": 500_000}) + " ", "not written as"),
        (json.dumps(to_json(SHORT)), "not written as"),
        (first_policy_json(), "is in force already"),
    ],
)
def test_what_breaks_a_rule_is_refused_by_name(text: str, complaint: str) -> None:
    with pytest.raises(GenesisError, match=complaint):
        apply(GENESIS, order(GENESIS, POLICY, policy=text))


def test_who_is_not_the_operator_changes_no_policy_and_no_order_holds_for_another_configuration() -> None:
    wanted = order(GENESIS, POLICY, policy=written(SHORT))
    assert check_pre_prepare(CODEC, GENESIS, configuring(CODEC, GENESIS, wanted)[0]).configures is not None
    own = replace(proposal(order_id(CODEC.encode(wanted)), "configure"), namespace="")
    for signer in ("member:0", "service:nomination"):
        forged = signed(CODEC, GENESIS, signer, wanted)
        with pytest.raises(BadCertificate, match="signed a record that only operator"):
            check_pre_prepare(CODEC, GENESIS, decision(CODEC, GENESIS, [own], order=forged)[0])
    made = ordered(GENESIS, SHORT)
    with pytest.raises(GenesisError, match="for configuration 0, and 1 is in force"):
        apply(made, wanted)
    other = replace(SHORT, caps=CapsPolicy(Fraction(1, 5)))
    with pytest.raises(GenesisError, match="another configuration 1 than this shard's"):
        apply(made, order(ordered(GENESIS, other), POLICY, policy=written(FIRST)))


policies = st.builds(
    lambda theta, grace, scale, share, lapse, age: replace(
        FIRST,
        forget=replace(FIRST.forget, theta_ppm=theta, grace_ms=grace),
        decay=DecayPolicy(scales_s=(10.0, 60.0, scale)),
        caps=CapsPolicy(epoch_share=Fraction(1, share)),
        protection=ProtectionPolicy(lapse_ms=lapse),
        promote=PromotePolicy(age_ms=age),
    ),
    st.integers(0, 1_000_000), st.integers(0, 10**12), st.floats(61, 10**6), st.integers(1, 20), st.integers(1, 10**12),
    st.integers(0, 10**9),
)  # fmt: skip


@given(policies)
def test_a_policy_has_one_text(policy: Policy) -> None:
    assert read(written(policy)) == policy
    assert differences(policy, policy) == {}
    assert ("decay.scales_s" in differences(FIRST, policy)) == (policy.decay != FIRST.decay)
    for wrong in (written(policy) + " ", json.dumps(to_json(policy)), written(policy).replace("{", '{"x":{},', 1)):
        with pytest.raises(PolicyError):
            read(wrong)


@settings(max_examples=30, deadline=None)
@given(st.lists(policies, min_size=1, max_size=5))
def test_an_order_that_is_published_again_anywhere_changes_nothing(wanted: Sequence[Policy]) -> None:
    """Each order is decided once. Every later configuration refuses each earlier one, whoever nominates it."""
    now, given_, made = GENESIS, [], []
    for policy in wanted:
        if policy == now.policy:
            continue
        one = order(now, POLICY, policy=written(policy))
        made.append(configuring(CODEC, now, one, epoch=len(made) + 1))
        given_.append(one)
        now = follow(CODEC, GENESIS, made)
        assert (now.policy, now.config) == (policy, len(made))
        for before in given_:
            with pytest.raises(GenesisError):
                apply(now, before)
    assert [now.of(at).policy for at in range(len(made) + 1)] == [FIRST, *(read(one.policy) for one in given_)]  # type: ignore[union-attr]


# Who follows ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def shard(codec: Codec) -> Shard:
    """One episode is dropped by the first policy and one by the second; two memories are forgotten, each by its own."""
    made = Shard(codec, GENESIS)
    made.episode("a")
    made.episode("b")
    made.episode("faint", outcome="below_threshold")
    made.tick(200_000)
    made.decide([proposal(memory_id("a"), "forget")])
    carried_out(made, POLICY, policy=written(SHORT))
    made.episode("fainter", at=200_000, outcome="below_threshold")
    made.tick(200_000)
    made.decide([proposal(memory_id("b"), "forget")])
    made.tick(206_000)
    made.destroy(memory_id("b"), memory_id("fainter"))
    return made


def test_what_is_decided_before_and_after_follows_its_own_policy(shard: Shard) -> None:
    dropped = [one.destroy_at for change in shard.changes for one in change.of(Dropped)]
    assert dropped == [1_000 + FIRST.forget.grace_ms, 200_000 + 5_000]
    a, b = (shard.rows.memories[memory_id(name)] for name in "ab")
    assert (a.tier, a.sealed_until, b.tier) == ("sealed", 200_000 + FIRST.forget.grace_ms, "gone")


def test_a_rebuild_comes_to_the_same_and_of_a_shorter_journal_to_what_held_then(shard: Shard, codec: Codec) -> None:
    public = publish(shard)
    for length in (4, 5, 6, len(public.entries)):
        replay = Replay(Rules(codec, GENESIS), 0)
        steps = [replay.take([replay.read(data)]) for data in public.entries[:length]]
        assert replay.state == shard.changes[length - 1].state
        config = replay.configuration
        assert (config.policy, config.policy_version) == ((FIRST, 0) if length < 6 else (SHORT, 1))
        told = [one.destroy_at for step in steps for one in step.net.of(Dropped)]
        assert told == [one.destroy_at for change in shard.changes[:length] for one in change.of(Dropped)]


def test_an_audit_follows_and_finds_who_goes_on_by_the_policy_of_before(shard: Shard, codec: Codec) -> None:
    public = replace(publish(shard), rules=Rules(codec, GENESIS))
    assert public.audit(store=True, accepted=True).findings == ()
    late = Shard(codec, GENESIS)
    late.episode("b")
    late.tick(200_000)
    carried_out(late, POLICY, policy=written(replace(SHORT, forget=replace(SHORT.forget, grace_ms=9 * 24 * HOUR))))
    # The commit worker destroys what by the first policy would be due.
    late.episode("faint", at=200_000, outcome="below_threshold")
    late.tick(200_000 + FIRST.forget.grace_ms)
    late.destroy(memory_id("faint"))
    found = replace(publish(late), rules=Rules(codec, GENESIS)).audit().findings
    assert [finding.kind for finding in found] == [Kind.EFFECT_UNDECIDED]


def test_what_stands_behind_a_decision_in_one_batch_is_judged_by_what_it_decides(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.tick(200_000)
    state = shard.rows.state
    made = configuring(
        codec, GENESIS, order(GENESIS, POLICY, policy=written(SHORT)), epoch=1, seq=1, as_of=200_000, accepted_offset=0
    )
    checked = check_decision(codec, GENESIS, *made)
    line = CommitShard(Rules(codec, GENESIS), Start(state, {}, 0, {}))
    episode = accepted("faint", 200_000)
    item = Item(1, episode, Scored(0, scored(episode, 1, "below_threshold")))
    batch = Batch(Certified(checked, tuple(made[1]), 0, Verified()), [item])
    net = batch.apply(line.rules, shard.rows, {}, {}, line.tombstones)
    assert [one.destroy_at for one in net.of(Dropped)] == [205_000]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line.decisions, "decided", lambda _: None)
        line.applied(batch, net)
    assert line.rules.genesis.policy == SHORT and line.since == 200_000 - SHORT.caps.day_ms


def test_nothing_that_stands_in_the_stream_stops_to_hold_by_another_policy(codec: Codec) -> None:
    """The first policy limits the memories of a request: the next one still reads what it accepted."""
    small = make(policy=Policy(epoch=EpochPolicy(proposals_max=2)))
    wide = ordered(small, replace(small.policy, epoch=EpochPolicy(proposals_max=50)))
    ids = tuple(memory_id(str(n)) for n in range(3))
    request = RestoreOrdered(small.cluster, memory_id("request"), NAMESPACE, ids, "ops", 1_000)
    check(request, wide.policy)
    assert (most(small.policy), most(wide.policy)) == (2, 50)
    data = signed(codec, small, "operator", request)
    for genesis in (small, wide):
        with pytest.raises(ValueError, match="at most 2 at once"):
            REQUEST.opened(codec, genesis, data)


# The stages, and what is told ----------------------------------------------------------------------------------------


def test_an_account_says_by_which_policy(shard: Shard, codec: Codec) -> None:
    decided = [change.one(DecisionRow) for change in shard.changes if change.configures is not None]
    configured = tuple((one.pre_prepare, one.commits) for one in decided if one is not None)
    found = replace(facts(shard, memory_id("b")), configured=configured)
    now = explain.configured(codec, GENESIS, found.configured)
    account = explain.explain(codec, now, found)
    assert (account.policy_version, [one.config for one in account.votes]) == (1, [1])
    text = "\n".join(telling.lines(account, now))
    assert "Judged by policy 1." in text and "The members judge by policy 1, which they agreed on" in text
    first = facts(shard, memory_id("a"))
    assert "Judged by policy" not in "\n".join(telling.lines(explain.explain(codec, now, first), now))


def test_salience_is_the_genesis_files_for_good() -> None:
    with pytest.raises(GenesisError, match="only the genesis file"):
        ordered(GENESIS, replace(FIRST, salience=SaliencePolicy(novelty=0.4)))


def test_what_was_learned_may_be_ordered() -> None:
    """Each score says by which coefficients it was made."""
    taught = LearnedPolicy(rank_ppm=1_000_000, middle_ppm=500_000)
    assert ordered(GENESIS, replace(FIRST, learned=taught)).policy.learned == taught


class Rows:
    """The store's rows of configurations: the port of `db.reads` that is asked."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, bytes, tuple[bytes, ...]]] = []
        self.asked: list[list[int]] = []

    async def configured(self, known: list[int]) -> list[tuple[int, bytes, tuple[bytes, ...]]]:
        self.asked.append(known)
        return [row for row in self.rows if check_seq(row[1]) > known[row[0]]]


def check_seq(pre_prepare: bytes) -> int:
    return CODEC.decode_as(PrePrepare, CODEC.decode_as(Signed, pre_prepare).body).seq


async def test_the_service_takes_up_what_was_decided_and_nothing_that_is_not_proven(codec: Codec) -> None:
    told_, store = Served(codec, GENESIS), Rows()
    await told_.look(store)  # type: ignore[arg-type]
    assert told_.policy(NAMESPACE) == FIRST and store.asked == [[0] * GENESIS.shards]
    pre_prepare, commits = configuring(codec, GENESIS, order(GENESIS, POLICY, policy=written(SHORT)))
    store.rows = [(0, pre_prepare, tuple(commits[:2]))]
    await told_.look(store)  # type: ignore[arg-type]
    assert told_.policy(NAMESPACE) == FIRST
    store.rows = [(0, pre_prepare, tuple(commits))]
    await told_.look(store)  # type: ignore[arg-type]
    assert (told_.policy(NAMESPACE), told_.of(1).policy) == (SHORT, FIRST)
    await told_.look(store)  # type: ignore[arg-type]
    assert store.asked[-1] == [1, *[0] * (GENESIS.shards - 1)]
    alone = Served(codec, replace(GENESIS, operator=None))
    await alone.look(None)  # type: ignore[arg-type]
