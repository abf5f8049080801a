"""The guards as a page, docs/measured/guards.md, out of the list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.guards.removal import ROOT, Guard

PAGE = ROOT / "docs" / "measured" / "guards.md"
LIMIT_S = 5  # a killer that takes longer is too slow to be run often
_SHORT = 64

_HEAD = """\
# Guards

Each line is a protection that stands in the code, and the test that turns red when it is taken out. `make guards` takes
out each in turn and says where the test stayed green; `make test` does so with a sixth of them, `make test LONG=1` with
a third, other ones each day. Written by `python -m tests.guards --page` out of `tests/guards/guards.yaml`; a test holds
it equal to that.
"""


def page(guards: Sequence[Guard]) -> str:
    """The page: a table for each stage."""
    lines = [_HEAD, f"{len(guards)} guards."]
    for stage in dict.fromkeys(guard.stage for guard in guards):
        lines += ["", f"## {stage}", "", "| guard | in | what is taken out | killer |", "|---|---|---|---|"]
        lines += [_line(guard) for guard in guards if guard.stage == stage]
    return "\n".join([*lines, ""])


def _line(guard: Guard) -> str:
    file, _, test = guard.killer.partition("::")
    killer = f"{_code(Path(file).name)} {_code(test)}" if test else _code(Path(file).name)
    return f"| {guard.name} | {_code(guard.at)} | {_code(_short(guard.guard))} | {killer} |"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1].rstrip() + "…"


def _code(text: str) -> str:
    mark = "``" if "`" in text else "`"
    return f"{mark}{text}{mark}".replace("|", "\\|")
