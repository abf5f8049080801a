"""A shortened round of faults on a whole fleet under load; and the witness of it, shown what must never be seen."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from infra import genesis, settings
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import EVENTS
from memquorum.core.records import Comparison, Stored
from tests import LONG
from tests.builders import genesis as unit_genesis
from tests.builders.shard import NAMESPACE, Shard
from tests.faults import rounds, soak, table
from tests.faults.library import FAULTS, Disk
from tests.faults.load import Rates, unencoded, unmarked
from tests.faults.witness import Witness

# One of each sort; in the long form those besides that showed most when they were new.
ROUND = ["kill commit", "full disk postgres", "freeze postgres", "rules raise"]
if LONG:
    ROUND += ["second replica", "kill kafka", "kill streams", "kill replica-1", "kill postgres", "kill intake"]
_BUSY = 2.0


@pytest.mark.slow
def test_a_short_round_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    rates = Rates(episodes=20, accesses=6, bad=2, ticks=2)
    late = []
    with rounds.started(tmp_path, 1, rates=rates, encoder="hashing", small_disks=True) as on:
        on.site.freeze_s, on.site.disk_s, on.site.raising_s = 3.0, 2.0, 5.0
        for name in ROUND:
            if FAULTS[name].needs in {"", *on.site.disks}:
                met = rounds.strike(on, FAULTS[name], epochs=False)
                soak.tell(met)
                slow = [problem for problem in met.problems if problem.startswith(rounds.LATE)]
                assert met.problems == slow
                # On a machine with other work a delay proves nothing.
                late += slow if met.load < _BUSY * (os.cpu_count() or 1) else []
        found, problems = rounds.check(on)
    assert not problems
    assert not late
    sums = found["sums"]
    tasks = sum(sums.get(outcome, 0) for outcome in EVENTS)
    assert tasks and sums["assessed"], "tasks are finished, and it is told what helped in them"
    assert sums["corrections_checked"], "statements were corrected, and each correction marks what it corrects"
    ended = sums["stored"] + sums["accessed"] + sums.get("below_threshold", 0) + tasks + sums["assessed"]
    assert sums["published"] == sums["refused"] + ended
    assert found["verified"]["decisions"] > 0
    assert found["rebuild_equal"]


def _entry(seq: int, **changes: Any) -> tuple[Any, ...]:
    made = {
        "seq": seq, "effect": "stored", "namespace": "n", "event_id": f"e{seq}", "topic": topics.ACCEPTED,
        "offset": 10 * seq, "previous": b"%d" % (seq - 1), "hash": b"%d" % seq, "as_of": 7,
    }  # fmt: skip
    return tuple((made | changes).values())


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    configured = settings.load({}, tmp_path)
    genesis.create(configured)
    return Witness(configured)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (_entry(2), []),
        (_entry(2, event_id="e1"), ["journal of shard 0, entry 2: ('n', 'e1') is stored and was stored already"]),
        (_entry(2, event_id="e1", effect="repeated"), []),
        (_entry(3), ["journal of shard 0, entry 3 follows entry 1", "journal of shard 0, entry 3 is not chained"]),
        (_entry(2, previous=b"x"), ["journal of shard 0, entry 2 is not chained to the entry before"]),
        (_entry(2, offset=10), ["journal of shard 0, entry 2: accepted offset 10 comes after 10"]),
        (_entry(2, offset=0, topic=topics.COMMITS, effect="decided"), []),
    ],
)
def test_the_witness_sees_what_never_may_be(witness: Witness, second: tuple[Any, ...], said: list[str]) -> None:
    witness._take(0, _entry(1))
    witness._take(0, second)
    assert len(witness.seen.problems) == len(said)
    assert all(found.startswith(words) for found, words in zip(witness.seen.problems, said, strict=True))


def test_what_salience_could_not_judge_is_no_good_outcome(codec: Codec) -> None:
    shard = Shard(codec, unit_genesis.make())
    entries = [shard.episode(event, outcome="below_threshold").entry for event in ("a", "b")]
    assert unencoded(codec, map(codec.encode, entries)) == []
    failed = replace(codec.decode_as(Stored, entries[1].detail), encoder="none: key destroyed")
    entries[1] = replace(entries[1], detail=codec.encode(failed))
    told = unencoded(codec, map(codec.encode, entries))
    assert told == [f"('{NAMESPACE}', 'b') was not encoded: none: key destroyed"]


def test_a_correction_that_marks_no_statement_is_seen(codec: Codec) -> None:
    shard = Shard(codec, unit_genesis.make())
    first, then = (shard.episode(event).entry for event in ("a", "b"))
    said = codec.decode_as(Stored, then.detail)

    def told(*denied: Comparison) -> list[str]:
        entry = replace(then, detail=codec.encode(replace(said, denies=denied)))
        return unmarked(codec, [(codec.encode(first), codec.encode(entry))])

    assert told(Comparison(str(first.memory_id), (1,))) == []
    assert told() == told(Comparison(str(first.memory_id), ())) == told(Comparison(str(then.memory_id), (1,)))
    assert told() == [f"('{NAMESPACE}', 'b') marks no statement of a, which it corrects"]


def test_the_witness_knows_what_is_missing_and_open(witness: Witness) -> None:
    witness._take(0, _entry(1))
    assert witness.missing({("n", "e1"), ("n", "e2")}) == {("n", "e2")}
    witness.seen.nominated.update({0: 2, 1: 1})
    witness.seen.decided.update({0: 1, 1: 1})
    assert witness.open() == {0: 2}
    assert witness.undecided({0: 2, 1: 1}) == {0: 2}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_a_full_disk_takes_nothing_and_has_room_again(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "small", 4)
    if not disk.mount():
        pytest.skip("this machine does not let us mount")
    try:
        (disk.folder / "before").write_bytes(b"x" * 100_000)
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(b"x" * 100_000)
        disk.free()
        (disk.folder / "more").write_bytes(b"x" * 100_000)
    finally:
        disk.unmount()
    assert not (disk.folder / "before").exists()


def test_every_fault_is_in_the_table(tmp_path: Path) -> None:
    told = table.rows({"summary": {}, "faults": []})
    assert [row[0] for row in told] == [fault.name for fault in FAULTS.values()]
    assert all(all(row[1:4]) for row in told)
