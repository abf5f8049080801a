"""The parts that endpoints share: the store, the encoders, the waits for outcomes, the publishing of uses, the
health."""

from __future__ import annotations

import asyncio
import logging
import traceback
import uuid
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any

import numpy as np
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from msgspec.structs import replace
from numpy.typing import NDArray
from starlette.applications import Starlette

from db.outcomes import Outcomes
from db.reads import Reads
from memquorum import cloudevents, kafka, topics
from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.contained import Failed, Failures
from memquorum.core.identity import grants
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.intake import EndIntent, EpisodeIntent
from memquorum.core.privacy.listed import matcher
from memquorum.core.records import AccessRecorded, FeedbackAccepted, QueryRecorded
from memquorum.core.retrieval import query
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.cache import CAPACITY
from memquorum.core.retrieval.query import Search
from memquorum.core.retrieval.redaction import NONE, Redaction, Redactor
from memquorum.core.retrieval.using import Lately
from memquorum.ports import Encoder, StoreUnavailable
from memquorum.telemetry.bundle import Stage
from memquorum.telemetry.tracing import NOTHING, SEARCH, UPSERT, trace_of_memory
from workers.kafka import loop
from workers.kafka.own_clock import OwnClock
from workers.retrieval.balloting import OpenEpochs
from workers.retrieval.caching import Caching
from workers.retrieval.configurations import Configurations
from workers.retrieval.desk import Desk, check
from workers.retrieval.door import Door
from workers.retrieval.following import Cursors, Feed, Watch
from workers.retrieval.limits import Limits
from workers.retrieval.outliving import Outliving
from workers.retrieval.refusals import Following, Refusals
from workers.retrieval.retaining import Retaining
from workers.retrieval.reused import Compared
from workers.retrieval.uses import SOURCE, Uses

_LOG = logging.getLogger("memquorum.retrieval")

_LOOK_S = 2.0
_UNSIGNED = (
    "this namespace takes signed accesses alone, which only the agent itself can publish: these hits do not count as "
    "used. A client that was given the agent's seed does so by itself"
)


class KafkaUnavailable(RuntimeError):
    """Kafka did not confirm in time. The record may be there all the same: send it again under the same event id."""


