"""A namespace's decisions, vote by vote: as an account has them for each memory, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.accounts import decisions, explain, telling
from memquorum.core.accounts.decisions import EPOCHS_MOST, Found, PageStart, Voted, page, read_decisions, read_wanted
from memquorum.core.api.answers import Decision, Subject
from memquorum.core.avro import Codec
from memquorum.core.records import Lot, Proposal, Weighed
from memquorum.core.retrieval.query import BadRequest
from tests.builders.decided import first_page
from tests.builders.facts import CODEC, facts
from tests.builders.published import GENESIS, A, B, C, D, lively
from tests.builders.shard import NAMESPACE, Shard
from tests.builders.votes import nobody, proposal

WEIGHED = Weighed(
    "worth", 2, 5_000, 5_100, 24, "episodic", 0, (500_000, 0, 0, 0, 200_000, 0, 0), 99_999, 4_166_625_000,
    "least worth its tokens",
)  # fmt: skip


@pytest.fixture
def shard() -> Shard:
    """A, B and C are of short-term memory, and were not voted on."""
    made = Shard(CODEC, GENESIS)
    for name in "abc":
        made.episode(name, at=500)
    made.tick(200_000)
    return made


def listed(shard: Shard, **more: Any) -> tuple[Decision, ...]:
    return read_decisions(CODEC, GENESIS, first_page(shard, **more))


def test_each_vote_says_what_the_account_of_its_memory_says() -> None:
    shard = lively(Shard(CODEC, GENESIS))
    made = listed(shard)
    assert [(one.epoch, one.memories[0].memory_id, one.outcome) for one in made] == [
        (2, C, "forgotten"), (1, D, "voided"), (1, C, "kept"), (1, B, "promoted"), (1, A, "forgotten"),
    ]  # fmt: skip
    for one in made:
        wanted = one.memories[0].memory_id
        account = explain.explain(CODEC, GENESIS, facts(shard, wanted))
        (vote,) = (vote for vote in account.votes if vote.epoch == one.epoch)
        assert one.vote == explain.plain(vote) and one.journal_seq == vote.journal_seq
        words = list(telling.voted(vote, wanted, GENESIS))
        assert [line for line in one.numbers if "About" not in line] == words
        assert "\n".join(words) in "\n".join(telling.lines(account, GENESIS)), "as explain words it"
    json.dumps([one.vote for one in made])
    assert f"  About {A}, now gone, its key destroyed." in made[-1].numbers
    assert (made[2].why, made[2].reason) == ("too few members were for it", "too_few_votes")
    assert made[1].why == "it was used after the vote began, so the vote does not count"


def test_what_a_budget_had_go_has_its_policy_its_features_by_name_and_its_score(shard: Shard) -> None:
    shard.decide([replace(proposal(A, "evict"), reason="budget", weighed=WEIGHED)], trigger="budget")
    (one,) = listed(shard)
    assert (one.kind, one.policy, one.score) == ("evict", "worth", 4.166625)
    assert one.features == {
        "recency": 0.5, "accesses": 0, "goals": 0, "centrality": 0, "worth": 0.2, "novelty": 0, "urgency": 0,
    }  # fmt: skip
    assert one.proposed == "because its namespace held more tokens than its budget"
    assert "each times worth: recency 0.5," in "\n".join(one.numbers)
    assert "score 4.1666 per 1,000 tokens." in "\n".join(one.numbers)
    shard.decide([replace(proposal(B, "evict"), weighed=replace(WEIGHED, net_ppm=-100_000, score=-100_000))])
    assert listed(shard)[0].score == -0.1


@pytest.mark.parametrize("policy", ["fifo", "lru", "random", "priority"])
def test_a_policy_that_goes_by_no_score_has_neither_features_nor_score(shard: Shard, policy: str) -> None:
    shard.decide([replace(proposal(A, "evict"), reason="budget", weighed=replace(WEIGHED, policy=policy))])
    (one,) = listed(shard)
    assert (one.policy, one.features, one.score) == (policy, None, None)
    assert "The nominator weighed" not in str(one)


def test_what_is_drawn_among_near_ties_tells_no_features_and_no_score(shard: Shard) -> None:
    drawn = replace(WEIGHED, sensitivity_ppm=None, features=(), net_ppm=None, score=None, lot=Lot(3, (A, B), 0))
    shard.decide([replace(proposal(A, "evict"), reason="budget", weighed=drawn)], trigger="budget")
    (one,) = listed(shard)
    assert (one.policy, one.features, one.score) == ("worth", None, None)
    numbers = "\n".join(one.numbers)
    assert "Its features and its score are withheld" in numbers and "It was drawn among 3" in numbers


def test_a_vote_on_several_memories_is_one_decision(shard: Shard) -> None:
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    (one,) = listed(shard)
    assert one.memories == (Subject(B, "short-term"), Subject(A, "superseded"))
    assert one.numbers[0].endswith("Outcome: superseded"), "as for the one that it is against"
    assert f"  The newer one is {B}; the vote was whether it takes the place of {A}." in one.numbers
    assert set(one.numbers[-2:]) == {f"  Now in short-term memory: {B}.", f"  Now superseded: {A}."}


def test_what_names_more_than_a_reader_sees_is_left_out(shard: Shard) -> None:
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    shard.decide([proposal(C, "promote")])
    whole = first_page(shard)
    cut = replace(whole.voted[1], memories=(Subject(A, "superseded"),))
    made = read_decisions(CODEC, GENESIS, replace(whole, voted=(whole.voted[0], cut)))
    assert [one.memories[0].memory_id for one in made] == [C]


def test_a_certificate_that_proves_nothing_tells_nothing_but_that(shard: Shard) -> None:
    shard.decide([proposal(A, "forget")])
    whole = first_page(shard)
    bad = replace(whole, epochs={1: replace(whole.epochs[1], commits=whole.epochs[1].commits[:2])})
    (one,) = read_decisions(CODEC, GENESIS, bad)
    assert one.vote["complaint"] == "decision: 2 commits, 3 are needed" and one.vote["opinions"] == []
    assert (one.kind, one.outcome, one.proposed, one.policy) == ("forget", "forgotten", None, None)
    assert one.numbers[0] == "Epoch 1 of shard 0: forgotten, but the certificate proves nothing: decision: 2 commits, 3 are needed"  # noqa: E501  # fmt: skip
    other = replace(whole, voted=(replace(whole.voted[0], memories=(Subject(B, "short-term"),)),))
    assert read_decisions(CODEC, GENESIS, other)[0].vote["complaint"] == f"the certificate does not speak of {B}"


def test_a_page_ends_where_enough_certificates_were_checked() -> None:
    rows = [Voted(0, 500 - at, 3, "forget", "kept", "quorum", 0, ()) for at in range(EPOCHS_MOST + 5)]
    shown, behind = page(rows, 100)
    assert (len(shown), behind) == (EPOCHS_MOST, PageStart(501 - EPOCHS_MOST, 3))
    assert page(rows[:4], 3) == (tuple(rows[:3]), PageStart(498, 3)) and page(rows[:3], 3) == (tuple(rows[:3]), None)


def test_pages_follow_each_other(shard: Shard) -> None:
    for memory in (A, B, C):
        shard.decide([proposal(memory, "promote")], nobody)
    first = first_page(shard, limit=2)
    assert [one.epoch for one in read_decisions(CODEC, GENESIS, first)] == [3, 2] and first.behind == PageStart(2, 0)


def wanted_of(**body: Any) -> decisions.Wanted:
    return read_wanted(json.dumps({"namespace": NAMESPACE} | body).encode())


def test_what_is_asked_for() -> None:
    assert wanted_of() == decisions.Wanted(namespace=NAMESPACE, limit=20)
    place = PageStart(7, 3)
    given = wanted_of(
        kinds=["evict", "merge"], outcomes=["kept"], policies=["lru"], memory_id=A.upper(), since=5, until=6, limit=3,
        cursor=decisions.cursor(NAMESPACE, place), purpose="billing",
    )  # fmt: skip
    assert (given.kinds, given.outcomes, given.policies) == (("evict", "merge"), ("kept",), ("lru",))
    assert (given.memory_id, given.since, given.until, given.limit, given.behind) == (A, 5, 6, 3, place)
    assert given.gates.purpose == "billing"


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"kinds": ["forgets"]}, "kinds"),
        ({"kinds": ["erase"]}, "kinds"),
        ({"kinds": []}, "kinds"),
        ({"outcomes": ["gone"]}, "outcomes"),
        ({"policies": ["mine"]}, "policies"),
        ({"memory_id": "x"}, "memory_id"),
        ({"since": 6, "until": 6}, "until"),
        ({"limit": 0}, "limit"),
        ({"limit": 1_001}, "limit"),
        ({"cursor": ""}, "cursor"),
        ({"cursor": "7.3"}, "cursor"),
        ({"cursor": "7.-3.00000000"}, "cursor"),
        ({"cursor": f"{'9' * 16}.0.00000000"}, "cursor"),
        ({"cursor": decisions.cursor("mill", PageStart(7, 3))}, "cursor"),
        ({"cursor": decisions.cursor(NAMESPACE, PageStart(7, 3)) + "0"}, "cursor"),
        ({"sensitivity_max": 2}, "sensitivity_max"),
        ({"outcome": "kept"}, "outcome"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_field(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRequest) as refused:
        wanted_of(**wrong)
    assert refused.value.field == field


def test_a_cursor_of_another_namespace_says_so() -> None:
    with pytest.raises(BadRequest, match="a cursor of another list, or of another namespace"):
        wanted_of(cursor=decisions.cursor("mill", PageStart(7, 3)))


def test_a_namespace_of_which_nothing_was_decided_has_no_decisions(codec: Codec) -> None:
    assert read_decisions(codec, GENESIS, Found()) == ()
