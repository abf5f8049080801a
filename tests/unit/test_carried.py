"""A new field that an episode only carries travels from the client's arguments to a hit (infra/decisions/0062).

A copy of the product gets one, `mood`, by the edits of `tests.builders.fields`; `tests/unit/test_house.py` holds how
many files they are in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.builders.fields import OF_AN_EPISODE, copied, ran

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
from db.sql_fragments import REMEMBERED
from db.copying import raw
from db.found_rows import hit_of
from db.queries import QUERIES
from memquorum import topics
from memquorum.client import AsyncMemory
from memquorum.client.publishing import _FIELDS
from memquorum.core import letters
from memquorum.core.api.endpoints import PUBLISHED
from memquorum.core.intake import Origin, accept, seal_episode
from memquorum.core.journal.rows import Memory
from memquorum.core.records import Stored
from memquorum.core.records.episodes import Said, fields_of
from memquorum.schema_files import load_codec
from tests.builders.published import GENESIS
from tests.builders.shard import Shard
from workers.retrieval.openapi import describe

codec, origin = load_codec(), Origin(topics.EPISODES, 0, 0)
_, published = AsyncMemory(agent="ann")._episode({"content": "Valve 3 opens.", "mood": "calm"})
intent = accept(codec, published, origin, 1_750_000_000_000, False)
told = accept(codec, published.replace(b"calm", b" "), origin, 1_750_000_000_000, False)
sealed = codec.decode(codec.encode(seal_episode(intent, origin, bytes(32), (bytes(12),) * 3)))
change = Shard(codec, GENESIS).episode("e", **fields_of(Said, sealed))
stored, memory = codec.decode(change.entry.detail), change.one(Memory)
seen = {"sensitivity": 0, "purposes": None, "jurisdictions": "", "salience": 1, "mood": memory.mood}
hit = hit_of((*(seen.get(name) for name in REMEMBERED), 0.5, None))
print(json.dumps({
    "sealed": sealed.mood, "journal": stored.mood, "row": "calm" in raw(memory), "hit": asdict(hit)["mood"],
    "letter": json.loads(letters._said(sealed, "x", {}))["mood"], "refused": [told.field, told.reason],
    "described": describe([PUBLISHED])["components"]["schemas"]["EpisodeRecorded"]["properties"]["mood"]["description"],
    "command": "mood" in _FIELDS, "statements": [name for name, text in QUERIES.items() if "mood" in text],
}))
"""


def test_a_field_that_is_only_carried_comes_from_the_client_to_a_hit(tmp_path: Path) -> None:
    copied(tmp_path, OF_AN_EPISODE)
    found: dict[str, Any] = json.loads(ran(tmp_path, "-c", JOURNEY))
    statements = set(found.pop("statements"))
    assert found == {
        "sealed": "calm", "journal": "calm", "row": True, "hit": "calm", "letter": "calm",
        "refused": ["mood", "bad_name"], "command": True, "described": "How it felt.",
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
