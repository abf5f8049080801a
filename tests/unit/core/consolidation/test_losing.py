"""What a summary covers, and what it may not lose."""

from __future__ import annotations

from memquorum.core.consolidation.extractive import choose
from memquorum.core.consolidation.losing import coverage_ppm, replaceable
from memquorum.core.policy import PPM
from memquorum.core.records import Quote
from memquorum.ports import Source

WRONG = (
    "The hoist brake of crane 4 ran at 88 degrees during the load test of this morning in hall 2, while Tomas Berger "
    "and Rosa Lindqvist watched the gauge beside the northern gate and wrote everything into the yellow book."
)
RIGHT = f"Oh wait, {WRONG.replace('crane 4', 'crane 5')}"
RANK_PPM = 667_000


def source(name: str, text: str, rank_ppm: int | None = 900_000) -> Source:
    return Source(name, text, 1_000, rank_ppm=rank_ppm)


def quoted(one: Source) -> Quote:
    return Quote(one.memory_id, 0, len(one.text), "facts", one.at)


def test_what_it_corrects_does_not_cover_a_correction() -> None:
    wrong, right = source("a", WRONG), source("b", RIGHT)
    _, least = coverage_ppm((quoted(wrong),), (wrong, right), lost_rank_ppm=RANK_PPM)
    assert least == 0
    same = source("b", WRONG.replace("hoist brake", "brake"))
    _, least = coverage_ppm((quoted(wrong),), (wrong, same), lost_rank_ppm=RANK_PPM)
    assert least > PPM // 2, "what is said again is covered by what was said before"


def test_a_correction_is_no_repetition() -> None:
    given = [source("a", WRONG), source("b", WRONG.replace("crane 4", "crane 5"))]
    assert {one.memory_id for one in choose(given, share_ppm=PPM)} == {"a", "b"}
    again = [given[0], source("b", WRONG.replace("during the", "in the"))]
    assert len(choose(again, share_ppm=PPM)) == 1


def test_what_corrects_something_is_not_lost_however_low_it_ranks() -> None:
    chat = [source(f"c{at}", f"That was so very nice of all of you there, number {at}.", 100_000) for at in range(8)]
    right = source("b", RIGHT, 100_000)
    _, least = coverage_ppm((quoted(chat[0]),), (*chat, right), lost_rank_ppm=RANK_PPM)
    assert least == 0
    few = replaceable([*chat, right], share_ppm=150_000, lost_rank_ppm=RANK_PPM)
    assert few and right not in few, "it finds no room, and stays a memory of its own"


def test_of_what_finds_no_room_the_longest_stays_a_memory_first() -> None:
    chat = [source(f"c{at}", f"That was so very nice of all of you there, number {at}.", 100_000) for at in range(4)]
    short, long = source("s", "Valve 9 opens at 4 bar."), source("l", WRONG)
    kept = replaceable([*chat, short, long], share_ppm=300_000, lost_rank_ppm=RANK_PPM)
    assert short in kept and long not in kept


def test_what_corrects_something_is_not_lost_as_talk() -> None:
    fact = source("a", "Valve 9 opens at 4 bar.")
    mistaken, talk = source("b", "Oh wait, it was them and not you."), source("c", "It was so nice of them and of you.")
    assert coverage_ppm((quoted(fact),), (fact, talk), lost_rank_ppm=0) == (PPM, PPM), "talk is worth nothing"
    _, least = coverage_ppm((quoted(fact),), (fact, mistaken), lost_rank_ppm=RANK_PPM)
    assert least == 0, "a correction may be of light words alone"
