"""A new field that an episode only carries is named in at most six product files (infra/decisions/0062).

A copy of the product gets one, `mood`, by an edit of each file. There it travels from the client's arguments to a hit.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import ROOT

FILES_MAX = 6
AVRO = '{"name": "mood", "type": ["null", "string"], "doc": "How it felt.", "default": null}'
# By file: behind which text, which text comes in.
EDITS = {
    "memquorum/core/records/episodes.py": ("    explicit: bool = False\n", "    mood: str | None = None\n"),
    "memquorum/client/values.py": ("    explicit: bool\n", "    mood: str | None\n"),
    "db/migrations/memory/0001_schema.sql": (
        "    explicit        boolean NOT NULL DEFAULT false,\n",
        "    mood text,\n",
    ),
    **{f"schemas/avro/{name}.avsc": ("", AVRO) for name in ("EpisodeRecorded", "EpisodeAccepted", "Stored")},
}
# The same tests that hold the declarations, the schemas and the statements of the house equal.
TESTS = (
    "tests/schema/test_records.py::test_a_record_is_its_schema",
    "tests/unit/core/journal/test_tables.py::test_a_declaration_has_the_columns_of_the_schema",
    "tests/unit/core/journal/test_tables.py::test_statements_have_the_columns_of_the_declaration",
    "tests/unit/client/test_client.py::test_the_fields_of_an_episode_are_those_of_its_record",
)
JOURNEY = """
import json
from msgspec.structs import asdict, replace
from db.columns import REMEMBERED
from db.copying import raw
from db.found_rows import hit_of
from db.queries import QUERIES
from memquorum import topics
from memquorum.client import AsyncMemory
from memquorum.client.publishing import _FIELDS
from memquorum.core import letters
from memquorum.core.intake import Origin, accept, seal_episode
from memquorum.core.journal.rows import Memory
from memquorum.core.records import Stored
from memquorum.core.records.episodes import Said, taken
from memquorum.schema_files import load_codec
from tests.builders.published import GENESIS
from tests.builders.shard import Shard

codec, origin = load_codec(), Origin(topics.EPISODES, 0, 0)
_, published = AsyncMemory(agent="ann")._episode({"content": "Valve 3 opens.", "mood": "calm"})
intent = accept(codec, published, origin, 1_750_000_000_000, False)
told = accept(codec, published.replace(b"calm", b" "), origin, 1_750_000_000_000, False)
sealed = codec.decode(codec.encode(seal_episode(intent, origin, bytes(32), (bytes(12),) * 3)))
change = Shard(codec, GENESIS).episode("e", **taken(Said, sealed))
stored, memory = codec.decode(change.entry.detail), change.one(Memory)
seen = {"sensitivity": 0, "purposes": None, "jurisdictions": "", "salience": 1, "mood": memory.mood}
hit = hit_of((*(seen.get(name) for name in REMEMBERED), 0.5, None))
print(json.dumps({
    "sealed": sealed.mood, "journal": stored.mood, "row": "calm" in raw(memory), "hit": asdict(hit)["mood"],
    "letter": json.loads(letters._said(sealed, "x", {}))["mood"], "refused": [told.field, told.reason],
    "command": "mood" in _FIELDS, "statements": [name for name, text in QUERIES.items() if "mood" in text],
}))
"""


def edited(folder: Path, name: str) -> None:
    behind, new = EDITS[name]
    file = folder / name
    text = file.read_text()
    if name.endswith(".avsc"):
        schema = json.loads(text)
        at = next(at for at, field in enumerate(schema["fields"]) if field["name"] == "explicit")
        schema["fields"].insert(at + 1, json.loads(new))
        file.write_text(json.dumps(schema))
        return
    assert text.count(behind) == 1
    file.write_text(text.replace(behind, behind + new))


def ran(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_field_that_is_only_carried_is_named_in_six_files(tmp_path: Path) -> None:
    for room in ("memquorum", "db", "schemas", "tests", "workers", "infra"):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__", "*.jsonl", "*.npz"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert len(EDITS) <= FILES_MAX
    for name in EDITS:
        edited(tmp_path, name)
    found: dict[str, Any] = json.loads(ran(tmp_path, "-c", JOURNEY))
    statements = set(found.pop("statements"))
    assert found == {
        "sealed": "calm", "journal": "calm", "row": True, "hit": "calm", "letter": "calm",
        "refused": ["mood", "bad_name"], "command": True,
    }  # fmt: skip
    assert {
        "memory_copy",
        "memories",
        "audit_memory",
        "kept_memories",
        "memory_shown",
        "search",
        "candidates",
        "around",
    } < (statements)
    ran(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
