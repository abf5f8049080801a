"""The digests of finished tasks are computed again: a vector, a text or a row that was changed shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import Texts
from memquorum.core.journal.contexts import context
from memquorum.core.journal.rows import Memory, TaskRow
from tests.builders.published import GENESIS
from tests.builders.shard import Shard, memory_id
from workers.audit.task_digests import Stored, check

TEXT, VECTOR = Texts("Open valve 3.", "4 bar").content, np.array([0.6, 0.8], "<f2").tobytes()


@pytest.fixture
def stored(codec: Codec) -> Stored:
    change = Shard(codec, GENESIS).task("t", [memory_id("a"), memory_id("b")])
    memory, task = change.one(Memory), change.one(TaskRow)
    assert memory is not None and task is not None
    return context(memory, task, TEXT, VECTOR).digest, memory, task, TEXT, VECTOR


def test_what_is_as_it_was_is_counted(stored: Stored) -> None:
    found = check([stored], range(2))
    assert [(found[k].counts.contexts, found[k].kept) for k in (0, 1)] == [(1, []), (0, [])]


@pytest.mark.parametrize("changed", [
    {"vector": np.array([0.8, 0.6], "<f2").tobytes()},
    {"text": Texts("Open valve 4.", "4 bar").content},
    {"text": "no texts at all"},
    {"vector": b""},
    {"outcome": "failed"},
    {"retrieved": (memory_id("b"), memory_id("a"))},
    {"encoder": "another"},
    {"digest": b"d" * 32},
], ids=str)  # fmt: skip
def test_what_is_not_shows(stored: Stored, changed: dict[str, Any]) -> None:
    digest, memory, task, text, vector = stored
    task = replace(task, **{name: one for name, one in changed.items() if name in ("outcome", "retrieved")})
    memory = replace(memory, encoder=changed.get("encoder", memory.encoder))
    altered = changed.get("digest", digest), memory, task, changed.get("text", text), changed.get("vector", vector)
    (finding,) = check([altered], [0])[0].kept
    assert (finding.kind, finding.seq) == (Kind.CONTENT_ALTERED, task.seq) and memory.id in finding.where
    assert "valve" not in str(finding), "a finding is no place for content"
