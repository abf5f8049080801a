"""Rehearsals in simulated worlds: they have an effect whoever dies and whoever lies, and every rule about them can be
broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from db import view_statements
from memquorum.core import rehearsal
from memquorum.core.identity import messages
from memquorum.core.journal import conflicts, grounds, rehearsals
from memquorum.core.records import RehearsalMade
from memquorum.ports import Seen
from streams import candidates
from tests.simulation.dice import Dice
from tests.simulation.mutations import mutate, mutations
from tests.simulation.plan import ACTS, MS, Plan, draw
from tests.simulation.runs import BEHAVIOURS
from tests.simulation.signatures import Signatures
from tests.simulation.story import Story
from tests.simulation.world import Outcome, World
from workers.replica.stream_follower import Walk

CALM = Plan(seed=3, n=4, shard=1, epochs=5, heal_by=60_000 * MS, gap=0, yes_permille=1000)

Patch = pytest.MonkeyPatch


def run(plan: Plan) -> tuple[World, Outcome]:
    signatures = Signatures(cheap=True)
    with signatures.installed():
        world = World(plan, signatures, Story(wanted=True))
        return world, world.run()


def rehearsed(*acts: str, **changes: Any) -> Plan:
    """Plans a calm world with a way to rehearse in each epoch."""
    return replace(CALM, epochs=len(acts), rehearsals=tuple(enumerate(acts, 1)), **changes)


def test_the_drawn_plans_hold_every_way_to_rehearse() -> None:
    plans = [draw(seed, BEHAVIOURS) for seed in range(2_000)]
    found = [plan for plan in plans if plan.rehearsals]
    assert {act for plan in found for _, act in plan.rehearsals} == set(ACTS)
    assert 100 < len(found) < 250


@pytest.mark.parametrize("act", sorted(set(ACTS)))
def test_verdicts_act_whatever_else_is_said(act: str) -> None:
    seen = [run(rehearsed("honest", act, act, "honest", seed=seed)) for seed in range(3)]
    assert [outcome.violation for _, outcome in seen] == [None] * 3
    assert all(world.memories is not None and world.memories.recount.verdicts > 3 for world, _ in seen)


def test_what_is_doubted_is_let_go_and_the_commit_worker_dies_meanwhile() -> None:
    lines = [line for seed in range(8) for line in run(rehearsed(*["honest"] * 6, seed=seed))[0].story.lines]
    for words in ("dies before its transaction", "dies after its transaction", "dies while it reads of memories"):
        assert any(words in line for line in lines), words


def test_a_verdict_is_mutated_in_each_of_its_parts() -> None:
    record = RehearsalMade(b"c" * 32, 0, 1, "m", "space", "held", "", 7, 3, 9, 4)
    changed = {name for n in range(300) for _, name in [mutate(record, Dice(1), n)]}
    assert changed == set(mutations(record)) >= {"memory_seq", "previous", "verdict", "accepted_offset"}
    assert all(mutate(record, Dice(1), n)[0] != record for n in range(300))


# Guards removed -------------------------------------------------------------------------------------------------------


def acts_again(patch: Patch) -> None:
    def check(rows: Any, made: Any, policy: Any, *, entered: bool = False) -> Any:
        return rows.strengths[made.memory_id] if made.memory_id in rows.strengths else fails("gone")

    def fails(why: str) -> Any:
        raise rehearsals.NotRehearsed(why)

    patch.setattr(rehearsals, "check", check)


def acts_on_what_changed(patch: Patch) -> None:
    check = rehearsals.check

    def check_present_memory(rows: Any, made: Any, policy: Any, *, entered: bool = False) -> Any:
        known = rows.memories.get(made.memory_id)
        made = made if known is None else replace(made, memory_seq=known.seq)
        return check(rows, made, policy, entered=entered)

    patch.setattr(rehearsals, "check", check_present_memory)


def nothing_is_asked_of_a_verdict(patch: Patch) -> None:
    patch.setattr(rehearsals, "_unborne", lambda *_, **__: None)


def what_was_inferred_is_a_doubt(patch: Patch) -> None:
    whole = grounds.against

    def against(rows: Any, memory: Any, *, inferred: bool = True, arrival: bool = False) -> list[str]:
        return whole(rows, memory, inferred=True, arrival=arrival)

    patch.setattr(grounds, "against", against)
    patch.setattr(Seen, "against", lambda seen, policy: seen.contested)


def whoever_signs(patch: Patch) -> None:
    patch.setattr(rehearsals, "opened", lambda codec, genesis, data: messages.unsigned(codec, data, RehearsalMade))


def another_factor(patch: Patch) -> None:
    patch.setattr(rehearsals, "after_ppm", lambda salience, verdict: rehearsal.after_ppm(salience, verdict) // 2)


def the_newer_one_is_always_first(patch: Patch) -> None:
    patch.setattr(grounds, "served_first", lambda newer, older: older)


def a_view_takes_what_comes_again(patch: Patch) -> None:
    patch.setattr(
        view_statements, "REHEARSE",
        view_statements.REHEARSE.replace("AND rehearsed <= ?6 AND (rehearsed = 0 OR ?4 - rehearsed >= ?5)", "")
        .replace("?4", "?4 + 0 * (?5 + ?6)"),
    )  # fmt: skip


def who_reads_ahead_holds_up_the_rest(patch: Patch) -> None:
    take = Walk._rehearse

    def in_order(self: Walk, offset: int) -> None:
        if all(where <= offset for where, _, _ in self._found):
            take(self, offset)

    patch.setattr(Walk, "_rehearse", in_order)


def nobody_nominates_what_is_doubted(patch: Patch) -> None:
    patch.setattr(candidates.rehearsal, "doubted", lambda *_: False)


def statements_are_dropped(patch: Patch) -> None:
    patch.setattr(conflicts, "sound", lambda _: False)


@dataclass(frozen=True)
class Sabotage:
    """A guard to remove, the rules one of which notices, and the act of the service."""

    carry_out: Callable[[Patch], None]
    rules: tuple[str, ...]
    act: str = "honest"


SABOTAGES = (
    Sabotage(acts_again, ("a verdict acts once", "a stale verdict changes nothing"), "twice"),
    Sabotage(acts_on_what_changed, ("a stale verdict changes nothing",), "mutated"),
    Sabotage(nothing_is_asked_of_a_verdict, ("a verdict is borne out",), "false"),
    Sabotage(what_was_inferred_is_a_doubt, ("a verdict is borne out",)),
    Sabotage(whoever_signs, ("a verdict is borne out",), "forged"),
    Sabotage(another_factor, ("saliences follow from the journal",)),
    Sabotage(the_newer_one_is_always_first, ("a verdict is borne out",)),
    Sabotage(a_view_takes_what_comes_again, ("views have the journal's saliences",), "twice"),
    Sabotage(who_reads_ahead_holds_up_the_rest, ("views have the journal's saliences",), "mutated"),
    Sabotage(statements_are_dropped, ("what is contradicted is marked by its statements",)),
    Sabotage(nobody_nominates_what_is_doubted, ("what is doubted and faint is nominated",)),
)


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda one: one.carry_out.__name__)
def test_a_guard_that_is_gone_is_noticed(sabotage: Sabotage, monkeypatch: Patch) -> None:
    sabotage.carry_out(monkeypatch)
    for seed in range(40):
        violation = run(rehearsed("honest", *[sabotage.act, "honest"] * 3, seed=seed))[1].violation
        if violation is not None:
            assert violation.rule in sabotage.rules, violation
            return
    pytest.fail("nobody noticed")
