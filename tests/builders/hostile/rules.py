"""Every rule of the core that reads an untrusted text, as a function of one text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from db.rollup_rows import CHARACTERS_MOST
from memquorum.core import denying, ids, jsontext, labelling, moments, names
from memquorum.core.api.answers import Hit
from memquorum.core.consolidation import (
    covering,
    extractive,
    faithful,
    importance,
    losing,
    paraphrase,
    rendering,
    rollups,
    sections,
    weighing,
)  # fmt: skip
from memquorum.core.experience import abstract, noting, pointing, reward
from memquorum.core.privacy import finding, masking, sensitivity
from memquorum.core.privacy.listed import matcher
from memquorum.core.reading import (
    agreement,
    allowing,
    asking,
    assertion,
    claims,
    conflict,
    content,
    matter,
    meant,
    named,
    opposing,
    orders,
    outline,
    parsing,
    passages,
    proceeding,
    sameness,
    sentences,
    stated,
    talk,
    times,
    tokens,
    topics,
    unkept,
    wording,
    written,
)  # fmt: skip
from memquorum.core.reading import moments as text_moments
from memquorum.core.records import Quote
from memquorum.core.retrieval import entities, hops, query, rereading, scoring
from memquorum.core.retrieval import wording as retrieval_wording
from memquorum.core.showing import comparing, escaping
from memquorum.core.summed import Summed
from memquorum.core.vote import grounds
from memquorum.ports import Source

Rule = Callable[[str], object]

# The first text loads the word lists from their files; a rule's time must not include that.
talk.load()
assertion.load()
unkept.load()

LISTED = matcher(["Ada", "the pump 7", "a b c d e f g h", "Graz", "李明"])
SENTENCE = "Ada's weekly sync of the pump 7 is at 3 pm in room 12 of Graz, not at 4 pm, and costs 5 million euros."
"""The second text of rules that take two."""


def _side(text: str) -> comparing.Side:
    return comparing.Side(text, "ada", "ada", 1)


def _source(text: str, memory_id: str = "a") -> Source:
    return Source(memory_id=memory_id, text=text, at=1, importance_ppm=500_000, needed=True)


def _both(rule: Callable[[str, str], object]) -> Rule:
    """Asks a rule of two texts with the text as the first, as the second, and as both."""
    return lambda text: (rule(text, SENTENCE), rule(SENTENCE, text), rule(text, text[: len(text) // 2] + "x"))


def _words(rule: Callable[[str], object]) -> Rule:
    """Asks a rule of one word with the whole text, and with each of its words."""
    return lambda text: (rule(text), [rule(word) for word in text.split()])


def _conflict(a: str, b: str) -> object:
    return conflict.between(claims.read(a), claims.read(b), same_agent=True)


def _oppose(a: str, b: str) -> object:
    return opposing.oppose(a, agreement.marks(a), b, agreement.marks(b))


def _patches(text: str) -> object:
    # A roll-up takes no sentence of a longer episode.
    said = rollups.sentences("a", text[:CHARACTERS_MOST], at=1, agent="ada", subject="s")
    return list(rollups.patches("n", [*said, *said], []))


def _sources(text: str) -> list[Source]:
    return [_source(text), _source(SENTENCE, "b"), _source(text[::-1], "c")]


def _faithful(text: str) -> object:
    quotes = [Quote("a", start, end, sections.section(text[start:end]), 1) for start, end in sentences.spans(text)]
    return faithful.faithful(quotes, {"a": text}, {"a": 1})


def _covered(text: str) -> object:
    quotes = [Quote("a", start, end, "facts", 1) for start, end in sentences.spans(text)[:3]]
    return losing.coverage_ppm(quotes, _sources(text), lost_rank_ppm=0)


def _abstracted(text: str) -> object:
    return abstract.abstracted(text), abstract.abstracted(f"Please read the log: {text}"), abstract.lacking(text)


def _stands(text: str) -> object:
    reach = reward.Reach()
    return (
        reach.stands("What is the pump?", "", "The pump 7 of Ada is in Graz.", text),
        reach.stands("What is the pump?", "", text, SENTENCE),
        reach.stands(text, "", "room 12", SENTENCE),
        reach.stands("What is the pump?", "", text, f"{SENTENCE} {text}"),
    )


def _matter(text: str) -> object:
    one, other = matter.Matter(text), matter.Matter(SENTENCE)
    told = matter.differ(one, other, True), matter.differ(other, one, True)
    return told, [one.says_instead(stem, other, frozenset()) for stem in sorted(other.stems)[:5]]


def _hit(memory_id: str, text: str) -> Hit:
    return Hit(memory_id, text, "short-term", "ada", 1, 1, 0, 0.5, score=0.5)


def _best_first(text: str) -> object:
    one, other = _hit("a", text), _hit("b", SENTENCE)
    return rereading.best_first(SENTENCE, [one, other]), rereading.best_first(text, [one, other])


def _surroundings(text: str) -> object:
    told = Summed()
    told.add("a", text)
    return (
        told.near(agreement.ComparedText(SENTENCE)),
        told.near(agreement.ComparedText(text)),
        told.saying(text, ""),
    )


def _json(text: str) -> object:
    try:
        return jsontext.load(text.encode("utf-8", "surrogatepass"))
    except jsontext.JsonRefused:
        return None


def _filters(text: str) -> object:
    try:
        return query.read_query(text)
    except ValueError:
        return None


RULES: Mapping[str, Rule] = {
    "agreement.ComparedText.agrees": _both(lambda a, b: agreement.ComparedText(a).agrees(agreement.ComparedText(b))),
    "agreement.marks": agreement.marks,
    "agreement.gist": agreement.gist,
    "agreement.personal": agreement.personal,
    "agreement.ComparedText": lambda text: agreement.ComparedText(text).sentences,
    "allowing.allowing": lambda text: allowing.allowing(text, led=True),
    "asking.bare_question": asking.bare_question,
    "claims.read": claims.read,
    "conflict.between": _both(_conflict),
    "content.content": content.content,
    "content.stems_of": _words(content.stems_of),
    "escaping.escaped": escaping.escaped,
    "assertion.asserts": assertion.asserts,
    "times.asked_time": times.asked_time,
    "scoring.verdicts": lambda text: scoring.verdicts(text, [text], [0.5], next(iter(scoring.WEIGHTS))),
    "talk.says_nothing": talk.says_nothing,
    "talk.talk_of": talk.talk_of,
    "unkept.asks_not_to_be_kept": unkept.asks_not_to_be_kept,
    "orders.asks_to_forget": orders.asks_to_forget,
    "meant.meant": meant.meant,
    "meant.mentioned": meant.mentioned,
    "meant.replaces": lambda text: meant.replaces(meant.meant("No, she lives in Linz."), text),
    "moments.moment": text_moments.moment,
    "outline.outline": outline.outline,
    "outline.halves": outline.halves,
    "parsing.tokens_of": parsing.tokens_of,
    "parsing.placed": parsing.placed,
    "parsing.values_of": lambda text: parsing.values_of(*parsing.tokens_of(text)),
    "parsing.verb_of": lambda text: (both := parsing.tokens_of(text))[1] and parsing.verb_of(*both),
    "parsing.stemmed": _words(parsing.stemmed),
    "proceeding.proceeds": proceeding.proceeds,
    "tokens.tokens": tokens.tokens,
    "sameness.fingerprint": sameness.fingerprint,
    "topics.names": topics.names,
    "topics.key": topics.key,
    "wording.stem": _words(wording.stem),
    "wording.denied": _words(wording.denied),
    "covering.corrects": covering.corrects,
    "covering.Sentence": covering.Sentence.of,
    "extractive.choose": lambda text: extractive.choose(_sources(text)),
    "faithful.faithful": _faithful,
    "importance.importance_ppm": lambda text: importance.importance_ppm(text, age_ms=1, references=1, positive=True),
    "losing.coverage_ppm": _covered,
    "losing.replaceable": lambda text: losing.replaceable(_sources(text), share_ppm=500_000, lost_rank_ppm=0),
    "losing.worthless": lambda text: losing.worthless(_sources(text)),
    "paraphrase.refused": _both(lambda a, b: paraphrase.refused(a, [b])),
    "paraphrase.nearest": _both(lambda a, b: paraphrase.nearest(a, [b])),
    "comparing.asked_statements": comparing.asked_statements,
    "comparing.question, newer": lambda text: comparing.question(_side(text), _side(SENTENCE)),
    "comparing.question, older": lambda text: comparing.question(_side(SENTENCE), _side(text)),
    "comparing.read": lambda text: comparing.read(text, 3),
    "rendering.sentences": rendering.sentences,
    "rollups.patches": _patches,
    "sections.section": sections.section,
    "sentences.spans": sentences.spans,
    "passages.passages": passages.passages,
    "stated.stated": stated.stated,
    "stated.readings": stated.readings,
    "weighing.read": weighing.read,
    "weighing.important": lambda text: weighing.important(_sources(text)),
    "abstract.abstracted": _abstracted,
    "named.unlike": _both(named.unlike),
    "noting.speaks_of": lambda text: noting.speaks_of([text], SENTENCE, [text]),
    "opposing.oppose": _both(_oppose),
    "opposing.denies": lambda text: opposing.denies(text, frozenset({"pump"})),
    "pointing.pointed": lambda text: pointing.pointed("What is it?", "", SENTENCE, text),
    "reward.Reach.stands": _stands,
    "written.plainly": written.plainly,
    "finding.spans": finding.spans,
    "finding.kinds": finding.kinds,
    "listed.spans": LISTED.spans,
    "masking.masked": masking.masked,
    "masking.parts": lambda text: masking.parts(text, [(0, len(text) // 2), (len(text) // 2, len(text))]),
    "sensitivity.suggested_ppm": sensitivity.suggested_ppm,
    "entities.named": entities.named,
    "entities.entity": entities.entity,
    "hops.head": hops.head,
    "hops.second_query": lambda text: hops.second_query([text]),
    "hops.second": lambda text: hops.second(
        text, [hops.FoundMemory("a", text, 0.5)], [hops.FoundMemory("b", SENTENCE, 0.4)]
    ),
    "matter.Matter": _matter,
    "rereading.best_first": _best_first,
    "rereading.becomes_otherwise": rereading.becomes_otherwise,
    "denying.numbers": _both(lambda a, b: denying.numbers(a, b, own=True)),
    "denying.denied": _both(lambda a, b: denying.denied(denying.statements(a), b, own=True)),
    "denying.nearest": _both(lambda a, b: denying.nearest(denying.statements(a), b)),
    "denying.again": _both(lambda a, b: denying.again(a, b, a, own=True)),
    "wording.quoted": retrieval_wording.quoted,
    "query.read_query": _filters,
    "grounds.hear": grounds.hear,
    "summed.Summed": _surroundings,
    "jsontext.load": _json,
    "moments.read": moments.read,
    "moments.read_rfc_3339": moments.read_rfc_3339,
    "names.name_fault": names.name_fault,
    "names.uuid": names.uuid,
    "ids.is_uuid": ids.is_uuid,
    "labelling.path_fault": labelling.path_fault,
    "labelling.attributes_fault": lambda text: labelling.attributes_fault({text[:9]: text}),
}
"""The rules by name."""

SEVERAL: Mapping[str, int] = {
    "masking.masked": 5,
    "masking.parts": 5,
    "abstract.abstracted": 6,
    "matter.Matter": 6,
    "rereading.best_first": 3,
    "stated.readings": 6,
    "stated.stated": 6,
    "extractive.choose": 24,
    "faithful.faithful": 12,
    "losing.coverage_ppm": 24,
    "losing.replaceable": 36,
    "losing.worthless": 24,
    "reward.Reach.stands": 12,
    "rollups.patches": 24,
    "summed.Summed": 10,
    "weighing.important": 8,
}
"""Rules that may take 2 ms a KiB more than once, and how often: masking reads its own output again; others look for
numbers, times and names one after the other; rules over several texts are given two or three of that length.
"""

CLAUSES: frozenset[str] = frozenset({"parsing.placed", "parsing.tokens_of", "parsing.values_of", "parsing.verb_of"})
"""Parts of `claims.read`, which passes them clauses of the texts that it reads."""
