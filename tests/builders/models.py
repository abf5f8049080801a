"""Folders of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def folder(place: Path, steps: list[tuple[str, str]] | None = None, **files: Any) -> Path:
    """Makes a folder with a config and weights that cannot be loaded; `files`: name without .json → content."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"weights")
    if steps is not None:
        listed = [{"type": f"sentence_transformers.models.{kind}", "path": path} for kind, path in steps]
        (place / "modules.json").write_text(json.dumps(listed))
    for name, held in files.items():
        (place / f"{name}.json").write_text(json.dumps(held))
    return place
