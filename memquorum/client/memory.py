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

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from memquorum import kafka, topics
from memquorum.client import settings, traces, wire
from memquorum.client.asking import Asking
from memquorum.client.connections import Connections
from memquorum.client.deciding import Deciding
from memquorum.client.ending import Ending
from memquorum.client.errors import Invalid, NoOutcome, Refused, Unreachable
from memquorum.client.filing import Filing
from memquorum.client.finishing import note
from memquorum.client.ordering import Ordering
from memquorum.client.overseeing import Overseeing
from memquorum.client.refusals import explained
from memquorum.client.settings import Place
from memquorum.client.signer import Signer
from memquorum.client.values import Episode, Filed, Gates, Only, Receipt
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
from memquorum.telemetry.tracing import NOTHING, Hop, Tracing, trace_of_memory

if TYPE_CHECKING:
    pass

T = TypeVar("T")
After = Receipt | str | None
R = TypeVar("R", SearchResult, Retrieved, Recalled, Context)

_LOG = logging.getLogger("memquorum.client")
_AGAIN_S = 0.5
_SPREAD_MS = 999  # what is sent at once is dated within a second


class AsyncMemory(Ordering, Filing, Deciding, Overseeing, Ending, Asking):
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
        """What is not given comes from MEMQUORUM_NAMESPACE, _AGENT, _BOOTSTRAP, _URL and _API_KEY, or from the run
        folder of an installation in this folder or above; the namespace is `default` otherwise. Where nobody says where
        Kafka is, what is published goes through the service, but for uses.

        `api_key`: what opens the retrieval service, where that wants a key.

        `seed`: the agent's 32-byte Ed25519 seed; what is published is then signed, as a namespace may require, for the
        cluster whose file is `genesis` (default: the installation's). Raises NotConfigured."""
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
        """Where this client reads and writes."""
        return self._place.namespace

    @property
    def agent(self) -> str:
        """The name in which this client speaks. Raises NotConfigured."""
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
        """Delivers what is under way and lets connections go."""
        traced = self._connections.publishes
        await self._disconnect()
        if traced:
            await asyncio.to_thread(self._end_traces)
            self._tracing, self._end_traces = Tracing(), _nothing

    async def _disconnect(self) -> None:
        """Does what `close` does and starts no thread for it: an interpreter that ends allows none."""
        await self._connections.close()

    async def add(self, content: str, *, wait: bool = False, timeout: float = 30.0, **said: Unpack[Episode]) -> Receipt:
        """Publishes what happened; returns once Kafka has it, or with `wait` once it is searchable.

        What else is `said` of it: see `Episode`.
        Raises Invalid, Unreachable, NotAllowed, and with `wait` Refused, or NoOutcome after `timeout` seconds.
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
        """The receipt with its outcome, as soon as there is one. Raises Refused where intake refused what was
        published, and NoOutcome after `timeout` seconds."""
        if not isinstance(receipt, Receipt):
            raise Invalid("wrong_type", "receipt", f"is what `add` answers, not {receipt!r:.80}")
        deadline = time.monotonic() + wire.seconds(timeout)
        path = f"/events/{wire.quoted(receipt.namespace)}/{wire.quoted(receipt.event_id)}"
        which = _there(agent=receipt.agent, place=receipt.place)
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
        exact: bool = False, diffusion: bool = False, after: After = None, **only: Unpack[Only],
    ) -> list[Hit]:  # fmt: skip
        """The k memories nearest in meaning, nearest first. They count as used, unless you `peek`. Raises Invalid.

        `vector`: by the service's own encoder, in place of a query. `exact`: all memories are compared, where otherwise
        an index finds nearly all of a large namespace. `diffusion`: of experience alone, with general forms of other
        namespaces, whose publishers allow it. `after`: a write that is waited for, by its receipt or token; so
        all that read. Raises NotYet where it is not seen in time.
        """
        by = {"query": query} if vector is None else {"query": query, "vector": wire.numbers("vector", vector)}
        asked = _crossing({**by, "k": k, "exact": exact, **only}, diffusion)
        found = await self._read(SearchResult, "/search", asked, peek, after)
        return list(found.hits)

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
        **only: Unpack[Only],
    ) -> Retrieved:
        """The memories that answer best and fit the budget, by meaning and by words, best first; they count as used.

        With 2 `hops` also what the first of them name, where a question needs two memories. `diffusion`: of experience
        alone, with general forms of other namespaces, whose publishers allow it. Raises Invalid, Unreachable.
        """
        asked = {"query": query, "budget_tokens": budget_tokens, "k_max": k_max, "hops": hops, **only}
        return await self._read(Retrieved, "/retrieve", _crossing(asked, diffusion), peek, after)

    async def recall(
        self,
        memory_id: str | None = None,
        *,
        query: str | None = None,
        goal: str | None = None,
        steps: int = 5,
        links: int = 2,
        within_ms: int = 0,
        anchors: int | None = None,
        budget_tokens: int = 2_000,
        peek: bool = False,
        after: After = None,
        **only: Unpack[Only],
    ) -> Recalled:
        """What surrounds a memory, the `anchors` (3) memories that answer a query best, or as many (20) of those that a
        goal needs, in the order of time.

        So many `steps` before and after in the session; what it was made of and what was made of it, over so many
        `links`; and what else occurred `within_ms`. What is given counts as used.
        Raises Invalid, NotFound, Unreachable.
        """
        asked = {
            "memory_id": memory_id, "query": query, "goal": goal, "steps": steps, "links": links,
            "within_ms": within_ms, "anchors": anchors, "budget_tokens": budget_tokens, **only,
        }  # fmt: skip
        return await self._read(Recalled, "/recall", asked, peek, after)

    async def context(
        self,
        query: str | None = None,
        budget_tokens: int = 2_000,
        *,
        session: str | None = None,
        buffer_share: float = 0.5,
        k_max: int = 20,
        hops: int = 1,
        peek: bool = False,
        after: After = None,
        **only: Unpack[Filed],
    ) -> Context:
        """What to put into a prompt; str() of it is the text. First what this agent said last, in a `session` or in
        all, as far as `buffer_share` of the budget goes; then what answers best, at most `k_max`. It counts as used.
        With 2 `hops` also what the first of these name, where a question needs two memories.
        Without a query the first alone. Raises Invalid, Unreachable.
        """
        asked = {
            "agent": self._place.need_agent(), "query": query, "budget_tokens": budget_tokens, "session": session,
            "buffer_share": buffer_share, "k_max": k_max, "hops": hops, **only,
        }  # fmt: skip
        return await self._read(Context, "/context", asked, peek, after)

    async def _read(self, kind: type[R], path: str, asked: Mapping[str, Any], peek: bool, after: After) -> R:
        """Asks, and sees to it that what is given counts as used, unless we peek."""
        # Who signs says itself what it used: the retrieval service cannot sign in its place.
        ourselves = self._signer is not None and not peek
        body = wire.within(self.namespace, {**asked, "peek": peek or ourselves})
        if not body["peek"]:
            body["agent"] = self._place.need_agent()
        found = await self._ask(kind, "POST", path, json=body, params=wire.after(after))
        items: Sequence[Hit | Answering | Around | Placed] = (
            found.hits if isinstance(found, SearchResult) else found.items
        )
        # What is of another namespace is used there.
        given = [one.memory_id for one in items if not one.diffused]
        # What surrounds a memory, or was said last, is asked for as it is; and what experience gives counts.
        near = asked.get("experience") or asked.get("diffusion") or not isinstance(found, SearchResult | Retrieved)
        note(self, [(one.memory_id, one.text, None if near else _cosine(one)) for one in items])
        if isinstance(found, Context) and (session := asked.get("session")) is not None:
            self._gave(session, given)
        if ourselves:
            try:
                await self.use_all(given)
            except Unreachable as error:  # what was found is no worse for it
                _LOG.warning("these hits may not count as used: %s", error)
        return found

    async def use(self, memory_id: str) -> Receipt:
        """Says that a memory was used: after a peek, or when its text came from elsewhere. It keeps it alive.

        Raises Invalid, Unreachable. `outcome` of the receipt waits until it counts.
        """
        (receipt,) = await self.use_all([memory_id])
        return receipt

    async def use_all(self, memory_ids: Sequence[str]) -> list[Receipt]:
        """Says that memories were used, in order, confirmed together. Raises Invalid, Unreachable."""
        agent, memory_ids = self._place.need_agent(), wire.several("memory_ids", memory_ids)
        if self._posts:
            return await self._tell_uses(agent, memory_ids)
        receipts = [Receipt(self.namespace, str(uuid.uuid4()), memory_id) for memory_id in memory_ids]
        told = [wire.checked(topics.ACCESSES, _use(agent, r), signs=self._signs)[1] for r in receipts]
        records = [(r.namespace, r.event_id, data) for r, data in zip(receipts, told, strict=True)]
        return _placed(receipts, await self._send(topics.ACCESSES, "AccessRecorded", records))

    @property
    def _driven(self) -> bool:
        return self._place.driven

    def _user(self) -> str | None:
        return self._place.need_agent() if self._signer is None else None

    async def get(self, memory_id: str, *, use: bool = False, after: After = None, **gates: Unpack[Gates]) -> Shown:
        """One memory; its text is None once it is forgotten. Raises NotFound, also for one that a search with these
        `gates` would keep back, and where the client was told its namespace for one of another. `use`: while it is
        alive it counts as used, which no answer waits for; once a minute."""
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
        """The memories that pass, `limit` (100) at a time in the order of time, each with its links. No use of them.
        `cursor`: `next` of the page before. `tiers` may also be sealed and superseded. Raises Invalid."""
        asked = wire.within(self.namespace, {"cursor": cursor, "limit": limit, **only})
        return await self._ask(Page, "POST", "/memories/list", json=asked, params=wire.after(after))

    async def explain(self, memory_id: str, *, after: After = None, **gates: Unpack[Gates]) -> Explained:
        """Why a memory is where it is: salience, uses, votes with certificates, what comes next. Raises NotFound as
        `get` does."""
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
        return Receipt(intent.namespace, intent.event_id, intent.memory_id, agent=intent.agent), data

    async def _send(self, topic: str, kind: str, records: list[tuple[str, str, bytes]]) -> list[str | None]:
        """Sends (namespace, event id, value) in order, each dated 1 ms later, and waits until Kafka has all. Returns
        the place of each, where it is told."""
        if self._posts and topic in wire.POSTED:
            path = wire.POSTED[topic]
            said = [
                await self._ask(dict[str, Any], "POST", path, content=value, headers=wire.JSON)
                for _, _, value in records
            ]
            return [one.get("place") for one in said]
        producer, now = await self._kafka(), int(time.time() * 1_000)
        hops = [self._hop(namespace, event_id) for namespace, event_id, _ in records]
        try:
            sent = [
                await producer.send(
                    topic,
                    value,
                    key=namespace.encode(),
                    headers=[
                        *wire.headers(kind, event_id, hop.send(topic, None, event_id)),
                        *self._signed(topic, value),
                    ],
                    timestamp_ms=now + min(at, _SPREAD_MS),
                )
                for at, (hop, (namespace, event_id, value)) in enumerate(zip(hops, records, strict=True))
            ]
            places = await asyncio.gather(*sent)
        except KafkaError as error:
            address = self._place.need_kafka()
            raise explained(error, address, "write", topic, f"Kafka at {address} did not confirm: {error}") from error
        for hop in hops:
            hop.end()
        return [kafka.place(one) for one in places]

    @property
    def _posts(self) -> bool:
        """Whether what is published goes through the service, since nobody says where Kafka is."""
        return not self._place.kafka and bool(self._place.url) and self._signer is None

    def _hop(self, namespace: str, event_id: str) -> Hop:
        """The span of a publication; a memory's trace has the memory's id; any event has one so made."""
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
        import httpx  # not at the top: who only publishes needs none of it

        headers = wire.asking(self._place.api_key) | more.pop("headers", {})
        http = self._connections.asker()
        try:
            answer = await http.send(wire.request(http, method, path, headers=headers, **more))
        except httpx.HTTPError as error:
            raise Unreachable(
                f"the retrieval service at {self._place.url} does not answer: does it run (`make status`)? "
                f"({error or type(error).__name__})"
            ) from error
        return wire.body(answer, kind)


def _crossing(asked: Mapping[str, Any], diffusion: bool) -> Mapping[str, Any]:
    """What is asked, with general forms of other namespaces where these are."""
    return {**asked, "diffusion": True} if diffusion else asked


def _cosine(one: Hit | Answering | Around | Placed) -> float | None:
    return one.cosine if isinstance(one, Hit | Answering) else None


def _ended(receipt: Receipt, found: Became) -> Receipt:
    """The receipt with what became of what was published. Raises Refused."""
    if found.outcome == REFUSED:
        raise Refused(receipt, found.reason or REFUSED, found.field, found.detail or "")
    holder = found.memory_id or receipt.memory_id
    return replace(
        receipt, outcome=found.outcome, memory_id=holder, nowhere=found.nowhere, hidden=found.hidden, stays=found.stays,
        why=found.why,
    )  # fmt: skip


def _placed(receipts: Sequence[Receipt], places: Sequence[str | None]) -> list[Receipt]:
    """Gives each receipt its place."""
    return [replace(one, place=place) for one, place in zip(receipts, places, strict=True)]


def _there(**named: str | None) -> dict[str, str]:
    """Keeps the parameters that are known."""
    return {name: one for name, one in named.items() if one is not None}


def _mapping(episode: Mapping[str, Any]) -> Mapping[str, Any]:
    """The episode, as long as it is one at all. Raises Invalid."""
    if not isinstance(episode, Mapping):
        raise Invalid("wrong_type", None, f"an episode is a mapping of its fields, not {episode!r:.80}")
    return episode


def _use(agent: str, receipt: Receipt) -> dict[str, Any]:
    named = {"memory_id": receipt.memory_id, "namespace": receipt.namespace, "event_id": receipt.event_id}
    return {"agent": agent, **named}


def _nothing() -> None:
    """No traces were begun."""