class Service:
    """One for the process; what it opens lasts as long as `lifespan`."""

    def __init__(
        self,
        memory_dsn: str,
        bootstrap: str,
        genesis: Genesis,
        codec: Codec,
        *,
        encoder: Encoder,
        before: Encoder | None = None,
        door: Door,
        shown: Stage,
        erasure_seed: bytes | None = None,
        cache_memories: int = CAPACITY,
        queries: bool = False,
        bounds: Bounds = DEFAULTS,
        redaction: Redaction = NONE,
        own_clock: OwnClock | None = None,
        stamps: Reader | None = None,
        watch: Watch | None = None,
        past: bool = False,
    ) -> None:
        """`before`: the encoder of memories that are still to be encoded anew. `erasure_seed`: of service:erasure;
        without it nothing can be ordered here. `cache_memories`: of a namespace, at most; 0 for no cache.
        `queries`: whether what is asked is logged. `redaction`: which namespaces are read masked alone. `own_clock`:
        what the times of records are held against; None where the fleet's time is driven. `stamps`: tells the line's
        dead letters from strangers', where this process has the key. `watch`: sees the fleet's processes. `past`:
        serves a rebuild of an earlier time, whose reads are no uses."""
        self.erasure_seed, self.own_clock = erasure_seed, own_clock
        self.door, self.limits, self.meters = door, Limits(bounds), shown.meters
        self.desk, self.failures = Desk(), Failures()
        self.genesis, self.codec, self.bounds = genesis, codec, bounds
        self.redaction = replace(redaction, turn=check, failures=self.failures)
        self.refusals, self.compared = Refusals(), Compared()
        self._following = Following(bootstrap, genesis.shards, codec, stamps, self.refusals.take)
        self.configurations, self.lately = Configurations(codec, genesis), Lately(bounds.uses_most)
        self._retaining = Retaining(genesis, codec, erasure_seed, self.configurations, self.send, health=shown.health)
        self._outliving = Outliving(genesis, codec, erasure_seed, self.configurations, self.send)
        self.encoder, self.before = encoder, before
        self._shown = shown
        # Threads of their own: what waits for the store in others must not hold up a search.
        self._encodings = ThreadPoolExecutor(bounds.encodings, thread_name_prefix="encode")
        self._dsn, self.bootstrap, self._queries, self._past = memory_dsn, bootstrap, queries, past
        self.open_epochs = OpenEpochs(bootstrap, codec)
        self.watch, self.cursors = watch, Cursors(erasure_seed)
        self.caching = Caching(memory_dsn, genesis.shards, encoder.name, self.meters, 0 if before else cache_memories)
        self._pinging: asyncio.Future[None] | None = None

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Opens everything, and closes it."""
        # Made here, for all of it belongs to the loop that runs it.
        self.reads = Reads(self._dsn, self.bounds, self.failures)
        self.feed = Feed(self.reads)
        self.outcomes = Outcomes(self._dsn, self.reads, self._heard)
        self.uses = Uses(self.codec, self._shown.sent, self.bounds)
        self._producer = AIOKafkaProducer(
            **kafka.aiokafka(self.bootstrap), enable_idempotence=True, acks="all", client_id="memquorum-retrieval"
        )
        await self.reads.open()
        try:
            await self._producer.start()
            async with (
                self.uses.running(loop.producer(self.bootstrap)),
                self.outcomes.running(),
                self.caching.running(),
                self._following.running(),
            ):
                # A look for what is too old may take long; that the loop turns is told meanwhile.
                tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._retain())]
                yield
                for task in tasks:
                    task.cancel()
        finally:
            await self._producer.stop()
            await self.reads.close()

    async def encode(self, encoder: Encoder, text: str) -> NDArray[np.float32]:
        """The text's vector, of shape (encoder.dimensions,)."""
        encoding = asyncio.get_running_loop().run_in_executor(self._encodings, encoder.encode, [text])
        vectors = await encoding
        vector: NDArray[np.float32] = vectors[0]
        return vector

    async def vector_of(self, namespace: str, query: str) -> NDArray[np.float32]:
        """The query's vector, of shape (encoder.dimensions,), or as it was kept when it was asked lately."""
        vector = self.caching.vector(namespace, query)
        if vector is None:
            vector = await self.encode(self.encoder, query)
            # A copy, since the kept one is overwritten when it is dropped, perhaps while this one is still compared
            # with.
            self.caching.keep(namespace, query, vector.copy())
        return vector

    async def use(
        self, search: Search, hits: Sequence[Hit], parent: str | None, *, confirm: bool
    ) -> tuple[int, str | None]:
        """Sees to it that the hits count as used, and the query is logged; of how many hits that is so, and a warning
        if that is not all. Hits from another namespace are not counted here.

        `parent`: the traceparent of the request. `confirm`: not before Kafka has the accesses.
        """
        hits = [hit for hit in hits if not hit.diffused]
        accesses = query.uses(search, hits, str(uuid.uuid4()))
        if search.namespace in self.genesis.signed:
            return 0, _UNSIGNED if accesses else None
        asked = self._asked(search, hits)
        return await self.count(accesses, parent, "POST /search", confirm, asked)

    async def count(
        self, accesses: Sequence[AccessRecorded], parent: str | None, where: str, confirm: bool,
        asked: QueryRecorded | None = None,
    ) -> tuple[int, str | None]:  # fmt: skip
        """Publishes uses behind the answer of an endpoint; how many will count, and a warning if that is not all."""
        if self._past or (not accesses and asked is None):
            return 0, None
        hop = self._shown.tracing.serve(where, parent)
        hits = sum(len(one.memory_ids) for one in accesses)
        hop.tell(hits=hits)
        if asked is not None or where.endswith("/search"):
            hop.operates(SEARCH, count=hits)
        return await self.uses.count(accesses, hop, confirm=confirm, asked=asked)

    def _asked(self, search: Search, hits: Sequence[Hit]) -> QueryRecorded | None:
        """The query as it is logged, with its vector if that was kept; None where it is not."""
        if not self._queries:
            return None
        vector = self.caching.vector(search.namespace, search.query)
        told = (None, ()) if vector is None else (self.encoder.name, vector.tolist())
        return query.query_record(search, hits, str(uuid.uuid4()), *told)

    async def publish(self, episode: EpisodeIntent, data: bytes, granted: bytes | None = None) -> str | None:
        """Publishes the JSON of an episode that was checked; returns its place, as `kafka.place`. `granted`: see
        `core.identity.grants`. Raises KafkaUnavailable."""
        tracing = self._shown.tracing
        hop = tracing.publish(trace_of_memory(episode.memory_id)) if tracing.on else NOTHING
        parent = hop.send(topics.EPISODES, None, episode.event_id)
        hop.operates(UPSERT, memory_id=episode.memory_id)
        told = cloudevents.headers("EpisodeRecorded", SOURCE, episode.event_id, parent, content=cloudevents.JSON)
        again = f"send it with event_id {episode.event_id}, so that it counts once"
        proof = [] if granted is None else [(grants.HEADER, granted)]
        place = await self._confirmed(topics.EPISODES, episode.namespace, data, [*told, *proof], again)
        hop.end()
        return place

    async def end_session(self, ended: EndIntent, data: bytes) -> None:
        """Publishes the JSON of a session's end that was checked. Raises KafkaUnavailable."""
        told = cloudevents.headers("SessionEnded", SOURCE, ended.event_id, None, content=cloudevents.JSON)
        await self._confirmed(topics.ENDS, ended.namespace, data, told, "send it again: a session ends once")

    async def relay(self, topic: str, kind: str, said: EpisodeIntent | FeedbackAccepted, data: bytes) -> str | None:
        """Publishes the JSON of a record of an outside topic that was checked; returns its place, as `kafka.place`.
        Raises KafkaUnavailable."""
        told = cloudevents.headers(kind, SOURCE, said.event_id, None, content=cloudevents.JSON)
        again = f"send it with event_id {said.event_id}, so that it counts once"
        return await self._confirmed(topic, said.namespace, data, told, again)

    async def send(  # noqa: PLR0917
        self, topic: str, kind: str, event_id: str, namespace: str, data: bytes, beside: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Publishes an encoded record of an outside topic, with further headers `beside` it. Raises
        KafkaUnavailable."""
        again = f"it may be there all the same: ask for {event_id} before you send it anew"
        await self._confirmed(topic, namespace, data, [*loop.headers(kind, SOURCE, event_id), *beside], again)

    async def mask(self, sight: Sight, namespace: str, *, asked: bool) -> Redactor:
        """Returns what masks texts of a namespace for a reader who `asked` for redaction, or did not: what subjects
        want never kept is masked for everybody."""
        return self.masking(namespace, await self.reads.profile_lists(sight, namespace), asked=asked)

    def masking(self, namespace: str, listed: Sequence[tuple[str, list[str]]], *, asked: bool) -> Redactor:
        """Returns the same, for the lists of the namespace's subjects."""
        lists = {subject: matcher(entries) for subject, entries in listed}
        return self.redaction.of(namespace, asked=asked, lists=lists)

    async def _confirmed(
        self, topic: str, namespace: str, data: bytes, told: Sequence[tuple[str, Any]], again: str
    ) -> str | None:
        try:
            async with asyncio.timeout(self.bounds.kafka_ms / 1000):
                at = await self._producer.send_and_wait(topic, data, key=namespace.encode(), headers=_bytes(told))
        except (TimeoutError, KafkaError) as error:
            why = f"Kafka did not confirm it ({error or type(error).__name__})"
            raise KafkaUnavailable(f"{why}; {again}") from error
        self._shown.sent(topic)
        return kafka.place(at)

    async def parts(self) -> dict[str, str]:
        """Returns the parts that the service needs and the fault of each; empty where nothing is."""
        parts = {
            "store": "",
            "journal": "" if self.outcomes.listening else "not listening",
            "kafka": self.uses.fails,
            "keys": self.door.fault(),
        }
        try:
            await self._ping()
        except StoreUnavailable as error:
            parts["store"] = str(error)
        return parts

    def _heard(self, payload: str) -> None:
        """Passes a notification of the journal on."""
        self.caching.heard(payload)
        self.feed.heard(payload)
        self._outliving.heard()

    async def _ping(self) -> None:
        # Strangers may ask for this too, so all who ask at once share one question, and one of the few connections.
        if self._pinging is None or self._pinging.done():
            self._pinging = asyncio.ensure_future(self.reads.ping())
        await asyncio.shield(self._pinging)

    def failed(self, call: str, error: Exception) -> str:
        """Counts a call by another protocol that an error ended, and logs where that was raised: its words may hold
        content. Answers what is told to the caller."""
        where = traceback.extract_tb(error.__traceback__)[-1]
        _LOG.error("%s failed: %s at %s:%s", call, type(error).__name__, where.filename, where.lineno)
        self.failures.note(Failed(call, (), type(error).__name__))
        return f"{call} failed, and that is no fault of the arguments: tell the operator, whose log says where"

    async def _watch(self) -> None:
        """Tells the process's health that the loop turns, and whether it could answer; looks for other policies."""
        health = self._shown.health
        while True:
            with suppress(StoreUnavailable):
                await self.configurations.look(self.reads)
            for part, wrong in (await self.parts()).items():
                if wrong:
                    health.wait(part, wrong)
                else:
                    health.go(part)
            health.slow("refusals", self._following.fails or None)
            health.turn()
            self._shown.contained(self.failures.told())
            await asyncio.sleep(_LOOK_S)

    async def _retain(self) -> None:
        """Orders what the rules of the policies say, for as long as the process lives."""
        while True:
            # Whatever is away is told as that by `_watch`; what is left to order is ordered once it is back.
            with suppress(StoreUnavailable, KafkaUnavailable):
                await self._retaining.look(self.reads)
                await self._outliving.look(self.reads)
            await asyncio.sleep(_LOOK_S)


def _bytes(told: Sequence[tuple[str, Any]]) -> list[tuple[str, bytes]]:
    """Headers as aiokafka takes them."""
    return [(name, value.encode() if isinstance(value, str) else value or b"") for name, value in told]
