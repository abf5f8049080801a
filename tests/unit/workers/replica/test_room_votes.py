"""A member's vote on what is beyond a budget: by what it has read itself, whatever the nominator says of it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from memquorum.core.budgets.claims import AGE, BUDGET, FINISHED, PRESSURE, UNUSED
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.protect import PIN
from memquorum.core.policy import NO_CAPS, BudgetPolicy, CapsPolicy, EpochPolicy, ForgetPolicy, Policy
from memquorum.core.records import (
    AccessAccepted,
    ClockTicked,
    Link,
    NominationProposed,
    Proposal,
    ProtectionOrdered,
)
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from tests.builders.genesis import make
from tests.builders.voters import LIE, SPACE, Voter

POLICY = Policy(budget=BudgetPolicy(tokens="space=100"), caps=NO_CAPS)
GENESIS: Genesis = make(shards=1, agents={"ann": 1, "bob": 2}, policy=POLICY)
NOW = 1_790_000_000_000
HOUR = 3_600_000


class Member(Voter):
    """A member that reads a stream, and votes on what it is asked."""

    def __init__(self) -> None:
        super().__init__(GENESIS, NOW)


@pytest.fixture
def member() -> Iterator[Member]:
    """It has read twenty memories of ten tokens each: m00 is worth least, m19 most; a hundred tokens are allowed."""
    found = Member()
    for at in range(20):
        found.episode(f"m{at:02}", worth=at)
    yield found
    found.view.close()


LEAST, BEST = [f"m{at:02}" for at in range(10)], [f"m{at:02}" for at in range(11, 20)]


def test_what_is_fresh_goes_where_it_is_among_the_least(member: Member) -> None:
    assert member.yes(*LEAST) == LEAST
    first = member.votes(*LEAST)["m03"]
    assert first.terms == (150_000, 500_000), "30 of 200 tokens go before it, and 100 are too many"


def test_who_nominates_the_best_instead_of_the_least_gets_nothing(member: Member) -> None:
    assert member.yes(*BEST) == []
    assert member.yes("m19", *LEAST) == LEAST


def test_no_more_goes_than_is_beyond_the_budget_whatever_is_asked(member: Member) -> None:
    assert member.yes(*LEAST, "m10") == LEAST
    assert member.yes("m10", *LEAST) == ["m10", *LEAST[:9]], "within the margin, and instead of another"


def test_within_its_budget_or_without_one_a_namespace_keeps_all(member: Member) -> None:
    assert member.yes(*LEAST, policy=Policy(budget=BudgetPolicy(tokens="space=200"))) == []
    assert member.yes(*LEAST, policy=Policy(budget=BudgetPolicy(tokens="elsewhere=100"))) == []
    assert member.yes("never read") == []


@pytest.mark.parametrize("policy", ["worth", "fifo", "hybrid", "random"])
def test_no_member_votes_a_type_below_its_floor_whatever_is_asked(policy: str) -> None:
    """A floor of 55 tokens of 100 keeps six of ten tasks, worth least: three go, and a fourth would leave too few."""
    found = Member()
    for at in range(20):
        found.episode(f"m{at:02}", worth=at, type="task" if at < 10 else "semantic")
    floored = Policy(budget=BudgetPolicy(tokens=f"space=120/{policy}/task:55"), caps=NO_CAPS)
    tasks = LEAST if policy != "random" else LEAST[::-1]
    assert found.yes(*tasks, policy=floored) == tasks[:4]
    assert found.yes(*tasks[4:], policy=floored) == ([] if policy != "random" else tasks[4:8])
    assert found.yes(*tasks, "m10", "m11", policy=floored) == [*tasks[:4], "m10", "m11"]
    found.view.close()


def test_what_was_read_since_is_no_longer_among_the_least(member: Member) -> None:
    for _ in range(40):
        member.reads(AccessAccepted("use", ("m09",), "space", "reader", NOW))
    assert member.alive()["m09"].uses == 40
    assert member.yes("m09") == []
    assert member.yes(*LEAST) == LEAST[:9]


def test_what_is_protected_or_promoted_stays_and_what_was_made_of_it_goes_first(member: Member) -> None:
    with member.view.batch():
        pin = ProtectionOrdered(GENESIS.cluster, "o", "space", "m00", PIN, "ops", NOW)
        member.view.protect(0, pin, "operator", NOW)
        member.view.weights.moved("space", {"m01": LONG_TERM})
    member.episode("child", worth=50, derives_from=("m02",))
    assert member.yes("m00", "m01", "m02") == []
    assert member.yes("m03", "m04") == ["m03", "m04"]
    with member.view.batch():
        member.view.weights.moved("space", {"m01": SHORT_TERM})
    assert member.yes("m01") == ["m01"]


def test_what_is_required_stays_and_every_link_makes_central(member: Member) -> None:
    member.episode("early", worth=50, links=(Link("requires", "later"),))
    member.episode("later", worth=50, links=(Link("requires", "m02"), Link("partOf", "m03"), Link("isA")))
    assert member.yes("m02") == [] and member.yes("m03") == ["m03"]
    assert member.alive()["early"].needs == (), "nothing is required that was not there before"
    assert [member.alive()[name].links for name in ("m02", "m03", "later", "early")] == [1, 1, 0, 0]
    assert member.alive()["later"].needs == ("m02",)


def test_what_was_let_go_counts_no_more_but_what_was_used_meanwhile_does(member: Member) -> None:
    member.decided(*LEAST[:9])
    assert len(member.alive()) == 11
    assert member.yes("m09") == ["m09"]
    member.reads(AccessAccepted("late", ("m00",), "space", "reader", NOW))  # the vote speaks of a place before this
    assert set(member.alive()) == {"m00", "m09", *BEST, "m10"}
    member.view.holdings.settle()
    assert list(member.view.holdings.unsure("space", 100)) == ["m00"], "its key is asked for at the next vote"
    for epoch in (2, 3):
        member.decided(epoch=epoch)
    member.reads(ClockTicked("tick", NOW))  # its grace time is over
    rows = member.view._db.execute("SELECT memory_id FROM weight ORDER BY memory_id").fetchall()
    assert [i for (i,) in rows] == ["m00", "m09", "m10", *BEST]


def test_what_was_erased_holds_nothing(member: Member) -> None:
    for name in LEAST[:9]:
        del member.vault.keys[name]
    assert member.yes("m09", "m10") == ["m09"]
    del member.vault.keys["m09"]
    assert member.yes("m10") == []


def test_a_repetition_is_no_memory_of_its_own_unless_what_it_repeats_is_gone(member: Member) -> None:
    member.episode("again", worth=5, again="m05")
    assert "again" not in member.alive()
    assert member.alive()["m05"].uses == 1
    member.decided("m06")
    member.episode("anew", worth=6, again="m06")
    assert "anew" in member.alive()


def test_who_fills_a_slot_anew_leaves_one_in_it(member: Member) -> None:
    member.episode("old", worth=5, explicit=True, slot="door")
    member.episode("theirs", worth=5, explicit=True, slot="door", agent="ann")
    member.episode("new", worth=5, explicit=True, slot="door")
    assert "old" not in member.alive() and {"theirs", "new"} <= member.alive().keys()
    member.episode("granted", worth=5, explicit=True, slot="door", granted="desk")
    assert "theirs" not in member.alive() and "new" not in member.alive()


def test_who_clears_a_slot_leaves_nothing_in_it_and_weighs_nothing(member: Member) -> None:
    member.episode("mine", worth=5, explicit=True, slot="door")
    member.episode("theirs", worth=5, explicit=True, slot="door", agent="ann")
    before = member.alive().keys()
    member.episode("nothing", worth=5, explicit=True, slot="door", clears=True)
    assert member.alive().keys() == before - {"mine"}
    member.episode("again", worth=5, explicit=True, slot="door")
    member.episode("nothing", worth=5, explicit=True, slot="door", clears=True)
    assert "again" in member.alive(), "what is delivered twice changes nothing"
    member.moved({"again": LONG_TERM})
    member.episode("other", worth=5, explicit=True, slot="door")
    assert "again" in member.alive(), "what was promoted gives way to no other word"
    member.episode("nothing more", worth=5, explicit=True, slot="door", clears=True)
    assert member.alive().keys() == before - {"mine"}
    member.episode("taken back", worth=5, explicit=True, clears=True, supersedes=("m01", "theirs"))
    assert member.alive().keys() == before - {"mine", "m01"}, "the other is another agent's"


def test_of_a_full_shard_what_has_fallen_lowest_goes_and_no_more_than_is_too_much() -> None:
    found = Member()
    crowd = Policy(epoch=EpochPolicy(capacity=15), caps=NO_CAPS)
    for at in range(20):
        found.episode(f"m{at:02}", worth=1, at=60_000 * (20 - at), explicit=at == 0)
    lowest = [f"m{at:02}" for at in range(1, 6)]
    assert found.yes(*lowest, policy=crowd, reason=PRESSURE) == lowest
    assert found.yes(*lowest, "m06", policy=crowd, reason=PRESSURE) == lowest
    assert found.yes("m00", "m18", "m19", policy=crowd, reason=PRESSURE) == [], "wanted on purpose, or just said"
    assert found.yes(*lowest, policy=Policy(epoch=EpochPolicy(capacity=20)), reason=PRESSURE) == []
    assert found.yes(*lowest, policy=crowd, reason=BUDGET) == [], "it has no budget"
    assert found.yes(*lowest, policy=crowd, reason="a whim") == []
    found.view.close()


def test_what_is_older_than_its_type_may_become_goes_and_nothing_else() -> None:
    found = Member()
    hour = 3_600_000
    short = Policy(budget=BudgetPolicy(ttl_ms=(hour, 0, 0, 2 * hour)))
    for name, age, type_ in (("old", hour + 1, "episodic"), ("new", hour, "episodic"), ("fact", 9 * hour, "semantic"),
                             ("job", hour + 1, "task"), ("pinned", 9 * hour, "episodic")):  # fmt: skip
        found.episode(name, worth=1, at=age, type=type_)
    with found.view.batch():
        pin = ProtectionOrdered(GENESIS.cluster, "o", "space", "pinned", PIN, "ops", NOW)
        found.view.protect(0, pin, "operator", NOW)
    found.reads(AccessAccepted("use", ("old",), "space", "reader", NOW))
    assert found.yes("old", "new", "fact", "job", "pinned", policy=short, reason=AGE) == ["old"]
    assert found.yes("old", reason=AGE) == [], "by a policy that says nothing of ages"
    found.view.close()


def test_what_nobody_used_for_as_long_as_its_namespace_allows_goes_and_nothing_else() -> None:
    found = Member()
    day = 24 * HOUR
    rules = Policy(forget=ForgetPolicy(unused="other=social:1d sp*=social:30d,task:90d"))
    told = {
        "stale": (30 * day + 1, "social"), "known": (30 * day, "social"), "read": (40 * day, "social"),
        "fact": (80 * day, "semantic"), "job": (80 * day, "task"), "kept": (40 * day, "social"),
    }  # fmt: skip
    for name, (age, type_) in told.items():
        found.episode(name, worth=90, at=age, type=type_)
    found.pinned("kept")
    asked = ["stale", "known", "read", "fact", "job", "kept"]
    assert found.yes(*asked, policy=rules, reason=UNUSED) == ["stale", "read"]
    found.reads(AccessAccepted("use", ("read",), "space", "reader", NOW))
    assert found.yes(*asked, policy=rules, reason=UNUSED) == ["stale"], "a use ends it"
    assert found.yes(*asked, reason=UNUSED) == [], "by a policy that says nothing of it"
    assert found.yes(*asked, policy=rules, reason=AGE) == [] == found.yes(*asked, policy=rules, reason=FINISHED)
    found.view.close()


def test_the_steps_of_a_task_that_is_over_go_and_those_of_an_open_one_stay() -> None:
    found = Member()
    task = {"type": "task", "explicit": True, "at": 2 * HOUR}
    for name in ("need", "shared", "also needed", "pinned"):
        found.episode(name, worth=90, at=3 * HOUR)
    found.episode("ship", worth=9, slot="ship", links=(Link("requires", "need"), Link("requires", "shared"),
                  Link("requires", "also needed"), Link("isA", "m00")), **task)  # fmt: skip
    found.episode("open", worth=9, links=(Link("requires", "shared"),), **task)
    found.episode("note", worth=9, at=2 * HOUR, links=(Link("requires", "also needed"),))
    steps = {"step": ["ship"], "of both": ["ship", "open"], "on purpose": ["ship"], "pinned too": ["ship"]}
    of = {name: tuple(Link("partOf", one) for one in tasks) for name, tasks in steps.items()}
    for name, links in of.items():
        found.episode(name, worth=90, at=HOUR, links=links, explicit=name == "on purpose")
    found.pinned("pinned too")
    found.episode("shipped", worth=9, slot="ship", over=True, **{**task, "at": HOUR // 2})
    asked = ["need", "shared", "also needed", *of, "ship", "shipped", "open", "m00"]
    assert found.yes(*asked, reason=FINISHED) == ["need", "step"]
    found.now -= HOUR // 2 - 60_000
    assert found.yes(*asked, reason=FINISHED) == [], "it is over for a minute only"
    found.now += HOUR
    found.episode("again", worth=9, slot="ship", **{**task, "at": 0})
    assert found.yes(*asked, reason=FINISHED) == [], "it is open again"
    found.view.close()


@pytest.mark.parametrize("policy", ["worth", "fifo", "hybrid", "random"])
def test_a_member_lets_no_task_go_that_is_due_within_a_day(policy: str) -> None:
    found = Member()
    day = 24 * HOUR
    for name, deadline in (("due", NOW + HOUR), ("later", NOW + 9 * day), ("missed", NOW - 9 * day), ("none", None)):
        found.episode(name, worth=1, at=HOUR, type="task", deadline=deadline)
    for at in range(8):
        found.episode(f"fact{at}", worth=60)
    small = Policy(budget=BudgetPolicy(tokens=f"space=90/{policy}"), caps=NO_CAPS)
    assert found.yes("due", policy=small) == []
    assert found.yes("missed", "none", "later", "due", policy=small) == ["missed", "none", "later"]
    found.now += 2 * HOUR
    assert found.yes("due", policy=small) == ["due"], "a deadline that has passed protects nothing"
    found.view.close()


def test_a_member_reads_a_task_as_used_at_its_deadline_in_a_vote_to_forget(member: Member) -> None:
    member.episode("job", worth=1, type="task", deadline=NOW + HOUR)
    member.episode("missed", worth=1, type="task", deadline=NOW - HOUR, at=9 * HOUR)
    member.episode("done", worth=1, type="task", over=True, at=9 * HOUR)
    told = {one.memory_id: one.last_access for one in member.view.fading(["job", "missed", "done"])}
    assert told == {"job": NOW + HOUR, "missed": NOW - HOUR, "done": NOW - 9 * HOUR}


def test_what_came_back_rests_and_what_is_next_in_order_goes(member: Member) -> None:
    member.decided(*LEAST[:4], epoch=1)
    assert member.yes(*LEAST[4:]) == LEAST[4:]
    member.decided(epoch=2, back=LEAST[:4], rests=5)
    assert member.alive()["m00"].rests
    # 200 tokens are held again, 100 too many; what came back is worth least and stays.
    assert member.yes(*LEAST, *BEST) == [*LEAST[4:], *BEST[:4]]
    crowd = Policy(epoch=EpochPolicy(capacity=15))
    assert member.yes(*LEAST[:4], policy=crowd, reason=PRESSURE) == []
    old = Policy(budget=BudgetPolicy(ttl_ms=(60_000, 0, 0, 0)))
    member.now += 3_600_000
    assert member.yes("m00", "m04", policy=old, reason=AGE) == ["m04"]
    member.decided(epoch=3)
    member.decided(epoch=4)
    assert not member.alive()["m00"].rests
    assert member.yes("m00") == ["m00"]


def test_a_vote_asks_the_vault_about_what_is_new_and_what_is_proposed_alone(member: Member) -> None:
    """However many memories there are, and although an erased one has to be known as gone."""
    member.yes("m03")
    member.vault.asked.clear()
    member.episode("new", worth=50)
    del member.vault.keys["m00"]
    assert member.yes("m03") == ["m03"]
    assert set().union(*member.vault.asked) == {"m03", "new"}
    assert set(member.view.holdings.weighted(["m00", "m01", "new"])) == {"m01", "new"}


def test_a_vault_that_was_put_back_is_read_from_its_beginning(member: Member) -> None:
    member.yes("m03")
    del member.vault.keys["m00"]
    del member.vault.keys["m01"]
    member.yes("m03")
    member.vault.keys.gone[:] = ["m02"]  # so far: the commit worker destroys the others again later
    assert member.yes("m03") == ["m03"]
    assert set(member.view.holdings.weighted(["m00", "m01", "m02", "m03"])) == {"m03"}


CAPPED = Policy(
    budget=POLICY.budget, caps=CapsPolicy(epoch_share=Fraction(1, 5), day_share=Fraction(2, 5), floor=1, day_ms=HOUR)
)
"""Four of twenty may be forgotten in an epoch and eight in an hour."""


def test_where_more_is_proposed_than_the_caps_leave_all_members_together_let_no_more_go(member: Member) -> None:
    assert member.yes(*LEAST[:4], policy=CAPPED) == LEAST[:4]
    # Each that goes has two of three honest votes: of three members that say two each, three go at most.
    assert member.yes(*LEAST[:5], policy=CAPPED) == LEAST[:2]
    assert member.yes(*BEST, *LEAST, policy=CAPPED) == LEAST[:2]


def test_what_went_within_a_day_counts_against_the_cap_of_the_day(member: Member) -> None:
    member.decided(*LEAST[:7])
    assert member.yes("m07", policy=CAPPED) == ["m07"]
    assert member.yes("m07", "m08", policy=CAPPED) == []
    member.now += HOUR
    assert member.yes("m07", "m08", policy=CAPPED) == ["m07", "m08"]


def test_what_was_read_after_the_moment_of_the_vote_leaves_no_more_room(member: Member) -> None:
    through = member.accepted - 1
    for at in range(20, 30):
        member.episode(f"m{at}", worth=at)
    asked = tuple(Proposal((i,), SPACE, "evict", BUDGET, 0, 0, 0, LIE) for i in LEAST[:5])
    made = NominationProposed(GENESIS.cluster, 0, 0, 1, NOW, through, BUDGET, asked)
    assert [one.yes for one in member.opinions(made, CAPPED)] == [True, True, False, False, False]


def test_what_else_of_a_namespace_is_proposed_takes_of_its_room(member: Member) -> None:
    others = tuple(Proposal((i,), SPACE, "forget", "decayed", 0, 0, 0) for i in BEST[:2])
    asked = tuple(Proposal((i,), SPACE, "evict", BUDGET, 0, 0, 0, LIE) for i in LEAST[:3])
    made = NominationProposed(GENESIS.cluster, 0, 0, 1, NOW, member.accepted, BUDGET, (*others, *asked))
    assert [one.yes for one in member.opinions(made, CAPPED)][2:] == [True, True, False]
