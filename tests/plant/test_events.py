"""The journal's events reach other people's tools on a running installation: each once, in order, across a kill."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

from confluent_kafka.admin import AdminClient

from memquorum import kafka
from tests import ROOT
from tests.support.commands import ran
from tests.support.events import by_shard, mirrored, telling
from tests.support.receiver import receiving, written
from tests.support.sessions import SHARDS, Plant
from tests.support.waiting import PATIENCE_S, until
from workers.events import undelivered
from workers.events.mirror import GROUP

PAGE = (ROOT / "docs/operate/events.md").read_text().split("## A sink")[1].split("\n## ")[0]
RECIPES = dict(re.findall(r"^```(python|sql)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
ENTRIES = "SELECT shard, seq, effect, encode(hash, 'hex') FROM journal ORDER BY shard, seq"
HOOKED = "SELECT shard, seq FROM journal WHERE namespace = 'hooked' AND effect IN ('stored', 'erased') ORDER BY seq"


def test_the_mirror_is_the_journal_also_across_kills(fleet: Plant) -> None:
    def seen(effect: str, memory_id: str) -> bool:
        return any(one.type == effect and memory_id in one.memory_ids for one in mirrored(fleet.line, SHARDS))

    with fleet.client("mirrored-a") as memory, fleet.client("mirrored-b", agent="bert") as other:
        first = fleet.live(memory)[0]
        with telling(fleet.line, journal_mirror=True, instance=""):
            until(lambda: seen("stored", first), "nothing was mirrored")
        # As after a week without it: its group is forgotten, and the mirror itself says how far it is.
        admin = AdminClient(kafka.librdkafka(fleet.line.bootstrap))
        admin.delete_consumer_groups([GROUP], request_timeout=10)[GROUP].result()
        before = len(mirrored(fleet.line, SHARDS))
        fleet.live(other)
        with telling(fleet.line, journal_mirror=True) as process:
            until(lambda: len(mirrored(fleet.line, SHARDS)) > before, "the mirror does not go on")
            process.kill()
            process.wait()
        assert memory.erase(memory_id=first, dry_run=False).status == "erased"
        with telling(fleet.line, journal_mirror=True):
            until(lambda: seen("erased", first), "the erasure was not mirrored")
        told = mirrored(fleet.line, SHARDS)
    for shard, seqs in by_shard(told).items():
        assert seqs == list(range(1, len(seqs) + 1)), f"shard {shard}: each entry once, in the journal's order"
    entries = {(shard, seq): (effect, digest) for shard, seq, effect, digest in fleet.rows(ENTRIES)}
    assert [entries[one.shard, one.seq] for one in told] == [(one.type, one.hash) for one in told]
    stored = [one for one in told if one.namespace == "mirrored-b" and one.type == "stored"]
    assert len(stored) == 5 and {one.agent for one in stored} == {"bert"}


def test_a_target_gets_each_event_once_and_in_order_whatever_happens(fleet: Plant, tmp_path: Path) -> None:
    """It fails twice and redirects, and the process is killed in the middle; another target is away all the time."""
    mine = 'namespaces = ["hooked"]\ntypes = ["stored", "erased"]'
    with (
        fleet.client("hooked") as memory,
        receiving([204, 500, 503, 307]) as receiver,
        receiving(always=500) as away,
    ):
        told = written(tmp_path / "webhooks.toml", audit=(receiver, mine), down=(away, 'namespaces = ["hooked"]'))
        ids = fleet.live(memory)
        assert memory.erase(memory_id=ids[0], dry_run=False).status == "erased"
        with telling(fleet.line, webhooks_file=told) as process:
            until(lambda: len(receiver.asked) >= 3, "nothing was tried again")
            process.kill()
            process.wait()
        with telling(fleet.line, webhooks_file=told):
            until(lambda: len(receiver.bodies) == 6, lambda: receiver.asked)
            until(lambda: len(away.asked) > 1, "the other target is not tried")
    wanted = [f"{shard}/{seq}" for shard, seq in fleet.rows(HOOKED)]
    assert receiver.accepted == wanted, "each once, in the journal's order"
    assert {event_id for event_id, status in receiver.asked if status != 204} == {wanted[1]}, "it waits for its turn"
    assert receiver.forged == [] and len({event_id for event_id, _ in away.asked}) == 1
    last = receiver.bodies[wanted[-1]]
    assert (last["type"], last["memory_ids"], last["namespace"]) == ("erased", [ids[0]], "hooked")


def test_what_a_target_does_not_take_becomes_a_dead_letter_that_is_sent_again(fleet: Plant, tmp_path: Path) -> None:
    with fleet.client("unhooked") as memory, receiving(always=500) as receiver:
        told = written(
            tmp_path / "webhooks.toml",
            strict=(receiver, 'attempts = 1\nnamespaces = ["unhooked"]\ntypes = ["stored"]'),
        )
        ids = fleet.live(memory)[:5]

        def infra(*words: str) -> tuple[int, str]:
            places = {"MEMQUORUM_WEBHOOKS_FILE": str(told)}
            done = ran("infra", "admin", "webhooks", *words, "--run-dir", str(fleet.line.run_dir), env=places)
            return done.returncode, done.stdout

        with telling(fleet.line, webhooks_file=told):
            until(lambda: len(receiver.asked) == 5, lambda: receiver.asked)
            until(lambda: len(undelivered.read(fleet.line.bootstrap, SHARDS)) == 5)
            letters = [json.loads(line) for line in infra("list", "--target", "strict", "--json")[1].splitlines()]
            assert [(one["id"], one["why"], one["attempts"]) for one in letters] == [
                (event_id, "status 500", 1) for event_id, _ in receiver.asked
            ]
            assert infra("list", "--letter", "strict/0/0")[0] == 1
            assert infra("replay", "--all", "--go")[0] == 1, "it still does not take them"
            receiver.always = 204
            assert infra("replay", "--letter", letters[0]["letter"], "--go") == (0, "1 of 1 letter sent\n")
            assert "4 letters would be sent" in infra("replay", "--target", "strict")[1]
            assert infra("replay", "--target", "strict", "--go") == (0, "4 of 4 letters sent\n")
            assert infra("list")[1].strip() == "no undelivered events"
            # The target goes on behind them.
            fleet.now += 1_000
            later = memory.add("The gate of dock 9 is red.", occurred_at=fleet.now, explicit=True, wait=True).memory_id
            until(lambda: any(later in body["memory_ids"] for body in receiver.bodies.values()), "it stands still")
    assert [body["memory_ids"] for body in receiver.bodies.values()] == [[one] for one in (*ids, later)]
    assert receiver.forged == []


def test_the_sink_of_the_page_copies_each_event_once(fleet: Plant, tmp_path: Path) -> None:
    program, question = tmp_path / "sink.py", RECIPES["sql"].replace("greenhouse", "sunk")
    program.write_text(RECIPES["python"])

    def sink() -> sqlite3.Connection:
        command = [sys.executable, str(program), fleet.line.bootstrap, str(tmp_path / "events.db"), "--once"]
        subprocess.run(command, check=True, timeout=PATIENCE_S)
        return sqlite3.connect(tmp_path / "events.db")

    with fleet.client("sunk") as memory, telling(fleet.line, journal_mirror=True):
        gone, *_ = fleet.live(memory)
        sink().close()
        order = memory.erase(memory_id=gone, dry_run=False).order_id
        until(lambda: any(one.event_id == order for one in mirrored(fleet.line, SHARDS)), "it is not mirrored")
        copied = sink()
        told = mirrored(fleet.line, SHARDS)
    assert [row[1:] for row in copied.execute(question)] == [(order, gone)]
    keys = copied.execute("SELECT shard, seq FROM event").fetchall()
    rows = by_shard([one for one in told if (one.shard, one.seq) in set(keys)])
    assert sum(map(len, rows.values())) == len(keys) > 5
    assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in rows.values())
    with sqlite3.connect(tmp_path / "events.db") as forgetful:
        forgetful.execute("DELETE FROM place")
    forgetful.close()
    again = sink().execute("SELECT count(*), count(DISTINCT shard || '/' || seq) FROM event").fetchone()
    assert again[0] == again[1] >= len(keys), "it was read anew, and no row is there twice"
