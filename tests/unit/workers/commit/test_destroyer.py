"""The commit worker and a vault that was put back: what is destroyed again, and when it is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core import asked
from memquorum.core.avro import Codec
from memquorum.core.journal import hash_chain
from memquorum.core.records import ErasureOrdered
from memquorum.ports import VaultBehind, VaultUnavailable
from tests.builders.shard import NAMESPACE, memory_id
from tests.inmemory.vault import InMemoryVault
from workers.commit import destroyer
from workers.commit.destroyer import Destroyer

NAMES = [memory_id(name) for name in "abcdef"]
STATE = replace(hash_chain.beginning(b"c" * 32, 1), seq=20)


class _Journal:
    """The part of the store that tells of destroyed keys: by sequence, whose."""

    def __init__(self, entries: dict[int, list[str]]) -> None:
        self.entries, self.asked = entries, 0
        self.orders: dict[int, ErasureOrdered] = {}

    def destroyed(
        self, _codec: object, _shard: int, after: int, limit: int
    ) -> list[tuple[int, list[str], ErasureOrdered | None]]:
        self.asked += 1
        return [(seq, ids, self.orders.get(seq)) for seq, ids in sorted(self.entries.items()) if seq > after][:limit]


@pytest.fixture
def vault() -> InMemoryVault:
    made = InMemoryVault()
    made.create([(name, NAMESPACE, "ada") for name in NAMES])
    return made


@pytest.fixture
def journal() -> _Journal:
    return _Journal({3: NAMES[:1], 5: NAMES[1:4], 9: [], 12: NAMES[4:5]})


def over(
    codec: Codec, journal: _Journal, vault: InMemoryVault, patiently: Callable[..., Any] = lambda ask: ask()
) -> Destroyer:
    return Destroyer(codec, journal, vault, patiently)  # type: ignore[arg-type]


def test_a_vault_that_is_put_back_is_followed_from_its_own_note(
    codec: Codec, journal: _Journal, vault: InMemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(destroyer, "_AGAIN", 2)
    vault.follow({1: (0, 4)})
    assert over(codec, journal, vault).begin([STATE]) == 4
    assert set(vault.open(NAMES)) == {NAMES[0], NAMES[5]} and vault.followed() == {1: 20}
    asked = journal.asked
    assert over(codec, journal, vault).begin([STATE]) == 0 and journal.asked == asked
    # Another journal, or an older one: from its beginning.
    assert over(codec, journal, vault).begin([replace(STATE, seq=15)]) == 1
    assert set(vault.open(NAMES)) == {NAMES[5]} and vault.followed() == {1: 15}


def order(selector: str, value: str) -> ErasureOrdered:
    return ErasureOrdered(bytes(32), "o", NAMESPACE, selector, value, "operator", 1)


@pytest.mark.parametrize(
    ("selector", "value", "left"),
    [
        ("subject", "ada", {"bob", "elsewhere"}), ("agent", "ada", {"bob", "elsewhere"}),
        ("namespace", "", {"elsewhere"}),
        ("source", "ada", {"ada", "bob", "elsewhere"}), ("memory", NAMES[0], {"ada", "bob", "elsewhere"}),
    ],
)  # fmt: skip
def test_an_erasure_takes_what_its_subject_had_asked_also_from_a_vault_that_was_put_back(
    codec: Codec, vault: InMemoryVault, selector: str, value: str, left: set[str]
) -> None:
    def keys(made: InMemoryVault) -> InMemoryVault:
        made.create([(one, asked.KEYS, asked.owner(NAMESPACE, one)) for one in ("ada", "bob")])
        made.create([("elsewhere", asked.KEYS, asked.owner(f"{NAMESPACE}2", "ada"))])
        return made

    everything = ["ada", "bob", "elsewhere"]
    journal = _Journal({9: []})
    assert over(codec, journal, keys(vault)).forget_asked(order(selector, value)) == 3 - len(left)
    assert set(vault.open(everything)) == left
    behind = keys(InMemoryVault())
    journal.orders[9] = order(selector, value)
    assert over(codec, journal, behind).begin([STATE]) == 3 - len(left)
    assert set(behind.open(everything)) == left


def test_the_note_moves_with_the_keys(codec: Codec, journal: _Journal, vault: InMemoryVault) -> None:
    made = over(codec, journal, vault)
    made.begin([STATE])
    made.destroy(NAMES[5:], {1: 21})
    assert vault.open(NAMES[5:]) == {} and vault.followed() == {1: 21}


def test_nothing_is_destroyed_in_a_vault_that_was_put_back_until_all_is(
    codec: Codec, journal: _Journal, vault: InMemoryVault
) -> None:
    made = over(codec, journal, vault)
    made.begin([STATE])
    vault.follow({1: (20, 4)})
    with pytest.raises(VaultBehind):
        made.destroy(NAMES[5:], {1: 21})
    assert set(vault.open(NAMES[5:])) == {NAMES[5]} and vault.followed() == {1: 4}


def test_it_looks_now_and_then_and_moves_the_note_with_the_journal(
    codec: Codec, journal: _Journal, vault: InMemoryVault
) -> None:
    made = over(codec, journal, vault)
    made.begin([STATE])
    made.look([replace(STATE, seq=22)], 10.0)
    assert vault.followed() == {1: 22}
    vault.follow({1: (22, 4)})
    made.look([replace(STATE, seq=22)], 11.0)
    with pytest.raises(VaultBehind):
        made.look([replace(STATE, seq=22)], 12.0)


def test_a_vault_that_is_away_is_looked_at_later(
    codec: Codec, journal: _Journal, vault: InMemoryVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> int:
        raise VaultUnavailable("away")

    made = over(codec, journal, vault)
    made.begin([STATE])
    with monkeypatch.context() as patch:
        patch.setattr(vault, "follow", away)
        made.look([replace(STATE, seq=22)], 10.0)
    assert vault.followed() == {1: 20}
    made.look([replace(STATE, seq=22)], 20.0)
    assert vault.followed() == {1: 22}
