"""Accounts: what is told of a memory follows from the journal and the certificates, and from nothing else."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from memquorum.core.accounts import account_words, explain, telling
from memquorum.core.accounts.explain import Account, SourceSent, Waiting
from memquorum.core.avro import Codec
from memquorum.core.budgets.rules import BY_LOT
from memquorum.core.caps import Losses
from memquorum.core.journal.rows import Protection
from memquorum.core.labelling import Labels
from memquorum.core.orders import uses
from memquorum.core.policy import Policy, number
from memquorum.core.records import Accessed, Link, Lot, Proposal, Quote, Restored, Stored, Summary, Weighed
from memquorum.core.retrieval.conflicts import Pair
from tests.builders import genesis, rehearsals, votes
from tests.builders.facts import CODEC, facts
from tests.builders.published import GENESIS, A, B, C, D, lively
from tests.builders.rehearsals import rehearse
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.votes import contradicted, nobody, proposal


@pytest.fixture(scope="module")
def shard() -> Shard:
    return lively(Shard(CODEC, GENESIS))


@pytest.fixture
def alive() -> Shard:
    """A is of short-term memory, and was not voted on."""
    made = Shard(CODEC, GENESIS)
    made.episode("a", at=500)
    made.tick(1_000)
    return made


def account_of(shard: Shard, wanted: str) -> tuple[Account, str]:
    account = explain.explain(CODEC, GENESIS, facts(shard, wanted))
    json.dumps(explain.plain(account))
    return account, "\n".join(telling.lines(account, GENESIS))


def test_a_forgotten_memory(shard: Shard) -> None:
    account, text = account_of(shard, A)
    assert (account.tier, account.reinforced, account.repetitions, account.due_at) == ("gone", 1, 1, None)
    (vote,) = account.votes
    assert (vote.outcome, vote.yes, vote.quorum, vote.members) == ("forgotten", 4, 3, 4)
    assert (vote.weight_ppm, vote.needed_ppm, vote.total_ppm) == (5_000_000, 3_333_334, 5_000_000)
    assert vote.certificate is not None
    assert vote.certificate.commits == (0, 1, 2, 3)
    profile = vote.opinions[0].profile
    assert profile is not None
    assert profile.decay_ppm == vote.opinions[0].terms["decay"]
    assert "forgotten, its key destroyed" in text
    # 200 s after: e^-20, e^-3.333, e^-0.0556.
    assert "3 min 20 s after its last use D = 0.2·0 (10 s) + 0.3·0.0357 (1 min) + 0.5·0.946 (1 h) = 0.4837 ≥ δ" in text
    assert "4 of 4 members are for it, 3 are needed; their weight is 5 of 5, 3.3333 is needed." in text
    assert "committed by members 0, 1, 2, 3. All signatures hold." in text
    assert "said again by planner" in text


def test_what_fills_a_slot_says_what_it_took_the_place_of(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for event in ("a", "b"):
        shard.episode(event, salience=10, explicit=True, slot="ada/dietary")
    _, text = account_of(shard, B)
    assert "its agent wanted it remembered, so it was stored" in text and "reached" not in text
    assert f"It fills a slot, where it took the place of {A}." in text
    filed = replace(facts(shard, B), labels=Labels("dietary", "users/ada", '{"colour":"red"}'))
    text = "\n".join(telling.lines(explain.explain(CODEC, GENESIS, filed), GENESIS))
    assert f"It fills the slot users/ada/dietary, where it took the place of {A}." in text
    assert "It is filed under users/ada." in text and 'Its attributes: colour="red".' in text
    account, text = account_of(shard, A)
    assert (account.tier, account.superseded_by) == ("superseded", B)
    assert f"{B} took its place at 1970-01-01 00:00:00 UTC, when that filled its slot." in text
    assert "Superseded since 1970-01-01 00:00:00 UTC: kept for audit" in text


def test_a_slot_that_was_cleared_says_so_on_both_sides(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", explicit=True, slot="ada/dietary")
    for event in ("b", "c"):
        shard.episode(event, explicit=True, slot="ada/dietary", clears=True)
    account, text = account_of(shard, A)
    assert account.superseded_by == B and "superseded: its slot was cleared, or it was taken back; never served" in text
    assert f"A write of nothing, {B}, took it away at 1970-01-01 00:00:00 UTC." in text
    _, text = account_of(shard, B)
    assert "never stored (cleared)" in text and f"It took away {A}: not served any more" in text
    assert "It fills" not in text and "Salience" not in text
    _, text = account_of(shard, C)
    assert "Nothing was there." in text
    shard.episode("d", explicit=True, slot="ada/dietary", agent="reviewer")
    shard.episode("e", explicit=True, slot="ada/dietary", clears=True)
    _, text = account_of(shard, memory_id("e"))
    assert f"It leaves {memory_id('d')}, which goes only as members vote." in text


def test_what_came_back_still_says_that_it_was_superseded_by_what_and_when_it_came_back(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for event in ("a", "b"):
        shard.episode(event, salience=10, explicit=True, slot="ada/dietary")
    shard.tick(100_000)
    order = votes.restore(GENESIS, A)
    shard.ask(order, 100_000)
    shard.tick(200_000)
    shard.restore(order, Restored(A, 1, 0, 0, 0, 0))
    account, text = account_of(shard, A)
    assert (account.tier, account.superseded_by) == ("short-term", None)
    assert f"{B} took its place at 1970-01-01 00:00:00 UTC, when that filled its slot; it came back at" in text
    assert "it came back at 1970-01-01 00:03:20 UTC, by the vote of epoch 1." in text


def test_what_a_vote_superseded_names_what_took_its_place(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", 500)
    shard.episode("b", 600, contradicts=(A,))
    shard.tick(200_000)
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)], votes.nobody)
    assert account_of(shard, A)[0].superseded_by is None
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    account, text = account_of(shard, A)
    assert account.superseded_by == B and "What took its place says" not in text
    assert f"{B} took its place at 1970-01-01 00:03:20 UTC, by the vote of epoch 2." in text
    assert "  What took its place says: Now it is 4." in telling.lines(account, GENESIS, "Now it is 4.")
    assert account_of(shard, B)[0].superseded_by is None
    assert "Outcome: superseded" in text and "Outcome: the other is superseded" in account_of(shard, B)[1]


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (True, "Both are alive: members vote on it soon. Meanwhile that one is served first, for it is newer."),
        (False, "Both are alive: that follows from the words alone, which by default takes neither away;"),
    ],
)
def test_what_was_inferred_to_say_otherwise_is_told_apart(codec: Codec, stated: bool, says: str) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", 500)
    shard.episode("b", 600, contradicts=(A,))
    pair = Pair(B, A, False, 600, 500, "short-term", "short-term", stated)
    account = explain.explain(codec, GENESIS, replace(facts(shard, A), conflicts=(pair,)))
    text = "\n".join(telling.lines(account, GENESIS))
    assert says in text
    assert ("vote on it soon" in text) is stated


def test_what_names_others_says_on_which_there_is_a_vote_and_which_nobody_knows(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", agent="reviewer")
    shard.episode("b", explicit=True, supersedes=(A, memory_id("never")))
    _, text = account_of(shard, B)
    assert f"Its agent wants it to take the place of {A}: members vote on that." in text
    assert f"It also named {memory_id('never')}: no such memory was alive in this namespace then." in text


def test_after_the_vote_on_what_it_names_it_says_that_members_voted(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", agent="reviewer")
    shard.episode("b", explicit=True, supersedes=(A,))
    shard.tick(100_000)
    before, _ = account_of(shard, B)
    shard.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)])
    after, _ = account_of(shard, B)
    for told in (telling.lines, account_words.lines):
        assert "members vote on that" in "\n".join(told(before, GENESIS))
        assert "members voted on that" in "\n".join(told(after, GENESIS))


def test_links_that_lead_nowhere_are_told(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    never = memory_id("never")
    shard.episode("b", links=(Link("requires", A), Link("requires", never), Link("partOf", A), Link("isA")))
    account, text = account_of(shard, B)
    assert account.born is not None and account.born.nowhere == (Link("requires", never),)
    assert f"links that lead nowhere, requires {never}: no such memory was alive in this namespace then." in text
    shard.episode("never")
    assert account_of(shard, B)[0].born.nowhere == account.born.nowhere, "what comes later was not there"
    assert "nowhere" not in account_of(shard, A)[1]


def test_its_decay_score_is_told_with_its_numbers(alive: Shard) -> None:
    """A salience of 0.6 has expired ln(12)/0.1 hours after its last use; by the paper's scales D falls sooner."""
    account, text = account_of(alive, A)
    assert (account.salience_ppm, account.decay_score_ppm) == (600_000, 599_991)
    assert account.expires_at == pytest.approx(500 + 24.849 * 3_600_000, abs=2_000)
    assert "Its decay score is 0.6·e^(−0.1·0.0001 h) = 0.6 ≥ θ 0.05: it has not expired." in text
    assert "by its decay score" not in text
    alive.tick(25 * 3_600_000)
    account, text = account_of(alive, A)
    assert account.due_at is not None and account.expires_at is not None and account.due_at < account.expires_at
    assert "= 0.0493 < θ 0.05: it has expired." in text
    alive.decide([proposal(A, "promote")])
    account, text = account_of(alive, A)
    assert (account.decay_score_ppm, account.expires_at) == (None, None) and "Its decay score" not in text


