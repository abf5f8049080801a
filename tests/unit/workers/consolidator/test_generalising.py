"""Only the consolidator knows under which event a general form will come."""

from __future__ import annotations

from memquorum.ports import Promoted
from workers.consolidator.generalising import general

ID = "11936ca0-73b1-5c8b-a836-cd85fc13cdfc"
OF = Promoted(3, ID, "plant", "Drain line 7.", b"c" * 32, 600_000, "ann", "episodic")


def test_the_event_follows_from_memory_and_seed_alone() -> None:
    one = general(OF, "Drain line [number].", b"a" * 32)
    assert one.event_id == general(OF, "Drain line [number].", b"a" * 32).event_id
    assert one.event_id != general(OF, "Drain line [number].", b"b" * 32).event_id
