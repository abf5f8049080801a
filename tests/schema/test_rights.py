"""Every table says in db/rights who may do what with it. Read as text, so that it is told where nothing runs."""

from __future__ import annotations

import re

import pytest

from db.migrate import MIGRATIONS, RIGHTS, load

# The runner's own; nobody but a superuser has anything to do there.
_OURS = {"migration"}


def _made(database: str) -> set[str]:
    text = "\n".join(file.read_text() for file in sorted((MIGRATIONS / database).glob("*.sql")))
    gone = set(re.findall(r"(?m)^DROP (?:TABLE|VIEW) (?:IF EXISTS )?(\w+)", text))
    return set(re.findall(r"(?m)^CREATE (?:TABLE|(?:OR REPLACE )?VIEW) (?:IF NOT EXISTS )?(\w+)", text)) - gone


def _granted(database: str) -> set[str]:
    text = re.sub(r"--.*", "", (RIGHTS / f"{database}.sql").read_text())
    lists = re.findall(r"GRANT [^;]*? ON (?!FUNCTION|SCHEMA|ALL)([\w\s,]+?) TO (?!memquorum_keeper)\w+;", text)
    return {name for names in lists for name in re.split(r"[\s,]+", names)}


@pytest.mark.parametrize("database", ["memory", "vault"])
def test_migrations_are_numbered_without_a_gap_and_none_twice(database: str) -> None:
    """Two that come in beside each other may take the same number; then no installation starts."""
    assert len(load(MIGRATIONS / database)) >= 1


@pytest.mark.parametrize("database", ["memory", "vault"])
def test_a_new_table_comes_with_its_rights(database: str) -> None:
    made = _made(database)
    assert len(made) >= 2
    missing = made - _granted(database) - _OURS
    assert not missing, (
        f"db/rights/{database}.sql grants nobody anything on {', '.join(sorted(missing))}: "
        "say there which of the roles may read it, and which may write"
    )


@pytest.mark.parametrize("database", ["memory", "vault"])
def test_rights_stand_in_one_place(database: str) -> None:
    for file in sorted((MIGRATIONS / database).glob("*.sql")):
        found = re.findall(r"(?m)^GRANT (?:SELECT|INSERT|UPDATE|DELETE|ALL)\b[^;]*;", file.read_text())
        assert not found, f"{file.name} grants by itself: {found[0]} belongs into db/rights/{database}.sql"
