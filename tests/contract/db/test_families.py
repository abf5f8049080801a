"""The store tells which general form may stand for which lessons, and trials go on with the lessons."""

from __future__ import annotations

from typing import Any

from memquorum.core.avro import Codec
from memquorum.core.records import Proposal
from tests.builders import genesis, trials
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.tried import clear
from tests.support.stores import World

GENESIS = genesis.make(**trials.entitled())
LESSONS, FORMS = (tuple(memory_id(f"{what}{name}") for name in "abc") for what in ("", "form "))
GENERAL = "Before a shift at [place], drain the line of crane [number]."
SITES = ("Northgate", "Southgate", "Eastgate")
TEXTS = {
    **{
        one: clear(f"Before a shift at {site}, drain the line of crane 7.")
        for one, site in zip(LESSONS, SITES, strict=True)
    },
    **{one: clear(GENERAL) for one in FORMS},
}


def flush(world: World, shard: Shard) -> None:
    net = shard.work.net()
    world.flush(shard, {one: TEXTS.get(one, clear("The orchard's fence is green.")) for one in net.revealed})


def made(world: World, codec: Codec, forms: str = "abc", **said: Any) -> Shard:
    """A, B and C were admitted, and those named have a general form."""
    shard = world.shard(codec, GENESIS)
    built = trials.experienced(codec, GENESIS, "abc", outside="d", into=shard, **said)
    for name in forms:
        built.general(f"form {name}", memory_id(name))
        built.tick(built.rows.state.as_of + 1)
        built.generalise(memory_id(f"form {name}"), memory_id(name))
    flush(world, built)
    return built


def families(world: World) -> list[tuple[str, ...]]:
    return [tuple(one.memory_id for one in some) for some in world.schedule.families(0, 10)]


def test_three_lessons_of_one_general_form_are_its_family_until_it_stands_for_them(world: World, codec: Codec) -> None:
    shard = made(world, codec)
    assert families(world) == [(FORMS[0], *LESSONS)]
    shard.tick(shard.rows.state.as_of + 1)
    shard.decide([Proposal((FORMS[0], *LESSONS), NAMESPACE, "unite", "family", 0, 0, 0)])
    flush(world, shard)
    assert families(world) == []
    with world.trials.look(10_000) as look:
        assert [(one.memory.id, one.united) for one in look.admitted(NAMESPACE)] == [
            (one, None) for one in sorted(LESSONS)
        ]


def test_two_are_no_family(world: World, codec: Codec) -> None:
    made(world, codec, "ab")
    assert families(world) == []