def test_the_earliest_of_decay_age_and_rule_is_told(alive: Shard) -> None:
    """It was said, and made, at 500 and 1 s; it is 1 s by its shard's clock."""
    policy = GENESIS.policy
    young = replace(policy, budget=replace(policy.budget, ttl_ms=(60_000, 0, 0, 0)))

    def say(policy: Policy) -> tuple[Account, str]:
        made = replace(GENESIS, policy=policy)
        account = explain.explain(CODEC, made, facts(alive, A))
        return account, "\n".join(telling.lines(account, made))

    account, text = say(young)
    strength = facts(alive, A).strength
    assert strength is not None and account.due_at == account.aged_at == strength.created + 60_001
    assert "used or not: then it is older than its type may become" in text and "If nobody uses it" not in text
    ruled = replace(policy, erase=replace(policy.erase, after="*=episodic:1m", every_ms=60_000))
    account, text = say(ruled)
    assert (account.erases_at, account.aged_at) == (120_000, None)
    assert "By the rule of retention (erase.after) it is erased, without a vote, in" in text
    assert "may be proposed to be forgotten" not in text
    account, text = say(policy)
    assert (account.aged_at, account.erases_at) == (None, None) and "If nobody uses it" in text


def test_of_each_sentence_of_a_models_summary_it_is_told_what_was_sent_to_whom(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    for event in ("a", "b", "c", "d"):
        shard.episode(event)
    quotes = (
        Quote(A, 0, 23, "facts", 1_000), Quote(B, 0, 23, "facts", 1_000, 0), Quote(C, 0, 23, "facts", 1_000, 0),
    )  # fmt: skip
    made = Summary("openai/m@llm.example.org", "s1", 600_000, b"c" * 32, quotes)
    shard.episode("sum", agent="consolidator", derives_from=(A, B, C, D), summary=made, session=None)
    to = tuple(SourceSent(one, "llm.example.org", 2_000) for one in (B, C, D))
    given = replace(facts(shard, memory_id("sum")), sources_sent=to)
    account = explain.explain(CODEC, GENESIS, given)
    assert account.sources_sent == to
    lines = telling.lines(account, GENESIS)
    at = lines.index("  Its 2 sentences are from:")
    sent = ", sent to llm.example.org at 1970-01-01 00:00:02 UTC"
    said = "said at 1970-01-01 00:00:01 UTC"
    assert lines[at + 1 : at + 5] == [
        f"    1. key fact: characters 0 to 23 of {A}, {said}",
        f"    2. key fact in the words of openai/m@llm.example.org: characters 0 to 23 of {B}, {said}{sent}",
        f"       and characters 0 to 23 of {C}, {said}{sent}",
        f"  Of {D} it says nothing; that was sent to llm.example.org at 1970-01-01 00:00:02 UTC.",
    ]
    # For whom may read it, with the words.
    text = "Key facts:\nTomas measured 3.8 bar.\nRosa ordered a gasket."
    assert telling.lines(account, GENESIS, text=text)[at + 1 : at + 6] == [
        "    1. key fact: Tomas measured 3.8 bar.",
        f"       characters 0 to 23 of {A}, {said}",
        "    2. key fact in the words of openai/m@llm.example.org: Rosa ordered a gasket.",
        f"       characters 0 to 23 of {B}, {said}{sent}",
        f"       and characters 0 to 23 of {C}, {said}{sent}",
    ]
    assert telling.lines(account, GENESIS, text="Another text.") == lines, "what does not fit is not told"


def test_its_importance_is_told_with_what_its_half_life_left(alive: Shard) -> None:
    for content, found, left in ((40, 464_000, 464_000), (5, 100_000, 99_995)):
        account = explain.explain(CODEC, GENESIS, replace(facts(alive, A), tokens=content))
        assert account.importance_ppm == pytest.approx(found, abs=10)
        assert account.weight_ppm == pytest.approx(left, abs=50)
    alive.tick(500 + 2 * 3_600_000)
    account = explain.explain(CODEC, GENESIS, replace(facts(alive, A), tokens=5))
    assert (account.importance_ppm, account.weight_ppm) == (100_000, 50_000)
    text = "\n".join(telling.lines(account, GENESIS))
    assert "Its importance 0.1 counts 0.05 by now: an episode's halves in 2 h." in text


def test_what_members_kept_for_want_of_room_says_how_long_it_rests(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.tick(1_000)
    told_of = "For want of room it does not have to go before epoch 3: members kept it, or brought it back."
    assert told_of not in account_of(shard, A)[1]
    shard.decide([votes.proposal(A, "evict")], votes.nobody)
    assert told_of in account_of(shard, A)[1]


def test_a_promoted_memory(shard: Shard) -> None:
    account, text = account_of(shard, B)
    assert (account.tier, account.accesses, account.confidence_ppm) == ("long-term", 1, 965_000)
    assert account.born is not None
    assert [(s.name, s.value_ppm) for s in account.born.signals] == [("novelty", 810_000), ("confidence", 900_000)]
    assert "Salience 0.6 = (0.3·novelty 0.81 + 0.1·confidence 0.9) / 0.4 reached 0.35" in text
    assert "Its confidence from then on: 0.965, the third best score of those who were for it." in text
    assert "read by reviewer" in text
    assert account.due_at is not None
    assert f"from {telling.moment(account.due_at)} on" in text


def test_what_was_learned_stands_for_the_rank_and_is_named(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    found = facts(shard, A)
    (born,) = found.notes
    taught = {"rank_ppm": 700_000, "learned_ppm": 250_000, "learned_by": "5f3a9c01d2e4" + "0" * 52}
    assert isinstance(born.detail, Stored)
    notes = (replace(born, detail=replace(born.detail, **taught)),)  # type: ignore[arg-type]
    account = explain.explain(codec, GENESIS, replace(found, notes=notes))
    text = "\n".join(telling.lines(account, GENESIS))
    assert account.born is not None and account.born.learned_by is not None
    assert [(s.name, s.weight, s.value_ppm) for s in account.born.signals][-1] == ("learned", 0.2, 250_000)
    assert "0.2·learned 0.25" in text and "coefficients 5f3a9c01d2e4, which the members had decided on" in text
    assert "its rank is 0.7." in text


def test_a_kept_and_a_voided_one(shard: Shard) -> None:
    account, text = account_of(shard, C)
    assert [v.outcome for v in account.votes] == ["kept", "forgotten"]
    assert "0 of 4 members are for it" in text
    assert "Kept: too few members were for it." in text
    assert "Sealed since" in text
    account, text = account_of(shard, D)
    assert account.tier == "short-term"
    assert "Forgotten: enough members were for it.\n  Voided: it was used after the vote began" in text


def test_a_kept_one_says_when_it_is_due_next() -> None:
    shard = Shard(CODEC, GENESIS)
    shard.tick(1_000)
    shard.episode("a", at=500)
    shard.tick(3_000_000)
    from tests.builders import votes

    shard.decide([votes.proposal(A, "forget")], nobody)
    account, text = account_of(shard, A)
    assert account.due_at is not None
    assert account.due_at <= account.as_of
    assert (account.rest, account.last_epoch) == ({"forget": 3}, 1)
    at = 3_000_000 + GENESIS.policy.epoch.interval_ms
    told_next = f"the next is epoch 2, at {telling.moment(at)} at the latest."
    assert f"It was kept lately, and is proposed again in epoch 3 at the earliest; {told_next}" in text


def test_what_is_due_says_when_its_shard_votes_again() -> None:
    shard = Shard(CODEC, GENESIS)
    shard.tick(1_000)
    shard.episode("a", at=500)
    shard.episode("b", at=500)
    shard.tick(9_000_000)
    first = "It may be proposed to be forgotten in the next epoch; the next is epoch 1, as soon as its clock moves on."
    assert first in account_of(shard, A)[1]
    shard.decide([proposal(B, "promote")], nobody)
    at = telling.moment(9_000_000 + GENESIS.policy.epoch.interval_ms)
    assert f"in the next epoch; the next is epoch 2, at {at} at the latest." in account_of(shard, A)[1]


def test_votes_that_ended_alike_are_told_once(shard: Shard) -> None:
    shard = Shard(CODEC, GENESIS)
    shard.episode("a")
    shard.tick(100_000)
    for _ in range(3):
        shard.decide([proposal(A, "promote")], nobody)
    shard.decide([proposal(A, "promote")], contradicted)
    account, text = account_of(shard, A)
    assert [vote.epoch for vote in account.votes] == [1, 2, 3, 4]
    heads = [line for line in text.splitlines() if line.startswith("Epoch")]
    assert [head.split()[1] for head in heads] == ["3", "4"]
    assert "  Proposed so in epochs 1 and 2 too, with the same outcome for the same reason." in text


def test_what_was_beyond_a_budget_says_how_its_policy_weighed_it(alive: Shard) -> None:
    weighed = Weighed("worth", 2, 5_000, 5_100, 24, "episodic", 0, (500_000, 0, 0, 0, 200_000, 0, 0), 99_999,
                      4_166_625_000, "least worth its tokens")  # fmt: skip
    alive.decide([replace(proposal(A, "evict"), reason="budget", weighed=weighed)], trigger="budget")
    account, text = account_of(alive, A)
    assert account.votes[0].weighed == weighed
    assert "because its namespace held more tokens than its budget; the epoch was opened because a namespace" in text
    assert (
        "Its namespace held 5,100 tokens of 5,000; by worth of policy 2 it was the next to go, with its 24 tokens: "
        "least worth its tokens." in text
    )
    assert (
        "The nominator weighed worth 0.2; each times worth: recency 0.5, accesses 0, goals 0, centrality 0, novelty 0"
        in text
    )
    assert "score 4.1666 per 1,000 tokens." in text
    assert explain.plain(account)["votes"][0]["weighed"]["features"][0] == 500_000


@pytest.mark.parametrize("policy", ["fifo", "lru", "random", "priority"])
def test_what_a_policy_does_not_look_at_is_not_told(alive: Shard, policy: str) -> None:
    weighed = Weighed(policy, 2, 5_000, 5_100, 24, "episodic", 0, (500_000, 0, 0, 0, 200_000, 0, 0), 99_999,
                      4_166_625_000, "oldest")  # fmt: skip
    alive.decide([replace(proposal(A, "evict"), reason="budget", weighed=weighed)], trigger="budget")
    _, text = account_of(alive, A)
    assert f"by {policy} of policy 2 it was the next to go, with its 24 tokens: oldest." in text
    assert "The nominator weighed" not in text and "withheld" not in text


@pytest.mark.parametrize(
    ("lot", "why", "lines"),
    [
        (
            Lot(3, (A, B), 1),
            BY_LOT,
            (
                "It was drawn among 3 memories that score alike; 2 subjects pay for that.",
                "1 of what scores alike is drawn no more: draws have cost their subjects what they may.",
            ),
        ),
        (
            Lot(1, (), 2),
            "least worth its tokens",
            (
                "2 of what scores alike are drawn no more: draws have cost their subjects what they may. So nothing "
                "was drawn, and it was the next in order.",
            ),
        ),
    ],
)
def test_what_was_drawn_says_so_and_why_it_has_no_score(
    alive: Shard, lot: Lot, why: str, lines: tuple[str, ...]
) -> None:
    weighed = Weighed("worth", 0, 5_000, 5_100, 24, "episodic", None, (), None, None, why, lot)
    alive.decide([replace(proposal(A, "evict"), reason="budget", weighed=weighed)], nobody, trigger="budget")
    account, text = account_of(alive, A)
    assert f"with its 24 tokens: {why}." in text
    assert [line for line in lines if line not in text] == []
    assert "Its features and its score are withheld" in text
    assert "The nominator weighed" not in text
    assert explain.plain(account)["votes"][0]["weighed"]["score"] is None


def test_one_that_was_not_promoted_says_when_it_may_be_proposed_again(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a")
    shard.tick(100_000)
    shard.decide([proposal(A, "promote")], nobody)
    assert (
        "  It was not promoted lately: it may be proposed again in epoch 3; the next is epoch 2, at"
        in account_of(shard, A)[1]
    )
    for _ in range(4):
        shard.decide([proposal(A, "promote")], contradicted)
    text = account_of(shard, A)[1]
    assert "\n  Kept: members whose votes count for half or more found it contradicted.\n" in text
    assert text.endswith("too often to be promoted: it is not proposed again before it is used.")
    shard.access(A, 100_001)
    assert "before it is used" not in account_of(shard, A)[1]


def test_what_rehearsals_found_is_told(alive: Shard) -> None:
    assert not any("rehearse" in line for line in telling.lines(account_of(alive, A)[0], GENESIS))
    strength = replace(alive.rows.strengths[A], replays=2, doubts=3, rehearsed=900)
    account = explain.explain(CODEC, GENESIS, replace(facts(alive, A), strength=strength))
    assert (account.replays, account.doubts, account.rehearsed_at) == (2, 3, 900)
    assert "Rehearsals found twice that it holds and is used, and 3 times in a row since that it does not hold." in (
        "\n".join(telling.lines(account, GENESIS))
    )


def test_each_of_the_latest_rehearsals_is_told(codec: Codec) -> None:
    made = Shard(codec, genesis.make(**rehearsals.entitled()))
    made.episode("a", at=900)
    made.access(A, 950)
    made.tick(1_000)
    rehearse(made, A)
    made.episode("b", at=1_000, explicit=True, supersedes=(A,))
    made.tick(1_000 + 3_600_000)
    rehearse(made, A, "contested", witness=B, offset=1)
    account = explain.explain(codec, made.rules.genesis, facts(made, A))
    assert [(one.verdict, one.witness, one.after_ppm) for one in account.rehearsals] == [
        ("held", None, 660_000), ("contested", B, 561_000),
    ]  # fmt: skip
    text = "\n".join(telling.lines(account, made.rules.genesis))
    assert "1970-01-01 00:00:01 UTC  holds, and was used since; salience 0.6 became 0.66" in text
    assert f"1970-01-01 01:00:01 UTC  another memory says otherwise: {B}; salience 0.66 became 0.561" in text


def test_members_who_saw_other_accesses_are_told_apart(shard: Shard) -> None:
    text = account_of(shard, C)[1]
    # Those who voted to keep in epoch 1 abstained with D = 1, in epoch 2 all judged by the same last access.
    assert text.count("Decay: ") == 2
    account = explain.explain(CODEC, GENESIS, facts(shard, A))
    first, *others = account.votes[0].opinions
    assert first.profile is not None
    other = replace(first, profile=replace(first.profile, decay_ppm=123_000, age_ms=60_000, ambiguous=False))
    mixed = replace(account, votes=(replace(account.votes[0], opinions=(other, *others)),))
    text = "\n".join(telling.lines(mixed, GENESIS))
    assert "decay 0.123 after 1 min; its worth ranks" in text
    odd = replace(other, profile=replace(first.profile, decay_ppm=456_000, variance_ppm=186_766, ambiguous=True))
    mixed = replace(account, votes=(replace(account.votes[0], opinions=(odd, other, *others)),))
    text = "\n".join(telling.lines(mixed, GENESIS))
    assert (
        "decay 0.456 after 1 min, though the scales disagree about that (σ² 0.1868); its worth ranks"
        in text.replace(telling.span(first.profile.age_ms), "1 min")
    )


def test_an_episode_that_was_dropped(shard: Shard) -> None:
    account, text = account_of(shard, memory_id("faint"))
    assert account.tier == "never stored"
    assert "never stored (below threshold)" in text
    assert "did not open the gates or reach 0.35" in text


def test_an_episode_that_failed_is_not_said_to_be_weak_and_a_second_try_is_told(codec: Codec) -> None:
    shard = Shard(codec, GENESIS)
    shard.episode("a", outcome="failed")
    _, text = account_of(shard, A)
    assert "never stored (failed)" in text and "dlq replay --reason failed" in text
    assert "0.35" not in text and "Salience" not in text
    shard.episode("a")
    account, text = account_of(shard, A)
    assert account.born is not None and account.born.retry
    assert "It had failed before, and was published again." in text and "so it was stored" in text
    shard.episode("b", outcome="unreadable")
    assert "could not be opened any more" in account_of(shard, memory_id("b"))[1]


def test_a_certificate_that_proves_nothing_is_said_to(shard: Shard) -> None:
    found = facts(shard, A)
    cut = replace(found.decisions[0], commits=found.decisions[0].commits[:2])
    account = explain.explain(CODEC, GENESIS, replace(found, decisions=(cut,)))
    assert account.votes[0].complaint == "decision: 2 commits, 3 are needed"
    assert account.votes[0].opinions == ()
    assert "the certificate proves nothing: decision: 2 commits" in "\n".join(telling.lines(account, GENESIS))
    other = replace(found, memory_id=memory_id("stranger"))
    account = explain.explain(CODEC, GENESIS, other)
    assert "does not speak of" in str(account.votes[0].complaint)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_500, "1 s"),
        (200_000, "3 min 20 s"),
        (7_200_000, "2 h"),
        (90_000_000, "1 d 1 h"),
    ],
)
def test_spans(ms: int, text: str) -> None:
    assert telling.span(ms) == text


def test_moments_and_numbers() -> None:
    assert telling.moment(1_741_252_240_999) == "2025-03-06 09:10:40 UTC"
    assert [number(n) for n in (0.5, 1.0, 0.12345, 0.0, 100.0)] == ["0.5", "1", "0.1235", "0", "100"]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("pin", "Pinned by ada (sow), order"), ("hold", "Held by ada (sow), order"),
        ("goal:sow", "Needed by the goal 'sow', as ordered by ada, order"),
    ],
)  # fmt: skip
def test_what_protects_a_memory_is_named(shard: Shard, kind: str, told: str) -> None:
    order = Protection(A, kind, 0, 1, NAMESPACE, memory_id("order"), "service:erasure", "ada", "sow", 5_000)
    account = replace(explain.explain(CODEC, GENESIS, facts(shard, A)), protected=(order,))
    assert told in "\n".join(telling.lines(account, GENESIS))


