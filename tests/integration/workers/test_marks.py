"""A mark of denial stays when the newer memory is forgotten; it goes when the newer one is taken back, erased, or
overtaken by a memory that repeats the older one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from memquorum.core.api.answers import Overtaken
from tests.support.sessions import DAY, Plant, configured, driven

OLD = "Ada likes the garden. The phone of Ada is 555-0100. She is allergic to nuts."
NEW, THIRD = "The phone of Ada is 555-0199 now.", "The phone of Ada is 555-0177 now."
BACK = "Correction: the phone of Ada is 555-0100 again."
PHONE, ASKED = "The phone of Ada is 555-0100.", "What is the phone of Ada?"
DENIES = "SELECT statements, compared FROM conflict WHERE older = %(o)s AND newer = %(n)s"


# After this time members forget unused memories; their keys are destroyed a good while after that.
FADES, GRACE = 8 * DAY, 18 * DAY


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """The whole fleet with a driven clock, whose members forget what has decayed, however near it is."""
    told = configured(tmp_path_factory.mktemp("line"))
    with driven(told, forget={"theta_ppm": 950_000, "grace_ms": GRACE}) as running:
        yield Plant(running)


def publish(fleet: Plant, memory: Memory, text: str, **how: Any) -> str:
    """Says something a second later; the memory that it became."""
    fleet.now += 1_000
    receipt = memory.add(text, wait=True, occurred_at=fleet.now, **how)
    assert receipt.outcome == "stored" and receipt.memory_id is not None, text
    return receipt.memory_id


def pinned(fleet: Plant, memory: Memory, memory_id: str, *, stays: bool = True) -> None:
    """Pins a memory, so that it stays whatever its age, or ends that."""
    (memory.pin if stays else memory.unpin)(memory_id)
    fleet.until(lambda: bool(fleet.rows("SELECT 1 FROM protection WHERE memory_id = %(i)s", i=memory_id)) == stays)


def both(fleet: Plant, memory: Memory, **how: Any) -> tuple[str, str]:
    """A note that stays whatever its age, and what denies a statement of it, in the words of one agent."""
    older, newer = publish(fleet, memory, OLD), publish(fleet, memory, NEW, **how)
    pinned(fleet, memory, older)
    assert fleet.rows(DENIES, o=older, n=newer) == [([2], False)], "the journal says which statement"
    return older, newer


def forgotten(fleet: Plant, memory: Memory, memory_id: str) -> None:
    """Lets it decay until the members have voted that it goes."""
    fleet.later(lambda: memory.get(memory_id).tier == "sealed", by=FADES)


def destroyed(fleet: Plant, memory: Memory, memory_id: str) -> None:
    """Lets the time pass after which its key is destroyed."""
    fleet.later(lambda: memory.get(memory_id).tier == "gone", by=GRACE)


def marks(memory: Memory, memory_id: str) -> tuple[Overtaken, ...]:
    """The marks of a memory, which every read has alike."""
    shown = memory.get(memory_id)
    found = {hit.memory_id: hit for hit in memory.search(ASKED, peek=True, k=20)}[memory_id]
    items = {item.memory_id: item for item in memory.retrieve(ASKED, peek=True).items}
    placed = {item.memory_id: item for item in memory.context(ASKED, peek=True).items}
    listed = {one.memory_id: one for one in memory.memories().memories}
    others = [shown, items[memory_id], placed[memory_id], listed[memory_id]]
    assert [one.overtaken for one in others] == [found.overtaken] * 4
    return found.overtaken


def marked(memory: Memory, older: str, newer: str, *, disputed: bool = False) -> Overtaken:
    """The one mark of the note: of the statement that the newer memory denies, and of no other."""
    (mark,) = marks(memory, older)
    assert (mark.by, mark.disputed) == (newer, disputed)
    assert [OLD[start:end] for start, end in mark.spans] == [PHONE]
    return mark


def test_a_mark_stays_when_the_newer_memory_is_forgotten(fleet: Plant) -> None:
    with fleet.client("marks-forgotten") as memory:
        older, newer = both(fleet, memory)
        alive = marked(memory, older, newer)
        hits = memory.search(ASKED, peek=True)
        assert [hit.memory_id for hit in hits] == [newer, older] and hits[0].overtakes == (older,)
        assert f"{newer} says otherwise than statement 2 of this" in memory.explain(older).in_numbers()

        forgotten(fleet, memory, newer)
        assert marked(memory, older, newer) == alive, "by whom and since when, as before"
        (hit,) = memory.search(ASKED, peek=True)
        assert (hit.conflicts_with, hit.overtakes) == ((), ()), "what is not served is named by the mark alone"
        assert f"in part overtaken on {2025}" in memory.context(ASKED, peek=True).text
        account = memory.explain(older)
        assert f"{newer} said otherwise than statement 2 of this" in str(account)
        assert "It was forgotten, and is served no more; its mark stays." in account.in_numbers()
        assert NEW not in str(account) + account.in_numbers()

        memory.restore(newer, timeout=0.1)
        fleet.later(lambda: memory.get(newer).tier == "short-term")
        assert marked(memory, older, newer) == alive
        assert [hit.memory_id for hit in memory.search(ASKED, peek=True)] == [newer, older]

        forgotten(fleet, memory, newer)
        destroyed(fleet, memory, newer)
        assert marked(memory, older, newer) == alive, "and longer than the key"


def test_a_mark_falls_with_an_erasure_whenever_it_comes(fleet: Plant) -> None:
    with fleet.client("marks-erased") as memory:
        older, newer = both(fleet, memory)
        memory.erase(memory_id=newer, dry_run=False)
        fleet.until(lambda: memory.get(newer).tier == "gone")
        assert marks(memory, older) == ()
        assert newer not in str(memory.explain(older)) + memory.context(ASKED, peek=True).text
    with fleet.client("marks-sealed") as memory:
        older, newer = both(fleet, memory)
        forgotten(fleet, memory, newer)
        memory.erase(memory_id=newer, dry_run=False)
        fleet.until(lambda: marks(memory, older) == ())


HOW: dict[str, dict[str, Any]] = {
    "subject": {"subject": "ada"},
    "source": {"source": "crm"},
    "types": {"type": "social"},
}


@pytest.mark.parametrize("by", ["memory_id", "subject", "agent", "source", "types"])
def test_an_order_to_erase_names_what_was_destroyed_before(fleet: Plant, by: str) -> None:
    """Its key is destroyed already, so the order does not take it; its mark goes all the same."""
    with fleet.client(f"marks-late-{by}".replace("_", "-")) as memory, fleet.client(memory.namespace, "ben") as other:
        older = publish(fleet, memory, OLD)
        newer = publish(fleet, other, NEW, **HOW.get(by, {}))
        pinned(fleet, memory, older)
        assert marked(memory, older, newer, disputed=True).agent == "ben"
        forgotten(fleet, other, newer)
        destroyed(fleet, other, newer)
        assert marked(memory, older, newer, disputed=True)
        wanted = {"memory_id": {by: newer}, "agent": {by: "ben"}, "types": {"types": ["social"], "before": fleet.now}}
        memory.erase(dry_run=False, **wanted.get(by) or HOW[by])
        fleet.until(lambda: marks(memory, older) == ())


@pytest.mark.parametrize("how", ["cleared", "slot", "named"])
def test_a_mark_falls_when_the_newer_memory_is_taken_back_or_superseded(fleet: Plant, how: str) -> None:
    with fleet.client(f"marks-{how}") as memory:
        filed = {"explicit": True, "key": "phone", "path": "ada"} if how == "slot" else {}
        older, newer = both(fleet, memory, **filed)
        fleet.now += 1_000
        if how == "cleared":
            assert memory.clear(memory_id=newer, wait=True, occurred_at=fleet.now).outcome == "cleared"
        elif how == "slot":
            assert memory.clear("phone", "ada", wait=True, occurred_at=fleet.now).outcome == "cleared"
        else:
            publish(fleet, memory, "The phone is out of order.", explicit=True, supersedes=[newer])
        fleet.later(lambda: memory.get(newer).tier == "superseded")
        assert marks(memory, older) == ()


def test_what_is_said_again_word_for_word_is_marked_no_more(fleet: Plant) -> None:
    with fleet.client("marks-again") as memory:
        older, newer = both(fleet, memory)
        fleet.now += 1_000
        assert memory.add(OLD, wait=True, occurred_at=fleet.now).outcome == "reinforced"
        assert marks(memory, older) == () and [one.by for one in memory.get(newer).overtaken] == [older]
        forgotten(fleet, memory, newer)
        assert marks(memory, older) == ()


def test_a_mark_falls_when_a_third_memory_says_the_first_ones_value_again(fleet: Plant) -> None:
    with fleet.client("marks-back") as memory:
        older, newer = both(fleet, memory)
        third = publish(fleet, memory, BACK)
        pinned(fleet, memory, third)
        assert marks(memory, older) == ()
        assert [one.by for one in memory.get(newer).overtaken] == [third]
        forgotten(fleet, memory, newer)
        assert marks(memory, older) == ()
        pinned(fleet, memory, third, stays=False)
        forgotten(fleet, memory, third)
        assert marks(memory, older) == (), "a forgotten one says so still"
        memory.erase(memory_id=third, dry_run=False)
        fleet.until(lambda: marks(memory, older) != ())
        assert marked(memory, older, newer), "an erased one does not"


def test_a_chain_of_values_marks_all_but_the_last(fleet: Plant) -> None:
    with fleet.client("marks-chain") as memory:
        older, newer = both(fleet, memory)
        third = publish(fleet, memory, THIRD)
        forgotten(fleet, memory, newer)
        assert {one.by for one in marks(memory, older)} >= {newer}
        assert memory.get(third).overtaken == ()


def test_the_store_is_as_the_journal_makes_it(
    fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with fleet.client("marks-sound") as memory:
        both(fleet, memory)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    monkeypatch.chdir(fleet.line.run_dir.parent)
    assert cli.main(["verify"]) == OK, capsys.readouterr().out
