"""Accounts of a memory for people who know no formula: the outcome first, then why, and the possible actions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from memquorum.core.accounts import account_words, decisions, explain, fates, plainly
from memquorum.core.accounts.explain import Account, Anew, Erasing, Merged, Waiting
from memquorum.core.accounts.holding import Holds, Suggested
from memquorum.core.caps import Losses
from memquorum.core.journal.rows import Protection
from memquorum.core.orders import uses
from memquorum.core.policy import Policy
from memquorum.core.records import Accessed, Lot, Proposal, Quote, Restored, Summary, Weighed
from memquorum.core.retrieval.conflicts import Pair
from memquorum.core.vote.kinds import KINDS
from tests.builders import votes
from tests.builders.facts import CODEC, facts
from tests.builders.published import GENESIS, A, B, C, D, lively
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.votes import contradicted, nobody, proposal

SUM = memory_id("sum")
NOT_UNDERSTOOD = re.compile(
    r"\b(the line|no stamp|stamps?|told|apart|the tail|weights?|ppm|salience|novelty|epochs?|shards?|thresholds?|"
    r"quorum|certificates?|cosine|nominat\w+|retrievals?|offsets?|tall(y|ied)|strength|relevance|entry|ballots?|"
    r"grace time|below threshold|σ|δ|θ|η|lots?|voided|decays?|decayed|tiers?|rehears\w+)\b|[=≥<·]|\d\.\d",
)
"""Words that readers of accounts did not understand: internal terms, formulas and shares."""
OUTCOME = re.compile(r"^[A-Z][a-z]+( [a-z]+)*(, and [^:]+)?( on \d+ [A-Z][a-z]{2} \d{4})?[^:]*(: .+)?\.$")


def account(shard: Shard, wanted: str) -> Account:
    return explain.explain(CODEC, GENESIS, facts(shard, wanted))


def plain(shard: Shard, wanted: str) -> list[str]:
    return account_words.lines(account(shard, wanted), GENESIS)


@pytest.fixture(scope="module")
def shard() -> Shard:
    return lively(Shard(CODEC, GENESIS))


def _alive() -> Shard:
    made = Shard(CODEC, GENESIS)
    made.episode("a", at=500)
    made.tick(1_000)
    return made


def _fates() -> Iterator[tuple[str, Account]]:
    """An account of each fate."""
    made = lively(Shard(CODEC, GENESIS))
    for name in ("a", "b", "c", "d", "faint"):
        yield f"lively {name}", account(made, memory_id(name))
    erased = Erasing(memory_id("order"), "subject", "ada", "ada", 5_000, 9_000, 7, reference="ticket 7")
    for one in (erased, replace(erased, rule=3), replace(erased, selector="everything", value="")):
        yield "erased", explain.explain(CODEC, GENESIS, replace(facts(made, A), erasure=one))
    made = Shard(CODEC, GENESIS)
    for name in "abc":
        made.episode(name, explicit=True, slot="ada/dietary", clears=name == "c")
    made.episode("d", explicit=True, slot="ada/dietary", clears=True)
    for name in "abcd":
        yield f"slot {name}", account(made, memory_id(name))
    made = Shard(CODEC, GENESIS)
    for outcome in ("failed", "unreadable"):
        made.episode(outcome, outcome=outcome)
        yield outcome, account(made, memory_id(outcome))
    yield from _superseded()
    yield from _summed_up()
    made = _alive()
    yield from _orders(made)
    for because, judged in (("evict", None), ("promote", nobody), ("promote", contradicted), ("forget", nobody)):
        made = _alive()
        made.tick(3_000_000)
        made.decide([proposal(A, because)], *([] if judged is None else [judged]))
        yield f"{because} {judged}", account(made, A)


def _superseded() -> Iterator[tuple[str, Account]]:
    made = Shard(CODEC, GENESIS)
    made.episode("a", 500)
    made.episode("b", 600, contradicts=(A,))
    pair = Pair(B, A, False, 600, 500, "short-term", "short-term", True)
    for stated in (True, False):
        about = replace(facts(made, A), conflicts=(replace(pair, stated=stated),))
        yield "contradicted", explain.explain(CODEC, GENESIS, about)
    made.tick(200_000)
    for judged in (nobody, None):
        made.decide([Proposal((B, A), NAMESPACE, "supersede", "contradicted", 0, 0, 0)], *([judged] if judged else []))
        for name in "ab":
            yield f"superseded {name}", account(made, memory_id(name))


def _summed_up() -> Iterator[tuple[str, Account]]:
    made = Shard(CODEC, GENESIS)
    for name in "abc":
        made.episode(name, session="s1")
    made.summary("sum", [A, B, C])
    made.tick(100_000)
    yield "draft", account(made, SUM)
    made.consolidate(SUM, [A, B, C], nobody)
    made.tick(200_000)
    yield "draft again", account(made, SUM)
    made.tick(10_000_000)
    made.consolidate(SUM, [A, B, C])
    for one in (SUM, A):
        yield "summed up", account(made, one)
    resting = account(made, A)
    yield "of an erased summary", replace(resting, told_by=Anew(SUM, "gone"))
    yield "merged", replace(resting, told_by=Anew(SUM, "sealed"), merged=(Merged(SUM, D, 9, True, "short-term"),))


def _orders(made: Shard) -> Iterator[tuple[str, Account]]:
    about = facts(made, A)
    for kind in ("pin", "hold", "goal:sow"):
        order = Protection(A, kind, 0, 1, NAMESPACE, memory_id("order"), "service:erasure", "ada", "sow", 5_000)
        yield kind, explain.explain(CODEC, GENESIS, replace(about, protected=(order,)))
    waiting = tuple(Waiting(memory_id(one), one, "key 7", "spring", 5_000) for one in ("forget", "rollback"))
    stopped = replace(about, waiting=waiting, quota=Losses(10, ((about.as_of, 5),)))
    yield "waiting", explain.explain(CODEC, GENESIS, stopped)
    held = Holds(
        "social", 700_000, ("support", "diffusion"), ("DE",), True, Suggested(700_000, "privacy/1", ("phone",))
    )
    yield "limited", replace(explain.explain(CODEC, GENESIS, about), holds=held)


ALL = list(_fates())


@pytest.mark.parametrize(("name", "found"), ALL, ids=[f"{at} {name}" for at, (name, _) in enumerate(ALL)])
def test_an_account_begins_with_its_outcome_and_uses_no_word_of_the_inside(name: str, found: Account) -> None:
    outcome, *rest = account_words.lines(found, GENESIS)
    assert OUTCOME.match(outcome), outcome
    assert len(outcome) <= 250 and not outcome.startswith("Memory")
    assert "What you can do" in rest and "What happened" in rest
    can = rest[rest.index("What you can do") + 1 : rest.index("What happened") - 1]
    assert can and all(line.startswith("  ") for line in can), "it says what can be done, or that nothing can"
    first = rest[: rest.index("")]
    assert all(line.startswith(("Why: ", "Next: ")) for line in first), first
    wrong = [line for line in (outcome, *rest) if line not in can and NOT_UNDERSTOOD.search(_without_ids(line))]
    assert wrong == []


def _without_ids(line: str) -> str:
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "ID", line).replace("'greenhouse'", "")


def test_every_kind_of_vote_is_told_without_formulas() -> None:
    for kind in KINDS.values():
        told = plainly.of(kind)
        for said in (told.asked, told.agreed, *told.proposed.values()):
            assert not NOT_UNDERSTOOD.search(said), f"{kind.name}: {said}"
        if told.because is None:
            continue
        for value in (0, 250_000, 500_000, 1_000_000):
            for yes in (True, False):
                said = told.because(dict.fromkeys(kind.terms, value) | {"ground": 0}, yes, Policy())
                assert said and not NOT_UNDERSTOOD.search(said), f"{kind.name}: {said}"


def test_a_decision_is_told_by_its_outcome_its_reason_and_who_found_what(shard: Shard) -> None:
    (vote,) = account(shard, A).votes
    assert next(plainly.voted(vote, GENESIS)) == (
        "Forgotten on 1 Jan 1970: four of four members agreed that it was no longer worth keeping."
    )
    cut = replace(facts(shard, A).decisions[0], commits=())
    unproven = explain.explain(CODEC, GENESIS, replace(facts(shard, A), decisions=(cut,)))
    assert list(plainly.voted(unproven.votes[0], GENESIS)) == [
        "The record of this vote proves nothing: decision: 0 commits, 3 are needed."
    ]
    told = account_words.lines(unproven, GENESIS)
    assert "  The record of a vote that ended as forgotten proves nothing: decision: 0 commits, 3 are needed." in told
    assert decisions.ERASED


def test_what_a_budget_had_go_says_so() -> None:
    made = _alive()
    weighed = Weighed("worth", 2, 5_000, 5_100, 24, "episodic", None, (), None, None, "least worth", Lot(3, (A,), 1))
    made.decide([replace(proposal(A, "evict"), reason="budget", weighed=weighed)], trigger="budget")
    assert "Why: its namespace held more text than its budget allows" in "\n".join(plain(made, A))


def test_what_was_used_after_the_vote_began_says_that_and_no_finding(shard: Shard) -> None:
    told = [line for line in plain(shard, D) if "voted on forgetting it" in line]
    assert len(told) == 1
    assert told[0].endswith("but it was used after the vote began, so the vote does not count.")


def test_what_came_back_says_that_members_agreed_to_it() -> None:
    made = Shard(CODEC, GENESIS)
    made.episode("a", 500)
    made.tick(200_000)
    made.decide([proposal(A, "forget")])
    used = made.access(A, 200_001).entry
    made.tick(200_100)
    made.restore_used(uses.of_entry(CODEC, used, CODEC.decode_as(Accessed, used.detail)), Restored(A, 1, 0, 0, 0, 0))
    outcome, why, *_ = plain(made, A)
    assert outcome.startswith("In use, and brought back on 1 Jan 1970: ") and "agreed that it comes back" in outcome
    assert why.startswith("Why: it was asked back by reviewer")


def test_what_is_sealed_says_until_when_it_can_come_back_and_how(shard: Shard) -> None:
    told = plain(shard, C)
    assert any(line.startswith("Next: It is never served, and nobody can bring it back after ") for line in told)
    assert f"  ask the members to bring it back     memquorum restore -n {NAMESPACE} {C}" in told


def test_the_text_of_what_took_its_place_is_given_to_whom_may_read_it() -> None:
    made = Shard(CODEC, GENESIS)
    for name in "ab":
        made.episode(name, explicit=True, slot="ada/dietary")
    found = account(made, A)
    assert f"by {B}, which was saved under the same key. A question about the past may" in fates.outcome(found)
    assert "  What took its place says: Ada is vegan." in account_words.lines(found, GENESIS, "Ada is vegan.")
    assert not any("says:" in line for line in account_words.lines(found, GENESIS))


def test_a_summary_names_its_sentences_only_to_whom_may_read_them() -> None:
    made = Shard(CODEC, GENESIS)
    for name in "ab":
        made.episode(name)
    quotes = Quote(A, 0, 23, "facts", 1_000), Quote(B, 0, 23, "facts", 1_000, 0)
    summary = Summary("openai/m@llm.example.org", "s1", 600_000, b"c" * 32, quotes)
    made.episode("sum", agent="consolidator", derives_from=(A, B), summary=summary, session=None)
    found = account(made, SUM)
    text = "Key facts:\nTomas measured 3.8 bar.\nRosa ordered a gasket."
    told = account_words.lines(found, GENESIS, text=text)
    assert "    1. key fact: Tomas measured 3.8 bar." in told
    assert "    2. key fact in the words of openai/m@llm.example.org: Rosa ordered a gasket." in told
    assert f"       from {A}, said on 1 Jan 1970, 00:00 UTC" in told
    assert not any("Tomas" in line for line in account_words.lines(found, GENESIS))


def test_what_was_asked_not_to_be_remembered_is_told_apart_from_what_is_worth_little(shard: Shard) -> None:
    faint = account(shard, memory_id("faint"))
    assert faint.born is not None
    assert fates.outcome(faint).endswith("worth too little to be remembered.")
    unkept = replace(faint, born=replace(faint.born, signals=()))
    assert fates.outcome(unkept) == "Not stored: it asked not to be remembered."
    talk = replace(faint.born, signals=tuple(replace(one, value_ppm=0) for one in faint.born.signals))
    said = account_words.lines(replace(faint, born=talk), GENESIS)
    assert any("as a greeting or a thank-you does" in line for line in said)


def test_votes_that_ended_alike_are_told_once() -> None:
    made = _alive()
    made.tick(100_000)
    for _ in range(3):
        made.decide([proposal(A, "promote")], nobody)
    told = [line for line in plain(made, A) if "promoting it" in line]
    assert len(told) == 1 and told[0].endswith("So it had gone twice before.")


def test_restored_by_a_request_is_told_with_who_asked() -> None:
    made = Shard(CODEC, GENESIS)
    for name in "ab":
        made.episode(name, salience=10, explicit=True, slot="ada/dietary")
    made.tick(100_000)
    order = votes.restore(GENESIS, A)
    made.ask(order, 100_000)
    made.tick(200_000)
    made.restore(order, Restored(A, 1, 0, 0, 0, 0))
    assert "it was asked back by" in plain(made, A)[1]


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "less than a minute"), (60_000, "one minute"), (7_200_000, "two hours"), (14 * 86_400_000, "14 days")],
)
def test_durations_are_told_in_one_unit(ms: int, text: str) -> None:
    assert plainly.roughly(ms) == text


def test_days_minutes_counts_and_names() -> None:
    assert plainly.day(1_741_252_240_999) == "6 Mar 2025" and plainly.day(-1) == "31 Dec 1969"
    assert plainly.minute(1_741_252_240_999) == "6 Mar 2025, 09:10 UTC"
    assert [plainly.counted(n) for n in (0, 3, 13, 1_200)] == ["no", "three", "13", "1,200"]
    assert [plainly.named(some) for some in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
