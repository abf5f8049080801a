"""How likely a hit answers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.retrieval.scoring import ALONE_FLOOR, FLOOR, WEIGHTS, features, read, verdicts

MINILM = "minilm-l6-v2-int8/1"
QUESTION = "Which port does the billing database of Leeds listen on?"
ANSWER = "The billing database in Leeds listens on port 5433."
OTHER = "Lunch on Fridays is at the harbour."


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
