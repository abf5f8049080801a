"""The account of a memory over HTTP: of a summary with its sentences, for whom may read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.labelling import Labels
from memquorum.core.records import Link
from tests.builders.facts import facts
from tests.builders.served import GENESIS, HERS, Served, bearer, client_of, make, stored
from tests.builders.shard import Shard, memory_id
from workers.retrieval.door import Door

SUMMARY = memory_id("sum")
SAID = ("Ada has +49 30 1234567.", "Pump 7 has a new gasket.")


@pytest.fixture
def service(codec: Codec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A summary of two memories; the key 1 reads, the key 2 audits, the key 3 does both."""
    stored(tmp_path / "keys.json", (1, ("read",), ("*",)), (2, ("audit",), ("*",)), (3, ("read", "audit"), ("*",)))
    made, shard = make(codec, Door(tmp_path / "keys.json")), Shard(codec, GENESIS)
    for name in "ab":
        shard.episode(name)
    said = {"subject": "ada", "source": "survey", "slot": "door", "explicit": True}
    shard.summary("sum", [memory_id("a"), memory_id("b")], **said)
    labels = Labels("door", "users/ada", '{"colour":"crimson"}')
    links = (Link("isA", name="pump"), Link("requires", memory_id("a")))
    found, memory = replace(facts(shard, SUMMARY), labels=labels, links=links), made.reads.memory

    async def account(*_: Any) -> Any:
        return found

    async def summary(sight: Any, asked: str, gates: Any) -> Any:
        assert asked == SUMMARY
        shown = await memory(sight, HERS, gates)
        return shown and {**shown, "text": "Key facts:\n" + "\n".join(SAID)}

    monkeypatch.setattr(made.reads, "facts", account)
    monkeypatch.setattr(made.reads, "memory", summary)
    return made


def lines(service: Served, key: int, **asked: str) -> list[str]:
    answer = client_of(service).get(f"/memories/{SUMMARY}/explain", params=asked, headers=bearer(key))
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()["lines"]
    return found


@pytest.mark.parametrize("key", [1, 3])
def test_who_may_read_a_summary_is_told_its_sentences_with_their_sources(service: Served, key: int) -> None:
    told = lines(service, key)
    at = told.index(f"    1. key fact: {SAID[0]}")
    assert told[at + 1].startswith(f"       from {memory_id('a')}, said on ")
    assert told[at + 2] == f"    2. key fact: {SAID[1]}"
    masked = lines(service, key, redact="true")
    assert masked[at] == "    1. key fact: Ada has [phone]." and masked[at + 2] == told[at + 2]


def test_who_may_audit_alone_is_told_the_sources_without_the_words(service: Served) -> None:
    told = "\n".join(lines(service, 2))
    assert f"    1. key fact\n       from {memory_id('a')}, said on " in told
    assert not any(one in told for one in SAID)


def test_who_may_audit_alone_is_told_neither_labels_nor_names(service: Served) -> None:
    def explain_text(key: int) -> str:
        return client_of(service).get(f"/memories/{SUMMARY}/explain", headers=bearer(key)).text

    words = ("users/ada", "colour", "crimson", "pump", "survey", "door", "s1")
    assert [word for word in words if word not in explain_text(1)] == []
    assert [word for word in words if word in explain_text(2)] == []
    audited = lines(service, 2)
    assert f"  Its publisher links it: isA a name, requires {memory_id('a')}." in audited
    assert "  It was saved under a key." in audited
    assert any("A summary was made of 2 memories." in line for line in audited)
