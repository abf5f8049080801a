"""Letters that are published again, and their list: no servers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from infra import dlq
from infra.settings import Settings
from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import IntakeRefused
from memquorum.core.showing.plurals import many
from memquorum.core.stock import Full, full_namespaces, named
from tests.builders.genesis import make
from workers.upkeep import dead_letters
from workers.upkeep.dead_letters import Letter

GENESIS = make()
NOW = 1_750_000_000_000


def letter(offset: int, first: tuple[int, int] | None = None) -> Letter:
    """A letter of a record that stood at this offset."""
    record = IntakeRefused(
        topics.EPISODES, 0, offset, Reason.OVER_QUOTA, "no room", NOW, f"k{offset}", b"", "namespace"
    )
    return Letter(0, offset, record, None, first)


def accepted_episode(namespace: str, event_id: str, codec: Codec) -> Any:
    data = json.dumps({"agent": "a", "content": "c", "namespace": namespace, "event_id": event_id}).encode()
    return intake.accept(codec, data, Origin(topics.EPISODES, 0, 1, NOW), NOW, False, genesis=GENESIS, signature=None)


def test_of_an_episodes_letters_one_is_published_and_none_where_it_is_in_or_has_no_room(codec: Codec) -> None:
    letters = [letter(number) for number in range(8)]
    judged = {
        "0/0": accepted_episode("q1", "e0", codec), "0/1": accepted_episode("q1", "e0", codec),
        "0/2": accepted_episode("q2", "e0", codec),
        "0/3": accepted_episode("q1", "e1", codec), "0/4": accepted_episode("q1", "e0", codec),
        "0/5": accepted_episode("q3", "e0", codec),
        "0/6": Refusal(Reason.BAD_ID, "event_id", "no"),
    }  # fmt: skip
    sound, left, needless = dead_letters.parted(letters, judged, {"0/3": "stored"}, {"q2"})
    assert [one.name for one in sound] == ["0/0", "0/5"]
    assert left == {"no room in q2": 1, "still refused: bad_id (event_id)": 1, "its bytes were not kept": 1}
    assert needless == {"another letter of the same episode is enough": 2, "came in before: stored": 1}


def test_a_letter_of_what_was_published_again_is_of_the_same_episode(codec: Codec) -> None:
    payload = json.dumps({"agent": "a", "content": "c"}).encode()
    found = [
        dead_letters.judge(codec, GENESIS, one, payload, now_ms=NOW, driven=False)
        for one in (letter(3), letter(40, first=(0, 3)))
    ]
    wanted = ids.origin_event_id("a", topics.EPISODES, 0, 3)
    assert [one.event_id for one in found if isinstance(one, EpisodeIntent)] == [wanted, wanted]
    assert dict(dead_letters._headers(letter(40, first=(0, 3))))["first_at"] == f"{topics.EPISODES}/0/3".encode()


def test_who_has_no_room_is_read_from_intakes_alarm() -> None:
    full = {name: Full(3, 2, 1) for name in ("q2", "a:b@c", "z")}
    assert named(f"{full_namespaces(full, 2)}: the limit of memories (ingest_…) is reached") == {"a:b@c", "q2"}
    assert named("") == frozenset()


def test_the_reason_stands_whole_on_a_narrow_terminal(tmp_path: Path) -> None:
    out = io.StringIO()
    asked: Any = SimpleNamespace(last=0, show=False, json=False)
    dlq._tell(Settings(run_dir=tmp_path), asked, [letter(1)], Console(file=out, width=80))
    shown = out.getvalue()
    assert "over_quota" in shown and "2025-06-15" in shown and "15:06:40" in shown and "\u2026" not in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("count", "one", "words"),
    [(1, "memory", "1 memory"), (0, "memory", "0 memories"), (1_200, "letter", "1,200 letters")],
)
def test_one_is_singular(count: int, one: str, words: str) -> None:
    assert many(count, one) == words
