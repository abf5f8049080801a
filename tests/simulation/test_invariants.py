"""Every rule of the simulator is seen to be broken: the core loses a guard, and some seed notices within a few.

Guards are removed from the core in memory, by name; `tests.guards` checks that each guard of the core has a test of its
own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from db.signstate import MemorySignState
from memquorum.core.consensus import certificate, events, viewchange, views
from memquorum.core.consensus.buffers import EpochBuffer, Held, Round
from memquorum.core.consensus.checkpoints import Checkpoints
from memquorum.core.consensus.events import Message, Timings
from memquorum.core.consensus.gate import Gate
from memquorum.core.consensus.recollection import Recollection
from memquorum.core.consensus.replica import ShardReplica
from memquorum.core.consensus.search import Search
from memquorum.core.consensus.silence import Silence
from memquorum.core.consensus.slots import read_slot
from memquorum.core.consensus.views import Views
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import BallotCast, Checkpoint
from memquorum.core.vote import judging, tally
from tests.simulation.dice import Dice
from tests.simulation.plan import CALM, MS, POINTS, Fault, Plan, draw
from tests.simulation.runs import BEHAVIOURS
from tests.simulation.signatures import Signatures
from tests.simulation.world import simulate

Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Sabotage:
    """A guard to remove, the rules that may notice, the lies that it needs, and within how many seeds.

    `begin`: the seed that is tried first, where the first ones are known to notice nothing; those before it come last.
    """

    name: str
    carry_out: Callable[[Patch], None]
    rules: tuple[str, ...]
    lies: tuple[str, ...] = BEHAVIOURS
    seeds: int = 100
    begin: int = 0
    world: Callable[[Plan], Plan] = lambda plan: plan


def what_was_decided_is_not_remembered(patch: Patch) -> None:
    patch.setattr(Checkpoints, "decided", lambda self, decision: [])


def one_word_is_stable(patch: Patch) -> None:
    def settle(self: Checkpoints, record: Checkpoint) -> list[events.Effect]:
        self.stable = record.seq
        held = self._held[record.member][record.seq]
        return [events.Stable(record.seq, record.epoch, (held.data,) * self._genesis.quorum)]

    patch.setattr(Checkpoints, "_settle", settle)


def small_quorum(patch: Patch) -> None:
    patch.setattr(Genesis, "quorum", property(lambda self: (self.n + self.f + 2) // 2 - 1))


def no_sign_state(patch: Patch) -> None:
    patch.setattr(MemorySignState, "claim", lambda self, slots: [data for _, _, data in slots])
    patch.setattr(MemorySignState, "load", lambda self, prefix: {})
    patch.setattr(MemorySignState, "fresh", lambda self, scope: False)
    # The log would show the loss, and a member that knows of it is silent.
    a_sign_state_that_went_back_is_believed(patch)


def no_silence_after_amnesia(patch: Patch) -> None:
    patch.setattr(ShardReplica, "speaks", property(lambda self: self.silence.over(2**62)))


def a_sign_state_that_went_back_is_believed(patch: Patch) -> None:
    patch.setattr(Silence, "went_back", lambda self, timings: [])


def no_memory_of_what_was_signed(patch: Patch) -> None:
    patch.setattr(Recollection, "enter", lambda self, slot, buffer, seq, epoch: None)


def commits_on_anything(patch: Patch) -> None:
    def committed(self: Round, quorum: int) -> bytes | None:
        return self.pre_prepare.digest if self.pre_prepare is not None and len(self.commits) >= quorum else None

    patch.setattr(Round, "committed", committed)


def prepares_on_anything(patch: Patch) -> None:
    def prepares_on(self: Round, digest: bytes, primary: int) -> dict[int, bytes]:
        return {member: held.data for member, held in self.prepares.items() if member != primary}

    patch.setattr(Round, "prepares_on", prepares_on)


def no_prepared_certificates(patch: Patch) -> None:
    opening = viewchange.opening
    patch.setattr(viewchange, "opening", lambda reports: (opening(reports)[0], None))


def views_may_begin_with_anything(patch: Patch) -> None:
    patch.setattr(Views, "allows", lambda self, seq, proposal: True)


def view_changes_are_forgotten(patch: Patch) -> None:
    restore = Views.restore

    def forget(self: Views, signed: Any) -> None:
        kept = {s: v for s, v in signed.items() if read_slot(s).what != Message.VIEW_CHANGE}
        restore(self, kept)

    patch.setattr(Views, "restore", forget)


def views_may_fall(patch: Patch) -> None:
    enter = views.Views.enter

    def fall(self: Views) -> Any:
        opened = enter(self)
        if opened is not None and opened.view > 1:
            self.view = self.asked = opened.view - 2
            return replace(opened, view=opened.view - 2)
        return opened

    patch.setattr(Views, "enter", fall)


def evidence_without_signatures(patch: Patch) -> None:
    def second(self: Gate, new: Any, said: bytes, first: Held, noted: set[Any]) -> None:
        if said != first.digest:
            conflict = (first.data, new.data)
            self._found.append(events.Noted(events.Note.CONFLICT, new.message, new.member, "a second", conflict))

    patch.setattr(Gate, "second", second)


def no_signatures(patch: Patch) -> None:
    patch.setattr(Signatures, "verify", lambda self, world, signed: None)


def ballots_without_signatures(patch: Patch) -> None:
    strict = certificate.open_part

    def lenient(codec: Any, genesis: Genesis, data: bytes, kind: Any, where: str) -> Any:
        read = certificate.read_signed if kind is BallotCast else None
        return read(codec, genesis, data, kind) if read else strict(codec, genesis, data, kind, where)

    patch.setattr(certificate, "open_part", lenient)


def one_vote_decides(patch: Patch) -> None:
    count = tally._count

    def easy(genesis: Genesis, kind: Any, yes: Any, *, votes: int, needed: int, scores: Any) -> Any:
        return count(genesis, kind, yes, votes=1, needed=0, scores=scores)

    patch.setattr(tally, "_count", easy)


def nobody_changes_the_view(patch: Patch) -> None:
    patch.setattr(ShardReplica, "_ask", lambda self, view: None)
    patch.setattr(ShardReplica, "_called", lambda self: False)


def nobody_looks(patch: Patch) -> None:
    """Removes the search: a member that is left behind waits for a repetition."""
    patch.setattr(Search, "_misses", lambda self: False)


def one_ballot_an_epoch(patch: Patch) -> None:
    """Lets a member vote only on the first nomination that it reads."""
    awaits = EpochBuffer.awaits
    patch.setattr(EpochBuffer, "awaits", lambda self, nomination: not self.own and awaits(self, nomination))


def numbers_below_zero_raise(patch: Patch) -> None:
    digest = certificate.proposal_digest

    def raising(body: Any) -> bytes:
        body.epoch.to_bytes(8, "big")
        return digest(body)

    from memquorum.core.consensus import inbox

    patch.setattr(inbox, "proposal_digest", raising)


def sequences_are_decided_twice(patch: Patch) -> None:
    from memquorum.core.consensus.inbox import Inbox

    advance = Inbox.advance

    def skip(self: Inbox, proposed_at: int) -> Any:
        found = advance(self, proposed_at)
        self.seq, self.epoch = self.seq - 1, self.epoch - 1
        return found

    patch.setattr(Inbox, "advance", skip)


def a_rule_that_raises_ends_the_member(patch: Patch) -> None:
    patch.setattr(judging, "_contained", lambda kind, known, case: kind.judge(known, case))


def a_rule_that_raises_spoils_every_vote(patch: Patch) -> None:
    def contained(kind: Any, known: Any, case: Any) -> Any:
        found = judging.attempt("all", (), kind.judge, known, case)
        return [None] * len(known) if isinstance(found, judging.Failed) else found

    patch.setattr(judging, "_contained", contained)


def all_rules_raise(plan: Plan) -> Plan:
    """Plans a world without lies or faults in which all members' rules raise on every proposal."""
    return replace(plan, liars=(), faults=(), network=CALM, orders=(), raising=(0, 1, 2, 3), raising_permille=1_000)


