"""The contract of every vault, run on both."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping

import psycopg
import pytest

from db.vault import PostgresVault
from memquorum.core.sealing import SealError
from memquorum.ports import Follows, Owner, Vault, VaultBehind, VaultUnavailable
from tests.inmemory.store import InMemoryVault
from tests.support.waiting import PATIENCE_S

MASTER = bytes(range(32))


@pytest.fixture(params=["memory", "postgres"])
def again(request: pytest.FixtureRequest) -> Callable[[], Vault]:
    """Opens the same vault: once more each time for Postgres, as another process would."""
    if request.param == "memory":
        vault = InMemoryVault()
        return lambda: vault
    dsn = request.getfixturevalue("databases")[1]
    return lambda: PostgresVault(dsn, MASTER)


@pytest.fixture
def vault(again: Callable[[], Vault]) -> Vault:
    return again()


def ids(count: int) -> list[str]:
    return [str(uuid.uuid4()) for _ in range(count)]


def test_a_key_is_made_once_and_stays(vault: Vault, again: Callable[[], Vault]) -> None:
    a, b = ids(2)
    made = vault.create([(a, "greenhouse", "planner"), (b, "greenhouse", "planner")])
    assert set(made) == {a, b}
    assert [len(key) for key in made.values()] == [32, 32]
    assert made[a] != made[b]
    assert vault.create([(b, "greenhouse", "planner")]) == {b: made[b]}
    assert again().open([a, b]) == made


def test_it_knows_how_far_it_followed_each_journal(vault: Follows, again: Callable[[], Follows]) -> None:
    a, b = ids(2)
    vault.create([(a, "n", "s"), (b, "n", "s")])
    assert vault.followed() == {}
    assert vault.follow({0: (0, 7), 1: (0, 3)}) == 0
    assert vault.follow({0: (7, 9)}, [a]) == 1
    assert again().followed() == {0: 9, 1: 3} and set(again().open([a, b])) == {b}
    # The answer to it may have been lost.
    assert vault.follow({0: (7, 9)}, [a]) == 0


def test_a_vault_that_is_not_where_it_was_left_destroys_nothing(vault: Follows) -> None:
    (a,) = ids(1)
    vault.create([(a, "n", "s")])
    vault.follow({0: (0, 7)})
    with pytest.raises(VaultBehind):
        vault.follow({1: (0, 3), 0: (8, 9)}, [a])
    assert vault.followed() == {0: 7} and set(vault.open([a])) == {a}


def test_a_vault_that_goes_back_gives_no_key_until_it_has_followed(databases: tuple[str, str]) -> None:
    commit, reader = (PostgresVault(databases[1], MASTER) for _ in range(2))
    (a,) = ids(1)
    made = commit.create([(a, "n", "s")])
    commit.follow({0: (0, 7)})
    assert reader.open([a]) == made
    with psycopg.connect(databases[1]) as connection:
        connection.execute("UPDATE destruction SET seq = 5")
    for ask in (lambda: reader.open([a]), lambda: reader.create([(a, "n", "s")]), lambda: commit.open([a])):
        with pytest.raises(VaultBehind, match="up to entry 5, and keys were destroyed since, up to entry 7"):
            ask()
    assert commit.followed() == {0: 5}
    commit.follow({0: (5, 8)})
    assert reader.open([a]) == made


def test_the_journals_are_asked_on_each_connection_and_after_a_while(
    databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, asked = PostgresVault(databases[1], MASTER), list[dict[int, int]]()
    (a,) = ids(1)
    made = commit.create([(a, "n", "s")])
    commit.follow({0: (0, 7)})

    def journals(followed: Mapping[int, int]) -> dict[int, int]:
        asked.append(dict(followed))
        return {2: 4}

    reader = PostgresVault(databases[1], MASTER, journals=journals)
    for _ in range(2):
        with pytest.raises(VaultBehind, match="shard 2 up to entry 0"):
            reader.open([a])
    commit.follow({2: (0, 4)})
    assert reader.open([a]) == made and reader.open([a]) == made
    before = len(asked)
    reader.close()
    assert reader.open([a]) == made and asked[before:] == [{0: 7, 2: 4}]
    monkeypatch.setattr("db.vault._SURE_S", -1.0)
    reader.open([a])
    reader.open([a])
    assert len(asked) == before + 2


def test_an_unknown_key_is_absent(vault: Vault) -> None:
    (a,) = ids(1)
    assert vault.open([a]) == {}
    assert vault.open([]) == {}
    assert vault.create([]) == {}
    assert vault.destroy([]) == 0


def test_a_namespaces_old_keys_are_destroyed(vault: Vault, again: Callable[[], Vault]) -> None:
    a, b, c = ids(3)
    vault.create([(a, "!intake", "s"), (b, "!intake", "s"), (c, "n", "s")])
    assert vault.destroy_older("!intake", 3_600_000) == 0
    assert set(vault.open([a, b, c])) == {a, b, c}
    assert vault.destroy_older("!intake", 0) == 2
    assert set(again().open([a, b, c])) == {c}
    assert vault.destroy_older("!intake", 0) == 0
    assert vault.create([(a, "!intake", "s")]) == {}


def test_a_subjects_keys_are_destroyed_and_those_of_all_that_begin_so(vault: Vault, again: Callable[[], Vault]) -> None:
    a, b, c, d = ids(4)
    vault.create([(a, "!asked", "n/ann"), (b, "!asked", "n/anna"), (c, "!asked", "n_/ann"), (d, "n", "n/ann")])
    assert vault.destroy_of("!asked", "n/ann") == 1
    assert set(again().open([a, b, c, d])) == {b, c, d}
    assert vault.destroy_of("!asked", "n/ann") == 0
    assert vault.destroy_of("!asked", "n/", begins=True) == 1
    assert set(again().open([a, b, c, d])) == {c, d}
    assert vault.create([(a, "!asked", "n/ann")]) == {}


def test_a_destroyed_key_is_never_made_again(vault: Vault, again: Callable[[], Vault]) -> None:
    a, b = ids(2)
    vault.create([(a, "n", "s"), (b, "n", "s")])
    assert vault.destroy([a]) == 1
    assert vault.destroy([a]) == 0
    assert set(vault.open([a, b])) == {b}
    assert set(again().create([(a, "n", "s"), (b, "n", "s")])) == {b}


def test_destroying_the_unknown_counts_nothing(vault: Vault) -> None:
    a, b = ids(2)
    vault.create([(a, "n", "s")])
    assert vault.destroy([a, b]) == 1


def test_an_id_keeps_its_first_subject(vault: Vault) -> None:
    (a,) = ids(1)
    made = vault.create([(a, "n", "alice"), (a, "n", "bob")])
    assert vault.create([(a, "n", "bob")]) == made
    assert vault.open([a]) == made


def test_who_claims_an_id_first_has_it(vault: Vault, again: Callable[[], Vault]) -> None:
    a, b, c = ids(3)
    made = vault.create([(a, "n", "ann"), (b, "n", "ann")], {a: b"ann"})
    assert vault.create([(a, "n", "ann")], {a: b"bob"}) == {}
    assert again().create([(a, "n", "bob")], {a: b"ann"}) == {a: made[a]}
    # Without a claim it is its subject's.
    assert vault.create([(b, "n", "ann")], {b: b"bob"}) == {b: made[b]}
    assert vault.create([(b, "n", "bob")], {b: b"bob"}) == {}
    assert vault.owners([a, b, c]) == {a: Owner("ann", b"ann"), b: Owner("ann", None)} and vault.owners([]) == {}
    vault.destroy([a])
    assert vault.create([(a, "n", "ann")], {a: b"ann"}) == {}
    assert again().owners([a]) == {a: Owner("ann", b"ann")}, "a claim outlives the key"


def test_callers_at_the_same_time_get_the_same_keys(again: Callable[[], Vault]) -> None:
    wanted = [(memory_id, f"n{at % 3}", f"s{at % 5}") for at, memory_id in enumerate(ids(40))]
    answers: list[dict[str, bytes]] = []
    start = threading.Barrier(4)

    def create(order: list[tuple[str, str, str]]) -> None:
        mine = again()
        start.wait(PATIENCE_S)
        answers.append(mine.create(order))

    orders = [wanted, wanted[::-1], wanted[20:] + wanted[:20], wanted[1::2] + wanted[::2]]
    threads = [threading.Thread(target=create, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)
    assert set(answers[0]) == {memory_id for memory_id, _, _ in wanted}


def test_postgres_comes_back_after_its_connection_broke(databases: tuple[str, str]) -> None:
    vault = PostgresVault(databases[1], MASTER)
    (a,) = ids(1)
    made = vault.create([(a, "n", "s")])
    with psycopg.connect(databases[1], autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'memquorum-vault' AND datname = current_database()"
        )
    with pytest.raises(VaultUnavailable):
        vault.open([a])
    assert vault.open([a]) == made


def test_postgres_that_is_not_there_is_unavailable(databases: tuple[str, str]) -> None:
    vault = PostgresVault(databases[1].replace("vault_", "no_vault_"), MASTER)
    with pytest.raises(VaultUnavailable, match="does not exist"):
        vault.open(ids(1))


def test_postgres_holds_no_key_in_the_clear_and_another_master_key_opens_none(databases: tuple[str, str]) -> None:
    (a,) = ids(1)
    key = PostgresVault(databases[1], MASTER).create([(a, "n", "s")])[a]
    with psycopg.connect(databases[1]) as connection:
        rows = connection.execute("SELECT wrapped FROM memory_key UNION ALL SELECT wrapped FROM subject_key").fetchall()
    assert len(rows) == 2
    assert all(key not in wrapped for (wrapped,) in rows)
    with pytest.raises(SealError, match="not the master key"):
        PostgresVault(databases[1], bytes(32)).open([a])


def test_it_tells_in_order_which_keys_of_agents_memories_were_destroyed(
    vault: Vault, again: Callable[[], Vault]
) -> None:
    a, b, c, letter = ids(4)
    assert vault.destroyed(0, 10) == [] == vault.destroyed(None, 1)
    vault.create([(one, "n", "s") for one in (a, b, c)])
    vault.create([(letter, "!intake", "letter")])
    for some in ([b], [letter], [], [b, a]):
        vault.destroy(some)
    first, second = told = again().destroyed(0, 10)
    assert [memory_id for _, memory_id in told] == [b, a] and first[0] < second[0]
    assert vault.destroyed(None, 1) == [second] == vault.destroyed(second[0], 10)
    assert vault.destroyed(0, 1) == [first]
    vault.destroy_of("n", "s")
    assert [memory_id for _, memory_id in vault.destroyed(second[0], 10)] == [a, c]


def test_a_destroyed_key_is_told_after_all_that_have_lower_numbers(databases: tuple[str, str]) -> None:
    """A reader that has read up to a number misses none that is committed later."""
    vault, a, b = PostgresVault(databases[1], MASTER), *ids(2)
    vault.create([(one, "n", "s") for one in (a, b)])
    with psycopg.connect(databases[1]) as first:
        first.execute("UPDATE memory_key SET wrapped = NULL WHERE memory_id = %s", (a,))
        second = threading.Thread(target=PostgresVault(databases[1], MASTER).destroy, args=([b],))
        second.start()
        second.join(0.3)
        assert second.is_alive() and vault.destroyed(0, 10) == []
        first.commit()
        second.join(PATIENCE_S)
    assert [memory_id for _, memory_id in vault.destroyed(0, 10)] == [a, b]


def test_a_vault_that_was_put_back_tells_of_no_destroyed_key(databases: tuple[str, str]) -> None:
    commit, reader = (PostgresVault(databases[1], MASTER) for _ in range(2))
    commit.follow({0: (0, 7)})
    assert reader.destroyed(0, 10) == []
    with psycopg.connect(databases[1]) as backup:
        backup.execute("UPDATE destruction SET seq = 5")
    with pytest.raises(VaultBehind):
        reader.destroyed(0, 10)
