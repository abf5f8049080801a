"""A summary is given as the sentences that answer; another memory keeps its place."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core.reading.passages import passages
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval import working
from memquorum.core.retrieval.packing import BUDGET, MOST, Left, Packed, of_text, pack
from memquorum.core.retrieval.pieces import LOOKED, PASSAGES, pieces
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.showing.quoting import HEADING
from tests.builders.found import candidate, name, scored

LINES = (
    "Key facts:",
    "The boiler in hall 3 was serviced by Marta Keller on 12 March.",
    "Tomas measured 3.8 bar at the inlet of pump 7.",
    "Decisions:",
    "We decided to move the pump test to Thursday 14:00.",
)
SUMMARY = "\n".join(LINES)
ASKED = "When is the pump test?"
SPANS = tuple((SUMMARY.index(line), SUMMARY.index(line) + len(line)) for line in LINES if not line.endswith(":"))


def summary(number: int = 1, text: str = SUMMARY, score: float = 1.0, angle: float = 0.0) -> Scored:
    one = candidate(number, text, angle=angle)
    return scored(replace(one, hit=replace(one.hit, made_by="extractive/1")), score)


def raw(number: int, text: str, score: float = 1.0) -> Scored:
    return scored(candidate(number, text, angle=20.0 * number), score)


def packed(*ranked: Scored, budget: int = 1_000, k_max: int = 10) -> Packed:
    return pack(ranked, budget, k_max, of_text, ASKED)


def test_the_sentence_that_answers_comes_first_and_is_all_that_a_small_budget_has() -> None:
    (item,) = packed(summary(), budget=tokens(LINES[4])).items
    assert item.scored.candidate.hit.text == LINES[4]
    assert [SUMMARY[a:b] for a, b in item.spans] == [LINES[4]]
    assert item.tokens == tokens(LINES[4])


def test_sentences_stand_in_the_order_of_the_summary_and_cost_what_they_are() -> None:
    found = packed(summary())
    (item,) = found.items
    assert item.scored.candidate.hit.text == "\n".join((LINES[1], LINES[2], LINES[4]))
    assert item.spans == SPANS and item.scored.candidate.hit.excerpt, "without its headings"
    assert found.tokens == item.tokens == tokens(item.scored.candidate.hit.text)
    assert not found.left, "what is given in part is not left out"


def test_what_is_near_comes_first_without_a_word_of_the_question() -> None:
    hit = summary().candidate.hit
    near = replace(summary().candidate, hit=replace(hit, text=LINES[1], excerpt=True), whole=SUMMARY)
    order = pieces([scored(near)], "Who looked after the heating?", 100)
    assert [(piece.span, piece.near) for piece in order] == [(SPANS[0], True), (SPANS[1], False), (SPANS[2], False)]


def test_a_sentence_of_a_worse_summary_comes_before_one_that_has_less_of_the_question() -> None:
    text = "The gate is green.\nThe pump test was on Monday before."
    order = [(piece.place, piece.span) for piece in pieces([summary(), summary(2, text, 0.8, angle=90)], ASKED, 100)]
    assert order.index((1, (19, len(text)))) < order.index((0, SPANS[1]))


def test_what_is_no_summary_keeps_its_place() -> None:
    behind = summary(3, "The pump test was moved to Friday.", 0.9, angle=90)
    order = pieces([raw(1, "Lunch is at noon.", 0.95), behind, raw(2, "Ann has the key of the gate.", 0.5)], ASKED, 100)
    assert [piece.place for piece in order] == [0, 1, 2]
    assert [piece.place for piece in pieces([raw(1, "Lunch."), raw(2, "The pump test.")], ASKED, 100)] == [0, 1]


def test_a_summary_that_ranks_far_below_is_one_piece() -> None:
    ranked = [summary(1), *(raw(number, f"Shelf {number}.", 0.5) for number in range(2, LOOKED + 1)), summary(99)]
    assert [piece for piece in pieces(ranked, ASKED, 100) if piece.place == LOOKED] == [pieces(ranked, ASKED, 100)[-1]]
    assert pieces(ranked, ASKED, 100)[-1].span is None


def test_places_are_those_of_memories_and_not_of_sentences() -> None:
    found = packed(summary(1), summary(2, "The pump is green.\nThe test is red.", 0.1, angle=90), k_max=1)
    assert [item.scored.candidate.hit.memory_id for item in found.items] == [name(1)]
    assert len(found.items[0].spans) == 3 and found.left == {MOST: Left(1, (name(2),))}
    assert packed(summary(), budget=3).left == {BUDGET: Left(1, (name(1),))}


def test_without_a_question_a_summary_is_whole() -> None:
    (item,) = pack([summary()], 1_000, 10).items
    assert item.scored.candidate.hit.text == SUMMARY and item.spans == ()


FILLER = "The harbour office moved its weekly meeting to the second floor. Nobody had told the night shift about it."
LONG = "\n".join([*[FILLER] * 20, "The pump test is on Thursday.", *[FILLER] * 20])
EVERY = passages(LONG)
FACT = next(at for at, (start, end) in enumerate(EVERY) if "pump test" in LONG[start:end])


def long(
    number: int = 1, places: Sequence[int] = (FACT, 3, 5), score: float = 1.0, words: float | None = None
) -> Scored:
    """A long text that was found by these passages of it."""
    one = candidate(number, LONG, angle=45.0 * number, words=words)
    spans = tuple(EVERY[place] for place in places)
    return scored(replace(one, hit=replace(one.hit, passage=spans[0]), passages=spans), score)


def test_of_a_long_text_the_passages_are_given_that_were_found() -> None:
    (item,) = packed(long(), budget=2_000).items
    hit = item.scored.candidate.hit
    assert item.spans == tuple(sorted(EVERY[place] for place in (FACT, 3, 5))) and hit.excerpt
    assert hit.text == "\n".join(LONG[start:end] for start, end in item.spans)
    assert (hit.passage, item.tokens) == (EVERY[FACT], tokens(hit.text))


def test_the_best_passage_of_a_long_text_comes_first_where_the_budget_has_room_for_one() -> None:
    (item,) = packed(long(places=(FACT, 3)), budget=70).items
    assert item.spans == (EVERY[FACT],) and "pump test" in item.scored.candidate.hit.text


def test_a_passage_with_the_words_of_the_question_is_given_that_no_vector_found() -> None:
    (by_words,) = packed(long(places=(3, 5, 7), words=2.0), budget=2_000).items
    assert EVERY[FACT] in by_words.spans and len(by_words.spans) == PASSAGES
    (without,) = packed(long(places=(3, 5, 7)), budget=2_000).items
    assert EVERY[FACT] not in without.spans


def test_a_long_text_that_takes_a_small_part_of_the_budget_is_given_whole() -> None:
    (item,) = packed(long(), budget=100_000).items
    assert (item.scored.candidate.hit.text, item.spans) == (LONG, ())
    assert item.scored.candidate.hit.passage == EVERY[FACT], "and where it answers"


def test_of_a_long_text_that_does_not_fit_any_more_the_passage_is_given() -> None:
    """Without a question, too, as in a recall."""
    (item,) = pack([long()], tokens(LONG) - 1, 10).items
    assert item.spans == (EVERY[FACT],) and item.scored.candidate.hit.excerpt
    assert pack([long()], 10, 10).left == {BUDGET: Left(1, (name(1),))}


def test_what_ranks_below_a_long_text_does_not_come_before_its_best_passage() -> None:
    found = packed(long(), raw(2, "Ann has the key of the gate.", 0.5), budget=2_000)
    assert [item.scored.candidate.hit.memory_id for item in found.items] == [name(1), name(2)]


def test_a_prompt_has_the_sentences_too() -> None:
    budget = tokens(LINES[4]) + tokens(HEADING) + 22
    made = working.assemble([], [summary()], working.Frame(budget, 0.5, 5, False), ASKED)
    assert LINES[4] in made.text and LINES[1] not in made.text
    assert tokens(made.text) <= made.packed.tokens <= budget
