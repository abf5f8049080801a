"""Reads of the past on a running installation: as of a time, and where a question asks what was before.

Replaced memories are shown there, marked, and nowhere else; cleared or erased ones are shown nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx
import pytest

from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from memquorum.core.api.answers import Answering, Hit
from tests.support.sessions import Plant

DAY = 86_400_000
NOW, EARLIER = "Which port does the gateway listen on?", "Which port did the gateway listen on before?"
PORTS = tuple(f"The gateway listens on port {port}." for port in (8080, 9090, 7070))
SLOT = {"key": "port", "path": "gateway"}


def say(fleet: Plant, memory: Memory, **said: Any) -> list[str]:
    """Writes three values of a slot, ten days apart; their ids."""
    ids = []
    for n, text in enumerate(PORTS):
        given = {"occurred_at": fleet.now - (30 - 10 * n) * DAY, "explicit": True, "wait": True, "subject": "ada"}
        receipt = memory.add(text, **given | SLOT | said)
        assert receipt.outcome == "stored" and receipt.memory_id is not None
        ids.append(receipt.memory_id)
    return ids


def named(found: Iterable[Hit | Answering]) -> list[str]:
    return [one.memory_id for one in found]


def elsewhere(memory: Memory) -> set[str]:
    """The memories whose text any read gives that is not of the past."""
    found = {*named(memory.search(NOW, peek=True)), *named(memory.retrieve(NOW, peek=True).items)}
    found |= {item.memory_id for item in memory.context(NOW, peek=True).items}
    found |= {item.memory_id for item in memory.recall(query=NOW, peek=True).items}
    found |= {memory.slot(**SLOT).memory_id}
    return found | {one.memory_id for one in memory.memories(tiers=["superseded", "short-term"]).memories if one.text}


def test_a_slot_is_read_as_it_was_and_as_it_is(fleet: Plant) -> None:
    with fleet.client("past") as memory:
        first, second, third = say(fleet, memory)
        assert elsewhere(memory) == {third}
        ago = {days: fleet.now - days * DAY for days in (40, 25, 15, 5)}
        for days, expected in ((40, []), (25, [first]), (15, [second]), (5, [third])):
            assert named(memory.search(NOW, as_of=ago[days], peek=True)) == expected, days
            assert named(memory.retrieve(NOW, as_of=ago[days], peek=True).items) == expected, days
        (then,) = memory.search(NOW, as_of=ago[15], peek=True)
        assert (then.text, then.tier, then.overtaken, then.key) == (PORTS[1], "superseded", (), "port")
        assert named(memory.search(NOW, as_of=ago[15], keys=["port"], path="gateway", peek=True)) == [second]
        for narrower in ({"keys": ["speed"]}, {"path": "valve"}, {"agents": ["ben"]}, {"since": ago[15]}):
            assert memory.search(NOW, as_of=ago[15], peek=True, **narrower) == [], narrower

        for found in (memory.search(EARLIER, peek=True), memory.retrieve(EARLIER, peek=True).items):
            assert named(found) == [second, first, third], "the latest of before first, and then what holds now"
            assert [[(by.by, by.agent, by.disputed) for by in one.overtaken] for one in found] == [
                [(third, "anna", False)], [(second, "anna", False)], []
            ]  # fmt: skip
            assert [one.overtakes for one in found] == [(first,), (), (second,)]
        told = str(memory.retrieve(EARLIER, peek=True))
        assert told.count(", overtaken on ") == 2 and PORTS[0] in told
        assert elsewhere(memory) == {third}, "the cache has not learned of them"


def test_what_was_replaced_does_not_count_as_used(fleet: Plant) -> None:
    with fleet.client("past-uses") as memory:
        _, _, third = say(fleet, memory)
        body = {"namespace": "past-uses", "agent": "anna", "query": EARLIER}
        for path, hits in (("search", "hits"), ("retrieve", "items")):
            found = httpx.post(f"{fleet.line.retrieval_url}/{path}?confirm=true", json=body).json()
            assert (len(found[hits]), found["used"]) == (3, 1)
        then = body | {"query": NOW, "as_of": fleet.now - 15 * DAY}
        assert httpx.post(f"{fleet.line.retrieval_url}/search", json=then).json()["used"] == 0
        used = "SELECT memory_id::text FROM used WHERE namespace = 'past-uses'"
        fleet.until(lambda: fleet.rows(used) == [(third,), (third,)])


def test_it_is_read_by_the_rights_and_the_purposes_of_today(fleet: Plant) -> None:
    with fleet.client("past-purposes") as memory:
        first, second, third = say(fleet, memory, purposes=["billing"], sensitivity=0.5)
        assert memory.search(EARLIER, peek=True) == []
        assert named(memory.search(EARLIER, purpose="billing", peek=True)) == [second, first, third]
        assert memory.search(EARLIER, purpose="billing", sensitivity_max=0.4, peek=True) == []
        fourth = memory.add("The gateway listens on port 6060.", explicit=True, wait=True, sensitivity=0.9, **SLOT)
        found = memory.search(EARLIER, purpose="billing", sensitivity_max=0.5, peek=True)
        assert named(found) == [third, second, first], "what took its place may not be read"
        assert [(by.by, by.agent) for by in found[0].overtaken] == [(None, None)]
        assert memory.search(EARLIER, purpose="billing", peek=True)[0].overtaken[0].by == fourth.memory_id
    with fleet.client("past-redacted") as memory:
        for number in ("+43 660 1234567", "+43 660 7654321"):
            memory.add(f"Call Ada before noon at {number}.", explicit=True, wait=True, key="phone")
        found = memory.search("Which number was it before?", redact=True, peek=True)
        assert len(found) == 2 and all("[phone]" in one.text for one in found)


def test_what_is_cleared_is_shown_nowhere_and_an_erasure_takes_it_all(fleet: Plant) -> None:
    with fleet.client("past-cleared") as memory:
        first, second, third = say(fleet, memory)
        other = memory.add("The gateway is older than the valve.", explicit=True, wait=True).memory_id
        assert memory.clear(**SLOT, wait=True).hidden == (third,)
        ago = fleet.now - 15 * DAY
        assert named(memory.search(EARLIER, peek=True)) == [other]
        assert memory.search(NOW, as_of=ago, peek=True) == []
        # A vote brings one back, and a later write takes its place.
        memory.restore(second, timeout=0.1)
        fleet.later(lambda: memory.get(second).tier == "short-term")
        assert named(memory.search(NOW, as_of=ago, peek=True)) == [second]
        fourth = memory.add("The gateway listens on port 6060.", explicit=True, wait=True, subject="ada", **SLOT)
        assert fourth.outcome == "stored"
        found = memory.search(EARLIER, peek=True)
        assert {*named(found)} == {second, fourth.memory_id, other}
        assert not fleet.rows("SELECT FROM replaced WHERE memory_id = ANY(%(i)s::uuid[])", i=[first, third])
        memory.erase(subject="ada", dry_run=False)
        assert named(memory.search(EARLIER, peek=True)) == [other]
        assert not fleet.rows("SELECT FROM replaced WHERE namespace = 'past-cleared'")


def test_what_a_vote_replaced_is_shown_and_its_newer_one_may_go(fleet: Plant) -> None:
    with fleet.client("past-votes") as memory:
        old = memory.add("Ada lives in Graz.", explicit=True, wait=True).memory_id
        new = memory.add("Ada lives in Linz.", explicit=True, wait=True, supersedes=[old]).memory_id
        assert old is not None and new is not None
        fleet.later(lambda: memory.get(old).tier == "superseded")
        found = memory.search("Where did Ada live before?", peek=True)
        assert (named(found), [by.by for by in found[0].overtaken]) == ([old, new], [new])
        memory.erase(memory_id=new, dry_run=False)
        (left,) = memory.search("Where did Ada live before?", peek=True)
        assert (left.memory_id, left.overtaken[0].by, left.overtaken[0].disputed) == (old, None, False)


def test_what_was_said_again_and_what_contradicts_is_as_it_was_then(fleet: Plant) -> None:
    with fleet.client("past-again") as memory:
        at = fleet.now - 30 * DAY
        first = memory.add("The valve opens at 4 bar.", explicit=True, wait=True, occurred_at=at).memory_id
        second = memory.add("The valve opens at 6 bar.", explicit=True, wait=True, occurred_at=at + 10 * DAY).memory_id
        again = memory.add("The valve opens at 4 bar.", explicit=True, wait=True, occurred_at=at + 20 * DAY)
        assert again.outcome == "reinforced" and again.memory_id == first

        def read(days: int) -> list[tuple[str, int, list[str | None]]]:
            hits = memory.search("At which pressure does the valve open?", as_of=at + days * DAY, peek=True)
            return [(one.memory_id, one.occurred_at - at, [by.by for by in one.overtaken]) for one in hits]

        assert read(5) == [(first, 0, [])], "what came later marks nothing"
        assert read(15) == [(second, 10 * DAY, []), (first, 0, [second])], "by its first saying it is the older one"
        assert read(25) == [(first, 20 * DAY, []), (second, 10 * DAY, [first])]


def test_by_the_command_and_over_http_it_is_the_same(
    fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    with fleet.client("past-ways") as memory:
        say(fleet, memory)
        said = ["-n", "past-ways", "-a", "anna", "--as-of", str(fleet.now - 15 * DAY), "--peek"]
        for command in ("search", "retrieve"):
            assert cli.main([command, NOW, *said]) == OK
            shown = capsys.readouterr().out
            assert PORTS[1] in shown and PORTS[0] not in shown and PORTS[2] not in shown
        assert cli.main(["search", EARLIER, "-n", "past-ways", "--peek"]) == OK
        assert capsys.readouterr().out.count("overtaken since") == 2
        assert cli.main(["search", NOW, "-n", "past-ways", "--as-of", "2001-01-01", "--peek"]) == OK
        assert "nothing in 'past-ways' as of 2001-01-01" in capsys.readouterr().out
        for wrong in ({"as_of": 5}, {"as_of": fleet.now, "experience": True}):
            body = {"namespace": "past-ways", "query": NOW, "peek": True, **wrong}
            refused = httpx.post(f"{fleet.line.retrieval_url}/search", json=body)
            assert (refused.status_code, refused.json()["field"]) == (400, "as_of")
