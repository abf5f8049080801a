"""Verifiers' findings about candidates, signed by the test cluster's verifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.experience.reward import REACH
from memquorum.core.experience.trial import Judged, Statistics
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import trials
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import AdmissionRow, Change, ShardState, WeightRow
from memquorum.core.policy import PPM
from memquorum.core.records import Proposal, TrialMade
from memquorum.core.vote.kinds.admit import TRIED
from tests.builders import votes
from tests.builders.genesis import public_key
from tests.builders.shard import NAMESPACE, Shard, memory_id

VERIFIERS = ("verifier-1", "verifier-2", "verifier-3", "verifier-4")


def entitled(*more: str, verifiers: Sequence[str] = VERIFIERS) -> dict[str, Any]:
    """Returns the services of a genesis that names verifiers."""
    return {"services": {n: public_key(f"service:{n}") for n in ("nomination", "journal", *more, *verifiers)}}


def statistics(genesis: Genesis, memory: str, position: int, helped: int = 3, of: int = 3) -> Statistics:
    """Builds the statistics of a trial: so many of the judges were helped in every run, at no cost."""
    policy = genesis.policy.experience
    gains = [PPM * policy.runs * (at < helped) for at in range(of)]
    judged = tuple(Judged(memory_id(f"task {at}"), 0, gain, 9, 9, 1, 1) for at, gain in enumerate(gains))
    return Statistics(memory, b"s" * 32, b"e" * 32, REACH, policy.digest, position, policy.runs, judged)


def signed(codec: Codec, genesis: Genesis, told: Statistics, verifier: str, **changed: Any) -> bytes:
    """Signs the statistics as the verifier does. `changed`: `signer`, and fields of the record."""
    signer = changed.pop("signer", f"service:{verifier}")
    said = {"cluster": genesis.cluster, "config": genesis.config, "shard": 0, "memory_id": told.candidate}
    said |= {"namespace": NAMESPACE, "verifier": verifier, "statistics": told.data} | changed
    return votes.signed(codec, genesis, signer, TrialMade(**said))


def drawn(into: Shard, memory: str, position: int) -> list[str]:
    """Returns the verifiers drawn for a candidate's decision, in their order."""
    return trials.drawn_verifiers(into.rules.genesis, memory, into.rows.nominated[position])


def tell(into: Shard, data: bytes, offset: int) -> Change | Exception:
    """Applies a verifier's finding at an offset of its topic."""
    place = applying.RecordPosition(topics.TRIALS, into.rows.state.shard, offset)
    change = applying.apply_tried(into.rules, into.rows, place, data)
    return into._absorb(change) if isinstance(change, Change) else change


def agree(into: Shard, memory: str, position: int = 1, helped: int = 3, offset: int = 0) -> list[bytes]:
    """Has as many verifiers as are needed agree on a candidate; returns what they signed."""
    genesis, codec = into.rules.genesis, into.rules.codec
    told = statistics(genesis, memory, position, helped)
    made = [signed(codec, genesis, told, one) for one in drawn(into, memory, position)[:2]]
    for at, data in enumerate(made):
        change = tell(into, data, offset + at)
        assert isinstance(change, Change), change
    return made


def proposal(memory: str, made: Sequence[bytes], namespace: str = NAMESPACE) -> Proposal:
    """Builds the proposal to admit what the verifiers agree on."""
    return Proposal((memory,), namespace, "admit", TRIED, 0, 0, 0, tried=tuple(made))


def experienced(
    codec: Codec, genesis: Genesis, names: str, outside: str, *, into: Shard | None = None, **said: Any
) -> Shard:
    """Builds a shard with a memory of each name, which is a letter.

    `outside` is voted on in epoch 1 and stays as it is; the others are admitted then, each in an epoch of its own.
    `said`: fields of each memory; `into`: another shard than a new one.
    """
    made = Shard(codec, genesis) if into is None else into
    for name in (*names, outside):
        made.episode(name, **said)
    made.tick(1_000_000_000)
    made.decide([votes.proposal(memory_id(outside), "promote")], votes.nobody)
    for at, one in enumerate(map(memory_id, names)):
        made.decide([proposal(one, agree(made, one, offset=9 * at))])
    return made


def idle(into: Shard, outside: str, **more: Any) -> Change:
    """Applies an epoch that changes none of its memories, so that only uses have an effect. `outside`: a memory."""
    into.tick(into.rows.state.as_of + 1)
    return into.decide([votes.proposal(outside, "promote")], votes.nobody, **more)


def stands(into: Shard, memory: str, *fields: str) -> tuple[Any, ...]:
    """Returns a memory's state in experience: its status, the version of its weight and the weight; then those
    `fields`.
    """
    one = into.rows.admissions[memory]
    return tuple(getattr(one, name) for name in ("status", "version", "weight_ppm", *fields))


def rebuilt(shard: Shard, size: int) -> tuple[list[WeightRow], dict[str, AdmissionRow], ShardState]:
    """Rebuilds from the journal, so many entries at a time; returns the versions of weights, each memory's state, and
    the shard's.
    """
    replay = Replay(shard.rules, 0)
    read = [replay.read(shard.rules.codec.encode(change.appended)) for change in shard.changes]
    versions, stand = list[WeightRow](), dict[str, AdmissionRow]()
    for at in range(0, len(read), size):
        net = replay.take(read[at : at + size]).net
        versions += net.of(WeightRow)
        stand |= {row.memory_id: row for row in net.of(AdmissionRow)}
    return versions, stand, replay.state
