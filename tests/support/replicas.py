"""Four replica processes and what they need around them: hand-made streams, and a reader of what they decide."""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from memquorum import topics
from memquorum.core import sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_decision, decider
from memquorum.core.identity.membership import Genesis, load
from memquorum.core.identity.messages import BadMessage, digest, sign, verify
from memquorum.core.ids import memory_id, shard_of
from memquorum.core.records import (
    AccessAccepted,
    BallotCast,
    ClockTicked,
    Commit,
    EpisodeAccepted,
    EpisodeScored,
    NominationProposed,
    PrePrepare,
    Proposal,
    Signed,
)
from memquorum.ports import Owner
from memquorum.schema_files import load_codec
from tests.builders.genesis import seed_of
from tests.builders.worths import weighed
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop
from workers.replica import worker as replica

START = 1_700_000_000_000
HOUR = 3_600_000


class DerivedVault:
    """The Vault port without a server: a key is the hash of its memory's id, the same in every process."""

    def __init__(self) -> None:
        self.notes: dict[int, int] = {}

    def create(
        self, wanted: Iterable[tuple[str, str, str]], claims: Mapping[str, bytes] = MappingProxyType({})
    ) -> dict[str, bytes]:
        return self.open(memory for memory, _, _ in wanted)

    def owners(self, memory_ids: Iterable[str]) -> dict[str, Owner]:
        raise AssertionError("no replica asks whose ids are")

    def open(self, memory_ids: Iterable[str]) -> dict[str, bytes]:
        return {memory: hashlib.sha256(b"key/" + memory.encode()).digest() for memory in memory_ids}

    def destroy(self, memory_ids: Iterable[str]) -> int:
        raise AssertionError("no replica destroys keys")

    def followed(self) -> dict[int, int]:
        return dict(self.notes)

    def follow(self, moves: Mapping[int, tuple[int, int]], memory_ids: Iterable[str] = ()) -> int:
        """Destroys nothing: a key is derived at each request."""
        assert not list(memory_ids)
        self.notes |= {shard: seq for shard, (_, seq) in moves.items()}
        return 0


def member_process(
    bootstrap: str, genesis: bytes, member: int, run_dir: Path, ready: Any, *, codec: Codec | None
) -> None:
    """Runs a replica in its process. `codec`: of another version than this one."""
    logging.basicConfig(
        filename=run_dir / f"replica-{member}.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        replica.run(
            bootstrap,
            load(genesis),
            codec or load_codec(),
            DerivedVault(),
            member_id=member,
            seed=seed_of(f"member:{member}"),
            run_dir=run_dir,
            # Long enough for four processes on two busy cores to be heard.
            ballot_grace_ms=2_000,
            stop=loop.Stop().on_signals(),
            ready=ready.set,
        )
    except BaseException:
        logging.exception("replica %d ends", member)
        raise


@dataclass
class Replicas:
    """The processes by member."""

    bootstrap: str
    genesis: bytes
    run_dir: Path
    processes: dict[int, BaseProcess] = field(default_factory=dict)
    live: dict[int, Any] = field(default_factory=dict)

    def start(self, *members: int, codec: Codec | None = None) -> None:
        """Starts members and waits until they are live. `codec`: of another version than this one."""
        for ready in [self.begin(member, codec) for member in members]:
            assert ready.wait(PATIENCE_S), "a replica did not come to life"

    def begin(self, member: int, codec: Codec | None = None) -> Any:
        """Starts a member; returns the event that it sets once it is live."""
        # A server that has imported everything forks the members: four imports at once take seconds on two cores.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self.live[member] = context.Event()
        arguments = (self.bootstrap, self.genesis, member, self.run_dir, self.live[member])
        self.processes[member] = context.Process(target=member_process, args=arguments, kwargs={"codec": codec})
        self.processes[member].start()
        return self.live[member]

    def ended(self, member: int) -> int | None:
        """Returns the exit status of a member that ends by itself; None if it does not."""
        self.processes[member].join(PATIENCE_S)
        return self.processes[member].exitcode

    def kill(self, member: int) -> None:
        """Kills a member with SIGKILL."""
        self.processes[member].kill()
        self.processes[member].join()

    def stop(self) -> dict[int, int | None]:
        """Sends SIGTERM to all members; returns their exit statuses, None for one that does not end."""
        for process in self.processes.values():
            process.terminate()
        deadline = time.monotonic() + PATIENCE_S
        for process in self.processes.values():
            process.join(max(0.0, deadline - time.monotonic()))
        return {member: process.exitcode for member, process in self.processes.items()}

    def clean_up(self) -> None:
        for process in self.processes.values():
            if process.is_alive():
                process.kill()
                process.join()


