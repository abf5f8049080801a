"""A summary's coverage, and the facts that it may not lose."""

from __future__ import annotations

from msgspec.structs import replace

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
SWAPPED = "Oh wait, the hoist brake was tested before the lift was loaded."
RANK_PPM = 667_000


def source(name: str, text: str, rank_ppm: int | None = 900_000) -> Source:
    return Source(name, text, 1_000, rank_ppm=rank_ppm)


def quoted(one: Source) -> Quote:
    return Quote(one.memory_id, 0, len(one.text), "facts", one.at)


def test_what_it_corrects_does_not_cover_a_correction() -> None:
    wrong, right = source("a", WRONG), source("b", RIGHT)
    _, least = coverage_ppm((quoted(wrong),), (wrong, right), lost_rank_ppm=RANK_PPM)
    assert least == 0
    before, after = source("a", "The lift was loaded before the hoist brake was tested."), source("b", SWAPPED)
    _, least = coverage_ppm((quoted(before),), (before, after), lost_rank_ppm=RANK_PPM)
    assert least == 0, "it has all the words of what it corrects"
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
    assert few and "b" not in {one.memory_id for one in few}, "it finds no room, and stays a memory of its own"


def test_of_what_finds_no_room_the_longest_stays_a_memory_first() -> None:
    chat = [source(f"c{at}", f"That was so very nice of all of you there, number {at}.", 100_000) for at in range(3)]
    short, long = source("s", "Valve 9 opens at 4 bar."), source("l", WRONG)
    kept = {one.memory_id for one in replaceable([*chat, short, long], share_ppm=300_000, lost_rank_ppm=RANK_PPM)}
    assert "s" in kept and "l" not in kept


LONG = (
    "Marta compared all compressors for the paint shop and wrote down how loud, how heavy and how thirsty they are. "
    "She prefers the screw compressor because its oil separator lasts longer. The dentist is on Tuesday. "
    "The lift must not carry the old one."
)
TUESDAY = "The bins are emptied on Tuesday, and the gate stays open for that."


def spans_of(one: Source, *sentences: str) -> tuple[Quote, ...]:
    return tuple(
        Quote(one.memory_id, one.text.index(each), one.text.index(each) + len(each), "facts", one.at)
        for each in sentences
    )


def test_no_fact_of_what_may_not_be_lost_goes() -> None:
    long = source("a", LONG)
    first, second, third, fourth = (f"{each}." for each in LONG.rstrip(".").split(". "))
    for lost in (third, fourth):
        said = spans_of(long, *(one for one in (first, second, third, fourth) if one != lost))
        assert coverage_ppm(said, (long,), lost_rank_ppm=RANK_PPM)[1] == 0, lost
        assert coverage_ppm(said, (long,), lost_rank_ppm=950_000)[1] == PPM, "what may be lost may lose a fact"
    assert PPM // 2 <= coverage_ppm(spans_of(long, first, third, fourth), (long,), lost_rank_ppm=RANK_PPM)[1] < PPM


def test_a_fact_is_not_said_by_another_sentence_with_the_same_day() -> None:
    long, bins = source("a", LONG), source("b", TUESDAY)
    first, second, _, fourth = (f"{each}." for each in LONG.rstrip(".").split(". "))
    said = (*spans_of(long, first, second, fourth), quoted(bins))
    assert coverage_ppm(said, (long, bins), lost_rank_ppm=RANK_PPM)[1] == 0
    again = source("b", f"The dentist is on Tuesday. {TUESDAY}")
    said = (*spans_of(long, first, second, fourth), *spans_of(again, "The dentist is on Tuesday.", TUESDAY))
    assert coverage_ppm(said, (long, again), lost_rank_ppm=RANK_PPM)[1] > PPM // 2, "said again, it is said of both"


def test_of_what_may_not_be_lost_the_least_that_says_enough_is_taken() -> None:
    long, share = source("a", LONG), 800_000
    chat = [source(f"c{at}", f"That was so very nice of all of you there, number {at}.", 100_000) for at in range(4)]
    kept = replaceable([*chat, long], share_ppm=share, lost_rank_ppm=RANK_PPM)
    assert {one.memory_id for one in kept if one.needed} == {"a"}
    said = {LONG[one.start : one.end] for one in choose(kept, share_ppm=1) if one.memory_id == "a"}
    assert {"The dentist is on Tuesday.", "The lift must not carry the old one."} < said
    assert len(said) == 3, "more than half is said of it, though there is no room"
    assert coverage_ppm(choose(kept, share_ppm=1), kept, lost_rank_ppm=RANK_PPM)[1] >= PPM // 2


def test_what_corrects_something_is_not_lost_as_talk() -> None:
    fact = source("a", "Valve 9 opens at 4 bar.")
    mistaken, talk = source("b", "Oh wait, it was them and not you."), source("c", "It was so nice of them and of you.")
    assert coverage_ppm((quoted(fact),), (fact, talk), lost_rank_ppm=0) == (PPM, PPM), "talk is worth nothing"
    _, least = coverage_ppm((quoted(fact),), (fact, mistaken), lost_rank_ppm=RANK_PPM)
    assert least == 0, "a correction may be of light words alone"


def test_of_equals_that_find_no_room_it_is_not_the_id_that_says_which_stays() -> None:
    chat = [source(f"c{at}", f"That was so very nice of all of you there, number {at}.", 100_000) for at in range(3)]
    texts = WRONG, WRONG.replace("crane 4", "crane 7").replace("hall 2", "hall 3")
    stays = set()
    for ids in (("a", "b"), ("b", "a")):
        equal = [replace(source(one, text), at=at) for at, (one, text) in enumerate(zip(ids, texts, strict=True))]
        kept = {one.memory_id for one in replaceable([*chat, *equal], share_ppm=600_000, lost_rank_ppm=RANK_PPM)}
        stays.add(tuple(one.at for one in equal if one.memory_id not in kept))
    assert stays == {(1,)}