def test_an_erasure_is_told_with_its_reference_and_the_rule_that_it_carries_out(shard: Shard) -> None:
    plain = explain.Erasing(memory_id("order"), "age", "episodic", "rule of retention", 5_000, 9_000, 7)
    for order, words in (
        (replace(plain, reference="ticket 7"), "gave (ticket 7): at 1970"),
        (replace(plain, reference="configuration 3", rule=3), "It carries out the rule of configuration 3: nobody"),
    ):
        account = explain.explain(CODEC, GENESIS, replace(facts(shard, A), erasure=order))
        assert words in "\n".join(telling.lines(account, GENESIS))
        assert explain.plain(account)["erased"] == explain.plain(order)


def test_of_what_is_protected_no_date_to_be_forgotten_is_told(alive: Shard) -> None:
    about = facts(alive, A)
    assert "may be proposed to be forgotten" in "\n".join(
        telling.lines(explain.explain(CODEC, GENESIS, about), GENESIS)
    )
    order = Protection(A, "pin", 0, 1, NAMESPACE, memory_id("order"), "service:erasure", "ada", None, 5_000)
    account = explain.explain(CODEC, GENESIS, replace(about, protected=(order,)))
    text = "\n".join(telling.lines(account, GENESIS))
    assert "it is not forgotten while that stands" in text and "may be proposed" not in text


