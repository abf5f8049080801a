"""A summary is made of its sources' own sentences, within its share, and members find what is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.consolidation.extractive import choose
from memquorum.core.consolidation.faithful import faithful
from memquorum.core.consolidation.importance import (
    BASELINE_PPM,
    EPISODE_HALF_LIFE_MS,
    SUMMARY_HALF_LIFE_MS,
    importance_ppm,
    left_ppm,
    positive,
)
from memquorum.core.consolidation.losing import coverage_ppm
from memquorum.core.consolidation.rendering import render
from memquorum.core.experience import ended
from memquorum.core.policy import PPM
from memquorum.core.reading.tokens import tokens
from memquorum.core.records import Quote
from memquorum.ports import Source

SAID = (
    "The boiler in hall 3 was serviced by Marta Keller on 12 March. It runs at 74 degrees again.",
    "We decided to move the pump test to Thursday 14:00. The valve from Siegrist arrives on Wednesday.",
    "ok thanks! See you.",
    "It is still unclear who pays for the second gasket set, 480 euros.",
    "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
    "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
)
SOURCES = [Source(f"m{at}", text, 1_000 + at) for at, text in enumerate(SAID)]
TEXTS = {one.memory_id: one.text for one in SOURCES}
TIMES = {one.memory_id: one.at for one in SOURCES}
HOUR_MS = 3_600_000


def quoted_texts(quotes: tuple[Quote, ...]) -> list[str]:
    return [TEXTS[q.memory_id][q.start : q.end] for q in quotes]


def test_it_keeps_to_its_share_and_says_nothing_twice() -> None:
    quotes = choose(SOURCES, share_ppm=600_000)
    assert faithful(quotes, TEXTS, TIMES)
    assert sum(map(tokens, quoted_texts(quotes))) <= 0.6 * sum(map(tokens, SAID))
    assert len(set(quoted_texts(quotes))) == len(quotes)
    assert not any("thanks" in one for one in quoted_texts(quotes))
    assert choose(list(reversed(SOURCES)), share_ppm=600_000) == quotes, "the order of the sources must not matter"


CYCLE = "Tomas measured 3.8 bar at pump 7.", "Rosa ordered a gasket from Corwin.", "The lift carries 900 kg."


def test_no_sentence_is_said_twice_however_whole_its_sources_are() -> None:
    pairs = [f"{CYCLE[at]} {CYCLE[(at + 1) % 3]}" for at in range(3)]
    for whole in (True, False):
        some = [Source(f"p{at}", text, 1_000 + at, whole=whole, needed=not whole) for at, text in enumerate(pairs)]
        texts = {one.memory_id: one.text for one in some}
        quotes = choose(some, share_ppm=1)
        assert sorted(texts[q.memory_id][q.start : q.end] for q in quotes) == sorted(CYCLE)
        assert coverage_ppm(quotes, some, lost_rank_ppm=0) == (1_000_000, 1_000_000)


def test_what_is_to_be_whole_is_whatever_the_share() -> None:
    whole = [replace(one, whole=one.memory_id == "m1") for one in SOURCES]
    assert quoted_texts(choose(whole, share_ppm=1)) == [
        "The valve from Siegrist arrives on Wednesday.", "We decided to move the pump test to Thursday 14:00."
    ]  # fmt: skip


def test_the_text_has_a_heading_for_each_section() -> None:
    quotes = choose(SOURCES, share_ppm=1_000_000)
    lines = render(quotes, TEXTS).split("\n")
    assert [line for line in lines if line.endswith(":")] == ["Key facts:", "Decisions:", "Open issues:"]
    assert [line for line in lines if not line.endswith(":")] == quoted_texts(quotes)


def test_a_sentence_that_nobody_said_is_found() -> None:
    quotes = choose(SOURCES, share_ppm=600_000)
    first, *rest = quotes
    assert not faithful((replace(first, end=first.end - 1), *rest), TEXTS, TIMES), "half a sentence"
    assert not faithful((replace(first, at=first.at + 1), *rest), TEXTS, TIMES), "another time"
    assert not faithful((replace(first, section="decisions"), *rest), TEXTS, TIMES), "another section"
    assert not faithful((*quotes, quotes[-1]), TEXTS, TIMES), "twice"
    assert not faithful((replace(first, memory_id="elsewhere"), *rest), TEXTS, TIMES), "of another source"
    assert not faithful((), TEXTS, TIMES), "nothing"


def test_what_it_covers_grows_with_what_it_says() -> None:
    some, more = choose(SOURCES, share_ppm=300_000), choose(SOURCES, share_ppm=800_000)
    assert (
        0
        < coverage_ppm(some, SOURCES, lost_rank_ppm=0)[0]
        < coverage_ppm(more, SOURCES, lost_rank_ppm=0)[0]
        <= 1_000_000
    )


def test_importance_is_the_sum_of_how_late_how_used_and_how_it_ended() -> None:
    text = "A text of more than twenty tokens, so that it is not tiny: it goes on for a while and then some more."
    assert importance_ppm(text, age_ms=0, references=0, positive=False) == 400_000
    assert importance_ppm(text, age_ms=10 * HOUR_MS, references=0, positive=False) == 147_152  # 0.4/e
    assert importance_ppm(text, age_ms=0, references=9, positive=True) == 1_000_000
    assert importance_ppm("Short.", age_ms=0, references=9, positive=True) == BASELINE_PPM


@pytest.mark.parametrize(
    ("confidence", "found"), [(None, 400_000), (500_000, 400_000), (0, 320_000), (PPM, 480_000), (250_000, 360_000)]
)
def test_what_its_agent_was_sure_of_is_more_important_within_a_fifth(confidence: int | None, found: int) -> None:
    text = "word " * 20
    given = importance_ppm(text, age_ms=0, references=0, positive=False, confidence_ppm=confidence)
    assert given == found
    assert importance_ppm(text, age_ms=0, references=9, positive=True, confidence_ppm=PPM) == PPM, "never more than all"


@pytest.mark.parametrize(
    ("reward", "outcome", "good"),
    [
        (None, None, False), (499_999, None, False), (500_000, None, True), (None, "succeeded", True),
        (PPM, "failed", False), (PPM, "unknown", True), (None, "unknown", False),
    ],
)  # fmt: skip
def test_what_its_session_came_to_counts_before_a_reward(reward: int | None, outcome: str | None, good: bool) -> None:
    assert positive(reward, ended.succeeded(outcome)) is good


def test_a_score_halves_and_nothing_goes_by_it() -> None:
    """After 2 hours of an episode, 30 days of a summary."""
    assert (EPISODE_HALF_LIFE_MS, SUMMARY_HALF_LIFE_MS) == (2 * HOUR_MS, 720 * HOUR_MS)
    for half_life, summary in ((EPISODE_HALF_LIFE_MS, False), (SUMMARY_HALF_LIFE_MS, True)):
        assert left_ppm(800_000, half_life, summary=summary) == 400_000
        assert 0 < left_ppm(800_000, 10 * half_life, summary=summary) < 1_000
        assert left_ppm(800_000, -5, summary=summary) == 800_000
