"""Scores the hits of search, retrieve and context by `core.retrieval.scoring`, off the loop."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.query import answerable
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.retrieval.scoring import HEAD, Verdict, verdicts
from workers.retrieval.service import Service


async def judged(service: Service, question: str, hits: Sequence[Hit]) -> list[Verdict]:
    """Scores how likely each hit answers, best first. `question`: empty where a vector was asked. If the rule fails, by
    the cosine alone."""
    texts, cosines = [hit.answering for hit in hits], [hit.score for hit in hits]
    return await service.desk.read(
        service.failures.answer, "scoring", [hit.memory_id for hit in hits], verdicts("", texts, cosines, ""),
        verdicts, question, texts, cosines, service.encoder.name,
    )  # fmt: skip


async def likely(
    service: Service, question: str, ranked: Sequence[Scored], given: Collection[str]
) -> tuple[dict[str, Verdict], bool]:
    """Scores how likely the best of a ranking, and those of it that are `given`, answer, by id; and whether the
    question has an answer, which depends on the best alone."""
    hits = [
        one.candidate.hit
        for place, one in enumerate(ranked)
        if place < HEAD or one.candidate.hit.memory_id in given
    ]  # fmt: skip
    found = await judged(service, question, hits)
    by_id = {hit.memory_id: one for hit, one in zip(hits, found, strict=True)}
    return by_id, answerable(found)


async def scored(service: Service, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits as they are given: with their score, whether that is enough for an answer, and their cosine."""
    found = await judged(service, question, hits)
    return [
        replace(hit, score=one.score, answerable=one.answerable, cosine=hit.score)
        for hit, one in zip(hits, found, strict=True)
    ]