def test_the_key_of_what_is_sealed_and_held_is_kept(shard: Shard) -> None:
    order = Protection(C, "hold", 0, 1, NAMESPACE, memory_id("order"), "operator", "ada", None, 5_000)
    account = explain.explain(CODEC, GENESIS, replace(facts(shard, C), protected=(order,)))
    text = "\n".join(telling.lines(account, GENESIS))
    assert "its key is kept while that stands" in text and "UTC on, once nothing holds it." in text


def test_a_request_that_waits_and_a_cap_that_leaves_nothing_are_told(alive: Shard) -> None:
    about = facts(alive, A)
    waiting = Waiting(memory_id("request"), "forget", "key 7", "spring", 5_000)
    quota = Losses(10, ((about.as_of, 5),))
    account = explain.explain(CODEC, GENESIS, replace(about, waiting=(waiting,), quota=quota))
    text = "\n".join(telling.lines(account, GENESIS))
    assert "key 7 asked at 1970-01-01 00:00:05 UTC to forget it (spring), request" in text
    assert f"{waiting.order_id}: nobody has voted on that yet." in text
    until = telling.moment(about.as_of + GENESIS.policy.caps.day_ms)
    assert f"nothing more goes there before\n  {until}." in text
    assert f"by the clock of shard {account.shard}, which its ticks move" in text


