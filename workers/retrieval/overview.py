"""The endpoints that people look at first: namespaces, the policy in force, the fleet, and its faults.

A `following.Watch` sees the processes of the fleet and their traces. The program that starts the service hands it over;
without one, as where other machines run the processes, the fleet is unknown and no step was recorded.
"""

from __future__ import annotations

import asyncio
from operator import attrgetter

from confluent_kafka import KafkaException
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core import caps
from memquorum.core.access import AUDIT, READ, Caller, Sight
from memquorum.core.accounts import pages, undecided
from memquorum.core.api.answers import (
    DeadLetter,
    DeadLetters,
    Evidence,
    Fault,
    Fleet,
    MemoryTrace,
    Namespaces,
    NamespaceState,
    OpenEpoch,
    PolicyInForce,
)
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.policy import Policy, to_json
from memquorum.core.retrieval import query
from workers.audit import accusations
from workers.kafka.loop import TopicUnreadable
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.service import KafkaUnavailable, Service

UNKNOWN = "unknown"
_LETTERS_MOST = 500


async def namespaces(service: Service, request: Request, caller: Caller) -> Response:
    """The namespaces that the key sees and that have memories."""
    page = pages.read_namespaces(await body(request, service.bounds), service.bounds)
    sight = caller.sight(READ, AUDIT)
    return StructResponse(
        Namespaces(*page.cut(await service.reads.namespaces_seen(sight, page), attrgetter("namespace")))
    )


async def namespace(service: Service, request: Request, caller: Caller) -> Response:
    """The state of a namespace."""
    named = query.read_namespace(request.path_params["namespace"])
    sight, shard = caller.at(named, READ, AUDIT), shard_of(named, service.genesis.shards)
    policy = service.configurations.policy(named)
    tiers, agents, (as_of, last_epoch, last_epoch_at, counted_from) = await service.reads.namespace(sight, named, shard)
    quota = await service.reads.quota(sight, named, caps.since(as_of, policy.caps))
    return StructResponse(
        NamespaceState(
            namespace=named,
            shard=shard,
            as_of=as_of,
            tiers=tiers,
            agents=tuple(agents),
            forgotten=caps.lately(quota, as_of, policy.caps),
            may_forget=caps.room(quota, as_of, policy.caps),
            stopped_until=caps.stopped_until(quota, as_of, policy.caps),
            last_epoch=last_epoch,
            last_epoch_at=last_epoch_at,
            next_epoch_at=counted_from + policy.epoch.interval_ms,
            interactions=policy.epoch.interactions,
        )
    )


async def policy(service: Service, request: Request, caller: Caller) -> Response:
    """The policy by which a namespace is judged now."""
    named = query.read_namespace(request.path_params["namespace"])
    caller.at(named, READ, AUDIT)
    shard = shard_of(named, service.genesis.shards)
    now = service.configurations.of(shard)
    sections, usual = to_json(now.policy), to_json(Policy())
    changed = {
        name: {one: value for one, value in section.items() if value != usual[name][one]}
        for name, section in sections.items()
    }
    differing = {name: section for name, section in changed.items() if section}
    return StructResponse(PolicyInForce(named, shard, now.config, now.policy_version, sections, differing))


async def fleet(service: Service, _: Request, caller: Caller) -> Response:
    """The processes of the fleet, for who may audit everything."""
    caller.everywhere(AUDIT)
    if service.watch is None:
        return StructResponse(Fleet(UNKNOWN, "other machines run its processes, or nobody watches them", ()))
    return StructResponse(await asyncio.to_thread(service.watch.fleet))


async def trace(service: Service, request: Request, caller: Caller) -> Response:
    """The recorded steps of a memory that the caller might find."""
    memory_id = query.read_memory_id(request.path_params["memory_id"])
    within = query.read_within(request.query_params.get("namespace"))
    gates = query.read_gates_of(request.query_params)
    found = await service.reads.memory(caller.sight(READ, AUDIT), memory_id, gates)
    if not found or within not in (None, found["namespace"]):
        return unknown("memory_id", f"no memory {memory_id}")
    spans = () if service.watch is None else await asyncio.to_thread(service.watch.trace, memory_id)
    return StructResponse(MemoryTrace(memory_id, spans))


async def open_epoch(service: Service, request: Request, caller: Caller) -> Response:
    """The epoch that members vote on now, as far as it is about a namespace."""
    named = query.read_namespace(request.path_params["namespace"])
    sight, shard = caller.at(named, READ, AUDIT), shard_of(named, service.genesis.shards)
    return await _open(service, request, sight, named, shard)


async def open_epoch_of_shard(service: Service, request: Request, caller: Caller) -> Response:
    """The epoch that members vote on now, in all namespaces of a shard."""
    shard = query.read_shard(request.path_params["shard"], service.genesis.shards)
    return await _open(service, request, caller.everywhere(AUDIT), None, shard)


async def _open(service: Service, request: Request, sight: Sight, named: str | None, shard: int) -> Response:
    gates = query.read_gates_of(request.query_params)
    last_epoch = await service.reads.last_epoch(sight, shard)
    try:
        found = await service.open_epochs.of(shard, service.configurations.of(shard), last_epoch)
    except (KafkaException, TopicUnreadable) as error:
        raise KafkaUnavailable(f"the votes cannot be read: {error}") from error
    if found is None:
        return StructResponse(OpenEpoch(named, shard))
    ids = [one for proposal in found.opened.nominated.record.proposals for one in proposal.memory_ids]
    hidden = await service.reads.kept_back(sight, ids, gates)
    return StructResponse(undecided.told(found, named, hidden) or OpenEpoch(named, shard))


async def dead_letters(service: Service, _: Request, caller: Caller) -> Response:
    """The latest refusals, for who may audit everything: a letter names no namespace."""
    caller.everywhere(AUDIT)
    latest = service.refusals.latest(_LETTERS_MOST)
    letters = tuple(DeadLetter(one.refused_at, one.reason, one.field, one.detail, one.place) for one in latest)
    return StructResponse(DeadLetters(service.refusals.counts(), letters))


async def evidence(service: Service, _: Request, caller: Caller) -> Response:
    """The reported faults of members, each judged again."""
    caller.everywhere(AUDIT)
    try:
        found = await asyncio.to_thread(_faults, service.bootstrap, service.genesis, service.codec)
    except (KafkaException, TopicUnreadable) as error:
        raise KafkaUnavailable(f"the evidence cannot be read: {error}") from error
    return StructResponse(found)


def _faults(bootstrap: str, genesis: Genesis, codec: Codec) -> Evidence:
    reports, strangers = accusations.read(bootstrap, genesis, codec)
    found = accusations.faults(codec, reports, verify=True)
    return Evidence(
        tuple(
            Fault(
                shard=one.shard,
                member=one.accused,
                what=one.what,
                reported_by=tuple(sorted(one.reporters)),
                first_at=one.first_at,
                proven=one.verdict is not None,
                detail=one.verdict.detail if one.verdict is not None else one.wrong or "",
            )
            for one in found
        ),
        strangers,
    )
