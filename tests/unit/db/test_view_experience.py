"""A replica's view of finished tasks, of decisions, and of admitted memories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from db.view import View
from db.view_experience import EPOCHS_KEPT
from db.view_rows import Admitted, Finished, Known
from memquorum.core.experience.rounds import Round

CLUSTER = b"c" * 32
KNOWN = Known("m1", "space", "ann", 1, 1, 5, 600_000, 0, None, None, None, b"c", b"content", b"vector", "minilm")
TASK = Finished(
    "t1", "space", 7, "ann", 100, "succeeded", "ann", bytes(32), 5, "minilm", b"content", b"vector", None, b"c",
    ("m1", "m2"),
)  # fmt: skip


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    found = View(tmp_path / "view.db", CLUSTER, 1)
    yield found
    found.close()


def test_a_task_is_found_by_its_id_in_its_namespace_from_where_it_stands_on(view: View) -> None:
    assert view.experience.finish(TASK)
    asked = ["t1", "t2"]
    assert view.experience.tasks("space", before=8, memory_ids=asked) == {"t1": TASK}
    assert view.experience.tasks("space", before=7, memory_ids=asked) == {}
    assert view.experience.tasks("other", before=8, memory_ids=asked) == {}
    assert [view.experience.finished("space", before=at) for at in (7, 8)] == [0, 1]


def test_a_task_that_was_given_nothing_comes_back_as_it_was(view: View) -> None:
    bare = TASK._replace(retrieved=(), sealed_signed=b"signed")
    view.experience.finish(bare)
    assert view.experience.tasks("space", before=8, memory_ids=["t1"]) == {"t1": bare}


def test_what_is_said_first_of_a_task_stands(view: View) -> None:
    assert view.experience.finish(TASK)
    assert not view.experience.finish(TASK._replace(outcome="failed", accepted=9))
    assert view.experience.tasks("space", before=10, memory_ids=["t1"]) == {"t1": TASK}


def test_a_memory_and_a_task_never_have_one_id(view: View) -> None:
    view.remember(KNOWN)
    assert not view.experience.finish(TASK._replace(memory_id="m1"))
    view.experience.finish(TASK)
    assert not view.remember(KNOWN._replace(memory_id="t1"))


def test_an_erased_task_is_gone_and_does_not_come_back(view: View) -> None:
    view.experience.finish(TASK)
    view.experience.finish(TASK._replace(memory_id="t2"))
    view.experience.erased(["t1"])
    assert not view.experience.finish(TASK)
    assert set(view.experience.tasks("space", before=8, memory_ids=["t1", "t2"])) == {"t2"}


def test_on_what_an_epoch_decided_is_known_until_long_after(view: View) -> None:
    first, another = Round(1, b"1" * 32, 10), Round(1, b"2" * 32, 20)
    view.experience.decided(0, first)
    view.experience.decided(1, another)
    assert (view.experience.stood(0, 1), view.experience.stood(0, 2)) == (first, None)
    view.experience.decided(0, Round(EPOCHS_KEPT, b"3" * 32, 30))
    assert view.experience.stood(0, 1) == first
    view.experience.decided(0, Round(EPOCHS_KEPT + 1, b"3" * 32, 30))
    assert (view.experience.stood(0, 1), view.experience.stood(1, 1)) == (None, another)


def test_what_members_did_not_admit_is_known_with_the_last_epoch_of_that(view: View) -> None:
    for epoch in (3, 5):
        view.experience.refuse("m1", epoch)
    assert [view.experience.refused(one) for one in ("m1", "m2")] == [5, 0]


def weighed(view: View, memory: str, tier: str = "short-term", needs: tuple[str, ...] = ()) -> None:
    view.remember(KNOWN._replace(memory_id=memory))
    view.weights.add(memory, "space", "episodic", tokens=5, tier=tier, worth_ppm=None, novelty_ppm=None, needs=needs)


def forget(view: View, epoch: int, *memories: str, at: int = 10) -> None:
    told = {"commits": [b"commit"], "decisions": b"", "until": 10**9, "accepted_offset": at, "read": 1_000}
    view.decided(0, seq=epoch, epoch=epoch, forgotten=memories, **told)  # type: ignore[arg-type]


def test_what_is_alive_stands_and_what_was_used_when_it_was_forgotten(view: View) -> None:
    names = ("m1", "m2", "m3", "draft")
    for name in names[:3]:
        weighed(view, name)
    weighed(view, "draft", "draft")
    assert view.experience.standing([*names, "unknown"]) == ["m1", "m2", "m3"]
    view.touch("m3", "space", at=9, offset=11)
    forget(view, 1, "m2", "m3")
    assert view.experience.standing(names) == ["m1", "m3"]
    view.weights.moved("space", {"m1": "long-term"})
    forget(view, 4)
    assert view.experience.standing(names) == ["m1", "m3"]


@pytest.mark.parametrize("lately", [True, False])
def test_what_was_forgotten_and_restored_stands_with_the_weight_that_it_was_admitted_with(
    view: View, lately: bool
) -> None:
    """As verifiers are told it (tests/contract/db/test_trials.py): who differs denies whatever is tried."""
    weighed(view, "m1")
    first = Admitted("space", "m1", 1, 3, 500_000)
    view.experience.weigh([first])
    forget(view, 4, "m1")
    if not lately:
        forget(view, 6)  # it rests sealed now
    assert view.experience.standing(["m1"]) == [] and view.experience.weights("space", epoch=7) == [first]
    told = {"commits": [b"commit"], "decisions": b"", "forgotten": (), "until": 0, "read": 1_000}
    view.decided(0, seq=7, epoch=7, restored=["m1"], restored_at=5, accepted_offset=20, **told)  # type: ignore[arg-type]
    assert view.experience.standing(["m1"]) == ["m1"] and view.experience.weights("space", epoch=7) == [first]


def test_a_memory_was_made_of_the_tasks_that_it_derives_from(view: View) -> None:
    for name in ("t2", "t1"):
        view.experience.finish(TASK._replace(memory_id=name))
    weighed(view, "m1", needs=("t2", "other", "t1"))
    weighed(view, "m2", needs=("other",))
    weighed(view, "m3")
    assert view.experience.sources(["m1", "m2", "m3", "unknown"]) == {"m1": ("t1", "t2")}


def test_what_was_admitted_weighs_what_it_did_as_of_an_epoch(view: View) -> None:
    early, late = Admitted("space", "m1", 1, 3, 500_000), Admitted("space", "m1", 2, 5, 400_000)
    another = Admitted("space", "m0", 1, 4, 700_000)
    view.experience.weigh([late, early, another])
    view.experience.weigh([early._replace(weight_ppm=1)])
    told = [view.experience.weights("space", epoch=at) for at in (2, 3, 4, 5)]
    assert told == [[], [early], [another, early], [another, late]]
    assert view.experience.weights("other", epoch=9) == []


def test_a_view_that_lost_its_batch_knows_nothing_of_it(view: View) -> None:
    with pytest.raises(RuntimeError), view.batch():
        view.experience.finish(TASK)
        view.experience.decided(0, Round(1, b"1" * 32, 10))
        raise RuntimeError
    assert view.experience.tasks("space", before=8, memory_ids=["t1"]) == {}
    assert view.experience.stood(0, 1) is None
