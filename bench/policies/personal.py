"""Rows of privacy: what is found of structured personal data, and how sensitive it is held to be beside people.

Templates and items are on one of two sides by their hash. One side was looked at while the patterns were written, the
other was not; what is reported of either says which.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from bench import sets
from bench.kept import Row
from bench.right.frame import Material
from bench.sets import Labelled, Rated
from memquorum.core.policy import PPM
from memquorum.core.privacy.finding import spans
from memquorum.core.privacy.kinds import CARD, EMAIL, IBAN, IP, PHONE, SSN
from memquorum.core.privacy.sensitivity import suggested_ppm

KINDS = {
    "CREDIT_CARD": CARD, "PHONE_NUMBER": PHONE, "EMAIL_ADDRESS": EMAIL, "IBAN_CODE": IBAN, "US_SSN": SSN,
    "IP_ADDRESS": IP,
}  # fmt: skip
"""The set's names of the kinds that have a form."""
_F1, _RHO = 0.90, 0.5
_QUICK = 100

Found = tuple[int, int, str]


def unseen(text: str) -> bool:
    """Whether a template or an item is on the side that was not looked at."""
    return bool(hashlib.sha256(text.encode()).digest()[0] & 1)


def template(one: Labelled) -> str:
    """A sentence with the kinds of its spans in place of what they say."""
    told, at = [], 0
    for start, end, kind in sorted(one.spans):
        told += [one.text[at:start], f"<{kind}>"]
        at = end
    return "".join((*told, one.text[at:]))


class Counts:
    """The numbers of spans found, missed and made up, by kind. A span is found if both ends and the kind are right."""

    def __init__(self) -> None:
        self.right, self.missed, self.wrong = Counter[str](), Counter[str](), Counter[str]()

    def add(self, labelled: set[Found], found: set[Found]) -> None:
        """Counts one sentence."""
        for counter, of in (
            (self.right, labelled & found), (self.missed, labelled - found), (self.wrong, found - labelled),
        ):  # fmt: skip
            counter.update(kind for *_, kind in of)

    def spans(self, kind: str | None = None) -> int:
        """Counts the spans."""
        return sum(counter.total() if kind is None else counter[kind] for counter in (self.right, self.missed))

    def f1(self, kind: str | None = None) -> float:
        """The harmonic mean of precision and recall, of one kind or of all; 1 where there is nothing."""
        right, missed, wrong = (
            counter.total() if kind is None else counter[kind] for counter in (self.right, self.missed, self.wrong)
        )
        return 2 * right / (2 * right + missed + wrong) if right + missed + wrong else 1.0


def counted(given: Iterable[Labelled]) -> Counts:
    """Counts our patterns' findings of the kinds that the set labels."""
    counts = Counts()
    for one in given:
        labelled = {(start, end, KINDS[kind]) for start, end, kind in one.spans if kind in KINDS}
        ours = {(span.start, span.end, span.kind) for span in spans(one.text) if span.kind in KINDS.values()}
        counts.add(labelled, ours)
    return counts


def pii(material: Material) -> Row:
    """Finds cards, telephone numbers, e-mail, accounts, social security and network addresses in made-up sentences."""
    row = Row("pii", "structured personal data of Presidio's made-up sentences, span for span")
    given = sets.labelled(material.data)[: _QUICK if material.quick else None]
    aside, whole = counted(one for one in given if unseen(template(one))), counted(given)
    row.figure("F1, templates not looked at", aside.f1(), "")
    row.figure("spans in them", aside.spans(), "")
    row.figure("F1, all templates", whole.f1(), "")
    for kind in sorted(KINDS.values()):
        if aside.spans(kind):
            row.figure(f"{kind}: F1, templates not looked at", aside.f1(kind), "")
        row.figure(f"{kind}: F1, all templates", whole.f1(kind), "")
        row.figure(f"{kind}: spans", whole.spans(kind), "")
    plain = [one for one in given if not any(kind in KINDS for *_, kind in one.spans)]
    made_up = sum(bool({span.kind for span in spans(one.text)} & set(KINDS.values())) for one in plain)
    row.figure("sentences without any in which something is found", 100 * made_up / max(1, len(plain)), "%")
    row.at_least("F1, templates not looked at", _F1)
    row.note(
        "a span counts where both ends and the kind are right; a kind of which no template lies on the side that was "
        "not looked at has its figure of all alone"
    )
    return row


def ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The rank of each, those that are equal with the mean of theirs."""
    given = np.asarray(values, np.float64)
    return np.array([(given < one).sum() + ((given == one).sum() + 1) / 2 for one in given])


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Returns the correlation of ranks; 0 where one of them is constant."""
    a, b = ranks(one), ranks(other)
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 and a.std() and b.std() else 0.0


def agreement(given: Sequence[Rated]) -> float:
    """Returns the correlation of suggested sensitivities with people's ratings."""
    return spearman([(suggested_ppm(one.text) or 0) / PPM for one in given], [one.mean for one in given])


def confaide(material: Material) -> Row:
    """Compares suggested sensitivities with the means of what people said."""
    row = Row("confaide", "ConfAIde: the sensitivity that is suggested, beside people's")
    tiers = sets.rated(material.data)
    first, second = tiers.get(1, []), tiers.get(2, [])
    if not first:
        raise sets.Absent(material.data, sets.CONFAIDE)
    aside = [one for one in first if unseen(one.text)]
    row.figure("tier 1, items not looked at: Spearman", agreement(aside), "")
    row.figure("items not looked at", len(aside), "")
    row.figure("tier 1, all items: Spearman", agreement(first), "")
    row.figure("items", len(first), "")
    if second:
        row.figure("tier 2: Spearman with how well it goes, less is better", agreement(second), "")
        row.figure("scenes", len(second), "")
    row.at_least("tier 1, items not looked at: Spearman", _RHO)
    row.note(
        "ten items are few: before any was looked at, with beliefs at 0.6 and letters at 0.5, all ten came to 0.23; "
        "these two weights were set by six of them, which hold political views to be the least sensitive of all"
    )
    return row


ROWS: Mapping[str, Callable[[Material], Row]] = {"pii": pii, "confaide": confaide}
