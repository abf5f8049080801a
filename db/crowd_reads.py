"""The index data that the retrieval service keeps of namespaces with indexes of their own, and the queries to them
(`db.crowds`).

It holds no content: names of indexes, sizes of namespaces, and for words of queries the number of memories that have
them; the words themselves are not kept. All of it is asked anew after a while.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from psycopg import sql

from db import crowds
from db.arrays import halfvec
from db.queries import QUERIES
from memquorum.core.access import NOWHERE, Sight, covers
from memquorum.core.retrieval import wording
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Question, Ranking

Row = tuple[Any, ...]
Ask = Callable[..., Awaitable[list[Row]]]
"""Name of a statement, its parameters, whose rows; and `text`, where it is not the statement as it stands."""

_INDEXES_S, _SIZES_S, _HOLDERS_S = 5.0, 30.0, 600.0
# So many words of queries are remembered.
_WORDS_MOST = 20_000
_ALL = Filters()


class Crowds:
    """Reads large namespaces, for one event loop. Methods raise what `ask` raises."""

    def __init__(self, ask: Ask, now: Callable[[], float] = time.monotonic) -> None:
        self._ask, self._now = ask, now
        self._indexes: frozenset[str] = frozenset()
        self._looked = -_INDEXES_S
        self._sizes: dict[str, tuple[float, dict[str, tuple[int, int]]]] = {}
        # No word stays here: a hash of each, under a key of this process alone.
        self._key = os.urandom(32)
        self._holders: OrderedDict[tuple[str, bytes], tuple[float, int]] = OrderedDict()
        self._texts: OrderedDict[tuple[str, str, str, int], str] = OrderedDict()

    async def near(self, namespace: str, encoder: str) -> bool:
        """Whether the namespace's vectors by this encoder have an index of their own."""
        if self._now() - self._looked >= _INDEXES_S:
            self._looked = self._now()  # others that ask meanwhile take what is known
            self._indexes = frozenset(name for (name,) in await self._ask("crowds", {}, NOWHERE))
        return crowds.near(namespace, encoder) in self._indexes

    async def whole(self, question: Question) -> bool:
        """Whether the question can be asked through indexes: one encoder, no filter, and both indexes are there."""
        if len(question.vectors) != 1 or question.filters != _ALL:
            return False
        encoder = next(iter(question.vectors))
        return await self.near(question.namespace, encoder) and crowds.words(question.namespace) in self._indexes

    async def sizes(self, sight: Sight, namespace: str) -> dict[str, tuple[int, int]]:
        """Returns the number of memories by encoder, cached for a short time: those for any purpose, and those for
        certain ones.

        Without a filter the second are not given."""
        if not covers(sight.namespaces, namespace):
            return {}
        at, found = self._sizes.get(namespace, (-_SIZES_S, {}))
        if self._now() - at >= _SIZES_S:
            rows = await self._ask("crowd_sizes", {"namespace": namespace}, sight)
            found = {encoder: (free, bound) for encoder, free, bound in rows}
            self._sizes[namespace] = self._now(), found
        return found

    async def search(self, sight: Sight, wanted: Mapping[str, Any], dimensions: int) -> list[Row]:
        """The rows of `search`, nearly all of the nearest."""
        text = self._text("search_crowd", wanted["namespace"], wanted["encoder"], dimensions)
        return await self._ask("search_crowd", {"vector": wanted["vector"], "k": wanted["k"]}, sight, text=text)

    async def candidates(self, sight: Sight, question: Question, given: Ranking) -> list[Row]:
        """The rows of `candidates`, of a `whole` question."""
        ((encoder, vector),) = question.vectors.items()
        sizes = await self.sizes(sight, question.namespace)
        found = await self._ask("query_words", {"query": question.query, "words": given.words}, sight)
        holders = await self._known(sight, question.namespace, [word for (word,) in found])
        said = wording.worded(holders, sum(map(sum, sizes.values())))
        wanted = {
            "vector": halfvec(vector),
            "sources": wording.lookup(said.sources),
            "asked": [wording.quoted(word) for word in said.words],
            "weights": list(said.weights),
            "looked": wording.LOOKED,
            "depth": given.depth,
            "reach": len(given.fusion.context),
        }
        text = self._text("candidates_crowd", question.namespace, encoder, len(vector))
        return await self._ask("candidates_crowd", wanted, sight, text=text)

    async def _known(self, sight: Sight, namespace: str, words: Sequence[str]) -> dict[str, int]:
        """Returns the number of memories that have each of the words; counts are cached for a short time."""
        fresh = self._now() - _HOLDERS_S
        while self._holders and next(iter(self._holders.values()))[0] <= fresh:
            self._holders.popitem(last=False)
        known = {word: self._holders.get((namespace, self._hash(word)), (fresh, 0)) for word in words}
        found = {word: count for word, (at, count) in known.items() if at > fresh}
        if missing := [word for word in words if word not in found]:
            asked = {"namespace": namespace, "asked": [wording.quoted(word) for word in missing]}
            rows = await self._ask("word_holders", asked, sight)
            for word, (_, count) in zip(missing, rows, strict=False):
                found[word] = count
                key = namespace, self._hash(word)
                self._holders[key] = self._now(), count
                self._holders.move_to_end(key)
            while len(self._holders) > _WORDS_MOST:
                self._holders.popitem(last=False)
        return found

    def _hash(self, word: str) -> bytes:
        return hashlib.blake2b(word.encode(), key=self._key, digest_size=16).digest()

    def _text(self, name: str, namespace: str, encoder: str, dimensions: int) -> str:
        """A statement with what its index was made for; the same text each time, so that it is prepared once."""
        key = name, namespace, encoder, dimensions
        if key not in self._texts:
            given = {"namespace": _literal(namespace), "encoder": _literal(encoder), "dimensions": _literal(dimensions)}
            self._texts[key] = sql.SQL(QUERIES[name]).format(**given).as_string()
            while len(self._texts) > 1_000:
                self._texts.popitem(last=False)
        return self._texts[key]


def _literal(value: str | int) -> sql.SQL:
    """A literal in a statement that has parameters too."""
    return sql.SQL(sql.Literal(value).as_string().replace("%", "%%"))
