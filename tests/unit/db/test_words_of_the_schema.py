"""The schema's lists of the core's words agree with the core."""

from __future__ import annotations

import re
from pathlib import Path

from memquorum.core.experience.weights import CAUSES
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Term

_SCHEMA = (Path(__file__).parents[3] / "db" / "migrations" / "memory" / "0001_schema.sql").read_text()


def words(listed: str) -> tuple[str, ...]:
    """The words of a list of quoted ones."""
    return tuple(re.findall(r"'([^']+)'", listed))


def test_the_audit_names_the_terms_of_every_kind() -> None:
    view = _SCHEMA.split("-- The names of every kind's terms", 1)[1].split(") AS k (kind, terms)", 1)[0]
    named = {kind: words(terms) for kind, terms in re.findall(r"\('(\w+)', ARRAY\[([^\]]*)\]\)", view)}
    # A distance comes last, ballots of earlier versions lack it, and the view reads no term by this name.
    told = {
        name: [one for one, term in kind.terms.items() if term is not Term.DISTANCE] for name, kind in KINDS.items()
    }
    assert named == {name: tuple(terms) for name, terms in told.items()}


def test_a_weight_has_the_causes_that_there_are() -> None:
    (checked,) = re.findall(r"CHECK \(cause IN \(([^)]*)\)\)", _SCHEMA)
    assert words(checked) == CAUSES
