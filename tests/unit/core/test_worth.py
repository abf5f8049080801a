"""A text's worth by its words: in whole numbers, by earlier texts; its rank among all that was accepted."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core import worth
from memquorum.core.policy import PPM
from memquorum.core.reading.content import ORDINARY, Content, content
from memquorum.core.worth import (
    BadCounts,
    Counts,
    EarlierCounts,
    Ranks,
    author_kind,
    exact_ln_ppm,
    like,
    ln_ppm,
    unpack,
    worth_ppm,
)

FACTS = (
    "The door code is 4821.", "Maria is allergic to peanuts.", "The spare key hangs behind the boiler.",
    "The backup runs at 3 am.", "Tom's flight lands at 18:40.", "The Wi-Fi password is heron-7.",
    "Dad takes 5 mg of warfarin.", "The rent is due on the 4th.",
)  # fmt: skip
SMALL_TALK = (
    "Okay.", "Thanks a lot!", "Yeah, right.", "Sounds good to me.", "Good morning!", "How are you?", "I see.",
    "That's great!", "No problem.", "Let me see.", "Haha, nice one.", "Talk to you later!",
)  # fmt: skip


def of(text: str, counts: Counts | None = None) -> int:
    said = content(text)
    return worth_ppm(said, (counts or Counts()).tell(said))


# The words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stated", "asked"),
    [
        ("The valves were opened at 14:30.", {"14:30", "open", "valv"}, set()),
        ("Yeah, okay, thanks. I think so!", set(), set()),
        ("Is the valve open? The pump leaks.", {"pump", "leak"}, {"open", "valv"}),
        ("Is the pump leaking? The pump leaks.", {"pump", "leak"}, set()),
        ("Build 4.7.2 failed on node-3", {"build", "4.7.2", "fail", "nod", "3"}, set()),
        ("今天开会。", {"今天", "天开", "开会"}, set()),
        ("会議は何時ですか？", set(), {"会議", "議は", "は何", "何時", "時で", "です", "すか"}),
        ("Der Schlüssel ist bei Jürgen.", {"schlüssel", "jürgen"}, set()),
        ("", set(), set()),
    ],
)  # fmt: skip
def test_content_words(text: str, stated: set[str], asked: set[str]) -> None:
    found = content(text)
    assert (set(found.stated), set(found.asked)) == (stated, asked)


@given(st.text("abz019'.,:/- ?\n_(x", max_size=40))
def test_a_text_of_ascii_has_the_words_that_are_found_in_any_other(text: str) -> None:
    assert content(text) == content(f"{text} …")


# Whole numbers --------------------------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("aeSx19 .,:/-'!\n_(") | st.characters(), max_size=60))
def test_words_are_the_same_whatever_stands_beside_them(text: str) -> None:
    """Plain texts, and texts that ask nothing, are read in a shorter way."""
    alone = content(text)
    assert set(content(f"{text}\nMüller").stems) == {*alone.stems, *content("Müller").stems}
    assert content(f"{text}\nWhy?") == alone


@given(st.integers(1, 10**12))
def test_the_logarithm_is_that_of_the_number_rounded_down(number: int) -> None:
    exact = math.log(number) * PPM
    assert exact - 1.001 < ln_ppm(number) < exact + 0.001
    assert ln_ppm(number) == exact_ln_ppm(number)


def test_a_logarithm_that_lies_next_to_a_whole_number_is_found_without_floating_point() -> None:
    """Both sides of e^k are tried for all millionths k of a small range."""
    near = [math.exp(at / 1000) for at in range(11_000, 34_000, 23)]
    numbers = {round(one) + step for one in near for step in (-1, 0, 1)}
    assert [ln_ppm(one) for one in numbers] == [exact_ln_ppm(one) for one in numbers]


def test_the_logarithm_of_one_is_nought_and_it_never_falls() -> None:
    found = [ln_ppm(number) for number in range(1, 5_000)]
    assert found[0] == 0 and found == sorted(found)


def test_worths_that_every_machine_has_to_find() -> None:
    """Frozen: another worth of these is another version of the rules."""
    counts = Counts()
    for text in FACTS:
        counts.take(content(text).stems)
    told = [of(text, counts) for text in (FACTS[0], "Is the door shut?", "Okay.", "The door of the lift was painted.")]
    assert (worth.VERSION, told) == (1, FROZEN)
    assert worth.ordinary_worths()[:1] == (0,) and sum(worth.ordinary_worths()) == FROZEN_SUM


FROZEN = [14_265_582, 5_034_190, 0, 15_651_876]
FROZEN_SUM = 2_832_486_550


def test_a_word_is_worth_less_the_more_texts_have_it_and_a_question_half() -> None:
    counts = Counts()
    before = of("The pump leaks.", counts)
    assert before == 2 * ln_ppm(258)
    for _ in range(9):
        counts.take(content("The pump works.").stems)
    assert of("The pump leaks.", counts) == 2 * ln_ppm(267) - ln_ppm(10)
    assert of("Does the pump leak?", counts) == (2 * ln_ppm(267) - ln_ppm(10)) // 2
    assert of("Pump, pump, pump leaks!", counts) == of("The pump leaks.", counts)


def test_what_is_common_anywhere_is_worth_little_from_the_first_text_on() -> None:
    assert of("The meeting takes time today.") < of("The gasket leaks ammonia.")


# Counts ---------------------------------------------------------------------------------------------------------------


def test_counts_travel_and_come_back() -> None:
    counts = Counts()
    texts = ["The pump leaks.", "The valve leaks.", "Thanks!", "The pump was mended."]
    told = []
    for text in texts:
        told.append(counts.tell(content(text)))
        counts.take(content(text).stems)
    assert [unpack(one.pack()) for one in told] == told
    again = Counts()
    for one in told:
        again.recall(unpack(one.pack()))
    probe = content("The pump and the valve leak.")
    assert again.tell(probe) == counts.tell(probe) == EarlierCounts(4, {"leak": 2, "pump": 2, "valv": 1})


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"nonsense", EarlierCounts(1, {"a": 2}).pack(), EarlierCounts(-1, {"a": -2}).pack()],
)
def test_counts_that_cannot_be_are_refused(data: bytes) -> None:
    with pytest.raises(BadCounts):
        unpack(data)


def test_counts_of_another_text_are_refused() -> None:
    with pytest.raises(BadCounts, match="2 words for a text of 3 others"):
        worth_ppm(content("The door code is 4821."), EarlierCounts(0, {"pump": 0, "leak": 0}))
    with pytest.raises(BadCounts):
        worth_ppm(content("The pump leaks."), EarlierCounts(0, {"valve": 0, "leak": 0}))


def test_nothing_but_words_and_what_went_before_goes_in() -> None:
    """No query, no label, nothing from later on."""
    assert list(inspect.signature(worth_ppm).parameters) == ["said", "told"]
    assert Content.__struct_fields__ == ("stated", "asked") and EarlierCounts.__struct_fields__ == ("texts", "having")


# Ranks ----------------------------------------------------------------------------------------------------------------


def test_the_reference_is_256_different_texts() -> None:
    assert len(ORDINARY) == len(set(ORDINARY)) == 256


@given(st.lists(st.integers(0, 600 * PPM), max_size=60), st.integers(0, 600 * PPM))
def test_a_rank_is_the_share_below_and_half_of_what_is_equal(worths: list[int], asked: int) -> None:
    ranks = Ranks()
    for one in worths:
        ranks.add(one)
    steps = [worth.step(one) for one in (*worths, *worth.ordinary_worths())]
    at = worth.step(asked)
    exact = Fraction(sum(s < at for s in steps) * 2 + steps.count(at), 2 * len(steps))
    assert ranks.rank_ppm(asked) == int(exact * PPM)


def test_small_talk_ranks_below_facts_in_a_namespace_without_a_past_and_facts_above_two_thirds() -> None:
    ranks = Ranks()
    facts, talk = [ranks.rank_ppm(of(one)) for one in FACTS], [ranks.rank_ppm(of(one)) for one in SMALL_TALK]
    assert max(talk) < 570_000 and min(facts) > 666_667


def test_ranks_do_not_slide_as_a_namespace_empties() -> None:
    """Forgotten memories stay counted: no method here removes anything."""
    assert not any(name.startswith(("remove", "drop", "forget")) for name in dir(Ranks) + dir(Counts))


def test_a_hundred_thousand_texts_leave_small_talk_low_and_facts_high() -> None:
    random, ranks, counts = np.random.default_rng(1), Ranks(), Counts()
    words = [f"word{n}" for n in range(20_000)]
    shares = 1 / np.arange(1, 20_001)
    drawn = random.choice(20_000, (100_000, 8), p=shares / shares.sum())
    for n in range(100_000):
        said = Content(tuple(sorted({words[at] for at in drawn[n, : 1 + n % 8]})), ())
        ranks.add(worth_ppm(said, counts.tell(said)))
        counts.take(said.stems)
    assert counts.texts == 100_000
    fact = Content(("4821", "code", "door"), ())
    assert ranks.rank_ppm(worth_ppm(fact, counts.tell(fact))) > 600_000
    dull = Content(("word0",), ())
    assert ranks.rank_ppm(worth_ppm(dull, counts.tell(dull))) < 100_000


@pytest.mark.parametrize(
    ("role", "kind"),
    [(None, "agent"), ("planning", "agent"), ("user", "person"), ("Human", "person"), ("tool", "tool")],
)
def test_author_kinds(role: str | None, kind: str) -> None:
    assert author_kind(role) == kind
    assert like("episodic", role) == f"episodic/{kind}"


def test_beyond_a_bound_the_rarest_words_are_forgotten_those_said_first_before_others() -> None:
    counts, long = worth.Counts(), "x" * 200
    for stems in (["a", "b", long], ["a", "c"], ["a", "d"], ["d"]):
        counts.take(stems)
    assert counts.size == 5 + 3
    counts.bound(8)
    assert counts.size == 8, "it is no more than it may be"
    counts.bound(4)
    assert counts.state() == ({"a": 3, "c": 1, "d": 2}, 4, 0)
    counts.bound(1)
    assert counts.state() == ({"a": 3}, 4, 0)
