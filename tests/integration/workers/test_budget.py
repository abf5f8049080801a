"""A budget on a running installation: a namespace that holds too many tokens shrinks to its budget by votes. Near-ties
are drawn: what of them is withheld, who pays, and what becomes of who has paid.

The clock is driven in lockstep: a step is over once what it opened has been voted on and applied.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from infra import admin_commands, genesis, supervisor
from infra.budget_preview import NothingAlive
from infra.demo.driver import Driver
from infra.demo.steps import Tick
from infra.settings import Settings
from memquorum import cli
from memquorum.client import Memory
from memquorum.core.policy import PPM
from memquorum.core.reading.tokens import tokens
from memquorum.schema_files import load_codec
from tests.support.sessions import SHARDS, configured
from tests.support.waiting import until

START = 1_750_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
SPACE, OTHER, BUDGET = "hall", "den", 80
DRAWN, DRAWN_BUDGET = "yard", 120
CROWDED, CROWDED_BUDGET = "lab", 150
THINGS = (
    "room",
    "door",
    "light",
    "floor",
    "roof",
    "stair",
    "lamp",
    "desk",
    "wall",
    "gate",
    "bell",
    "shelf",
    "lock",
    "rug",
)
SAID = [
    f"The {thing} of the hall was {how} when we looked at it."
    for how in ("warm", "fine", "clean", "old", "loud")
    for thing in THINGS
]
"""Ten times as many tokens as the budget, all of an hour ago."""
POLICY = {
    "budget": {
        "tokens": f"{SPACE}={BUDGET}/fifo {OTHER}={BUDGET} {DRAWN}={DRAWN_BUDGET}/worth "
        f"{CROWDED}={CROWDED_BUDGET}/hybrid",
        "ttl_ms": [0, HOUR, 0, 0],
        "band_ppm": PPM, "epsilon_ppm": PPM, "subject_epsilon_ppm": 3 * PPM,
    },
    "caps": {"epoch_share": "1", "day_share": "1"},
    "consolidate": {"lost_rank_ppm": PPM + 1, "share_ppm": 350_000},
    "salience": {"encode_threshold": 0.0, "duplicate_threshold": 0.999999},
}  # fmt: skip
"""Memories worth up to twice the least count as alike, and each subject may pay for three draws.

Without caps, which would only spread it over days.
"""


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet by the shipped policy, with budgets."""
    told = configured(tmp_path_factory.mktemp("line"))
    genesis.create(told, SHARDS, policy=POLICY)
    with supervisor.started(told) as running:
        yield running


@pytest.fixture
def move(line: Settings) -> Iterator[Callable[[float], None]]:
    """Moves the time to so many minutes after START."""
    made = genesis.read(line)
    driver = Driver(line.bootstrap, made, load_codec(), line.memory_dsn, active=range(made.shards))
    with closing(driver):
        yield lambda minutes: driver.run([Tick(START + round(minutes * MINUTE))], lambda: None)


def run(line: Settings, *arguments: str) -> int:
    """The operator's command, in this process."""
    parsed = admin_commands.parser(*arguments[:2]).parse_args(arguments)
    return int(parsed.command(line, parsed))


def rows(line: Settings, statement: str, namespace: str = SPACE) -> list[tuple[Any, ...]]:
    with psycopg.connect(line.memory_dsn) as connection:
        return connection.execute(statement, {"n": namespace}).fetchall()


def gone(line: Settings) -> list[str]:
    told = "SELECT id::text FROM memory WHERE namespace = %(n)s AND tier = 'sealed' ORDER BY created, id"
    return [one for (one,) in rows(line, told, DRAWN)]


SPENT = """SELECT m.subject, sum(s.spent_ppm)::bigint FROM spent s JOIN memory m ON m.id = s.memory_id
WHERE s.namespace = %(n)s GROUP BY m.subject ORDER BY m.subject"""


def withheld(line: Settings, capsys: pytest.CaptureFixture[str]) -> int:
    """Counts the scores that an audit of everything finds withheld."""
    assert run(line, "audit", "verify", "--json") == 0
    return int(json.loads(capsys.readouterr().out)["counts"]["scores_withheld"])


