"""Texts beyond what anybody says end, stop and starve nobody: what others say near them is kept, voted on, summed up
and read, and no process is started again."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping

import httpx

from infra import run_folder
from memquorum.client import Memory
from tests.builders.poisoned import LONG_NUMBER, TEXTS
from tests.support.sessions import Plant

SYNC = "The weekly sync of team Falcon with the Bergen office in room 12 is at %s pm."


def starts(fleet: Plant) -> Mapping[str, int]:
    """Counts the starts of each process."""
    told = json.loads((fleet.line.run_dir / "pids.json").read_text())["processes"]
    return {name: one["starts"] for name, one in told.items() if "starts" in one}


def alarms(fleet: Plant) -> list[str]:
    """The alarms of processes that end again and again."""
    return [one["alarm"] for one in run_folder.read_pids(fleet.line.run_dir)["processes"].values() if "alarm" in one]


def test_who_says_something_near_such_a_text_is_not_punished(fleet: Plant) -> None:
    before = starts(fleet)
    with fleet.client("near-poison", "mallory") as mallory, fleet.client("near-poison") as anna:
        bomb = mallory.add(f"{SYNC % 3} {LONG_NUMBER} hundred.", explicit=True, wait=True)
        assert bomb.outcome == "stored"
        for at in (3, 4, 5):
            assert anna.add(SYNC % at, explicit=True, wait=True).outcome in ("stored", "reinforced")
        assert anna.search("when is the sync of team Falcon?", peek=True)
        assert anna.retrieve("when is the sync of team Falcon?", peek=True).items
        assert anna.context("when is the sync of team Falcon?", peek=True).items
    assert starts(fleet) == before


def test_members_decide_where_such_texts_are_near(fleet: Plant) -> None:
    before, alarmed = starts(fleet), alarms(fleet)
    with fleet.client("voted-poison") as anna:
        said = anna.add(
            "The hall of team Falcon has seats for all.", explicit=True, reward=1.0, confidence=1.0, wait=True
        )
        for at, text in enumerate(TEXTS):
            with fleet.client("voted-poison", f"mallory-{at}") as mallory:
                told = mallory.add(f"The hall of team Falcon: {text}"[:65_000], explicit=True, wait=True).outcome
                assert told in ("stored", "reinforced"), text[:60]
        with fleet.client("voted-poison", "bert") as bert:
            bert.add("The hall of team Falcon has seats for all.", wait=True)

    def decided() -> int:
        ((count,),) = fleet.rows("SELECT count(*) FROM journal WHERE effect = 'decided'")
        return int(count)

    already = decided()
    fleet.later(lambda: decided() > already, "nothing was decided")
    assert fleet.rows("SELECT 1 FROM living WHERE namespace = 'voted-poison' AND alive > 0")
    assert said.memory_id
    assert starts(fleet) == before
    assert alarms(fleet) == alarmed  # other tests kill processes


def test_a_session_with_such_texts_stops_no_other(fleet: Plant) -> None:
    before = starts(fleet)
    with fleet.client("poisoned-session", "mallory") as mallory:
        fleet.live(mallory, "rich", TEXTS, explicit=True)
        mallory.end_session("rich")
        with fleet.client("sound-session") as anna:
            fleet.live(anna)
            anna.end_session("shift-1")
            fleet.until(lambda: fleet.summaries("sound-session", "draft"), "the session of another was not summed up")
            fleet.later(lambda: fleet.summaries("sound-session"))
    assert starts(fleet) == before


def test_masked_reads_of_such_texts_end_with_their_requests(fleet: Plant) -> None:
    """Eight masked reads at once, whose clients go away: another tenant is answered nearly as fast as before."""
    with fleet.client("masked-poison", "mallory") as mallory, fleet.client("quiet-tenant") as anna:
        said = mallory.add("Call the desk on " + "00 11 " * 6_000, explicit=True, wait=True).memory_id
        anna.add("The vault of hall 3 opens at noon.", explicit=True, wait=True)
        alone = max(_asked(anna) for _ in range(3))
        url = f"{fleet.line.retrieval_url}/memories/{said}?redact=true"
        readers = [threading.Thread(target=_gone, args=(url,)) for _ in range(8)]
        for reader in readers:
            reader.start()
        beside = [_asked(anna) for _ in range(3)]
        for reader in readers:
            reader.join()
        assert max(beside) < 10 * max(alone, 0.5)
        # No work goes on once its caller has gone.
        assert _asked(anna) < 5 * max(alone, 0.5)


def _asked(memory: Memory) -> float:
    began = time.monotonic()
    assert memory.context("when does the vault of hall 3 open?", peek=True).items
    return time.monotonic() - began


def _gone(url: str) -> None:
    """Asks, and goes away after a second."""
    try:
        httpx.get(url, timeout=1.0)
    except httpx.TimeoutException:
        return