def some_rules_raise(plan: Plan) -> Plan:
    """Plans the same for two members, on every other proposal."""
    return replace(all_rules_raise(plan), raising=(1, 2), raising_permille=500, yes_permille=1_000)


def alone(plan: Plan) -> Plan:
    """Plans that one member decides alone and goes away; the next primary has another proposal."""
    dice = Dice(plan.seed)
    member, when = dice.roll(4, "alone"), 80 * MS + dice.roll(30, "gone") * MS
    faults = (
        Fault(1, 0, "mute", member, lasts=200 * MS),
        Fault(1, 10 * MS, "favour", member, 16),
        Fault(1, when, "crash", member, POINTS.index("at once"), 3_000 * MS),
    )
    return replace(plan, liars=(), faults=faults, network=CALM, timings=Timings(50, 400, 400), refused_permille=0)


def alone_before_a_liar(plan: Plan) -> Plan:
    """Plans the same, with a next primary that does not propose what it should."""
    world = alone(plan)
    liar = next(m for m in (world.shard + 1, world.shard + 2) if m % 4 != world.faults[0].member) % 4
    return replace(world, liars=((liar, ("disobeys",)),))


def crashes(plan: Plan) -> Plan:
    """Plans crashes of all members between a claim and its use."""
    times = [(member, after) for member in range(4) for after in (0, 30, 60)]
    return replace(plan, faults=tuple(Fault(1, after * MS, "crash", m, 2 + m % 2, 5 * MS) for m, after in times))


CONVICTED = "evidence convicts no honest member"
OPEN = "every open nomination ends"