def test_near_ties_are_drawn_until_their_subjects_have_spent_what_they_may(
    line: Settings, move: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def say(memory: Memory, how: str) -> None:
        receipts = memory.add_all(
            {"content": f"The {thing} of the yard was {how} today.", "occurred_at": START - 2 * HOUR, "explicit": True,
             "subject": "ada"}
            for thing in THINGS
        )  # fmt: skip
        for receipt in receipts:
            memory.outcome(receipt, timeout=60)

    move(-62)
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=DRAWN, agent="anna") as memory:
        say(memory, "warm")
        say(memory, "loud")
        assert run(line, "policy", "preview", "--dry-run", "--policy", "worth") == 0
        assert "an epoch draws among them by lot" in capsys.readouterr().out
        move(-60)
        first = gone(line)
        assert len(first) > 5
        assert rows(line, SPENT, DRAWN) == [("ada", 3 * PPM)], "three draws, and nobody else paid"
        accounts = [memory.explain(one).in_numbers() for one in first]
        assert sum("It was drawn among" in one and "1 subject pays for that" in one for one in accounts) == 3
        refused = [one for one in accounts if "So nothing was drawn, and it was the next in order." in one]
        assert refused
        assert all("Its features and its score are withheld" in one for one in accounts)
        assert not any("The nominator weighed" in one for one in accounts)

        say(memory, "cold")
        move(-57)
        second = [one for one in gone(line) if one not in first]
        assert second
        assert rows(line, SPENT, DRAWN) == [("ada", 3 * PPM)], "who has spent is drawn no more"
        assert not any("It was drawn among" in memory.explain(one).in_numbers() for one in second)
        assert run(line, "fleet", "status") == 0
        shown = capsys.readouterr().out
        assert "draws among near-ties: a subject has spent ε = 3 at most, 1 have spent what they may" in shown
        assert "ada" not in shown
    assert withheld(line, capsys) == len(first) + len(second)


HELD = "SELECT sum((octet_length(body) + 3) / 4)::integer FROM content WHERE namespace = %(n)s"


def test_a_namespace_shrinks_to_its_budget_by_votes_and_what_is_pinned_stays(
    line: Settings, move: Callable[[float], None], capsys: pytest.CaptureFixture[str]
) -> None:
    move(-2)
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=SPACE, agent="anna") as memory:
        told = memory.add_all(
            {"content": text, "occurred_at": START - HOUR + at, "explicit": True} for at, text in enumerate(SAID)
        )
        made = [memory.outcome(receipt, timeout=60).memory_id for receipt in told]
        assert memory.pin(made[0]) is not None
        weigh = [tokens(text) for text in SAID]
        assert sum(weigh) > 10 * BUDGET

        assert run(line, "policy", "preview", "--dry-run", "--policy", "fifo", "--json") == 0
        (outlook,) = (one for one in json.loads(capsys.readouterr().out) if one["namespace"] == SPACE)
        assert (outlook["held"], outlook["budget"], outlook["policy"]) == (sum(weigh), BUDGET, "fifo")
        foreseen = [one["memory_id"] for one in outlook["goes"]]
        assert foreseen == made[1 : 1 + len(foreseen)], "the oldest, but not what is pinned"

        assert run(line, "policy", "preview", "--dry-run", "--policy", "fifo") == 0
        shown = capsys.readouterr().out
        assert "tokens, oldest" in shown and "score" not in shown
        assert run(line, "policy", "preview", "--dry-run", "--policy", "worth") == 0
        assert "score" in capsys.readouterr().out
        for words in ((), ("--policy", "fifo"), ("--budget", "64")):
            with pytest.raises(NothingAlive, match=f"forgotten; the nearest that holds something is {SPACE!r}"):
                run(line, "policy", "preview", "--dry-run", "-n", SPACE + "s", *words)

        assert run(line, "policy", "preview", "--dry-run", "-n", SPACE, "--json") == 0
        (plain,) = json.loads(capsys.readouterr().out)
        assert (plain["due"], plain["beyond"], plain["forgotten"]) == (0, len(foreseen), len(foreseen))
        assert plain["named"] == foreseen

        move(0)
        gone = {one for (one,) in rows(line, "SELECT id::text FROM memory WHERE namespace = %(n)s AND tier = 'sealed'")}
        assert gone == set(foreseen), "members let go what the policy nominated, and nothing else"
        ((left,),) = rows(line, HELD)
        assert left == outlook["left"] <= BUDGET < left + weigh[len(foreseen)]
        told_of = """SELECT DISTINCT d.trigger FROM outcome o JOIN decision d USING (shard, epoch)
            JOIN memory m ON m.id = o.memory_id WHERE m.namespace = %(n)s AND o.kind = 'evict'"""
        ((trigger,),) = rows(line, told_of)
        assert trigger in {"budget", "interval"}
        account = memory.explain(foreseen[0]).in_numbers()
        assert "because its namespace held more tokens than its budget" in account
        assert f"held {sum(weigh)} tokens of {BUDGET}; by fifo of the genesis file's policy" in account
        assert "was the next to go" in account and "The nominator weighed" not in account, "fifo goes by age alone"
        assert "of what is held is too much, and 0 goes before this, ≤" in account

        page = memory.decisions(kinds=["evict"], policies=["fifo"], limit=len(foreseen))
        assert [one.memories[0].memory_id for one in page.decisions] == foreseen[::-1], "the latest first"
        first = page.decisions[-1]
        assert (first.outcome, first.policy, first.memories[0].state) == ("forgotten", "fifo", "sealed")
        assert (first.features, first.score) == (None, None)
        cast = f"""SELECT b.member FROM outcome o JOIN ballot b USING (shard, epoch, position)
            WHERE o.namespace = %(n)s AND o.kind = 'evict' AND o.memory_id = '{foreseen[0]}' ORDER BY b.member"""
        members = [member for (member,) in rows(line, cast)]
        assert [one["member"] for one in first.vote["opinions"]] == members
        assert len(members) >= 3, "a quorum decides, and whoever is slow is not waited for"
        told = [line for line in first.numbers if "About" not in line]
        assert "\n".join(told) in account, "as explain says it"
        assert memory.decisions(policies=["worth"]).decisions == ()
        asked = ("--kafka", line.bootstrap, "--url", line.retrieval_url, "-n", SPACE, "--brief", "--limit", "2")
        assert cli.main(["decisions", *asked, "--policy", "fifo"]) == 0
        shown = capsys.readouterr()
        assert [text.rpartition(" ")[2] for text in shown.out.splitlines()] == foreseen[:-3:-1]
        assert "evict by fifo, because its namespace held more tokens than its budget: forgotten," in shown.out
        more = memory.decisions(policies=["fifo"], limit=2).next
        assert f"there are more: --cursor {more}" in shown.err

        for one in made[1:]:
            if one not in gone:
                assert memory.pin(one) is not None
        ((kept,),) = rows(line, HELD)
        move(2)
        assert rows(line, HELD) == [(kept,)]
        assert run(line, "policy", "preview", "--dry-run", "--budget", "64", "-n", SPACE) == 0
        assert "may not go:" in (shown := capsys.readouterr().out) and " pinned" in shown


