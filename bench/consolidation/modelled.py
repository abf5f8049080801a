r"""The row of a model as summariser: how much of a scripted model's inventions and omissions gets into summaries.

The model is a server of its own that paraphrases by rules and makes one sentence in five say a number, a name, a date
or a negation that its source does not; it writes down which. Sentences of summaries are looked up in that list, and
numbers, names and times once more by patterns here that are independent of the product's.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from bench.consolidation.frame import Material
from bench.consolidation.made import AGREED, Consolidated, Proposed, consolidate
from bench.consolidation.shrinking import sets
from bench.kept import Row
from bench.right.frame import Measure
from memquorum.core.consolidation import rendering
from memquorum.core.consolidation.leaving import Gate
from memquorum.core.consolidation.paraphrase import nearest
from memquorum.core.consolidation.parting import Part
from memquorum.core.policy import PPM
from memquorum.core.records import Quote
from memquorum.ports import Source
from tests.support.scripted_model import KINDS, NAME, Invention, scripted_model
from workers.consolidator.budget import Budget
from workers.consolidator.chat import Endpoint
from workers.consolidator.extractive import Extractive
from workers.consolidator.model import Model

_SHARE_PPM = 700_000
"""Three memories stand in a summary word for word; a model is asked only where there is room beside them."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[a-z0-9,] )[A-Z][a-z]{2,}\b")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_WHEN = re.compile(
    rf"\b(?:\d{{1,2}}:\d\d|\d{{1,2}} (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}}|(?:in|since|until|by) (?:19|20)\d\d|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow|yesterday|today|tonight|"
    r"(?:last|next|this) (?:night|week|month|year|summer|winter|spring|weekend)|\w+ (?:days|weeks|months|years) ago)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Summary:
    made: Proposed
    texts: Mapping[str, str]
    written: tuple[str, ...]

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """Returns the model's sentences, each with the text of its sources."""
        of = [
            [_flat(self.texts[q.memory_id]) for q in self.made.quotes if q.sentence == at]
            for at in range(len(self.written))
        ]
        return list(zip(self.written, map("\n".join, of), strict=True))

    @cached_property
    def told(self) -> str:
        """Returns the text of its sources, in small letters."""
        return "\n".join(self.texts.values()).casefold()


class _Asked:
    """The model where it may be asked, as the worker does, and else the rules."""

    def __init__(self, model: Model) -> None:
        self.name, self._model, self._rules = model.name, model, Extractive()
        self.asked = 0

    def summarise(self, sources: Sequence[Source], share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        kept = Part((), tuple(sources)).keeping().sources
        if not self._model.takes(kept, share_ppm):
            return self._rules.summarise(sources, share_ppm)
        self.asked += 1
        return self._model.summarise(kept, share_ppm)


def model(material: Material) -> Row:
    """Measures what is made up, refused, left out and kept."""
    row = Row("model", "a model as summariser that makes up one sentence in five")
    refused = Counter[str]()
    made: list[Consolidated] = []
    lose = replace(material.policy.consolidate, share_ppm=_SHARE_PPM, lost_rank_ppm=PPM + 1)
    policy = replace(material.policy, consolidate=lose)
    with scripted_model(seed=18) as server, tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint(server.url, NAME, "127.0.0.1")
        asked = Model(
            endpoint, Gate(PPM, "consolidation"), Budget(Path(folder) / "spent.json", 0),
            refused=lambda why, count: refused.update({why: count}),
        )  # fmt: skip
        wrapped = _Asked(asked)
        for name in sets(material):
            made += [consolidate(one, wrapped, policy) for one in material.stored(name)]
        asked.close()
        invented = list(server.invented)
    found = [_summary(one, each) for one in made for each in one.proposed]
    wrote = [one for one in found if one.written]
    row.figure("summaries by the model", len(wrote), f"of {wrapped.asked} asked")
    agreed = sum(one.made.ended == AGREED for one in wrote)
    row.figure("summaries by the model that members agree to", 100 * agreed / max(1, len(wrote)), "%")
    row.figure("sentences of the model's in summaries", sum(len(one.written) for one in wrote), "")
    row.figure("sentences that it made up", len(invented), "")
    for why, count in sorted(refused.items()):
        row.figure(f"sentences refused: {why}", count, "")
    _made_up(row, wrote, invented)
    _times(row, found)
    row.note(
        "summaries may have 70 % of the tokens, and everything may be lost; refused is also what was not made up and "
        "could not be told from it, and the source's own sentence stands in its place"
    )
    return row


def _summary(one: Consolidated, each: Proposed) -> _Summary:
    """A summary with the texts of its sources, and with what the model wrote of it."""
    texts = {one.stored.ids[at]: one.stored.talk.texts[at] for at in each.sources}
    written = rendering.written(each.record.content, each.quotes, texts)
    assert written is not None, "the text of a summary is that of its sentences"
    return _Summary(each, texts, written)


def _made_up(row: Row, wrote: Sequence[_Summary], invented: Sequence[Invention]) -> None:
    r"""Counts the inventions in summaries: by the model's own list, and by patterns.

    An invention that a source states does not count. A sentence counts as present if it stands there whole, or as one
    of two that are joined, for the memory that it was made of: "9" is a part of many.
    """
    said: defaultdict[str, list[str]] = defaultdict(list)
    for one in wrote:
        for text, of in one.sentences:
            for whole in _parts(text) if text.casefold() not in one.told else ():
                said[whole].append(of)
    for kind in KINDS:
        there = sum(
            one.kind == kind and any(_flat(one.told) in of for of in said.get(_flat(one.sentence), ()))
            for one in invented
        )
        row.figure(f"made up and in a summary: {kind}", there, "")
        row.at_most(f"made up and in a summary: {kind}", 0)
    for name, pattern in (("numbers", _NUMBER), ("names", _NAME), ("times", _WHEN)):
        strange = sum(
            found.casefold() not in one.told for one in wrote for text in one.written for found in pattern.findall(text)
        )
        row.figure(f"{name} in a summary and in no source", strange, "")
        row.at_most(f"{name} in a summary and in no source", 0)


def _flat(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _parts(text: str) -> set[str]:
    """A sentence, and where it is of several, those that begin and that end it."""
    halves = _flat(text).split("; ")
    return {"; ".join(part).rstrip(".") for at in range(len(halves)) for part in (halves[: at + 1], halves[at:])}


def _times(row: Row, found: Sequence[_Summary]) -> None:
    """Measures how many of the times in quoted or rendered source sentences the summaries have."""
    quoted, rendered = Counter[bool](), Counter[bool]()
    for one in found:
        content = one.made.record.content.casefold()
        for quote in one.made.quotes:
            text, into = one.texts[quote.memory_id], quoted
            start, end = quote.start, quote.end
            if quote.sentence is not None:
                _, start, end = nearest(one.written[quote.sentence], [text]) or (0, 0, 0)
                into = rendered
            into.update(when.casefold() in content for when in _WHEN.findall(text[start:end]))
    for name, kept in (
        ("time expressions of chosen facts", quoted + rendered),
        ("time expressions of what the model wrote", rendered),
    ):
        row.figure(name, kept.total(), "")
        row.figure(f"{name} kept", 100 * kept[True] / max(1, kept.total()), "%")
        row.at_least(f"{name} kept", 95)


ROWS: Mapping[str, Measure] = {"model": model}