def test_what_a_late_use_brought_back_says_whose_it_was() -> None:
    shard = Shard(CODEC, GENESIS)
    shard.episode("a", 500)
    shard.tick(200_000)
    shard.decide([proposal(A, "forget")])
    asked = shard.access(A, 200_001).entry
    shard.tick(200_100)
    shard.restore_used(uses.of_entry(CODEC, asked, CODEC.decode_as(Accessed, asked.detail)), Restored(A, 1, 0, 0, 0, 0))
    account, text = account_of(shard, A)
    assert [vote.outcome for vote in account.votes] == ["forgotten", "restored"]
    assert "because reviewer asked for it back; the epoch was opened by a use that came after the forgetting." in text


def test_a_summary_that_waits_is_told_when_members_vote() -> None:
    made = Shard(CODEC, GENESIS)
    for name in "abc":
        made.episode(name, session="s1")
    made.summary("sum", [A, B, C])
    made.tick(100_000)
    text = account_of(made, memory_id("sum"))[1]
    assert "It waits for its vote, and is in no search until then. Members may vote on it\n  in epoch 1" in text
    assert "nothing to forget" not in text and "If they do not, it goes for good at" in text
    made.consolidate(memory_id("sum"), [A, B, C], nobody)
    made.tick(200_000)
    assert "Members may vote on it\n  again in epoch 2" in account_of(made, memory_id("sum"))[1]
