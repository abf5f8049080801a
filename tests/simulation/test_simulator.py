"""The simulator itself: the same seed gives the same story, its parts work, and a failure becomes a story."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from memquorum.core.consensus import gate
from memquorum.core.consensus.events import Message, Progress
from memquorum.core.identity import messages
from memquorum.core.records import Prepare, Signed
from tests import ROOT
from tests.simulation import __main__ as command
from tests.simulation.behaviours import LIBRARY
from tests.simulation.broker import Broker
from tests.simulation.dice import Dice
from tests.simulation.disk import Disk, ViewFile
from tests.simulation.invariants import Violation
from tests.simulation.mutations import mutate, mutations
from tests.simulation.plan import CALM, KINDS, Fault, Network, Plan, draw
from tests.simulation.runs import BEHAVIOURS, Size, Totals, run_with_story, until
from tests.simulation.shrink import Reduction, read_liars, shrink
from tests.simulation.signatures import SharedCodec, Signatures, genesis
from tests.simulation.world import simulate


def test_a_seed_tells_the_same_story_in_every_process() -> None:
    script = (
        "from tests.simulation.runs import Size, run_with_story; from hashlib import sha256\n"
        "size = Size(cheap=True)\n"
        "stories = [run_with_story(size.plan(seed), size, minor=True)[1] for seed in range(12)]\n"
        "print(sha256(repr(stories).encode()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_the_drawn_plans_hold_everything_that_there_is() -> None:
    plans = [draw(seed, BEHAVIOURS) for seed in range(2_000)]
    assert {plan.n for plan in plans} == {4, 5, 7, 10, 13}
    assert {fault.kind for plan in plans for fault in plan.faults} == {
        *KINDS,
        "amnesia",
        "prune",
        "renominate",
        "withhold",
    }
    assert {name for plan in plans for _, names in plan.liars for name in names} == set(LIBRARY)
    assert all(len(plan.liars) <= (plan.n - 1) // 3 for plan in plans)
    assert all(fault.told() for plan in plans for fault in plan.faults)
    assert {plan.shard for plan in plans} == {0, 1, 2, 3}


def test_the_same_question_has_the_same_answer_and_others_have_others() -> None:
    dice = Dice(5)
    assert dice.roll(1 << 30, "x", 1) == Dice(5).roll(1 << 30, "x", 1)
    assert len({dice.roll(1 << 30, topic, n) for topic in "xy" for n in range(50)}) == 100
    assert sum(dice.chance(300, "often", n) for n in range(1_000)) in range(240, 360)


def test_both_kinds_of_signatures_tell_a_true_one_from_a_false_one() -> None:
    world = genesis(4, 4)
    for cheap in (False, True):
        signatures = Signatures(cheap)
        good = signatures.sign(world.cluster, "member:1", b"body")
        with signatures.installed():
            for verify in (messages.verify, gate.verify):
                verify(world, good)
                verify(world, good)
                for bad in (replace(good, body=b"other"), replace(good, signer="member:2"), replace(good, signer="x")):
                    with pytest.raises(messages.BadMessage):
                        verify(world, bad)
        assert messages.verify is not signatures.verify
    real = Signatures().sign(world.cluster, "member:1", b"body")
    messages.verify(world, real)  # the core itself accepts what the simulator signs


def test_a_broker_keeps_the_order_of_a_log_and_forgets_its_tail() -> None:
    broker = Broker(Dice(1), Network(jitter=50_000), range(2))
    for number in range(20):
        broker.append(number, Message.PREPARE, bytes([number]))
    line = broker.arrivals[0][Message.PREPARE]
    assert line == sorted(line)
    assert line != broker.arrivals[1][Message.PREPARE]
    broker.hide(1, Message.PREPARE, 3, 2)
    assert [broker.read(1, Message.PREPARE, at) for at in (2, 3, 4, 5)] == [b"\x02", None, None, b"\x05"]
    assert broker.read(0, Message.PREPARE, 3) == b"\x03"
    assert broker.deceived() == {1}
    assert broker.truncate(Message.PREPARE, 5) == 15
    broker.settle()
    assert broker.truncate(Message.PREPARE, 5) == 15
    broker.heal()
    assert not broker.deceived()


def test_a_power_cut_leaves_one_of_the_versions_since_the_last_sync() -> None:
    found = set()
    for choice in range(10):
        disk = Disk(sync_every=3)
        for seq in range(2, 7):
            disk.commit(ViewFile(Progress(seq=seq)))
        disk.cut(choice)
        found.add(disk.view.progress.seq)
    assert found == {4, 5, 6}


def test_a_mutation_changes_one_field_and_every_field_is_changed() -> None:
    record = Prepare(b"c" * 32, 0, 1, 2, 3, 1, b"d" * 32)
    changed = {name for n in range(200) for _, name in [mutate(record, Dice(1), n)]}
    assert changed == set(mutations(record)) == {"config", "shard", "view", "seq", "digest"}
    assert all(mutate(record, Dice(1), n)[0] != record for n in range(200))


def test_a_codec_decodes_the_same_bytes_once() -> None:
    codec = SharedCodec()
    data = codec.encode(Signed("member:1", b"s", b"b"))
    assert codec.decode(data) is codec.decode(data)
    assert codec.decode_as(Signed, data) == Signed("member:1", b"s", b"b")


# Failures -------------------------------------------------------------------------------------------------------------


def plan_of_much_trouble() -> Plan:
    faults = tuple(Fault(1, i, "crash", 1, i) for i in range(6))
    return replace(
        draw(1, BEHAVIOURS), n=7, epochs=4, faults=faults, liars=((1, ("silent", "twins")), (2, ("garbage",)))
    )


def test_a_failure_is_shrunk_to_what_it_needs() -> None:
    plan = plan_of_much_trouble()

    def fails(tried: Plan) -> bool:
        return plan.faults[3] in tried.faults and "twins" in dict(tried.liars).get(1, ()) and tried.epochs >= 2

    found = shrink(plan, fails)
    assert found == Reduction(epochs=2, faults=(3,), liars=((1, ("twins",)),), calm=True, forkless=plan.forks)
    small = found.of(plan)
    assert (small.epochs, small.faults, small.network) == (2, (plan.faults[3],), CALM)
    assert fails(small)


def test_a_reduction_is_what_its_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    reduction = Reduction(epochs=2, faults=(), liars=((1, ("silent", "delays")),), calm=True, forkless=True)
    assert read_liars("1:silent+delays") == reduction.liars
    assert command.main(["run", "--seed", "7", *reduction.arguments().split()]) == 0
    shown = capsys.readouterr().out
    assert "member 1 lies: silent, delays" in shown
    assert "decides sequence 2" in shown
    assert "all is well: 2 rounds" in shown


def test_a_broken_rule_is_told_with_the_command_and_a_story(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.simulation.invariants import Watch

    def decision(self: Watch, node: object, effect: object) -> None:
        raise Violation("agreement", "as the test wants it")

    monkeypatch.setattr(Watch, "decision", decision)
    assert command.main(["--seeds", "30", "--first", "40", "--jobs", "1", "--cheap", "--failures", "1"]) == 1
    shown = capsys.readouterr().out
    assert "seed 40 breaks 'agreement': as the test wants it" in shown
    assert (
        "python -m tests.simulation run --seed 40 --cheap --only-epochs 1 --only-faults none --only-liars none" in shown
    )
    assert "BROKEN — agreement: as the test wants it" in shown
    assert "1 failed" in shown


def test_a_run_counts_and_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    assert command.main(["--rounds", "5", "--jobs", "1", "--cheap", "--keep", "--members", "4"]) == 0
    (file,) = tmp_path.glob("*.json")
    text = file.read_text()
    assert all(word in text for word in ('"a round is"', '"commit"', '"processor"', '"seconds"', '"failed": []'))


def test_a_signal_ends_a_run_and_what_was_done_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "RESULTS", tmp_path)

    def until(*_: object, **__: object) -> Iterator[Totals]:
        for totals in real(None, range(9), Size(cheap=True), 1, most_failures=1):
            if totals.seeds == 3:
                os.kill(os.getpid(), signal.SIGTERM)
            yield totals

    real = command.until
    monkeypatch.setattr(command, "until", until)
    assert command.main(["--seeds", "9", "--jobs", "1", "--cheap", "--keep"]) == 0
    kept = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert (kept["seeds"], kept["ended"], kept["command"]["seeds"]) == (3, "by SIGTERM", 9)
    assert kept["rules"]["progress"] == 3
    assert kept["rules"]["agreement"] >= kept["decisions"] > 0
    assert sum(kept["behaviours"].values()) > 0 and sum(kept["faults"].values()) > 0
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_several_processes_find_what_one_finds() -> None:
    def run(jobs: int) -> Totals:
        *_, last = until(None, range(16), Size(cheap=True), jobs, most_failures=1)
        return last

    one, two = run(1), run(2)
    two.simulated_s = one.simulated_s
    assert one == two


def test_several_processes_end_where_somebody_has_taken_the_signal_that_ends_them() -> None:
    script = (
        "import signal; signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "from tests.simulation.runs import Size, until\n"
        "print([*until(5, range(9), Size(cheap=True), 2, most_failures=1)][-1].rounds >= 5)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, timeout=60, check=True)
    assert ran.stdout == b"True\n"


def test_a_story_says_who_said_what_when() -> None:
    outcome, lines = run_with_story(replace(Size().plan(3), faults=(), liars=(), forks=False), Size())
    assert outcome.violation is None
    story = "\n".join(lines)
    for words in (
        "Epoch 1 is nominated",
        "says its ballot of epoch 1",
        "says PRE-PREPARE in view 0",
        "decides sequence 1",
    ):
        assert words in story
    assert simulate(Size().plan(3)).events > 0
