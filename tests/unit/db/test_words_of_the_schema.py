"""The schema's lists of the core's words agree with the core."""

from __future__ import annotations

import re
from pathlib import Path

from memquorum.core.experience.weights import CAUSES
from memquorum.core.vote.kinds import KINDS

_SCHEMA = (Path(__file__).parents[3] / "db" / "migrations" / "memory" / "0001_schema.sql").read_text()


def words(listed: str) -> tuple[str, ...]:
    """The words of a list of quoted ones."""
    return tuple(re.findall(r"'([^']+)'", listed))


def test_the_audit_names_the_terms_of_every_kind() -> None:
    view = _SCHEMA.split("-- The names of every kind's terms", 1)[1].split(") AS k (kind, terms)", 1)[0]
    named = {kind: words(terms) for kind, terms in re.findall(r"\('(\w+)', ARRAY\[([^\]]*)\]\)", view)}
    assert named == {name: tuple(kind.terms) for name, kind in KINDS.items()}


def test_a_weight_has_the_causes_that_there_are() -> None:
    (checked,) = re.findall(r"CHECK \(cause IN \(([^)]*)\)\)", _SCHEMA)
    assert words(checked) == CAUSES
