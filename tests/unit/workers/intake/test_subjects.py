"""A record that the profile of a subject keeps out is refused, in the same words for every reason."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import intake
from memquorum.core.avro import Codec
from memquorum.core.intake import Intent, Origin, Refusal
from memquorum.ports import KeepingOut, StoreUnavailable
from memquorum.telemetry.health import Health
from tests.builders import genesis
from tests.inmemory.vault import InMemoryVault
from workers.intake.subjects import REFUSAL, Subjects
from workers.intake.worker import Intake
from workers.kafka import loop

NOW = 1_750_000_000_000
offsets = itertools.count()


class Store:
    """Profiles in force, or an outage."""

    def __init__(self, *found: KeepingOut) -> None:
        self.found: tuple[KeepingOut, ...] | None = found

    def keeping_out(self) -> tuple[KeepingOut, ...]:
        if self.found is None:
            raise StoreUnavailable("away")
        return self.found

    def close(self) -> None:
        """Has nothing to close."""


def episode(**said: object) -> Intent:
    data = json.dumps({"agent": "planner", "content": "Tea at four.", "namespace": "greenhouse"} | said).encode()
    answer = intake.accept(Codec([]), data, Origin(topics.EPISODES, 0, next(offsets)), NOW, False)
    assert not isinstance(answer, Refusal)
    return answer


def profile(*entries: str, subject: str = "ada", stores: bool = True, private: int | None = None) -> KeepingOut:
    return KeepingOut("greenhouse", subject, stores, private, entries)


def known(*found: KeepingOut) -> Subjects:
    subjects = Subjects(Store(*found), Health())
    assert subjects.look()
    return subjects


@pytest.mark.parametrize(
    "found", [profile(stores=False), profile(private=NOW + 1), profile("tea")], ids=["nothing", "private", "listed"]
)
def test_every_reason_has_the_same_words(found: KeepingOut) -> None:
    subjects = known(found)
    assert subjects.admitted(episode(subject="ada"), NOW) is REFUSAL
    assert not isinstance(subjects.admitted(episode(subject="bo"), NOW), Refusal)
    assert not isinstance(subjects.admitted(episode(subject="ada", namespace="elsewhere"), NOW), Refusal)
    assert "tea" not in REFUSAL.detail


@pytest.mark.parametrize(
    "said",
    [
        {"content": "About Dr Meyer"}, {"session": "Dr. Meyer"}, {"source": "dr meyer"}, {"path": "people/dr meyer"},
        {"attributes": {"doctor": "Dr. Meyer"}}, {"attributes": {"dr meyer": 1}},
        {"links": [{"kind": "friendOf", "name": "Dr. Meyer"}]},
    ],
    ids=str,
)  # fmt: skip
def test_a_listed_name_is_found_wherever_a_record_says_it(said: dict[str, object]) -> None:
    subjects = known(profile("Dr. Meyer"))
    assert subjects.admitted(episode(subject="ada", **said), NOW) is REFUSAL
    assert not isinstance(subjects.admitted(episode(subject="ada"), NOW), Refusal)


def test_who_has_no_subject_is_its_own() -> None:
    assert known(profile(subject="planner", stores=False)).admitted(episode(), NOW) is REFUSAL


def test_private_mode_ends_by_itself() -> None:
    assert not isinstance(known(profile(private=NOW)).admitted(episode(subject="ada"), NOW), Refusal)


def test_what_was_known_stands_while_the_store_is_away_and_nothing_comes_in_before() -> None:
    store = Store(profile(stores=False))
    subjects = Subjects(store, Health())
    found, store.found = store.found, None
    assert not subjects.look()
    store.found = found
    assert subjects.look()
    store.found = None
    assert subjects.look() and subjects.admitted(episode(subject="ada"), NOW) is REFUSAL


class Counted(Store):
    """Profiles that count how often they are asked for."""

    asked = 0

    def keeping_out(self) -> tuple[KeepingOut, ...]:
        self.asked += 1
        return super().keeping_out()


def test_an_idle_intake_asks_for_no_profiles() -> None:
    """Its loop turns five times a second."""
    store = Counted()
    client: Any = Intake("nowhere:1", genesis.make(), Codec([]), InMemoryVault(), stop=loop.Stop(), profiles=store)
    for _ in range(5):
        client.handle([])
    assert store.asked == 0
