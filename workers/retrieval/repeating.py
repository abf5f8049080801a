"""Gives an answer to `retrieve`, `recall` and `context` again, where the store confirms that it would be the same.

    read ─► kept answer ─► store: nothing but uses since, texts and strengths of now, in one snapshot ─► answer
      │ none, or not confirmed
      └───► all steps ─► answer; kept without its content

A read that is masked, of the past, of experience or of two steps is answered anew each time.
"""

from __future__ import annotations

import dataclasses
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.api.answers import Context, Hit, Recalled, Retrieved
from memquorum.core.ids import shard_of
from memquorum.core.retrieval.context import ContextAsked
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.redaction import Redactor
from memquorum.core.retrieval.repeated import emptied, filled, hit_again
from memquorum.core.retrieval.requests import Reader, Recall, Retrieve
from workers.retrieval.caching import Kept
from workers.retrieval.knowing import Known
from workers.retrieval.service import Service

A = TypeVar("A", Retrieved, Recalled, Context)
Request = Retrieve | Recall | ContextAsked


class Again(Struct, Generic[A], frozen=True):
    """An answer that was confirmed, and its memories, as they are counted."""

    answer: A
    hits: tuple[Hit, ...]
    named: frozenset[str] = frozenset()
    """The memories of a context whose text tells who else said the same."""


class Repeating(Generic[A]):
    """The kept answer of one read."""

    def __init__(self, service: Service, sight: Sight, reader: Reader, wanted: Request, filters: Filters) -> None:
        """`wanted`: all that the answer depends on besides `sight` and the store, whether it peeks or not."""
        self.sight = sight
        self._service, self._namespace, self._filters = service, reader.namespace, filters
        masked = service.redaction.of(reader.namespace, asked=reader.redact).on
        anew = masked or filters.as_of is not None or filters.experience or filters.diffusion
        self._held = None if anew else service.caching.held(reader.namespace)
        self._fingerprint, self._seq, self._forgot = b"", 0, 0
        if self._held is not None:
            told = type(wanted).__name__, sight.text, replace(wanted, reader=replace(reader, peek=False))
            self._fingerprint = self._held.queries.fingerprint(msgspec.json.encode(told))
            # Each later question to the store sees the journal at least up to there.
            self._seq, self._forgot = self._held.cache.seq, self._held.forgot

    async def again(self, kind: type[A]) -> Again[A] | None:
        """Returns the kept answer, with content, if it would be the same now."""
        held, service = self._held, self._service
        kept = None if held is None else held.answers.get(self._fingerprint)
        if held is None or kept is None or not kept.items or not isinstance(kept.answer, kind):
            return None
        if kept.chosen.policy is not service.configurations.policy(self._namespace):
            return None
        found = await service.reads.answer_again(
            self.sight, self._namespace, shard_of(self._namespace, service.genesis.shards), kept.seq,
            memory_ids=[one.memory_id for one in kept.items], watched=kept.chosen.watched, filters=self._filters,
        )  # fmt: skip
        strengths = None if found is None else kept.chosen.strengths(found[1])
        if found is None or strengths is None:
            return None
        hits = tuple(hit_again(one, found[0][one.memory_id]) for one in kept.items)
        items = tuple(filled(one, hit, strengths) for one, hit in zip(kept.items, hits, strict=True))
        if held.answers.get(self._fingerprint) is kept:
            held.keep(self._fingerprint, dataclasses.replace(kept, seq=self._seq))
        service.caching.given_again(held, hits)
        return Again(replace(kept.answer, items=items), hits, kept.named)

    def keep(self, known: Known, mask: Redactor, answer: A, named: frozenset[str] = frozenset()) -> None:
        """Keeps an answer that was made by all steps; none that was masked, and none with roll-ups, which hold
        content."""
        # It may hold a memory that was forgotten meanwhile.
        if mask.on or self._held is None or known.chosen is None or self._held.forgot != self._forgot:
            return
        if not isinstance(answer, Recalled) and answer.rollups:
            return
        items = tuple(map(emptied, answer.items))
        if all(one is not None for one in items):
            text = {"text": ""} if isinstance(answer, Context) else dict[str, str]()
            bare = replace(answer, items=(), used=0, warning=None, **text)
            self._held.keep(self._fingerprint, Kept(bare, items, known.chosen, self._seq, named))
