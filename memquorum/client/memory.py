"""The asynchronous client: publishes to Kafka, asks the retrieval service."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from memquorum import topics
from memquorum.client import settings, traces, wire
from memquorum.client.asking import Asking
from memquorum.client.connections import Connections
from memquorum.client.differing import Differing
from memquorum.client.ending import Ending
from memquorum.client.errors import Invalid, NoOutcome, Refused, Unreachable
from memquorum.client.filing import Filing
from memquorum.client.finishing import note
from memquorum.client.ordering import Ordering
from memquorum.client.settings import Place
from memquorum.client.signer import Signer
from memquorum.client.values import Episode, FiledThen, Gates, Hits, Only, Receipt, Then
from memquorum.core import ids
from memquorum.core.api.answers import (
    Answering,
    Around,
    Became,
    Context,
    Explained,
    Hit,
    Page,
    Placed,
    Recalled,
    Retrieved,
    SearchResult,
    Shown,
)
from memquorum.core.identity import signatures
from memquorum.core.intake import EpisodeIntent
from memquorum.core.reasons import REFUSED
from memquorum.core.records import USES_MOST
from memquorum.core.tiers import SUPERSEDED
from memquorum.telemetry.tracing import NOTHING, UPSERT, Hop, Tracing, trace_of_memory

if TYPE_CHECKING:
    from aiokafka import AIOKafkaProducer

T = TypeVar("T")
After = Receipt | str | None
R = TypeVar("R", SearchResult, Retrieved, Recalled, Context)
_Given = Hit | Answering | Around | Placed

_LOG = logging.getLogger("memquorum.client")
_AGAIN_S = 0.5
_SPREAD_MS = 999  # records sent together are dated within a second


class AsyncMemory(Ordering, Filing, Differing, Ending, Asking):
    """A namespace's memory, for one agent. Use as `async with`, or call `close`. Connects when first needed."""

    def __init__(
        self,
        *,
        namespace: str | None = None,
        agent: str | None = None,
        kafka: str | None = None,
        url: str | None = None,
        seed: bytes | None = None,
        genesis: Path | None = None,
        api_key: str | None = None,
    ) -> None:
        """Takes what is not given from MEMQUORUM_NAMESPACE, _AGENT, _BOOTSTRAP, _URL and _API_KEY, or from the run
        folder of an installation in this folder or above; the namespace is `default` otherwise. Without an address of
        Kafka, records are published through the service, except uses.

        `api_key`: the retrieval service's key, if it requires one.

        `seed`: the agent's 32-byte Ed25519 seed; records are then signed, as a namespace may require, for the cluster
        of the file `genesis` (default: the installation's). Raises NotConfigured."""
        place = settings.find(kafka, url, namespace, agent, api_key=api_key)
        self._begin(place, None if seed is None else Signer.of(seed, place.need_genesis(genesis)))

    def _begin(self, place: Place, signer: Signer | None = None) -> None:
        self._place, self._signer = place, signer
        self._connections = Connections(place)
        self._tracing, self._end_traces = Tracing(), _nothing
        self._traced: AIOKafkaProducer | None = None
        self._given_in = OrderedDict()
        self._said_in = OrderedDict()
        self._said_of = OrderedDict()

    @property
    def namespace(self) -> str:
        """The namespace that this client reads and writes."""
        return self._place.namespace

    @property
    def agent(self) -> str:
        """The agent that this client publishes as. Raises NotConfigured."""
        return self._place.need_agent()

    @property
    def url(self) -> str:
        """The address of the retrieval service. Raises NotConfigured."""
        return self._place.need_url()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Delivers pending records and closes the connections."""
        traced = self._connections.publishes
        await self._disconnect()
        if traced:
            await asyncio.to_thread(self._end_traces)
            self._tracing, self._end_traces = Tracing(), _nothing

    async def _disconnect(self) -> None:
        """Does what `close` does without starting a thread: an ending interpreter allows none."""
        await self._connections.close()

    async def add(self, content: str, *, wait: bool = False, timeout: float = 30.0, **said: Unpack[Episode]) -> Receipt:
        """Publishes an episode; returns once Kafka has it, or with `wait` once it is searchable.

        `said`: further fields, see `Episode`. Raises Invalid, Unreachable, NotAllowed, and with `wait` Refused, or
        NoOutcome after `timeout` seconds.
        """
        (receipt,) = await self.add_all([{"content": content, **said}])
        return await self.outcome(receipt, timeout) if wait else receipt

    async def add_all(self, episodes: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Adds many, in order, confirmed together. If one of them is Invalid, none is sent."""
        said = wire.several("episodes", episodes)
        checked = [self._episode(episode) for episode in said]
        records = [(r.namespace, r.event_id, value) for r, value in checked]
        receipts = _placed([r for r, _ in checked], await self._send(topics.EPISODES, "EpisodeRecorded", records))
        for episode, receipt in zip(said, receipts, strict=True):
            self._spoke(episode, receipt)
        return receipts

    async def outcome(self, receipt: Receipt, timeout: float = 30.0) -> Receipt:
        """The receipt with its outcome, as soon as there is one. Raises Refused if intake refused the record, and
        NoOutcome after `timeout` seconds."""
        if not isinstance(receipt, Receipt):
            raise Invalid("wrong_type", "receipt", f"must be a receipt, as `add` returns it, not {receipt!r:.80}")
        deadline = time.monotonic() + wire.seconds(timeout)
        path = f"/events/{wire.quoted(receipt.namespace)}/{wire.quoted(receipt.event_id)}"
        which = _there(agent=receipt.agent, place=receipt.place, said=receipt.said)
        last: Unreachable | None = None
        while (left := deadline - time.monotonic()) > 0:
            try:
                found = await self._get(Became, path, wait_ms=max(1, min(wire.POLL_MS, int(left * 1000))), **which)
            except Unreachable as error:  # it may be starting again; the episode is safe in Kafka meanwhile
                last = error
                await asyncio.sleep(min(_AGAIN_S, left))
                continue
            if found.outcome is not None:
                return _ended(receipt, found)
        raise NoOutcome(receipt, timeout) from last

    async def search(
        self, query: str | None = None, k: int = 10, *, vector: Sequence[float] | None = None, peek: bool = False,
        exact: bool = False, diffusion: bool = False, after: After = None, **only: Unpack[Then],
    ) -> Hits:  # fmt: skip
        """Returns the k memories nearest in meaning, nearest first. They count as used, unless you `peek`. `rollups`
        of the list: those of things that the query names.

        `vector`: an embedding of the service's own encoder, in place of a query. `exact`: compares all memories, where
        otherwise an index finds nearly all of a large namespace. `diffusion`: searches experience alone, with general
        forms of other namespaces whose publishers allow it. `after`: waits until this write is seen, by its receipt or
        token. Raises Invalid, and NotYet if it is not seen in time."""
        by = {"query": query} if vector is None else {"query": query, "vector": wire.numbers("vector", vector)}
        asked = _crossing({**by, "k": k, "exact": exact, **only}, diffusion)
        found = await self._read(SearchResult, "/search", asked, peek, after)
        return Hits(found.hits, found.rollups)

    async def retrieve(
        self,
        query: str,
        budget_tokens: int = 2_000,
        *,
        k_max: int = 20,
        hops: int = 1,
        diffusion: bool = False,
        peek: bool = False,
        after: After = None,
        **only: Unpack[Then],
    ) -> Retrieved:
        """Returns the memories that fit the budget and answer best, by meaning and by words; they count as used.

        With 2 `hops` also memories that the first of them name, for a question that needs two memories. `diffusion`:
        reads experience alone, with general forms of other namespaces whose publishers allow it. Raises Invalid,
        Unreachable."""
        asked = {"query": query, "budget_tokens": budget_tokens, "k_max": k_max, "hops": hops, **only}
        return await self._read(Retrieved, "/retrieve", _crossing(asked, diffusion), peek, after)

    async def recall(
        self,
        memory_id: str | None = None,
        *,
        query: str | None = None,
        goal: str | None = None,
        entity: str | None = None,
        steps: int = 5,
        links: int = 2,
        hops: int = 2,
        within_ms: int = 0,
        anchors: int | None = None,
        budget_tokens: int = 2_000,
        peek: bool = False,
        after: After = None,
        **only: Unpack[Then],
    ) -> Recalled:
        """Returns, in the order of time, the surroundings of a memory, or of `anchors` memories: of those
        (3) that answer a query best, or of the latest (20) that a goal needs or that have the name of an `entity`.

        The surroundings are memories it was made of and memories made of it, over up to `links` links, and what these
        are related to, over up to `hops` relations. Then come up to `steps` memories before and after in the session,
        and others that occurred `within_ms`. They count as used. Raises Invalid,
        NotFound, Unreachable.
        """
        asked = {
            "memory_id": memory_id, "query": query, "goal": goal, "entity": entity, "steps": steps, "links": links,
            "hops": hops, "within_ms": within_ms, "anchors": anchors, "budget_tokens": budget_tokens, **only,
        }  # fmt: skip
        return await self._read(Recalled, "/recall", asked, peek, after)

    async def context(
        self,
        query: str | None = None,
        budget_tokens: int = 2_000,
        *,
        session: str | None = None,
        buffer_share: float = 0.5,
        quotas: Mapping[str, float] | None = None,
        k_max: int = 20,
        hops: int = 1,
        peek: bool = False,
        after: After = None,
        **only: Unpack[FiledThen],
    ) -> Context:
        """Returns the memories to put into a prompt; str() of it is the text. First this agent's latest episodes, of a
        `session` or of all, up to `buffer_share` of the budget; then the best answers to the query, at most `k_max`.
        `quotas`: the shares of the budget that `short_term`, `long_term` and `rollups` have first.
        They count as used. With 2 `hops` also memories that the first of these name, for a question that needs two
        memories. Without a query only the latest episodes. Raises Invalid, Unreachable.
        """
        asked = {
            "agent": self._place.need_agent(), "query": query, "budget_tokens": budget_tokens, "session": session,
            "buffer_share": buffer_share, "quotas": quotas, "k_max": k_max, "hops": hops, **only,
        }  # fmt: skip
        return await self._read(Context, "/context", asked, peek, after)

    async def _read(self, kind: type[R], path: str, asked: Mapping[str, Any], peek: bool, after: After) -> R:
        """Sends a read, and records the use of the memories it gives, unless `peek`."""
        # A client that signs publishes its uses itself: the retrieval service cannot sign for it.
        ourselves = self._signer is not None and not peek
        body = wire.within(self.namespace, {**asked, "peek": peek or ourselves})
        if not body["peek"]:
            body["agent"] = self._place.need_agent()
        found = await self._ask(kind, "POST", path, json=body, params=wire.after(after))
        every: Iterable[_Given] = found.hits if isinstance(found, SearchResult) else found.items
        # A replaced memory is not used, and one of another namespace counts there.
        items = [one for one in every if one.tier != SUPERSEDED]
        given = [one.memory_id for one in items if not one.diffused]
        # Surroundings, latest episodes and experience were asked for as such: all of them are near.
        near = asked.get("experience") or asked.get("diffusion") or not isinstance(found, SearchResult | Retrieved)
        note(self, [(one.memory_id, one.text, None if near else _cosine(one)) for one in items])
        if isinstance(found, Context) and (session := asked.get("session")) is not None:
            self._gave(session, given)
        if ourselves:
            try:
                await self.use_all(given)
            except Unreachable as error:  # the answer is valid without it
                _LOG.warning("these hits may not count as used: %s", error)
        return found

    async def use(self, memory_id: str) -> Receipt:
        """Records a use of a memory: after a peek, or when its text came from elsewhere. A use renews the memory.

        Raises Invalid, Unreachable. `outcome` of the receipt waits until it counts.
        """
        (receipt,) = await self.use_all([memory_id])
        return receipt

    async def use_all(self, memory_ids: Sequence[str]) -> list[Receipt]:
        """Records uses of memories, in order, confirmed together. Raises Invalid, Unreachable."""
        agent, memory_ids = self._place.need_agent(), wire.several("memory_ids", memory_ids)
        if self._posts:
            return await self._tell_uses(agent, memory_ids)
        said = _uses(self.namespace, agent, memory_ids, signs=self._signs)
        records = [(self.namespace, some[0].event_id, data) for some, data in said]
        places = await self._send(topics.ACCESSES, "AccessRecorded", records)
        return [replace(one, place=at) for (some, _), at in zip(said, places, strict=True) for one in some]

    @property
    def _driven(self) -> bool:
        return self._place.driven

    def _user(self) -> str | None:
        return self._place.need_agent() if self._signer is None else None

    async def get(self, memory_id: str, *, use: bool = False, after: After = None, **gates: Unpack[Gates]) -> Shown:
        """Returns one memory; without its text once it is forgotten. Raises NotFound, also for a memory that a search
        with these `gates` would leave out, and, if the client was given its namespace, for a memory of another. `use`:
        counts as a use while the memory is alive, once a minute, without delaying the answer."""
        path, by = f"/memories/{wire.path_id(memory_id)}", self._user() if use else None
        using = {} if by is None else {"use": "true", "agent": by}
        found = await self._get(Shown, path, **self._within(), **using, **wire.after(after), **wire.gates(gates))
        if use and by is None:
            await self._used(found)
        return found

    async def memories(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        after: After = None,
        **only: Unpack[Only],
    ) -> Page:
        """Lists the memories that pass, `limit` (100) at a time in the order of time, each with its links; no use of
        them. `cursor`: `next` of the page before. `tiers` may also be sealed and superseded. Raises Invalid."""
        asked = wire.within(self.namespace, {"cursor": cursor, "limit": limit, **only})
        return await self._ask(Page, "POST", "/memories/list", json=asked, params=wire.after(after))

    async def explain(self, memory_id: str, *, after: After = None, **gates: Unpack[Gates]) -> Explained:
        """Explains why a memory is where it is: salience, uses, votes with certificates, and what comes next. Raises
        NotFound as `get` does."""
        path = f"/memories/{wire.path_id(memory_id)}/explain"
        return await self._get(Explained, path, **self._within(), **wire.after(after), **wire.gates(gates))

    def _within(self) -> dict[str, str]:
        return {"namespace": self.namespace} if self._place.named else {}

    def _episode(self, episode: Mapping[str, Any]) -> tuple[Receipt, bytes]:
        given = {name: value for name, value in _mapping(episode).items() if value is not None}
        value = {"namespace": self.namespace, "event_id": str(uuid.uuid4()), **given}
        if "agent" not in value:
            value["agent"] = self._place.need_agent()
        intent, data = wire.checked(topics.EPISODES, value, signs=self._signs, driven=self._driven)
        assert isinstance(intent, EpisodeIntent)
        said = wire.digest(intent.content) if "event_id" in given else None
        return Receipt(intent.namespace, intent.event_id, intent.memory_id, agent=intent.agent, said=said), data

    async def _send(self, topic: str, kind: str, records: list[tuple[str, str, bytes]]) -> list[str | None]:
        """Sends (namespace, event id, value) in order, each dated 1 ms later, and waits until Kafka has all. Returns
        the place of each, if it is known."""
        if self._posts and topic in wire.POSTED:
            path = wire.POSTED[topic]
            said = [
                await self._ask(dict[str, Any], "POST", path, content=value, headers=wire.JSON)
                for _, _, value in records
            ]
            return [one.get("place") for one in said]
        brokers = self._place.need_kafka()
        from memquorum.client import broker_access  # not at the top: a client over HTTP needs none of it

        producer, now = await self._kafka(), int(time.time() * 1_000)
        hops = [self._hop(namespace, event_id) for namespace, event_id, _ in records]
        rows = [
            broker_access.Row(
                namespace.encode(),
                value,
                [*wire.headers(kind, event_id, _sent(hop, topic, namespace, event_id)), *self._signed(topic, value)],
                now + min(at, _SPREAD_MS),
            )
            for at, (hop, (namespace, event_id, value)) in enumerate(zip(hops, records, strict=True))
        ]
        places = await broker_access.send(producer, brokers, topic, rows)
        for hop in hops:
            hop.end()
        return places

    @property
    def _posts(self) -> bool:
        """True if records are published through the service, as no address of Kafka is known."""
        return not self._place.kafka and bool(self._place.url) and self._signer is None

    def _hop(self, namespace: str, event_id: str) -> Hop:
        """The span of a publication; a memory's trace has the memory's id, and that of another event an id made
        alike."""
        if not self._tracing.on:
            return NOTHING
        return self._tracing.publish(trace_of_memory(ids.memory_id(namespace, event_id)))

    def _signed(self, topic: str, value: bytes) -> list[tuple[str, bytes]]:
        return [] if self._signer is None else [(signatures.HEADER, self._signer.sign(topic, value))]

    async def _kafka(self) -> AIOKafkaProducer:
        if self._connections.leave_parents():  # a thread that sends spans is not in the child
            self._tracing, self._end_traces = Tracing(), _nothing
        producer = await self._connections.producer()
        if producer is not self._traced:
            self._traced = producer
            self._tracing, self._end_traces = await asyncio.to_thread(traces.start, self._place)
        return producer

    async def _get(self, kind: type[T], path: str, **parameters: Any) -> T:
        return await self._ask(kind, "GET", path, params=parameters)

    async def _ask(self, kind: type[T], method: str, path: str, **more: Any) -> T:
        headers = wire.asking(self._place.api_key) | more.pop("headers", {})
        http = self._connections.asker()
        return wire.body(await wire.sent(http, wire.request(http, method, path, headers=headers, **more)), kind)


