"""The own cases are what their page says of them, and each can be told right from wrong."""

from __future__ import annotations

from itertools import pairwise

import pytest

from bench.right import cases, own, page

ALL = {sort: cases.read(sort) for sort in cases.SORTS}


def test_there_are_as_many_as_the_page_says() -> None:
    told = " ".join(page.PAGE.read_text(encoding="utf-8").split())
    chains = sum(case.of["how"] == "chain" for case in ALL["corrections"])
    behind = sum(case.of["says"] for case in ALL["talk"])
    assert f"{len(ALL['facts'])} groups of facts" in told
    assert f"{len(ALL['corrections'])} corrections, {chains} of them chains" in told
    assert f"{len(ALL['talk']) - behind} pieces of small talk and {behind} with" in told
    assert sum(map(len, ALL.values())) >= 200


def test_no_id_and_no_text_comes_twice() -> None:
    found = [case for some in ALL.values() for case in some]
    assert len({case.id for case in found}) == len(found)
    said = [text for case in found if case.sort != "vital" for _, text in case.say]
    assert len(set(said)) == len(said)


@pytest.mark.parametrize("sort", cases.SORTS)
def test_both_halves_have_a_fair_part(sort: str) -> None:
    share = sum(case.developers for case in ALL[sort]) / len(ALL[sort])
    assert 0.3 < share < 0.7


@pytest.mark.parametrize("sort", ["facts", "talk"])
def test_a_third_is_in_other_languages(sort: str) -> None:
    assert sum(case.language != "en" for case in ALL[sort]) / len(ALL[sort]) > 0.33


@pytest.mark.parametrize("case", ALL["corrections"], ids=lambda case: case.id)
def test_what_the_right_answer_has_only_the_last_statement_has(case: cases.Case) -> None:
    holds = [case.of["holds"].lower() in text.lower() for _, text in case.say]
    assert holds == [False] * (len(case.say) - 1) + [True]


def test_a_cases_own_order_stays_and_others_speak_between() -> None:
    told = own.order(ALL["corrections"])
    for case in ALL["corrections"]:
        assert [at for other, at in told if other is case] == list(range(len(case.say)))
    assert sum(one is other for (one, _), (other, _) in pairwise(told)) < 5
