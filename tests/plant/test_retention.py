"""Memories older than the law permits are erased on a running installation: by an order, and by a standing rule."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from infra import admin_commands, genesis, hold
from memquorum.client import Invalid
from memquorum.core.audit import receipts
from memquorum.schema_files import load_codec
from tests.support.sessions import DAY, HOUR, NOTES, SHARDS, Plant

ORDERS = (
    "SELECT order_id::text, signer, ordered_by, value, memories FROM erasure WHERE namespace = %(n)s ORDER BY first_seq"
)
THERE = "SELECT id::text FROM memory WHERE namespace = %(n)s AND tier <> 'gone'"


def verified(fleet: Plant, receipt: dict[str, object]) -> None:
    found = receipts.verify(load_codec(), genesis.read(fleet.line), json.dumps(receipt).encode())
    assert found.checked is not None


def test_an_order_by_type_and_age_takes_the_old_and_leaves_the_young_and_the_held(fleet: Plant) -> None:
    with fleet.client("aged") as memory:
        old, held, pinned = fleet.live(memory, notes=NOTES[:3])
        (task,) = fleet.live(memory, notes=NOTES[3:4], type="task")
        before = fleet.now + 500
        (young,) = fleet.live(memory, notes=NOTES[4:5])
        fleet.turn(1_000)
        assert memory.pin(pinned).status == "pinned"
        asked = admin_commands.parser().parse_args(["memories", "hold", held, "-n", "aged", "--reference", "case 9"])
        assert hold.run(fleet.line, asked) == 0
        would = memory.erase(types=["episodic"], before=before)
        assert {one.memory_id for one in would.going} == {old, pinned}
        assert [(one.memory_id, one.why) for one in would.staying] == [(held, "it is held")]
        with pytest.raises(Invalid, match="before"):
            memory.erase(types=["episodic"])
        done = memory.erase(types=["episodic"], before=before, dry_run=False, reference="law-7")
        assert (done.status, done.memories) == ("erased", 2)
        assert {one for (one,) in fleet.rows(THERE, n="aged")} == {held, task, young}
        said = memory.explain(pinned).in_numbers()
        assert (
            f"of age 'episodic before {datetime.fromtimestamp(before // 1_000, UTC):%Y-%m-%d}" in said
            and "gave (law-7): at " in said
        )
        late = memory.add("Said late: the pump had been tested.", occurred_at=before - 1, wait=True)
        assert late.outcome == "erased"
        assert done.order_id is not None
        verified(fleet, fleet.later(lambda: r if (r := memory.erasure_receipt(done.order_id))["attested"] else None))


def test_a_rule_that_stands_erases_what_comes_of_age_without_anybodys_word(fleet: Plant) -> None:
    """Pinned, summed up, its sources' keys long destroyed: the rule erases it all the same.

    Later memories stay until they are as old, and held ones stay.
    """
    with fleet.client("retained-a") as memory, fleet.client("kept-a") as beside:
        fleet.live(memory)
        memory.end_session("shift-1")
        (kept,) = fleet.live(beside, notes=NOTES[:1])
        (summary,) = fleet.later(lambda: fleet.summaries("retained-a"))
        memory.pin(summary)
        fleet.turn(10 * DAY)
        fleet.until(lambda: fleet.rows(THERE, n="retained-a") == [(summary,)], "the keys of what it was made of")
        (young,) = fleet.live(memory, "shift-2", notes=("The crane 4 was inspected by Jo Ferrant on 3 May.",))
        memory.pin(young)
        assert fleet.rows(ORDERS, n="retained-a") == []
        fleet.turn(20 * DAY)
        fleet.turn(HOUR)
        (told,) = fleet.until(lambda: fleet.rows(ORDERS, n="retained-a"))
        order_id, signer, by, value, memories = told
        assert (signer, by, memories) == ("service:erasure", "rule of retention", 1)
        types, _, before = value.partition(" before ")
        age = fleet.now - round(datetime.fromisoformat(before).timestamp() * 1_000)
        assert types == "episodic" and 30 * DAY <= age < 31 * DAY
        assert fleet.rows(THERE, n="retained-a") == [(young,)]
        assert "Erased by" not in beside.explain(kept).in_numbers(), "the rule is not of this namespace"
        said = memory.explain(summary).in_numbers()
        assert f"Erased by order {order_id}" in said and "rule of retention" in said
        assert "It carries out the rule of configuration 0: nobody was asked." in said
        receipt = fleet.later(lambda: r if (r := memory.erasure_receipt(order_id))["attested"] else None)
        assert receipt["order"]["reference"] == "configuration 0"
        verified(fleet, receipt)
        (rule,) = json.loads(fleet.infra("fleet", "status", "--json"))["erased_by_age"]
        assert (rule["after"], rule["shards"]) == ("retained-*=episodic:30d", [*range(SHARDS)])
        assert (rule["due"], rule["coming"], rule["overdue"]) == (0, 0, [])
        assert fleet.now < rule["next_at"] <= fleet.now + HOUR
        fleet.turn(11 * DAY)
        fleet.until(lambda: len(fleet.rows(ORDERS, n="retained-a")) == 2)
        assert fleet.rows(THERE, n="retained-a") == []
        assert "erased by age: looked last at 2025-" in fleet.infra("fleet", "status")