class World:
    """Intake, salience and nomination, by hand."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec) -> None:
        self.genesis, self.codec = genesis, codec
        self.offsets: dict[int, int] = {}
        self._producer = loop.producer(bootstrap)
        self._vault = DerivedVault()
        self._dice = np.random.default_rng(7)

    def namespace(self, shard: int) -> str:
        return next(n for n in map("room-{}".format, range(1000)) if shard_of(n, self.genesis.shards) == shard)

    def send(self, topic: str, shard: int, record: object) -> int:
        """Writes a record; returns its offset."""
        found: list[int] = []
        self._producer.produce(
            topic,
            self.codec.encode(record),
            partition=shard,
            on_delivery=lambda error, message: found.append(message.offset() if error is None else -1),
        )
        self._producer.flush(10)
        assert found and found[0] >= 0, f"could not write to {topic}"
        return found[0]

    def flood(self, topic: str, shard: int, values: Iterable[bytes]) -> None:
        """Writes random bytes."""
        for value in values:
            self._producer.produce(topic, value, partition=shard)
        self._producer.flush(10)

    def episode(self, shard: int, event: str, agent: str, at: int, reinforces: str | None = None) -> str:
        namespace = self.namespace(shard)
        memory = memory_id(namespace, event)
        key = self._vault.open([memory])[memory]
        text, nonce = "Okay, thanks.", os.urandom(12)  # of no worth
        accepted = EpisodeAccepted(
            event_id=event, memory_id=memory, namespace=namespace, agent=agent, subject=agent, occurred_at=at,
            sealed_content=sealing.seal_text(key, nonce, text, memory), commitment=sealing.commitment(key, text),
            characters=len(text), origin_topic=topics.EPISODES, origin_partition=0, origin_offset=0,
        )  # fmt: skip
        offset = self.send(topics.ACCEPTED, shard, accepted)
        vector = self._dice.standard_normal(16).astype(np.float32)
        scored = EpisodeScored(
            event_id=event, memory_id=memory, namespace=namespace, agent=agent, accepted_offset=offset, occurred_at=at,
            outcome="reinforced" if reinforces else "stored", salience_ppm=600_000, early=False, encoder="test",
            reinforces=reinforces, sealed_embedding=sealing.seal_vector(key, os.urandom(12), vector, memory),
            **weighed(key, text, memory),
        )  # fmt: skip
        self.send(topics.SCORED, shard, scored)
        return memory

    def access(self, shard: int, memory: str, at: int) -> int:
        record = AccessAccepted(f"access-{memory}-{at}", (memory,), self.namespace(shard), "reader", at)
        return self.send(topics.ACCEPTED, shard, record)

    def tick(self, shard: int, as_of: int) -> int:
        offset = self.send(topics.ACCEPTED, shard, ClockTicked(f"tick-{as_of}", as_of))
        self.offsets[shard] = offset
        return offset

    def nominate(
        self, shard: int, epoch: int, as_of: int, memories: Iterable[str], *, key: str = "", **changes: Any
    ) -> None:
        """Writes a nomination at the shard's last tick. `key`: whose seed signs it, if not the service's first."""
        namespace = self.namespace(shard)
        proposals = tuple(Proposal((m,), namespace, "forget", "decayed", START, START, 600_000) for m in memories)
        said: dict[str, Any] = {
            "cluster": self.genesis.cluster, "config": 0, "shard": shard, "epoch": epoch, "as_of": as_of,
            "accepted_offset": self.offsets[shard], "trigger": "interval", "proposals": proposals,
        }  # fmt: skip
        body = self.codec.encode(NominationProposed(**(said | changes)))
        signer = "service:nomination"
        self.send(topics.NOMINATIONS, shard, sign(self.genesis.cluster, signer, seed_of(key or signer), body))

    def close(self) -> None:
        self._producer.flush(5)


def authentic(codec: Codec, genesis: Genesis, data: bytes) -> tuple[Signed, Any] | None:
    """Returns a signed message and the record that it holds; None where the signature is not a member's or
    service's.
    """
    try:
        said = codec.decode_as(Signed, data)
        verify(genesis, said)
        return said, codec.decode(said.body)
    except (DecodeError, BadMessage):
        return None


class Decisions:
    """Reads pre-prepares and commits until their certificates are complete; it verifies everything."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec) -> None:
        self._genesis, self._codec = genesis, codec
        self._consumer = loop.consumer(bootstrap)
        places = [(t, s) for t in (topics.PRE_PREPARES, topics.COMMITS, topics.BALLOTS) for s in range(genesis.shards)]
        loop.assign(self._consumer, dict.fromkeys(places))
        self._pre_prepares: dict[tuple[int, int], list[bytes]] = {}
        self._commits: dict[tuple[int, int], dict[int, bytes]] = {}
        self._slots: dict[tuple[object, ...], bytes] = {}
        self.found: dict[tuple[int, int], Checked] = {}
        self.voters: set[tuple[int, int]] = set()

    def wait(self, *slots: tuple[int, int]) -> list[Checked]:
        """Waits for the decisions of (shard, sequence)."""
        deadline = time.monotonic() + PATIENCE_S
        while not all(slot in self.found for slot in slots):
            assert time.monotonic() < deadline, f"undecided: {[s for s in slots if s not in self.found]}"
            self.read(0.1)
        return [self.found[slot] for slot in slots]

    def commits(self, shard: int, seq: int) -> tuple[bytes, ...]:
        """Returns the commits of a sequence, in the order of their members."""
        return tuple(data for _, data in sorted(self._commits[shard, seq].items()))

    def read(self, seconds: float) -> None:
        """Reads what is there; waits so long for the first record."""
        for message in loop.records(self._consumer, 500, seconds):
            self._take(message.value() or b"")

    def _take(self, data: bytes) -> None:
        found = authentic(self._codec, self._genesis, data)
        if found is None:
            return
        _, record = found
        self._held_to(record, data)
        if isinstance(record, BallotCast):
            self.voters.add((record.shard, record.member))
            return
        slot = (record.shard, record.seq)
        if isinstance(record, PrePrepare):
            self._pre_prepares.setdefault(slot, []).append(data)
        elif isinstance(record, Commit):
            self._commits.setdefault(slot, {})[record.member] = data
        self._look(slot)

    def _look(self, slot: tuple[int, int]) -> None:
        commits = [c for _, c in sorted(self._commits.get(slot, {}).items())]
        for pre_prepare in self._pre_prepares.get(slot, []):
            try:
                by = decider(self._codec, self._genesis, pre_prepare)
                checked = self.found[slot] = check_decision(self._codec, by, pre_prepare, commits)
            except BadCertificate:
                continue
            if checked.configures is not None and checked.configures.config > self._genesis.config:
                # Records before this configuration was known could not be checked.
                self._genesis = checked.configures
                for later in sorted(self._pre_prepares.keys() - self.found.keys()):
                    self._look(later)

    def _held_to(self, record: Any, data: bytes) -> None:
        """Checks that no honest member says two things for one slot."""
        number = (record.epoch,) if isinstance(record, BallotCast) else (record.view, record.seq)
        said = digest(self._codec.decode_as(Signed, data).body)
        slot = (type(record).__name__, record.member, record.shard, *number)
        assert self._slots.setdefault(slot, said) == said, f"said twice: {slot}"

    def close(self) -> None:
        self._consumer.close()