def test_the_shipped_policy_holds_a_budget_within_a_few_epochs_whatever_is_fresh(
    line: Settings, move: Callable[[float], None]
) -> None:
    """Fresh episodes, some of them read: none has decayed, and all but a tenth are forgotten."""
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=OTHER, agent="bob") as memory:
        told = memory.add_all(
            {"content": text.replace("hall", "den"), "occurred_at": START + at, "explicit": True}
            for at, text in enumerate(SAID)
        )
        made = [memory.outcome(receipt, timeout=60).memory_id for receipt in told]
        assert memory.pin(made[0]) is not None
        for text in ("Which bell of the den was loud?", "Which rug of the den was old?"):
            memory.search(text)
        weigh = [tokens(text.replace("hall", "den")) for text in SAID]
        assert sum(weigh) > 9 * BUDGET
        for epoch in range(1, 4):
            move(10 + 2 * epoch)
            ((left,),) = rows(line, HELD, OTHER)
            if left <= BUDGET:
                break
        assert left <= BUDGET
        assert memory.get(made[0]).tier == "short-term", "what is pinned stays"


def test_what_is_older_than_its_type_may_become_goes(line: Settings, move: Callable[[float], None]) -> None:
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace="attic", agent="cy") as memory:
        told = memory.add_all(
            {"content": text, "occurred_at": START - HOUR, "explicit": True, "type": type_}
            for text, type_ in (("Roof tiles of the attic are slate.", "semantic"), ("A tile fell today.", "episodic"))
        )
        fact, event = (memory.outcome(receipt, timeout=60).memory_id for receipt in told)
        move(90)
        assert (memory.get(fact).tier, memory.get(event).tier) == ("sealed", "short-term")
        account = memory.explain(fact).in_numbers()
    assert "because it was older than its type may become" in account
    assert "by its own reading its time is over, by its age, for want of use, or with its task: forget" in account


def lab(line: Settings, tier: str) -> list[str]:
    told = "SELECT id::text FROM memory WHERE namespace = %(n)s AND made_by IS NOT NULL AND tier = '" + tier + "'"
    return [one for (one,) in rows(line, told, CROWDED)]


def test_what_is_said_again_and_again_beyond_a_budget_becomes_one_summary(
    line: Settings, move: Callable[[float], None]
) -> None:
    """Episodes of no session, in two matters: what lies together gets one summary, by a vote with both gates."""
    things = ("valve", "gasket", "flange", "pump", "gauge", "handle", "filter", "cover")
    boiler = [
        f"Marta carried the {thing} of the old boiler from the lab to the workshop next door and left a note there."
        for thing in things
    ]
    with Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=CROWDED, agent="dora") as memory:
        told = memory.add_all({"content": text, "occurred_at": START + at} for at, text in enumerate(boiler))
        made = [memory.outcome(receipt, timeout=60).memory_id for receipt in told]
        assert len(set(made)) == len(boiler)
        move(100)
        drafts = until(lambda: lab(line, "draft") or lab(line, "short-term"), "no summary was made")
        assert len(drafts) == 1
        for minutes in range(102, 180, 4):
            move(minutes)
            if lab(line, "short-term"):
                break
        assert lab(line, "short-term") == drafts
        account = memory.explain(drafts[0]).in_numbers()
        assert "It is a summary of memories beyond a budget, made by extractive/" in account
        sources = f"SELECT parent::text FROM provenance WHERE child = '{drafts[0]}' AND namespace = %(n)s"
        summed = {one for (one,) in rows(line, sources, CROWDED)}
        assert len(summed) >= 3 and summed <= set(made)
        assert {memory.get(one).tier for one in summed} == {"sealed"}
