"""The probability that a hit answers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.scoring import ALONE_FLOOR, FLOOR, WEIGHTS, features, nearest_first, read, verdicts
from memquorum.core.tiers import SHORT_TERM

MINILM = "minilm-l6-v2-rows8/1"
QUESTION = "Which port does the billing database of Leeds listen on?"
ANSWER = "The billing database in Leeds listens on port 5433."
OTHER = "Lunch on Fridays is at the harbour."


def hit(text: str, cosine: float) -> Hit:
    return Hit(text, text, SHORT_TERM, "ann", 0, 0, 0, 0.5, score=cosine)


@pytest.mark.parametrize("encoder", sorted(WEIGHTS))
def test_an_answer_is_one_and_what_is_near_alone_is_none(encoder: str) -> None:
    answer, other = verdicts(QUESTION, [ANSWER, OTHER], [0.7, 0.1], encoder)
    assert answer.answerable and not other.answerable
    assert 0 <= other.score < FLOOR <= answer.score <= 1


def test_the_score_falls_with_the_rank_and_counts_the_best_evidence_behind_it() -> None:
    first, second, third = verdicts(QUESTION, [OTHER, ANSWER, OTHER], [0.3, 0.7, 0.1], MINILM)
    assert first.score == second.score > third.score
    assert first.answerable and second.answerable and not third.answerable


def test_a_name_and_a_number_of_the_question_that_a_hit_lacks_lower_its_score() -> None:
    def score(text: str) -> float:
        return verdicts("Where is pump 7 of Marlow?", [text], [0.6], MINILM)[0].score

    assert score("Pump 7 of Marlow is in the yard.") > score("Pump 8 of Marlow is in the yard.")
    assert score("Pump 7 of Marlow is in the yard.") > score("Pump 7 of Henley is in the yard.")


def test_a_word_counts_the_more_the_fewer_hits_have_it() -> None:
    texts = ["the pump is red", "the pump is old", "the valve is open"]
    (share, _, _), _, (rare, _, _) = features("pump valve", texts)
    assert 0 < share < rare < 1


def test_of_an_unknown_encoder_and_of_a_vector_the_score_is_the_cosine() -> None:
    for question, encoder in ((QUESTION, "another/1"), ("", MINILM)):
        near, far = verdicts(question, [ANSWER, OTHER], [0.7, -0.2], encoder)
        assert (near.score, near.answerable, far.score, far.answerable) == (0.7, True, 0.0, False)
    assert verdicts("", ["t"], [ALONE_FLOOR], "")[0].answerable


def test_scripts_without_spaces_count_by_pairs_of_characters() -> None:
    assert read("水泵在院子里").content >= {"水泵", "院子"}
    (share, _, _), (none, _, _) = features("水泵在哪里", ["水泵在院子里", "午饭在港口"])
    assert share > none


def test_no_score_depends_on_how_many_hits_are_behind_the_ten_best() -> None:
    texts = [OTHER] * 9 + [ANSWER, OTHER, ANSWER, ANSWER]
    cosines = [0.3] * 9 + [0.4, 0.1, 0.9, 0.9]
    ten = verdicts(QUESTION, texts[:10], cosines[:10], MINILM)
    more = verdicts(QUESTION, texts, cosines, MINILM)
    assert more[:10] == ten
    assert {one.score for one in more[10:]} == {ten[-1].score}, "no later hit has a higher score"


@pytest.mark.parametrize("question", ["What was Ida's post in 2020?", "Was war Idas Posten 2020?"])
def test_no_text_needs_the_date_that_is_asked_about(question: str) -> None:
    told, without = "Ida's post is that of a clerk. Idas Posten: Schreiber.", question.replace("2020", "")
    assert verdicts(question, [told], [0.5], MINILM) == verdicts(without, [told], [0.5], MINILM)


def test_of_two_that_are_as_near_the_one_with_more_of_the_question_comes_first() -> None:
    near = [hit("Hale has a pump.", 0.61), hit("The plumber Hale charges 60 pounds.", 0.6), hit("No rain.", 0.1)]
    assert [one.score for one in nearest_first("How much does Hale charge?", near, MINILM)] == [0.6, 0.61, 0.1]
    assert nearest_first("How much does Hale charge?", near, "another") == near


def test_what_only_jokes_or_drafts_comes_behind() -> None:
    told = [hit("Draft: the pump opens at 6 bar.", 0.7), hit("The pump opens at 4 bar.", 0.65)]
    assert [one.score for one in nearest_first("When does the pump open?", told, MINILM)] == [0.65, 0.7]


def test_no_hits_have_no_scores() -> None:
    assert verdicts(QUESTION, [], [], MINILM) == []


@given(st.text(), st.lists(st.tuples(st.text(), st.floats(-1, 1)), max_size=5), st.sampled_from([*WEIGHTS, ""]))
def test_any_texts_have_scores_that_fall(question: str, told: list[tuple[str, float]], encoder: str) -> None:
    found = verdicts(question, [text for text, _ in told], [cosine for _, cosine in told], encoder)
    scores = [one.score for one in found]
    assert len(found) == len(told) and scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_a_long_text_is_read_in_time() -> None:
    for text in ("a" * 65_536, "7." * 32_768, "Aa " * 21_845, "水" * 20_000):
        before = time.process_time()
        verdicts(text, [text], [0.5], MINILM)
        assert time.process_time() - before < 0.1


def test_a_question_alone_in_a_namespace_is_answered_by_what_answers_it() -> None:
    (found,) = verdicts("Where does Ada work?", ["Ada works at Siemens."], [0.6], MINILM)
    (other,) = verdicts("Where does Ada work?", ["The printer is broken."], [0.1], MINILM)
    assert found.answerable and not other.answerable


def test_what_supposes_lends_its_score_to_nothing_before_it() -> None:
    texts = ["Die Heizung läuft nicht mehr.", "Angenommen, die Miete beträgt 900 Euro, dann wäre das zu viel."]
    first, second = verdicts("Wie hoch ist die Miete?", texts, [0.2, 0.6], MINILM)
    assert not first.answerable and second.score <= first.score
