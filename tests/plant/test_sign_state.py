"""A member is killed, and a bit of its sign-state flips meanwhile: it contradicts nothing that it has signed, and votes
again.
"""

from __future__ import annotations

import os
import signal

from tests.support.sessions import DAY, Plant

MEMBER = 2
# In the page of the first frame of the write-ahead log: SQLite passes over it and all that comes after it, silently.
FLIPPED_AT = 200
DECIDED = "SELECT count(*) FROM journal WHERE effect = 'decided'"
VOTED = "SELECT count(*) FROM ballot WHERE member = %(m)s"


def count(fleet: Plant, statement: str) -> int:
    ((found,),) = fleet.rows(statement, m=MEMBER)
    return int(found)


def decide(fleet: Plant, namespace: str) -> None:
    """Has the members vote on something."""
    with fleet.client(namespace) as memory:
        told = memory.add("The spare key of hall 6 hangs in the porter's lodge.", explicit=True, wait=True)
        assert told.memory_id
        before = count(fleet, DECIDED)
        memory.forget(told.memory_id, dry_run=False, timeout=0.1)
        fleet.later(lambda: count(fleet, DECIDED) > before, "nothing was decided")


def test_who_finds_its_sign_state_damaged_sets_it_aside_and_votes_again_later(fleet: Plant) -> None:
    decide(fleet, "flipped-before")
    folder = fleet.line.run_dir / "state" / f"replica-{MEMBER}"
    log = folder / "signed.db-wal"
    fleet.turn(DAY)
    pid = fleet.pid(f"replica-{MEMBER}")
    with log.open("r+b") as file:  # opened before: it is there again soon after the kill
        os.kill(pid, signal.SIGKILL)
        file.seek(FLIPPED_AT)
        byte = file.read(1)
        file.seek(FLIPPED_AT)
        file.write(bytes([byte[0] ^ 1]))
    fleet.until(lambda: list(folder.glob("signed.db.damaged-*")), "the damaged state was not set aside")
    # Three of four decide; the fourth is silent until it knows what it may say, and votes in a later epoch.
    before, spaces = count(fleet, VOTED), (f"flipped-after-{at}" for at in range(20))
    while count(fleet, VOTED) == before:
        decide(fleet, next(spaces))
    assert "no evidence against anybody" in fleet.infra("audit", "evidence", "--verify")
