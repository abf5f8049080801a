"""Summaries find the same through an index as by comparing each sentence with each."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.consolidation import covering, extractive
from memquorum.core.consolidation.covering import ALIKE, COMPARED, Covering, Lack, Sentence, corrects
from memquorum.core.consolidation.weighing import read
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.stated import stated
from memquorum.ports import Source
from tests import examples
from tests.builders.notes import NOTES

_WORDS = tuple(
    """
    the pump valve hall 3 4 serviced leaks not opens closed at 14:00 Monday Marta Keller bar 2.1 before after is
    was gauge line hose crane inlet outlet checked by on Friday never again
    """.split()  # noqa: SIM905
)
_FREE = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=24).map(" ".join)
_NEAR = st.tuples(st.sampled_from(NOTES), st.sampled_from(_WORDS), st.integers(0, 12)).map(
    lambda told: " ".join(told[1] if at == told[2] else word for at, word in enumerate(told[0].split()))
)
"""A note with one word exchanged, which may repeat it or not."""
_SENTENCES = st.one_of(_FREE, _NEAR, st.sampled_from(NOTES), _NEAR.map(lambda one: f"Oh wait, {one}"))
_TEXTS = st.lists(_SENTENCES.map(lambda one: f"{one.rstrip('.')}."), min_size=1, max_size=6).map(" ".join)


def sources(texts: Sequence[str], needed: Sequence[bool]) -> list[Source]:
    return [
        Source(f"m{at}", text, at, importance_ppm=500_000, needed=need, whole=at == 1)
        for at, (text, need) in enumerate(zip(texts, needed, strict=False))
    ]


def repeats(a: Sentence, b: Sentence) -> bool:
    """True if two sentences are alike."""
    return len(a.said & b.said) >= ALIKE * len(a.said | b.said) and stated(a.text).facts == stated(b.text).facts


class Plain:
    """A summary that is held against its sources sentence by sentence, each against each."""

    def __init__(self, given: Sequence[Source]) -> None:
        self._taken = list[Sentence]()
        self._weights = Covering(given).weights
        self._own = {one.memory_id: list[Sentence]() for one in given}

    def take(self, sentence: Sentence, memory_id: str) -> None:
        self._taken.append(sentence)
        self._own[memory_id].append(sentence)

    def says(self, sentence: Sentence) -> bool:
        return any(repeats(sentence, one) for one in self._taken)

    def fresh(self, source: Source, text: str) -> bool:
        told = {fact for one in self._own[source.memory_id] for fact in stated(one.text).facts}
        for start, end in spans(source.text):
            if self.says(Sentence.of(source.text[start:end])):
                told |= stated(source.text[start:end]).facts
        return any(stated(text[start:end]).facts - told for start, end in spans(text))

    def suffices(self, source: Source) -> bool:
        if not (self._weights.keeps(source.text) or corrects(source.text)):
            return True
        of = self._own[source.memory_id] if corrects(source.text) else self._taken
        mine = {stem for one in of for stem in one.said}
        words = read(source.text).content
        kept = type(words)(*(tuple(one for one in some if one in mine) for some in (words.stated, words.asked)))
        worth = self._weights.of(words)
        return not worth or (2 * self._weights.of(kept) >= worth and not self.fresh(source, source.text))


def required(given: Sequence[extractive.Candidate], plain: Plain) -> list[extractive.Candidate]:
    """The sentences that a summary has to say, each found by looking at all."""
    taken, whole = list[extractive.Candidate](), set[str]()
    for one in given:
        if one.source.whole and one.text not in whole:
            whole.add(one.text)
            plain.take(one.sentence, one.source.memory_id)
            taken.append(one)
    for source in {one.source.memory_id: one.source for one in given}.values():
        rest = sorted((one for one in given if one.source is source), key=extractive._preference)
        while rest and source.needed and not plain.suffices(source):
            one = next((one for one in rest if plain.fresh(source, one.text)), rest[0])
            rest.remove(one)
            if not plain.says(one.sentence) or corrects(source.text):
                plain.take(one.sentence, source.memory_id)
                taken.append(one)
    return taken


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(_TEXTS, min_size=1, max_size=6), st.lists(st.booleans(), min_size=6, max_size=6))
def test_what_a_summary_has_to_say_is_what_holding_each_against_each_finds(
    texts: list[str], needed: list[bool]
) -> None:
    given_sources = sources(texts, needed)
    summary, plain = Covering(given_sources), Plain(given_sources)
    candidates = extractive.candidates(given_sources, summary.weights)
    assert extractive.required(candidates, summary) == required(candidates, plain)
    for one in candidates:
        assert summary.says(one.sentence) == plain.says(one.sentence)
    for source in given_sources:
        assert summary.has_facts(source) == (not plain.fresh(source, source.text))
        assert Lack(summary, source).enough == plain.suffices(source)


def test_sentences_that_are_alike_are_found_among_many() -> None:
    """A sentence with one of eleven words exchanged is found, and one with two is not."""
    words = [f"w{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(400)]
    said = [" ".join(words[at : at + 11]) for at in range(0, 380, 3)]
    summary = Covering(sources(said, [True] * len(said)))
    for one in said:
        summary.take(Sentence.of(one), ("m0",))
    for one in said:
        once, twice = one.split(), one.split()
        once[5] = "otherword"
        twice[4:6] = "otherword", "anotherword"
        assert not summary.says(Sentence.of(" ".join(twice)))
        near = Sentence.of(" ".join(once))
        assert summary.says(near) == any(repeats(near, Sentence.of(other)) for other in said)


def test_a_sentence_is_held_against_so_many_and_repeats_none_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = list[object]()
    alike = covering.alike
    monkeypatch.setattr(covering, "alike", lambda a, b: compared.append(b) or alike(a, b))
    common = " ".join(f"shared{chr(97 + at)}" for at in range(12))
    names = [f"alone{chr(97 + at // 26)}{chr(97 + at % 26)}x" for at in range(300)]
    given_sources = sources([f"{common} {one} {one}y." for one in names], [True] * 300)
    summary = Covering(given_sources)
    for one in given_sources:
        summary.take(Sentence.of(one.text), (one.memory_id,))
    compared.clear()
    assert not summary.says(Sentence.of(f"{common} differently."))
    assert len(compared) == COMPARED


def test_a_sentence_that_denies_what_has_nearly_its_words_repeats_nothing() -> None:
    said = "The hoist brake of the old crane was tested during the load run of this morning in the northern hall."
    summary = Covering(sources([said], [True]))
    summary.take(Sentence.of(said), ("m0",))
    assert summary.says(Sentence.of(said.replace("old", "old tall")))
    assert not summary.says(Sentence.of(said.replace("old", "old tall").replace("was", "was not")))
