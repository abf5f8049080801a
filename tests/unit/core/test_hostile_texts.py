r"""No rule of the core raises on a text of 64 KiB, and each takes time in proportion to the text.

A rule's time is compared with a plain loop over the same run's characters, in processor time, so that a busy machine
does not matter. `LONG=all` tries each rule on every text of 64 KiB: it may take as long as 36 such loops, 2 ms a KiB on
a quiet machine, and no more than 20 times what 4 KiB take. Otherwise texts are of 16 KiB, each rule has every fourth of
them, or in the short form every twelfth, and four times as long: a rule of quadratic time takes longer.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import memquorum
from tests import LONG
from tests.builders.hostile import meter
from tests.builders.hostile.limits import BOUNDED, COUNTS, LIMITS, WINDOWS
from tests.builders.hostile.patterns import methods, patterns, pumps
from tests.builders.hostile.rules import CLAUSES, RULES, SEVERAL
from tests.builders.hostile.texts import DISTINCT, ORDINARY, TEXTS

ALL = os.environ.get("LONG") == "all"
EVERY = 1 if ALL else 4 if LONG else 12
SIZE = (64 if ALL else 16) * meter.KIB
LOOPS, TIMES, PART = 36 if ALL else 144, 20, 16
"""The loops that a text of 64 KiB may take, and the allowed ratio to the time of a sixteenth of a text."""
_SIZES = (700, 2_000, 4_000, 4_800)
"""Characters: within the limits of rules that have one, and numbers of more digits than Python takes."""
_PATTERNS = patterns()
_CORE = Path(memquorum.__path__[0]) / "core"


@pytest.fixture(scope="module")
def loop_s() -> float:
    """Measures a loop over 64 KiB."""
    return meter.reference()


def slow(read: Callable[[str], object], make: Callable[[int], str], most_s: float) -> str | None:
    """Returns why reading a text takes too long; None where it does not. A slow text is measured again first."""
    text = make(SIZE)
    took = meter.best(lambda: read(text), most_s, 1)
    if took > most_s:
        took = meter.best(lambda: read(text), most_s, 3)
    if took > most_s:
        return f"more than {most_s * 1000:.0f} ms"
    if not ALL or took <= most_s / 8:
        return None  # whatever takes the square of so long a text takes more
    part = make(SIZE // PART)
    little, took = meter.best(lambda: read(part), most_s, 5), min(took, meter.best(lambda: read(text), most_s, 5))
    return None if took <= TIMES * little else f"{took * 1000:.1f} ms, and a sixteenth of it {little * 1000:.2f} ms"


@pytest.mark.parametrize("rule", [one for one in RULES if one not in CLAUSES])
def test_a_rule_reads_every_text_in_time(rule: str, loop_s: float) -> None:
    read, failed = RULES[rule], dict[str, str]()
    most_s = loop_s * LOOPS * SEVERAL.get(rule, 1) * SIZE / (64 * meter.KIB)
    first = list(RULES).index(rule) % EVERY
    always = {"ordinary": ORDINARY, "distinct sentences": DISTINCT}
    for name, make in [*list(TEXTS.items())[first::EVERY], *always.items()]:
        try:
            why = slow(read, make, most_s)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"[:120]
        if why is not None:
            failed[name] = why
    assert not failed


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_raises_on_no_text(rule: str) -> None:
    read, failed = RULES[rule], dict[str, str]()
    for name, make in TEXTS.items():
        try:
            for size in _SIZES if ALL or name.startswith("a number") else _SIZES[:1]:
                read(make(size))
        except Exception as error:
            failed[name] = f"{type(error).__name__}: {error}"[:120]
    assert not failed


@pytest.mark.parametrize("name", _PATTERNS)
def test_a_pattern_reads_what_it_is_pumped_with_in_time(name: str, loop_s: float) -> None:
    pattern, failed = _PATTERNS[name], list[tuple[str, str, str]]()
    size = longest(name)
    most_s = loop_s * LOOPS * max(size, 2 * meter.KIB) / (64 * meter.KIB)
    for before, piece in pumps(pattern):
        for behind in ("", "\0", "!"):
            text = before + piece * max(1, (size - len(before)) // len(piece)) + behind
            for method in methods(name):
                if not in_time(pattern, method, text, most_s):
                    failed.append((method, before[-40:], piece[:40]))
    assert not failed


def in_time(pattern: re.Pattern[str], method: str, text: str, most_s: float) -> bool:
    """Whether a pattern is held against a text within a time."""
    read = getattr(pattern, method)
    for _ in range(3):
        try:
            meter.seconds(lambda: list(read(text)) if method == "finditer" else read(text), most_s)
        except meter.TooSlow:
            continue
        return True
    return False


def longest(name: str) -> int:
    """Returns the length of the longest text that the pattern of a name is matched against."""
    if name in WINDOWS:
        return WINDOWS[name]
    limit = next((limit for where, limit in BOUNDED.items() if f"{name}.".startswith((f"{where}.", f"{where} "))), None)
    return LIMITS[limit][0] if limit else SIZE


def test_there_are_as_many_combinations_as_are_asked_for() -> None:
    assert len(RULES) * len(TEXTS) >= 3_600
    assert len(_PATTERNS) >= 190


@pytest.mark.parametrize("pattern", [r"[A-Za-z]{1,5}(?:[-_./]?\d+)+[A-Za-z]?", r"(?:a+)+b", r"\s+x", r"a.*b.*c"])
def test_a_pattern_that_takes_more_than_its_text_is_found(pattern: str, loop_s: float) -> None:
    slow_one, most_s = re.compile(pattern), loop_s * LOOPS * SIZE / (64 * meter.KIB)
    texts = [before + piece * (SIZE // len(piece)) + "\0" for before, piece in pumps(slow_one)]
    assert not all(in_time(slow_one, method, text, most_s) for text in texts for method in ("search", "fullmatch"))


def test_every_pattern_of_the_core_is_compiled_once() -> None:
    named = {"compile", "escape", "Match", "Pattern", "IGNORECASE", "DOTALL", "I", "VERBOSE", "MULTILINE"}
    found = [
        f"{path.relative_to(_CORE)}:{node.lineno}"
        for path in sorted(_CORE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re"
        if node.attr not in named
    ]
    assert found == []


@pytest.mark.parametrize("limit", [*LIMITS, *COUNTS])
def test_a_limit_is_as_it_is_listed(limit: str) -> None:
    module, _, constant = limit.rpartition(".")
    value = getattr(importlib.import_module(f"memquorum.{module}"), constant)
    assert value == (LIMITS | COUNTS)[limit][0]
    page = (Path(memquorum.__path__[0]).parent / "docs" / "use" / "texts.md").read_text(encoding="utf-8")
    assert f"`{module.removeprefix('core.')}.{constant}`" in page
    assert f"{value:,}" in page