def _crossing(asked: Mapping[str, Any], diffusion: bool) -> Mapping[str, Any]:
    """Adds the request for general forms of other namespaces."""
    return {**asked, "diffusion": True} if diffusion else asked


def _cosine(one: _Given) -> float | None:
    return one.cosine if isinstance(one, Hit | Answering) else None


def _ended(receipt: Receipt, found: Became) -> Receipt:
    """The receipt with the outcome of its record. Raises Refused."""
    if found.outcome == REFUSED:
        raise Refused(receipt, found.reason or REFUSED, found.field, found.detail or "")
    holder = found.memory_id or receipt.memory_id
    return replace(
        receipt, outcome=found.outcome, memory_id=holder, nowhere=found.nowhere, hidden=found.hidden, stays=found.stays,
        why=found.why,
    )  # fmt: skip


def _placed(receipts: Sequence[Receipt], places: Sequence[str | None]) -> list[Receipt]:
    """Gives each receipt its place in Kafka."""
    return [replace(one, place=place) for one, place in zip(receipts, places, strict=True)]


def _there(**named: str | None) -> dict[str, str]:
    """Drops parameters without a value."""
    return {name: one for name, one in named.items() if one is not None}


def _mapping(episode: Mapping[str, Any]) -> Mapping[str, Any]:
    """Checks that an episode is a mapping. Raises Invalid."""
    if not isinstance(episode, Mapping):
        raise Invalid("wrong_type", None, f"an episode is a mapping of its fields, not {episode!r:.80}")
    return episode


def _uses(namespace: str, agent: str, memory_ids: Sequence[str], *, signs: bool) -> list[tuple[list[Receipt], bytes]]:
    """The records of a use, each with its receipts: as many memories in each as one takes. Raises Invalid."""
    found = list[tuple[list[Receipt], bytes]]()
    for at in range(0, len(memory_ids), USES_MOST):
        event_id, some = str(uuid.uuid4()), list(memory_ids[at : at + USES_MOST])
        told = {"agent": agent, "memory_ids": some, "namespace": namespace, "event_id": event_id}
        data = wire.checked(topics.ACCESSES, told, signs=signs)[1]
        found.append(([Receipt(namespace, event_id, one) for one in some], data))
    return found


def _nothing() -> None:
    """Closes nothing, as no tracing was started."""


def _sent(hop: Hop, topic: str, namespace: str, event_id: str) -> str | None:
    """Begins the span of a record to publish; returns its header's traceparent. An episode's names its memory."""
    parent = hop.send(topic, None, event_id)
    if topic == topics.EPISODES and hop.sampled:
        hop.operates(UPSERT, memory_id=ids.memory_id(namespace, event_id))
    return parent
