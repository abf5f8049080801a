"""Masked texts for a reader: whole texts, and of summaries the given lines, by the masks of the whole."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from msgspec.structs import replace

from memquorum.core.api.answers import Hit, Rollup, RollupPatch, RollupSentence
from memquorum.core.reading.passages import passages
from memquorum.core.retrieval import packing
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.redaction import NONE, WITHHELD, Redaction

CALL = "Call Ada at +49 30 1234567."
KEPT = "Key facts:\nAda's telephone:\n451 5986 is new.\nThe pump runs."
HIT = Hit("m", CALL, "short-term", "ada", 0, 0, 0, 0.5, 0.9)
CANDIDATE = Candidate(HIT, "e", np.ones(1, np.float32), True, None, ())


def summary(text: str) -> Candidate:
    return replace(CANDIDATE, hit=replace(HIT, text=text, made_by="extractive/1", excerpt=True), whole=KEPT)


def test_who_does_not_ask_is_given_what_there_is_and_a_namespace_may_be_read_masked_alone() -> None:
    assert NONE.of("clinic", asked=False).text(CALL) == CALL
    assert NONE.of("clinic", asked=True).text(CALL) == "Call Ada at [phone]."
    forced = Redaction(("clinic", "team-*"))
    assert [forced.of(name, asked=False).on for name in ("clinic", "team-a", "clinical", "greenhouse")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert Redaction(("*",)).of("greenhouse", asked=False).on


def test_what_is_found_is_masked_and_nothing_else_of_it_changes() -> None:
    mask, plain = NONE.of("n", asked=True), NONE.of("n", asked=False)
    told = replace(HIT, text="Call Ada at [phone].")
    assert (mask.hits([HIT]), plain.hits([HIT])) == ([told], [HIT])
    scored = Scored(CANDIDATE, 1.0, 1.0, 0.5)
    (masked,) = mask.scored([scored])
    assert (masked.candidate.hit, masked.score) == (told, 0.5)
    assert plain.scored([scored]) == [scored] and plain.candidate(CANDIDATE) is CANDIDATE
    (trace,) = mask.traces([Trace(CANDIDATE, 3)])
    assert (trace.candidate.hit, trace.place) == (told, 3)


def test_a_line_of_a_summary_is_masked_by_what_the_whole_says() -> None:
    line = "451 5986 is new."
    mask = NONE.of("n", asked=True)
    assert mask.text(line) == line, "by itself it is no telephone number"
    found = mask.candidate(summary(line))
    assert found.hit.text == "[phone] is new."
    assert found.whole == "Key facts:\nAda's telephone:\n[phone] is new.\nThe pump runs."
    packed = packing.pack([Scored(found, 1.0, 1.0, 1.0)], 100, 5, question="Which number is new?")
    (item,) = packed.items
    assert "451" not in item.scored.candidate.hit.text and "[phone] is new." in item.scored.candidate.hit.text
    assert "\n".join(found.text[start:end] for start, end in item.spans) == item.scored.candidate.hit.text


def test_the_passages_of_a_long_text_are_those_of_the_masked_text() -> None:
    text = " ".join([CALL] * 40)
    first, best = passages(text)[0], passages(text)[1]
    hit = replace(HIT, text=text, passage=best)
    mask = NONE.of("n", asked=True)
    (told,) = mask.hits([hit])
    assert told.text == mask.text(text) and told.passage is not None
    assert told.answering == mask.text(hit.answering) != hit.answering
    found = mask.candidate(replace(CANDIDATE, hit=hit, passages=(best, first)))
    assert (found.hit.text, found.hit.passage) == (told.text, told.passage)
    assert [found.text[slice(*span)] for span in found.passages] == [
        mask.text(text[slice(*one)]) for one in (best, first)
    ]
    assert NONE.of("n", asked=False).hits([hit]) == [hit]


def test_a_long_text_that_cannot_be_masked_is_withheld_with_its_passage() -> None:
    def fails(_: str) -> NoReturn:
        raise ArithmeticError

    text = " ".join([CALL] * 40)
    hit = replace(HIT, text=text, passage=passages(text)[1])
    (told,) = Redaction(second=fails).of("n", asked=True).hits([hit])
    assert (told.text, told.answering) == (WITHHELD, WITHHELD)


def test_a_roll_up_is_masked_sentence_by_sentence_with_its_history() -> None:
    sentence = RollupSentence(CALL, "m", 0, len(CALL), "facts", 0, "ada", "ada", 0, "m")
    patches = tuple(RollupPatch(1, 0, "add", "m", 0, 1, text, None) for text in (CALL, None))
    found = Rollup("n", "Ada", (sentence,), unreadable=0, as_of=None, persona=None, history=patches, more=0)
    told = NONE.of("n", asked=True).rollup(found)
    assert [one.text for one in told.sentences] == ["Call Ada at [phone]."]
    assert [one.text for one in told.history] == ["Call Ada at [phone].", None]
    assert NONE.of("n", asked=False).rollup(found) is found
