"""The keys of dead letters end with the letters, those of queries when they are old."""

from __future__ import annotations

import pytest

from infra.topic_files import declared
from memquorum import topics
from memquorum.core import asked
from memquorum.ports import VaultUnavailable
from tests.inmemory.store import InMemoryVault
from workers.intake.arrivals import DEAD_LETTERS
from workers.intake.old_keys import EVERY_S, OldKeys


class Vault(InMemoryVault):
    """Counts the questions, and does not answer where it is told so."""

    asked = 0
    away = False

    def destroy_older(self, namespace: str, age_ms: int) -> int:
        self.asked += 1
        if self.away:
            raise VaultUnavailable("away")
        return super().destroy_older(namespace, age_ms)


@pytest.fixture
def vault() -> Vault:
    made = Vault()
    made.create([("letter", DEAD_LETTERS, "dead-letter"), ("memory", "greenhouse", "planner")])
    made.create([("query", asked.KEYS, asked.owner("greenhouse", "planner"))])
    return made


def test_old_letters_and_queries_lose_their_keys_and_nothing_else_does(vault: Vault) -> None:
    assert OldKeys(vault, 3_600_000, 1).turn(0) == 0
    assert OldKeys(vault, 0, 1).turn(0) == 1, "a query keeps its key for the day on which it was made at least"
    assert set(vault.open(["letter", "memory", "query"])) == {"memory", "query"}
    assert OldKeys(vault, 0, 0).turn(0) == 1, "queries that are not logged any more cannot be opened either"
    assert set(vault.open(["letter", "memory", "query"])) == {"memory"}


def test_the_vault_is_asked_once_an_hour_and_soon_again_where_it_is_away(vault: Vault) -> None:
    keys = OldKeys(vault, 0, 0)
    vault.away = True
    assert keys.turn(1_000.0) == 0
    assert (keys.turn(1_059.0), vault.asked) == (0, 1)
    vault.away = False
    assert (keys.turn(1_060.0), vault.asked) == (2, 3)
    assert (keys.turn(1_059.0 + EVERY_S), vault.asked) == (0, 3)
    assert (keys.turn(1_060.0 + EVERY_S), vault.asked) == (0, 5)


def test_letters_are_kept_no_longer_than_what_intake_reads() -> None:
    kept = {topic.name: int(topic.config["retention.ms"]) for topic in declared() if "retention.ms" in topic.config}
    assert kept[topics.REFUSED] <= min(kept[topics.EPISODES], kept[topics.ACCESSES])
