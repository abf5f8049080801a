"""The number of memories with a word is stored without the word."""

from __future__ import annotations

from typing import Any

from db.crowd_reads import _HOLDERS_S, Crowds
from memquorum.core.access import Sight


async def test_no_word_of_a_query_stays() -> None:
    asked: list[Any] = []

    async def ask(_: str, given: dict[str, Any], __: Sight) -> list[tuple[Any, ...]]:
        asked.append(given["asked"])
        return [(word, 3) for word in given["asked"]]

    now = [1_000.0]
    crowds = Crowds(ask, lambda: now[0])
    sight = Sight(("n",))
    assert await crowds._known(sight, "n", ["diabetes", "ada"]) == {"diabetes": 3, "ada": 3}
    assert await crowds._known(sight, "n", ["ada"]) == {"ada": 3}
    assert len(asked) == 1
    assert "diabetes" not in repr(crowds._holders) and len(crowds._holders) == 2
    other = Crowds(ask, lambda: now[0])
    await other._known(sight, "n", ["ada", "diabetes"])
    assert not crowds._holders.keys() & other._holders.keys()
    now[0] += _HOLDERS_S + 1
    await crowds._known(sight, "n", [])
    assert not crowds._holders
