"""The file of statements: every one named once, reached by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from db import queries
from db.audit_rows import audited
from db.queries import QUERIES, QueryError, parse
from memquorum.core.journal.tables import TABLES


def test_statements_are_found_without_their_comments() -> None:
    found = parse("-- head\n-- :name a\n-- 100% why\nSELECT 1\n  AS x\n\n-- :name b_2\nSELECT 2\n", "f.sql")
    assert dict(found) == {"a": "SELECT 1\n  AS x", "b_2": "SELECT 2"}


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(QueryError, match=r"no statement 'c' in f\.sql; there are: a, b"):
        parse("-- :name a\nSELECT 1\n-- :name b\nSELECT 2", "f.sql")["c"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("SELECT 1", "before the first"),
        ("-- :name a\nSELECT 1\n-- :name a\nSELECT 2", "given twice"),
        ("-- :name a\n-- only words\n-- :name b\nSELECT 2", "'a' is empty"),
        ("-- :name A-b\nSELECT 1", "no name"),
    ],
)
def test_a_bad_file_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(QueryError, match=complaint):
        parse(text, "f.sql")


def test_every_statement_says_what_it_is_for_and_is_used() -> None:
    folder = Path(queries.__file__).parents[1]
    text = (folder / "db" / "queries.sql").read_text()
    heads = re.findall(r"^-- :name (\S+)\n(.)", text, re.MULTILINE)
    assert [name for name, first in heads if first != "-"] == []
    code = "\n".join(
        p.read_text() for room in ("db", "workers", "streams", "infra") for p in (folder / room).rglob("*.py")
    )
    verbs = ("copy", "update", "delete", "upsert")
    of_tables = {f"{table.name}_{verb}" for table in TABLES.values() for verb in verbs}
    of_tables |= {f"audit_{name}" for name in audited()}
    assert [name for name in QUERIES if f'"{name}"' not in code and name not in of_tables] == []


RAW = parse(Path(queries.__file__).with_name("queries.sql").read_text(), "queries.sql")
_RULE = re.compile(r"\$(gates|filters|bound)\b")
# Readers that apply the rule themselves (a member, a stage, the cache), and readers of vectors alone.
_ELSEWHERE = {
    "memory_shown": "db/reads asks core/retrieval/query.passes",
    "cache_changed": "what is for certain purposes has no vector in it, so that the cache forgets it",
    "crowds": "names of indexes",
    "vectors": "it is asked of hits, which passed",
    "beside": "it is asked of hits, which passed",
    "names_said": "it is asked of places of a walk, which passed",
    "conflicts": "which sentence of a summary is denied follows from both texts, and neither is given",
}


def read_for_callers() -> set[str]:
    """The statements that the retrieval service asks, and that read content or vectors."""
    asking = "\n".join(
        (Path(queries.__file__).parent / f"{one}.py").read_text()
        for one in ("reads", "found_reads", "crowd_reads", "cached")
    )
    held = re.compile(r"\b(content|embedding)\b|\$(remembered|shown|conflicts\(|beside\()")
    return {name for name, text in RAW.items() if f'"{name}"' in asking and held.search(text)}


def test_what_reads_content_for_a_caller_asks_whether_it_may_be_read() -> None:
    found = read_for_callers()
    assert {"search", "search_crowd", "search_cached", "candidates", "around", "traces", "cache_fill"} <= found
    assert found - {name for name in found if _RULE.search(RAW[name])} == set(_ELSEWHERE) & found == set(_ELSEWHERE)


_SIGHTS = ("sight", "sight_planned")


def test_the_rule_of_what_may_be_read_is_written_once() -> None:
    # These tell row security which purpose a request reads for.
    by_hand = re.compile(r"sensitivity_max|jurisdictions\)s|purpose\)s|m.purposes, '")
    assert [name for name, text in RAW.items() if by_hand.search(text)] == ["cache_changed", *_SIGHTS]
    assert [name for name, text in QUERIES.items() if "$" in text] == []
