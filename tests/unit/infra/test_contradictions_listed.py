"""The page lists every place in which an inferred contradiction has an effect, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from db.queries import QUERIES

ROOT = Path(__file__).parents[3]
RULES = "memquorum/core/reading/conflict.py"
# Callers of the rules or of a model, and receivers of a model's answer.
_ASKS = re.compile(r"(?<![A-Za-z_])(?:between|comparable|doubts)\(|\bDoubts\b")
_IMPORTS = re.compile(r"from memquorum\.core\.reading(?:\.conflict import|\s+import [^\n]*\bconflict\b)")
_READS = re.compile(r"\b(?:FROM|JOIN|COPY|INTO|UPDATE)\s+(?:conflict|contradiction)\b")


def listed() -> set[str]:
    page = (ROOT / "docs/use/reading.md").read_text()
    table = page.split("### Effects of an inferred contradiction")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")][2:]
    return {name for cell in rows for name in re.findall(r"`([^`]+)`", cell)}


def callers() -> set[str]:
    """The modules that ask whether texts contradict each other."""
    folders = ("memquorum", "workers", "streams", "db", "infra")
    texts = {file: file.read_text() for folder in folders for file in (ROOT / folder).rglob("*.py")}
    found = (file for file, text in texts.items() if _IMPORTS.search(text) and _ASKS.search(text))
    return {str(file.relative_to(ROOT)) for file in found} - {RULES}


def statements() -> set[str]:
    """The statements, and functions of the store, that touch the table of contradictions."""
    found = {name for name, statement in QUERIES.items() if _READS.search(re.sub(r"(?m)--.*$", "", statement))}
    parts = list[str]()
    for file in sorted((ROOT / "db/migrations/memory").glob("*.sql")):
        parts += re.split(r"(?m)^CREATE FUNCTION ", file.read_text())[1:]
    named = ((re.match(r"\w+", part), re.sub(r"(?m)--.*$", "", part.split("$$;")[0])) for part in parts)
    return found | {name.group() for name, body in named if name is not None and _READS.search(body)}


def test_every_place_that_reads_a_contradiction_is_in_the_table() -> None:
    assert len(callers()) > 5 and len(statements()) > 10
    assert listed() == callers() | statements()
