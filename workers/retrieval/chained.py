"""Whether a shard's journal in the store is whole, for who has this service alone: its chain, and the signed end.

    GET the latest heads ─► read the next entries ─► core.journal.hash_chain ─► POST /journal/verify

The heads come first, as in an audit: what a head covers is in the store then. `memquorum admin audit verify` checks
more, and trusts neither this service nor the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from confluent_kafka import KafkaException, TopicPartition
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum import topics
from memquorum.core.access import AUDIT, Caller
from memquorum.core.accounts import pages
from memquorum.core.accounts.pages import Checked
from memquorum.core.api.answers import JournalChecked, SignedHead
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_any
from memquorum.core.journal import hash_chain
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalHead
from memquorum.core.retrieval.paging import cursor
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.balloting import heard
from workers.retrieval.service import KafkaUnavailable, Service

_HEADS = 16
"""So many of the latest records are looked at; a stranger's is passed over."""
_ASK_S, _SIGNER = 5.0, "service:journal"


async def verify_journal(service: Service, request: Request, caller: Caller) -> Response:
    """A part of a shard's journal, whose chain is checked, for who may audit everything."""
    page = pages.read_verify(await body(request, service.bounds), service.genesis.shards, service.bounds)
    sight, genesis = caller.everywhere(AUDIT), service.configurations.of(page.shard)
    try:
        head = await asyncio.to_thread(_latest, service.bootstrap, service.codec, genesis, page.shard)
    except (KafkaException, TopicUnreadable) as error:
        raise KafkaUnavailable(f"the signed heads cannot be read: {error}") from error
    links, ends = await service.reads.links(sight, page)
    found = await service.desk.read(checked, service.codec, service.genesis, page, links, ends)
    return StructResponse(found if head is None else replace(found, head=beside(found, links, head)))


def checked(
    codec: Codec, genesis: Genesis, page: Checked, links: Sequence[JournalAppended], ends: int
) -> JournalChecked:
    """Checks the links of a page. `ends`: the last entry that the store has."""
    state = hash_chain.beginning(genesis.cluster, page.shard)
    if page.behind is not None:
        seq, as_of, digest = page.behind
        state = ShardState(shard=page.shard, seq=seq, hash=digest, as_of=as_of)
    first = state.seq + 1
    state, problem = hash_chain.walk(codec, state, links)
    if problem is None and not links and state.seq < ends:
        problem = f"the store has an entry {ends}, and none behind {state.seq}"
    more = problem is None and state.seq < ends
    place = f"{state.seq}/{state.as_of}/{state.hash.hex()}"
    return JournalChecked(
        page.shard, genesis.shards, first, state.seq, ends, state.hash.hex(), problem,
        next=cursor(page.what, page.where, place) if more else None,
    )  # fmt: skip


def beside(found: JournalChecked, links: Sequence[JournalAppended], head: JournalHead) -> SignedHead:
    """The latest signed end, and whether the checked entries agree with it."""
    agrees = None
    if found.first <= head.seq <= found.last:
        agrees = links[head.seq - found.first].hash == head.hash
    elif head.seq == found.last:  # a page without entries
        agrees = found.hash == head.hash.hex()
    elif found.problem is None and found.next is None and head.seq > found.last:
        agrees = False  # the store has lost what was signed
    return SignedHead(head.seq, head.hash.hex(), head.as_of, head.config, _SIGNER, agrees)


def _latest(bootstrap: str, codec: Codec, genesis: Genesis, shard: int) -> JournalHead | None:
    """The latest authentic head of a shard. Raises KafkaException, TopicUnreadable."""
    client, found = loop.reader(bootstrap), None
    try:
        low, end = client.get_watermark_offsets(TopicPartition(topics.HEADS, shard), timeout=_ASK_S)
        places = {(topics.HEADS, shard): (max(low, end - _HEADS), end)}
        for one in heard(client, {topics.HEADS: JournalHead}, places):
            try:
                head, _ = open_any(codec, genesis, one.data, JournalHead)
            except BadMessage:
                continue
            if head.shard == shard and (found is None or head.seq > found.seq):
                found = head
    finally:
        client.close()
    return found
