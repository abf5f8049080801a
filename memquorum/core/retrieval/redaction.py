"""Masks texts for readers that request redaction, and in namespaces that are always redacted (SPEC D).

Texts are masked after the ranking and before the packing: redaction does not change which memories are found. Budgets,
`spans` and sentences of summaries refer to the masked text, which is the reader's whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core.access import covers
from memquorum.core.api.answers import Hit, Rollup
from memquorum.core.contained import Failures
from memquorum.core.privacy.listed import Matcher
from memquorum.core.privacy.masking import Second, masked, parts
from memquorum.core.privacy.nearly import NearText, find_nearly
from memquorum.core.reading.passages import Span
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.ranking import Candidate, Scored

WITHHELD = "[withheld: it cannot be masked]"
"""The replacement of a text on which masking fails."""


_NO_LISTS: Mapping[str, Matcher] = MappingProxyType({})
_NONE_NEAR: Mapping[str, Sequence[NearText]] = MappingProxyType({})


def _on() -> None:
    """Goes on."""


class Redaction(Struct, frozen=True):
    """The rules of redaction: `namespaces` that are always read masked, as API keys name them (`team-*`, `*`).
    `checked`: namespaces whose answers are also compared with what their reader is refused, named likewise.
    `second`: the pass after the patterns, where there is one. `turn`: is called before each text, and what it raises
    ends the whole. `failures`: takes the texts on which masking fails, which are withheld."""

    namespaces: tuple[str, ...] = ()
    second: Second | None = None
    turn: Callable[[], None] = _on
    failures: Failures = field(default_factory=Failures)
    checked: tuple[str, ...] = ()

    def of(self, namespace: str, *, asked: bool, lists: Mapping[str, Matcher] = _NO_LISTS) -> Redactor:
        """Returns the redactor for a reader of a namespace who `asked` for redaction, or did not. `lists`: by subject,
        what is never kept, and so is masked for everybody."""
        personal, checked = asked or covers(self.namespaces, namespace), covers(self.checked, namespace)
        return Redactor(personal, self.second, self.turn, self.failures, lists, checked)


class Redactor(Struct, frozen=True):
    """Masks what one reader is given, if it is `on`; else everything stays as it is. `personal`: also personal data,
    and not only what the subjects' own `lists` have. `checked`: also what says nearly what the reader is refused: of
    memories by their ids the refused texts that are `near`."""

    personal: bool
    second: Second | None = None
    turn: Callable[[], None] = _on
    failures: Failures = field(default_factory=Failures)
    lists: Mapping[str, Matcher] = _NO_LISTS
    checked: bool = False
    near: Mapping[str, Sequence[NearText]] = _NONE_NEAR

    @property
    def on(self) -> bool:
        """Whether anything is masked."""
        return self.personal or bool(self.lists) or self.checked

    def text(self, text: str, memory_id: str = "", subject: str | None = None) -> str:
        """A whole text. `subject`: whom it is about; None: any of those who have a list."""
        if not self.on:
            return text
        self.turn()
        named, found = [memory_id] if memory_id else [], self._finds(subject, memory_id)
        return self.failures.answer("masking", named, WITHHELD, masked, text, found, formats=self.personal)

    def _parts(
        self, text: str, spans: Sequence[tuple[int, int]], memory_id: str = "", subject: str | None = None
    ) -> tuple[str, ...]:
        self.turn()
        names, withheld = [memory_id] if memory_id else [], (WITHHELD,) * len(spans)
        found = self._finds(subject, memory_id)
        return self.failures.answer("masking", names, withheld, parts, text, spans, found, formats=self.personal)

    def _finds(self, subject: str | None, memory_id: str) -> Second | None:
        """Finds spans beside data with a format: what is nearly refused, by the second pass, and by the list of the
        subject."""
        lists = [*self.lists.values()] if subject is None else [one for one in (self.lists.get(subject),) if one]
        passes: list[Second] = [one.spans for one in lists]
        if near := self.near.get(memory_id):
            passes.append(lambda text: find_nearly(text, near))
        if self.second is not None and self.personal:
            passes.append(self.second)
        return (lambda text: [span for one in passes for span in one(text)]) if passes else None

    def part(self, text: str, span: tuple[int, int] | None, subject: str | None = None) -> str | None:
        """A part of a text, masked by what the whole says; None for no part."""
        if span is None:
            return None
        return self._parts(text, [span], subject=subject)[0] if self.on else text[slice(*span)]

    def hits(self, hits: Iterable[Hit]) -> list[Hit]:
        """Hits; an excerpt is masked by what it says itself."""
        return [self._hit(hit) if self.on else hit for hit in hits]

    def _hit(self, hit: Hit) -> Hit:
        if hit.passage is None:
            return replace(hit, text=self.text(hit.text, hit.memory_id, _about(hit)))
        text, (passage,) = self._placed(hit.text, [hit.passage], hit)
        return replace(hit, text=text, passage=passage)

    def _placed(self, text: str, spans: Sequence[Span], hit: Hit) -> tuple[str, list[Span]]:
        """The whole text of a hit, and where some parts of it, which do not overlap, lie when it is masked."""
        edges = sorted({0, len(text), *(edge for span in spans for edge in span)})
        told = self._parts(text, [*pairwise(edges)], hit.memory_id, _about(hit))
        if {*told} == {WITHHELD}:
            return WITHHELD, [(0, len(WITHHELD))] * len(spans)
        at = dict(zip(edges, accumulate(map(len, told), initial=0), strict=True))
        return "".join(told), [(at[start], at[end]) for start, end in spans]

    def scored(self, ranked: Sequence[Scored]) -> list[Scored]:
        """A ranking, in its order."""
        return [replace(one, candidate=self.candidate(one.candidate)) for one in ranked] if self.on else list(ranked)

    def traces(self, ring: Sequence[Trace]) -> list[Trace]:
        """An agent's ring."""
        return [replace(one, candidate=self.candidate(one.candidate)) for one in ring] if self.on else list(ring)

    def candidate(self, one: Candidate) -> Candidate:
        """Returns a candidate with its texts masked. Each line of a summary is masked as in the whole text, whichever
        lines are served."""
        if not self.on:
            return one
        if one.passages:
            text, passages = self._placed(one.hit.text, one.passages, one.hit)
            return replace(one, hit=replace(one.hit, text=text, passage=passages[0]), passages=tuple(passages))
        if one.whole is None:
            return replace(one, hit=replace(one.hit, text=self.text(one.hit.text, one.hit.memory_id, _about(one.hit))))
        lines = one.whole.split("\n")
        ends = list(accumulate(len(line) + 1 for line in lines))
        spans = [(end - len(line) - 1, end - 1) for line, end in zip(lines, ends, strict=True)]
        told = self._parts(one.whole, spans, one.hit.memory_id, _about(one.hit))
        of = dict(zip(lines, told, strict=True))
        text = "\n".join(
            of[line] if line in of else self.text(line, "", _about(one.hit)) for line in one.hit.text.split("\n")
        )
        return replace(one, hit=replace(one.hit, text=text), whole="\n".join(told))

    def rollup(self, found: Rollup) -> Rollup:
        """A roll-up, sentence by sentence."""
        if not self.on:
            return found
        return replace(
            found,
            sentences=tuple(
                replace(one, text=self.text(one.text, one.memory_id, one.subject)) for one in found.sentences
            ),
            history=tuple(one if one.text is None else replace(one, text=self.text(one.text)) for one in found.history),
        )


def _about(hit: Hit) -> str | None:
    """The subjects of a text; a summary may have several."""
    return hit.subject or None


NONE = Redaction()
