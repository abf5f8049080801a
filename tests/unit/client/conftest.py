"""Fixtures that tests of the client share."""

from __future__ import annotations

from pathlib import Path

import pytest

from memquorum.client import settings


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No installation nearby, no variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings, "_nearby", lambda: iter([tmp_path / settings.RUN_DIR]))
    for name in ("BOOTSTRAP", "URL", "NAMESPACE", "AGENT", "RUN_DIR", "API_KEY"):
        monkeypatch.delenv(f"MEMQUORUM_{name}", raising=False)
