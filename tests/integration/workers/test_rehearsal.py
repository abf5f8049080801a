"""Rehearsals on a running installation: what is used is raised, what is contradicted doubted, each once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from infra import genesis, supervisor
from memquorum.core.policy import UNCAPPED
from tests.support.clock import tick
from tests.support.sessions import HOUR, SHARDS, START, Plant, configured

KILLS = 4


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """The whole fleet with a driven clock, at START; it rehearses every second, whatever the machine does. No epoch
    opens before a day is over."""
    told = configured(
        tmp_path_factory.mktemp("line"), rehearsal_every_s=1, rehearsal_busy_percent=100, rehearsal_quiet_s=0
    )
    rare = {"interactions": 10_000, "interval_ms": 24 * HOUR}
    genesis.create(told, SHARDS, policy={"caps": UNCAPPED, "epoch": rare, "triage": {"every_ms": 24 * HOUR}})
    with supervisor.started(told) as running:
        tick(running, START)
        yield Plant(running)


def strength(fleet: Plant, memory_id: str) -> tuple[int, int, int, int]:
    told = "SELECT salience_ppm, replays, doubts, rehearsed FROM strength WHERE memory_id = %(i)s"
    (found,) = fleet.rows(told, i=memory_id)
    return found  # type: ignore[return-value]


def test_what_holds_is_raised_and_what_is_contradicted_doubted(fleet: Plant) -> None:
    def remember(agent: str, text: str, **said: Any) -> str:
        with fleet.client("plant", agent) as memory:
            receipt = memory.add(text, occurred_at=START, subject="valve 3", wait=True, **said)
            assert receipt.outcome == "stored", text
            return receipt.memory_id

    used = remember("anna", "The boiler in hall 3 runs at 74 degrees.")
    idle = remember("anna", "Lena sends the pressure log to the insurer.")
    denied = remember("anna", "Valve 3 opens at 4 bar.")
    before = {one: strength(fleet, one)[0] for one in (used, idle, denied)}
    with fleet.client("plant", "ben") as memory:
        # Else members would vote on which of the two is to stay.
        memory.pin(denied)
        fleet.until(lambda: fleet.rows("SELECT 1 FROM protection WHERE memory_id = %(i)s", i=denied))
        denial = remember("ben", "Valve 3 opens at 6 bar.", explicit=True, supersedes=[denied])
        before[denial] = strength(fleet, denial)[0]
        assert fleet.rows("SELECT 1 FROM conflict WHERE newer = %(n)s AND older = %(o)s", n=denial, o=denied)
        memory.use(used)
        # Time stands still: each is rehearsed once.
        fleet.until(lambda: strength(fleet, used)[3] and strength(fleet, denied)[3])
        assert strength(fleet, used) == (min(1_000_000, before[used] * 11 // 10), 1, 0, START)
        assert strength(fleet, denied) == (before[denied] * 85 // 100, 0, 1, START)
        assert strength(fleet, idle) == (before[idle], 0, 0, 0)
        # An inferred contradiction is no doubt.
        seems = remember("ben", "No, Lena does not send the pressure log to the insurer.")
        noted = "SELECT stated FROM conflict WHERE newer = %(n)s AND older = %(o)s"
        assert fleet.rows(noted, n=seems, o=idle) == [(False,)]
        assert fleet.rows(noted, n=denial, o=denied) == [(True,)]
        assert strength(fleet, denial) == (before[denial], 0, 0, 0), "what is newer is served first"
        assert f"another memory says otherwise: {denial}" in memory.explain(denied).in_numbers()
        # Once for a use: the next hour finds nothing more to raise, and doubts again.
        fleet.turn()
        fleet.until(lambda: strength(fleet, denied)[2] == 2)
        assert strength(fleet, idle) == (before[idle], 0, 0, 0)
        assert strength(fleet, used)[:2] == (min(1_000_000, before[used] * 11 // 10), 1)


def test_a_rehearsal_that_is_killed_at_any_moment_loses_and_doubles_nothing(fleet: Plant) -> None:
    with fleet.client("killed", "anna") as memory:
        texts = [f"Pump {at} stands in hall {at + 20}." for at in range(12)]
        named = [memory.add(text, occurred_at=START, wait=True).memory_id for text in texts]
        for turn in range(1, KILLS + 1):
            # Later than the last rehearsal, or it is no use since.
            fleet.turn(1)
            for one in named:
                memory.use(one)
            used = "SELECT count(*) FROM strength WHERE memory_id = ANY(%(i)s::uuid[]) AND accesses = %(n)s"
            fleet.until(lambda: fleet.rows(used, i=named, n=turn) == [(len(named),)])  # noqa: B023
            fleet.turn()
            # Somewhere in the rehearsal of this hour.
            fleet.until(lambda: any(strength(fleet, one)[3] for one in named) or turn % 2)  # noqa: B023
            fleet.kill("rehearsal")
            fleet.until(lambda: all(strength(fleet, one)[1] >= turn for one in named))  # noqa: B023
        assert {strength(fleet, one)[1] for one in named} == {KILLS}
    counted = fleet.rows(
        "SELECT memory_id::text, count(*), count(DISTINCT event_id) FROM journal WHERE effect = 'rehearsed' "
        "AND memory_id = ANY(%(i)s::uuid[]) GROUP BY 1", i=named,
    )  # fmt: skip
    assert sorted(counted) == sorted((one, KILLS, KILLS) for one in named)


def test_by_hand_it_waits_for_nothing_and_can_only_look(fleet: Plant) -> None:
    fleet.turn()
    shown = fleet.infra("memories", "rehearse", "--dry-run", "-n", "nowhere")
    assert "Nothing was changed." in shown and "nothing is alive that could be rehearsed now" in shown
    done = fleet.infra("memories", "rehearse", "--json", "-n", "nowhere")
    assert '"recorded": 0' in done


def test_an_operator_is_told_of_the_last_rehearsal(fleet: Plant) -> None:
    fleet.until(lambda: "rehearsals: the last at 2" in fleet.infra("fleet", "status"))
    (told,) = [one for one in fleet.infra("fleet", "status").splitlines() if one.startswith("rehearsals: ")]
    assert " long-term: " in told and told.endswith(" s at the earliest"), told


def test_all_of_it_is_proven_and_a_rebuild_reaches_the_same_state(fleet: Plant) -> None:
    fleet.infra("audit", "verify")
    assert fleet.infra("audit", "rebuild").splitlines()[-1] == "equal"
