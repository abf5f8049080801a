"""A replica's own view: what it keeps, what it lets go, and that it can be lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from db.view import View
from db.view_rows import Fading, Known, Recent
from memquorum.core.consensus.events import Progress, Reached
from memquorum.core.records import AccessAccepted, EpisodeAccepted
from memquorum.core.worth import Ranks
from tests.builders.protections import wanted
from tests.builders.shard import accepted

CLUSTER = b"c" * 32
KNOWN = Known("m1", "space", "ann", 100, 100, 5, 600_000, 0, None, 900_000, None, b"c", b"content", b"vector", "minilm")


@pytest.fixture
def view(tmp_path: Path) -> Iterator[View]:
    found = View(tmp_path / "view.db", CLUSTER, 1)
    yield found
    found.close()


def one(view: View, memory_id: str = "m1") -> Known:
    return view.known([memory_id])[memory_id]


def recent(view: View, through: int = 1000, most: int = 64) -> list[str]:
    return [r.memory_id for r in view.recent("space", through=through, most=most)]


def decide(
    view: View, epoch: int, *forgotten: str, accepted_offset: int = 10, read: int = 1000, back: str | None = None,
    rests: int = 0,
) -> None:  # fmt: skip
    """Adds a decision: forgotten memories rest until 1,000 times the epoch; `back`: a restored memory, asked for at
    500, that a budget may forget again in epoch `rests`.
    """
    commits = [b"commit", b"another"]
    view.decided(
        0, seq=epoch, epoch=epoch, commits=commits, decisions=b"decisions", forgotten=forgotten, until=1000 * epoch,
        restored=[back] if back else [], restored_at=500, accepted_offset=accepted_offset, read=read,
    )  # fmt: skip
    view.weights.rest(0, epoch, [back] if back else [], rests)


def held(view: View) -> set[str]:
    """Returns the memories in the file, known or sealed."""
    return {memory_id for (memory_id,) in view._db.execute("SELECT memory_id FROM memory")}


def resting(view: View, *memory_ids: str) -> list[str]:
    return [row[1] for row in view.resting(memory_ids or ["m1"])]


def test_the_first_of_an_id_is_kept(view: View) -> None:
    view.remember(KNOWN)
    view.remember(KNOWN._replace(agent="bob"))
    assert view.known(["m1", "m2"]) == {"m1": KNOWN}


def test_an_access_moves_the_last_access_forward_only(view: View) -> None:
    view.remember(KNOWN)
    assert view.touch("m1", "space", at=300, offset=7)
    assert view.touch("m1", "space", at=200, offset=9)
    assert (one(view).last_access, one(view).touched, one(view).reinforced) == (300, 9, 0)


def test_a_repetition_counts_and_lifts_the_salience(view: View) -> None:
    view.remember(KNOWN)
    assert view.touch("m1", "space", at=300, offset=7, again_ppm=500_000)
    assert view.touch("m1", "space", at=400, offset=8, again_ppm=700_000)
    assert (one(view).reinforced, one(view).salience_ppm, one(view).last_access) == (2, 700_000, 400)


def test_who_used_it_counts(view: View) -> None:
    view.remember(KNOWN)
    view.remember(KNOWN._replace(memory_id="m2", agent="bob"), "m1")
    view.remember(KNOWN._replace(memory_id="m3"), "m1")
    view.remember(KNOWN._replace(memory_id="m4", namespace="elsewhere", agent="cy"), "m1")
    view.remember(KNOWN._replace(memory_id="m5", agent="cy"), "unknown")
    assert [one(view, name).witnessed for name in ("m1", "m2", "m3", "m4", "m5")] == [1, 1, 0, 0, 0]
    assert view.touch("m1", "space", at=300, offset=8, again_ppm=1)
    assert view.touch("m1", "space", at=300, offset=9, read=True)
    assert view.touch("m1", "space", at=0, offset=10)  # an order that protects it
    assert (one(view).reinforced, one(view).witnessed, one(view).reads) == (1, 1, 1)


def test_each_other_agent_vouches_once_and_only_so_many_do(view: View) -> None:
    signed = KNOWN._replace(sealed_signed=b"signed")
    view.remember(signed)
    assert one(view).vouched == 0
    view.remember(signed._replace(memory_id="m2"), "m1")  # its own agent again
    assert one(view).vouched == 0
    view.remember(signed._replace(memory_id="m3", agent="bob"), "m1")
    view.remember(signed._replace(memory_id="m4", agent="bob"), "m1")  # bob again
    assert (one(view).vouchers, one(view).vouched, one(view).witnessed) == ("bob\n", 1, 2)
    assert [one(view, name).vouchers for name in ("m2", "m3", "m4")] == ["", "ann\n", "ann\n"]
    view.remember(KNOWN._replace(memory_id="m5", agent="bo"), "m1")  # where names cost nothing, one is enough
    assert one(view).vouched == 1
    view.remember(signed._replace(memory_id="m6", agent="bo"), "m1")
    view.remember(signed._replace(memory_id="m7", agent="cy"), "m1")
    assert one(view).vouchers == "bob\nbo\n"
    view.remember(signed._replace(memory_id="m8", namespace="elsewhere", agent="di"), "m1")
    assert one(view).vouched == 2


def test_what_is_unknown_or_of_another_namespace_cannot_be_touched(view: View) -> None:
    view.remember(KNOWN)
    assert not view.touch("m2", "space", at=300, offset=7)
    assert not view.touch("m1", "elsewhere", at=300, offset=7)
    assert one(view) == KNOWN


def test_an_agents_last_episodes_are_kept_in_their_order(view: View) -> None:
    for offset in range(10):
        view.experienced("space", 2 * offset, Recent(f"a{offset}", b"t", b"v", "minilm", "ann"), keep=3)
    view.experienced("space", 15, Recent("b", b"t", b"v", "minilm", "bob"), keep=3)
    view.experienced("space", 15, Recent("b", b"t", b"v", "minilm", "bob"), keep=3)
    view.experienced("elsewhere", 19, Recent("c", b"t", b"v", "minilm", "ann"), keep=3)
    assert recent(view) == ["a7", "b", "a8", "a9"]
    assert recent(view, through=16) == ["a7", "b", "a8"]
    assert recent(view, most=1) == ["b", "a9"]


def test_what_was_forgotten_is_gone_two_epochs_later(view: View) -> None:
    view.remember(KNOWN)
    view.experienced("space", 5, Recent("m1", b"t", b"v", "minilm", "ann"), keep=3)
    decide(view, 1, "m1")
    assert recent(view) == []
    assert view.is_forgotten("m1")
    decide(view, 2)
    assert view.known(["m1"])
    decide(view, 3)
    assert view.known(["m1"]) == {}
    assert view._db.execute("SELECT count(*) FROM recent").fetchone() == (0,)
    assert not view.is_forgotten("m1")


def test_what_is_gone_does_not_come_back_nor_does_another_memory_stand_for_it(view: View) -> None:
    view.remember(KNOWN)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1", "never read"] if epoch == 1 else []))
    assert not view.remember(KNOWN)
    assert not view.remember(KNOWN._replace(memory_id="never read"))
    other = KNOWN._replace(memory_id="m2", touched=6)
    assert view.remember(other)  # it takes the place that was left
    assert view.known(["m1", "m2"]) == {"m2": other}
    assert [row[1] for row in view.fading(["m1", "m2"])] == ["m2"]
    assert not view.touch("m1", "space", at=300, offset=7)
    decide(view, 4, "m1")
    decide(view, 5)
    decide(view, 6)
    assert view.known(["m2"]) == {"m2": other}


def test_an_access_after_the_nomination_keeps_the_facts_of_what_was_voided(view: View) -> None:
    view.remember(KNOWN)
    view.touch("m1", "space", at=300, offset=11)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []), accepted_offset=10)
    assert one(view).last_access == 300
    assert not view.is_forgotten("m1")


def test_an_access_that_crosses_the_decision_keeps_them_too(view: View) -> None:
    view.remember(KNOWN)
    decide(view, 1, "m1", accepted_offset=10)
    assert not view.touch("m1", "space", at=300, offset=11)  # forgotten, as far as is known here
    decide(view, 2)
    decide(view, 3)
    assert one(view).last_access == 300


def test_a_view_that_lags_behind_its_decisions_forgets_when_it_has_read(view: View) -> None:
    """On a rebuild decisions may be read long before the episodes that they speak of."""
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []), accepted_offset=10, read=2)
    view.remember(KNOWN)
    assert view.is_forgotten("m1")
    decide(view, 4, accepted_offset=12, read=13)
    assert view.known(["m1"]) == {}


def test_progress_and_positions_survive(tmp_path: Path) -> None:
    view = View(tmp_path / "view.db", CLUSTER, 1)
    assert view.progress(0) == Progress()
    assert view.position("topic", 0) is None
    with view.batch():
        decide(view, 7)
        view.move(0, {"topic": 4, "other": 9})
        view.move(0, {"topic": 5})
    view.close()
    view = View(tmp_path / "view.db", CLUSTER, 1)
    assert view.progress(0) == Progress(8, 8, (b"commit", b"another"), b"decisions")
    assert view.progress(1) == Progress()
    assert (view.position("topic", 0), view.position("other", 0), view.position("topic", 1)) == (5, 9, None)
    view.close()


def test_a_batch_that_fails_leaves_nothing(view: View) -> None:
    with pytest.raises(ZeroDivisionError), view.batch():
        view.remember(KNOWN)
        view.move(0, {"topic": 5})
        _ = 1 // 0
    assert view.known(["m1"]) == {}
    assert view.position("topic", 0) is None
    with view.batch():
        view.remember(KNOWN)
    assert view.known(["m1"])


def test_time_is_what_the_ticks_say_and_never_runs_backwards(view: View) -> None:
    for offset, as_of in ((3, 500), (8, 400), (9, 600)):
        view.ticked(0, offset, as_of, b"stream")
    view.ticked(1, 8, 50, b"stream")
    assert [view.time_at(0, offset) for offset in (3, 8, 9, 4)] == [500, 500, 600, None]
    assert view.time_at(1, 8) == 50
    assert view.progress(0) == Progress()
    decide(view, 1, accepted_offset=8)
    assert [view.time_at(0, offset) for offset in (3, 8, 9)] == [500, 500, 600]  # a decision forgets no tick
    view.ticked(0, 12, 1, b"stream")
    assert view.time_at(0, 12) == 600
    view.ticked(0, 1_000_008, 700, b"stream")
    assert [view.time_at(0, offset) for offset in (3, 8)] == [None, 500]
    assert view.time_at(1, 8) == 50


def test_another_identitys_file_is_refused(tmp_path: Path) -> None:
    View(tmp_path / "view.db", CLUSTER, 1).close()
    with pytest.raises(ValueError, match="member 1"):
        View(tmp_path / "view.db", CLUSTER, 2)


def test_an_embedding_of_another_encoder_takes_its_place_whenever_it_is_read(view: View) -> None:
    # Its topic was read before the accepted one.
    view.reencoded("m1", "minilm", "bert", memory_seq=1, sealed_embedding=b"new")
    view.remember(KNOWN)
    view.experienced("space", 5, Recent("m1", b"t", b"v", "minilm", "ann"), keep=3)
    assert one(view) == KNOWN._replace(sealed_embedding=b"new", encoder="bert")
    assert view.recent("space", through=9, most=9) == [Recent("m1", b"t", b"new", "bert", "ann")]
    # Replaces what is not there any more.
    view.reencoded("m1", "minilm", "other", memory_seq=2, sealed_embedding=b"late")
    assert one(view).encoder == "bert"
    view.reencoded("m1", "bert", "minilm", memory_seq=3, sealed_embedding=b"back")
    assert (one(view).encoder, one(view).sealed_embedding) == ("minilm", b"back")


def test_an_embedding_that_comes_again_after_the_way_back_changes_nothing(view: View) -> None:
    view.remember(KNOWN)
    view.reencoded("m1", "minilm", "bert", memory_seq=1, sealed_embedding=b"new")
    view.reencoded("m1", "bert", "minilm", memory_seq=2, sealed_embedding=b"back")
    view.reencoded("m1", "minilm", "bert", memory_seq=1, sealed_embedding=b"new")
    assert (one(view).encoder, one(view).sealed_embedding) == ("minilm", b"back")
    view.reencoded("m1", "minilm", "bert", memory_seq=3, sealed_embedding=b"forth")
    assert one(view).sealed_embedding == b"forth"


def test_an_embedding_that_replaces_another_one_than_the_memorys_does_not_count(view: View) -> None:
    view.reencoded("m1", "hashing", "bert", memory_seq=4, sealed_embedding=b"new")
    view.remember(KNOWN)
    assert one(view) == KNOWN


def test_an_embedding_goes_with_its_memory(view: View) -> None:
    view.remember(KNOWN)
    view.reencoded("m1", "minilm", "bert", memory_seq=5, sealed_embedding=b"new")
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
    # Still: it may come back.
    assert view.resting(["m1"]) == [Fading(0, "m1", "space", 100, b"new", "bert", b"content", None, None)]
    view.ticked(0, 20, 1_000, b"")
    assert view._db.execute("SELECT count(*) FROM anew").fetchone() == (0,)


def test_the_worths_of_a_namespace_are_counted_by_what_they_are_ranked_among(view: View) -> None:
    for namespace, like, value in (
        ("space", "episodic/agent", 40_000_000), ("space", "episodic/agent", 40_000_001), ("space", "task/tool", 0),
        ("elsewhere", "episodic/agent", 0),
    ):  # fmt: skip
        view.worths.add(namespace, like, value)
    found = view.worths.ranks("space")
    assert set(found) == {"episodic/agent", "task/tool"}
    expected = Ranks()
    expected.add(40_000_000)
    expected.add(40_000_000)
    assert found["episodic/agent"].rank_ppm(40_000_000) == expected.rank_ppm(40_000_000)
    assert view.worths.ranks("nowhere") == {}


def test_what_was_forgotten_rests_sealed_until_its_grace_time_is_over(view: View) -> None:
    view.remember(KNOWN)
    decide(view, 1, "m1")
    assert resting(view) == ["m1"]  # at once, although an access may still void it
    for epoch in (2, 3):
        decide(view, epoch)
    assert resting(view, "m2", "m1") == ["m1"] and view.known(["m1"]) == {}
    assert not view.touch("m1", "space", at=300, offset=30)
    view.ticked(0, 20, 999, b"")
    assert resting(view) == ["m1"]
    view.ticked(0, 21, 1_000, b"")
    assert resting(view) == [] and held(view) == set()
    # The id stays: a record of it that comes again does not bring it back.
    assert not view.remember(KNOWN)
    assert view.remember(KNOWN._replace(memory_id="m2"))  # it takes the place that was left
    assert resting(view, "m1", "m2") == ["m2"]


def test_what_another_namespace_orders_protects_nothing_and_ends_nothing(view: View) -> None:
    view.remember(KNOWN)
    view.protect(0, wanted("pin", "m1", 1, namespace="elsewhere", cluster=b""), "operator")
    view.protect(0, wanted("pin", "made up", 1, namespace="space", cluster=b""), "operator")
    assert view._db.execute("SELECT count(*) FROM protected").fetchone() == (0,)
    view.protect(0, wanted("pin", "m1", 1, namespace="space", cluster=b""), "operator")
    view.protect(0, wanted("unpin", "m1", 2, namespace="elsewhere", cluster=b""), "operator")
    assert view.protected(["m1"]) == {"m1"}
    view.protect(0, wanted("unpin", "m1", 2, namespace="space", cluster=b""), "operator")
    assert view.protected(["m1"]) == set()


def test_what_rests_sealed_is_held_by_its_own_namespace_alone(view: View) -> None:
    view.remember(KNOWN)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
    assert view.known(["m1"]) == {}
    view.protect(0, wanted("hold", "m1", 1, namespace="elsewhere", cluster=b""), "operator")
    assert view.protected(["m1"]) == set()
    view.protect(0, wanted("hold", "m1", 1, namespace="space", cluster=b""), "operator")
    assert view.protected(["m1"]) == {"m1"}
    view.ticked(0, 20, 1_000, b"")
    # Its content is gone from here; the release is followed all the same.
    assert held(view) == set()
    view.protect(0, wanted("release", "m1", 2, namespace="space", cluster=b""), "operator")
    assert view.protected(["m1"]) == set()


@pytest.mark.parametrize("soon", [True, False])
def test_what_is_restored_is_known_as_if_used_just_now(view: View, soon: bool) -> None:
    view.remember(KNOWN)
    view.remember(KNOWN._replace(memory_id="m2"))
    decide(view, 1, "m1", "m2")
    if not soon:
        decide(view, 2)
        decide(view, 3)
    decide(view, 4, accepted_offset=40, back="m1")
    for epoch in (5, 6, 7):
        decide(view, epoch, accepted_offset=40 + epoch)
    assert one(view) == KNOWN._replace(last_access=500, touched=40)
    assert not view.is_forgotten("m1") and view.known(["m2"]) == {} and resting(view, "m1", "m2") == ["m1", "m2"]
    view.ticked(0, 50, 1_000, b"")
    assert held(view) == {"m1"}
    assert view.touch("m1", "space", at=600, offset=51) and one(view).last_access == 600


def test_what_came_back_rests_for_so_many_epochs(view: View) -> None:
    view.remember(KNOWN)
    view.weights.add("m1", "space", "episodic", tokens=9, tier="short-term", worth_ppm=1, novelty_ppm=None)

    def rests() -> list[bool]:
        return [one.rests for one in view.weights.alive("space")]

    assert rests() == [False]
    decide(view, 1, "m1")
    assert rests() == []
    decide(view, 2, accepted_offset=40, back="m1", rests=5)
    assert rests() == [True]
    decide(view, 3, accepted_offset=41)
    assert rests() == [True], "epoch 4 is the last"
    decide(view, 4, accepted_offset=42)
    assert rests() == [False]
    assert view._db.execute("SELECT count(*) FROM back").fetchone() == (0,)


def test_what_is_forgotten_again_rests_for_the_whole_of_its_second_grace_time(view: View) -> None:
    view.remember(KNOWN)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
    decide(view, 4, accepted_offset=40, back="m1")
    for epoch in (5, 6, 7):
        decide(view, epoch, *(["m1"] if epoch == 5 else []), accepted_offset=50)
    view.ticked(0, 60, 1_000, b"")  # the end of the first
    assert resting(view) == ["m1"]
    view.ticked(0, 61, 5_000, b"")
    assert held(view) == set()


def test_what_was_never_read_cannot_be_restored(view: View) -> None:
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
    decide(view, 4, back="m1")
    assert resting(view) == [] and view.known(["m1"]) == {}
    view.ordered(0, 7, b"digest", 500)
    assert (view.order_at(0, 7), view.order_at(0, 8)) == ((b"digest", 500), None)


def test_only_an_order_that_stands_where_it_was_said_to_is_answered(view: View) -> None:
    # Sent twice, it is one order, and stands where it stood first.
    assert [view.ordered(0, offset, b"digest", 500) for offset in (7, 9)] == [True, False]
    assert view.ordered(0, 8, b"other", 500) and view.ordered(1, 8, b"digest", 500)
    view.answer(0, 8, b"digest", 500)
    view.answer(0, 7, b"digest", 501)
    assert [view.order_at(0, at) for at in (7, 8, 9)] == [(b"digest", 500), (b"other", 500), None]
    # It may be read after it was decided on.
    view.answer(0, 7, b"digest", 500)
    view.answer(0, 10, b"late", 600)
    view.ordered(0, 10, b"late", 600)
    assert [view.order_at(0, at) for at in (7, 8, 9, 10)] == [None, (b"other", 500), None, None]


def test_a_file_of_an_earlier_version_is_filled_again(tmp_path: Path) -> None:
    view = View(tmp_path / "view.db", CLUSTER, 1)
    view.remember(KNOWN)
    view.move(0, {"topic": 4})
    view._db.execute("PRAGMA user_version = 1")
    view.close()
    view = View(tmp_path / "view.db", CLUSTER, 1)
    assert (view.known(["m1"]), view.position("topic", 0), view.progress(0)) == ({}, None, Progress())
    view.close()
    with pytest.raises(ValueError, match="belongs to member 1"):
        View(tmp_path / "view.db", CLUSTER, 2)


def test_an_older_file_of_another_member_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "view.db"
    view = View(path, CLUSTER, 1)
    view.ticked(0, 1, 5, b"stream")
    view.close()
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 1")
    with pytest.raises(ValueError, match="belongs to member 1"):
        View(path, CLUSTER, 2)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT count(*) FROM tick").fetchone() == (1,)


def test_a_place_for_a_checkpoint_stays_until_a_later_one_is_stable(view: View) -> None:
    decide(view, 64)
    place = Reached(64, 64, b"decisions", 7)
    view.reached(0, place)
    assert view.progress(0).reached == place
    view.stable(0, 64)
    assert (view.progress(0).stable, view.progress(0).reached) == (64, place)
    view.stable(0, 128)
    assert (view.progress(0).stable, view.progress(0).reached) == (128, None)
    view.reached(0, Reached(192, 192, b"more", 8))
    assert view.progress(0).reached == Reached(192, 192, b"more", 8)


def test_what_was_used_while_it_was_forgotten_can_be_restored_too(view: View) -> None:
    """The access may have voided it, or have come too late: that is not to be seen here."""
    view.remember(KNOWN)
    decide(view, 1, "m1")
    view.touch("m1", "space", at=300, offset=30)
    for epoch in (2, 3):
        decide(view, epoch)
    assert resting(view) == ["m1"] and one(view).last_access == 300
    decide(view, 4, accepted_offset=40, back="m1")
    assert (one(view).last_access, one(view).touched) == (500, 40)


# Late uses -----------------------------------------------------------------------------------------------------------


def use_at(at: int, namespace: str = "space") -> AccessAccepted:
    return AccessAccepted("e", ("m1",), namespace, "ada", at)


def used(view: View, at: int, offset: int, *, namespace: str = "space", digest: bytes = b"digest") -> bool:
    return view.used_since(0, "m1", use_at(at, namespace), offset=offset, digest=digest)


def test_of_what_rests_only_a_late_use_is_one(view: View) -> None:
    view.remember(KNOWN)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
        assert not used(view, KNOWN.last_access, KNOWN.touched)
    view.used_late("m1", use_at(300), 30)
    assert used(view, 300, 30) and used(view, 299, 29)
    assert not used(view, 301, 30) and not used(view, 300, 31) and not used(view, 300, 30, namespace="elsewhere")
    view.answer(0, 30, b"digest", 300)
    assert not used(view, 300, 30) and used(view, 300, 30, digest=b"another")


def test_a_late_use_is_let_go_of_with_its_memory_or_once_that_is_restored(view: View) -> None:
    view.remember(KNOWN)
    for epoch in (1, 2, 3):
        decide(view, epoch, *(["m1"] if epoch == 1 else []))
    view.used_late("m1", use_at(300), 30)
    decide(view, 4, back="m1")
    for epoch in (5, 6, 7):
        decide(view, epoch, *(["m1"] if epoch == 5 else []), accepted_offset=40)
    assert resting(view) and not used(view, 300, 30)
    view.used_late("m1", use_at(700), 50)
    assert used(view, 700, 50)
    view.ticked(0, 60, 5_000, b"")
    assert held(view) == set() and view._db.execute("SELECT count(*) FROM late").fetchone() == (0,)


def again(at: int, accepted_at: int | None = 900, **said: Any) -> EpisodeAccepted:
    return accepted("again", at, namespace="space", accepted_at=accepted_at, **{"agent": "ann", "role": None} | said)


def test_its_own_speaker_moves_the_time_of_a_memory(view: View) -> None:
    view.remember(KNOWN._replace(role="user", said=100, said_offset=5))
    for offset, told in enumerate(
        (again(300, agent="eve"), again(300, role="assistant"), again(300, None), again(50), again(300)), 6
    ):
        assert (one(view).said, one(view).said_offset) == (100, 5)
        view.weights.said_again(told, "m1", offset)
    assert (one(view).said, one(view).said_offset) == (300, 10)
    view.weights.said_again(again(2_000), "m1", 11)  # no later than it came in
    assert (one(view).said, one(view).said_offset, one(view).created) == (900, 11, 100)


def test_a_slot_is_not_taken_by_what_was_said_before_it_was_said_again(view: View) -> None:
    view.remember(KNOWN._replace(said=100, said_offset=5))
    view.remember(KNOWN._replace(memory_id="m2", said=300, said_offset=7, accepted=7))
    weigh = {"tokens": 1, "tier": "short-term", "worth_ppm": None, "novelty_ppm": None, "needs": (), "linked": ()}
    for memory_id in ("m1", "m2"):
        view.weights.add(memory_id, "space", "episodic", slot="door", fades=True, **weigh)
    view.weights.said_again(again(400), "m1", 8)
    view.weights.fills("m2", "space", "door", agent="ann", at=300, granted=False)
    assert view.weights.tier("space", "m1") == "short-term"
    view.weights.fills("m3", "space", "door", agent="ann", at=500, granted=False)
    assert view.weights.tier("space", "m1") == "superseded"
