"""On a running installation what says the same in experience becomes one there, and is back where that is erased."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra import genesis, supervisor
from memquorum.core.policy import UNCAPPED
from memquorum.core.retrieval import admitting
from tests.support.clock import tick
from tests.support.sessions import HOUR, MINUTE, START, Plant, configured

SAID = "The gateway in hall 3 uses port 8443."


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plant]:
    """The whole fleet with a driven clock, at START; it looks for what says the same at every epoch."""
    told = configured(tmp_path_factory.mktemp("line"), verifier_every_s=1)
    genesis.create(told, policy={"caps": UNCAPPED, "consolidate": {"merge_every_ms": MINUTE}})
    with supervisor.started(told) as running:
        tick(running, START)
        yield Plant(running)


def test_what_says_the_same_becomes_one_in_experience_and_is_back_where_that_is_erased(fleet: Plant) -> None:
    with fleet.client("plant") as memory, fleet.client("plant", "ben") as other:
        ids = list[str]()
        # In the ordinary way: each says it by itself, in words of its own, and neither says of whom.
        for who, said in ((memory, SAID), (other, "The gateway, in the hall 3, uses port 8443!")):
            receipt = who.add(said, occurred_at=START, wait=True)
            assert receipt.outcome == "stored" and receipt.memory_id is not None
            ids.append(receipt.memory_id)
        for at in range(4):
            memory.finish_task(
                f"Which port does the gateway in hall 3 use? Shift {at} asks.", "succeeded", outputs=SAID,
                said_by="reviewer", wait=True,
            )  # fmt: skip
        fleet.turn()

        def stand() -> dict[str, tuple[str, str | None]]:
            told = "SELECT memory_id::text, status, merged_into::text FROM admission"
            return {name: (status, into) for name, status, into in fleet.rows(told) if name in ids}

        fleet.until(lambda: {one for one, _ in stand().values()} == {"agreed"} and len(stand()) == 2, "not agreed in")
        fleet.later(lambda: [one for one, _ in stand().values()] == ["admitted"] * 2, "members do not admit both")
        fleet.later(lambda: any(into for _, into in stand().values()), "members do not let them become one")
        (stub,) = (name for name, (_, into) in stand().items() if into is not None)
        (kept,) = (name for name in ids if name != stub)

        def given() -> list[str]:
            found = memory.retrieve("Which port does the gateway in hall 3 use?", experience=True)
            return [one.memory_id for one in found.items]

        fleet.until(lambda: given() == [kept], "experience does not give the one alone")
        assert {one.memory_id for one in memory.search("Which port does the gateway use?")} >= set(ids)
        why = memory.experience(stub)
        assert (why.status, why.merged_into) == ("admitted", kept)
        assert f"memory {kept} stands for it in experience: they say the same" in "\n".join(admitting.lines(why))
        assert [one.cause for one in memory.experience(kept).weights] == ["admitted", "merged"]
        votes = fleet.rows(
            "SELECT b.yes FROM ballot b JOIN outcome o USING (shard, epoch, position) "
            "WHERE o.memory_id = %(m)s AND o.kind = 'unite' AND o.outcome = 'united'", m=stub,
        )  # fmt: skip
        assert sum(yes for (yes,) in votes) >= 3, votes
        memory.erase(memory_id=kept, dry_run=False)
        fleet.later(lambda: given() == [stub], "it is not back")
        assert memory.experience(stub).merged_into is None
        fleet.turn(HOUR)
        fleet.infra("verify")
        assert fleet.infra("rebuild").splitlines()[-1] == "equal"
