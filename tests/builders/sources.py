"""The product's source files."""

from __future__ import annotations

from pathlib import Path

from tests import ROOT

ROOMS = ("memquorum", "streams", "workers", "db", "infra")
MODULES = sorted(p for room in ROOMS for p in (ROOT / room).rglob("*.py"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))
