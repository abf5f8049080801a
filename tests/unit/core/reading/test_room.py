"""The room that reads language is the only one, and it does not grow."""

from __future__ import annotations

from pathlib import Path

import memquorum

ROOT = Path(memquorum.__path__[0]).parent
CORE = ROOT / "memquorum" / "core"

JUDGES = (
    "consolidation/paraphrase.py",
    "consolidation/sections.py",
    "experience/abstract.py",
    "experience/reward.py",
    "privacy/formats.py",
    "privacy/numbers.py",
    "privacy/words.py",
    "retrieval/alike.py",
    "retrieval/hops.py",
    "retrieval/rereading.py",
    "retrieval/scoring.py",
)
"""Modules outside the room that have patterns of words of their own. None may come to them."""

FORMATS = (
    "access.py",
    "facets.py",
    "identity/grants.py",
    "ids.py",
    "intake.py",
    "jsontext.py",
    "moments.py",
    "names.py",
    "orders/profile.py",
    "payloads.py",
    "policy.py",
    "quota.py",
    "retrieval/query.py",
    "shard_ranges.py",
    "showing/escaping.py",
    "showing/quoting.py",
    "stock.py",
)
"""Modules whose patterns read what programs write: ids, names, settings, ranges, keys, times, errors of msgspec, what a
terminal obeys."""

TESTS = (
    "consolidation/paraphrases.yaml",
    "consolidation/test_paraphrase.py",
    "experience/test_abstract.py",
    "experience/test_pointing.py",
    "experience/test_reward.py",
    "privacy/test_finding.py",
    "privacy/test_masking.py",
    "privacy/test_sensitivity.py",
    "retrieval/test_alike.py",
    "retrieval/test_hops.py",
    "retrieval/test_rereading.py",
    "retrieval/test_scoring.py",
)

LINES_MOST = 8_619
"""May only fall: who takes lines away lowers it."""


def counted() -> list[Path]:
    return [*sorted((CORE / "reading").rglob("*.py")), *(CORE / one for one in JUDGES)]


def lines(files: list[Path]) -> int:
    return sum(len(one.read_text(encoding="utf-8").splitlines()) for one in files)


def test_no_other_module_has_patterns_of_words() -> None:
    having = {
        str(path.relative_to(CORE))
        for path in CORE.rglob("*.py")
        if "reading" not in path.parts and "re.compile(" in path.read_text(encoding="utf-8")
    }
    assert sorted(having) == sorted((*JUDGES, *FORMATS))


def test_patterns_stand_in_code() -> None:
    """A line of a list is a word or a phrase: a pattern counts as a line of code."""
    found = [
        f"{path.name}: {line}"
        for path in sorted((CORE / "reading" / "data").rglob("*.txt"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#") and any(sign in line for sign in ("\\", "(?", ".*", "[a-z", "{0,"))
    ]
    assert found == []


def test_the_room_does_not_grow() -> None:
    count = lines(counted())
    assert count <= LINES_MOST
    assert count > LINES_MOST - 100, f"lower LINES_MOST to {count}"


def test_there_is_a_line_of_test_for_a_line() -> None:
    here = Path(__file__).parent
    tests = [one for one in sorted(here.rglob("*")) if one.suffix in (".py", ".yaml", ".tsv")]
    frozen = ROOT / "tests" / "verdicts"
    files = [
        *tests,
        *(here.parent / one for one in TESTS),
        *sorted(frozen.glob("*.py")),
        *sorted(frozen.glob("*.jsonl")),
    ]
    assert lines(files) >= lines(counted())