def amnesia(plan: Plan) -> Plan:
    """Plans that one member forgets what it has just signed, before it is in the log."""
    dice = Dice(plan.seed)
    who, when = dice.roll(4, "who"), 10 + dice.roll(60, "when")
    faults = (Fault(1, 0, "mute", who, lasts=200 * MS), Fault(1, when * MS, "amnesia", who, 1, MS))
    return replace(plan, liars=(), faults=faults, network=CALM, yes_permille=500)


def going_back(plan: Plan) -> Plan:
    """Plans that the sign-state of one member goes back.

    The log holds the first of its lost messages and not yet the last.
    """
    dice = Dice(plan.seed)
    who, muted = dice.roll(4, "who"), 5 + dice.roll(40, "muted")
    faults = (
        Fault(2, muted * MS, "mute", who, lasts=200 * MS),
        Fault(2, (muted + 2 + dice.roll(30, "when")) * MS, "goes back", who, lasts=MS),
    )
    return replace(plan, liars=(), faults=faults, network=CALM, yes_permille=500)


SABOTAGES = (
    Sabotage("a quorum of one less", small_quorum, ("agreement",), ("two-proposals", "assents", "opposite-votes")),
    Sabotage("no sign-state", no_sign_state, ("one digest per slot", "views never regress")),
    Sabotage("no memory of what was signed", no_memory_of_what_was_signed, ("no honest member halts",), world=crashes),
    Sabotage(
        "no silence after a loss",
        no_silence_after_amnesia,
        ("one digest per slot", "no honest member halts"),
        world=amnesia,
    ),
    Sabotage(
        "a sign-state that went back is believed",
        a_sign_state_that_went_back_is_believed,
        ("one digest per slot", "no honest member halts"),
        begin=60,
        world=going_back,
    ),
    Sabotage("commits on anything", commits_on_anything, ("a decision is proven",)),
    Sabotage("prepares on anything", prepares_on_anything, (CONVICTED, "agreement")),
    Sabotage("no prepared certificates", no_prepared_certificates, ("agreement",), world=alone),
    Sabotage("views may begin with anything", views_may_begin_with_anything, ("agreement",), world=alone_before_a_liar),
    Sabotage("view changes are forgotten", view_changes_are_forgotten, ("views never regress", "one digest per slot")),
    Sabotage("views may fall", views_may_fall, ("views never regress",)),
    Sabotage("evidence without signatures", evidence_without_signatures, (CONVICTED, "evidence proves"), seeds=200),
    Sabotage("no signatures", no_signatures, (CONVICTED,), ("forges",)),
    Sabotage("ballots unsigned", ballots_without_signatures, ("ballots are their members'",), ("forges",)),
    Sabotage("one vote decides", one_vote_decides, ("an honest majority",)),
    Sabotage("nobody changes the view", nobody_changes_the_view, ("progress", OPEN), ("silent",)),
    Sabotage("nobody looks for what it missed", nobody_looks, ("progress", OPEN), seeds=400, begin=200),
    Sabotage("one ballot an epoch", one_ballot_an_epoch, (OPEN,)),
    Sabotage("numbers below zero raise", numbers_below_zero_raise, ("the core does not fail",), ("mutates", "mimics")),
    Sabotage("what was decided is not remembered", what_was_decided_is_not_remembered, ("one history",)),
    Sabotage("one word is stable", one_word_is_stable, ("what is stable is true",), ("mutates", "mimics")),
    Sabotage(
        "a rule that raises ends the member",
        a_rule_that_raises_ends_the_member,
        ("progress", OPEN),
        seeds=5,
        world=all_rules_raise,
    ),
    Sabotage(
        "a rule that raises spoils every vote",
        a_rule_that_raises_spoils_every_vote,
        ("a rule that raises spoils its own proposal alone",),
        world=some_rules_raise,
    ),
    Sabotage("sequences are decided twice", sequences_are_decided_twice, ("order", "progress", OPEN)),
)


def first_broken(sabotage: Sabotage) -> tuple[int, str] | None:
    """Returns the first seed that breaks a rule, and which."""
    signatures = Signatures(cheap=True)
    for seed in (*range(sabotage.begin, sabotage.seeds), *range(sabotage.begin)):
        # With rules that raise, another rule than the requested one may break first.
        plan = replace(draw(seed, sabotage.lies, n=4), raising=(), raising_permille=0)
        violation = simulate(sabotage.world(plan), signatures).violation
        if violation is not None:
            return seed, violation.rule
    return None


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda s: s.name)
def test_a_guard_that_is_gone_is_noticed(sabotage: Sabotage, monkeypatch: Patch) -> None:
    sabotage.carry_out(monkeypatch)
    found = first_broken(sabotage)
    assert found is not None, f"{sabotage.seeds} seeds noticed nothing"
    assert found[1] in sabotage.rules


def test_every_rule_is_broken_by_something() -> None:
    import re
    from pathlib import Path

    text = "".join((Path(__file__).parent / name).read_text() for name in ("invariants.py", "world.py"))
    rules = set(re.findall(r'Violation\(\s*"([^"]+)"', text))
    assert rules - {"evidence proves"} <= {rule for s in SABOTAGES for rule in s.rules}
