"""Finds the record schemas on disk: `schemas/` of a checkout, or the copy inside an installed package."""

from __future__ import annotations

import json
from pathlib import Path

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
    """A codec for every record type of `schemas/avro`."""
    files = sorted((schema_folder() / "avro").glob("*.avsc"))
    return Codec(json.loads(file.read_text(encoding="utf-8")) for file in files)
