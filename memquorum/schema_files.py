"""Finds the record schemas on disk: `schemas/` of a checkout, or the copy inside an installed package."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from memquorum.core.avro import Codec

_PACKAGE = Path(__file__).resolve().parent


def schema_folder() -> Path:
    """The folder that holds `avro/` and `topics/`. Raises FileNotFoundError naming the places looked at."""
    places = (_PACKAGE / "schemas", _PACKAGE.parent / "schemas")
    for place in places:
        if (place / "avro").is_dir():
            return place
    raise FileNotFoundError(f"no schemas in {places[0]} (an installed package) or {places[1]} (a checkout)")


def load_codec() -> Codec:
    """A codec that writes the record types of `schemas/avro` and reads every version that was ever released."""
    folder = schema_folder()
    return Codec(_read(folder / "avro", "*.avsc"), older=_read(folder / "golden", "*/*.avsc"))


@lru_cache(maxsize=1)
def shared_codec() -> Codec:
    """The codec of this process, read once: for whoever is given none."""
    return load_codec()


def _read(folder: Path, pattern: str) -> list[dict[str, Any]]:
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob(pattern))]
