"""A stranger on the internal topics of a running fleet, who has read everything there and has every tool but the keys.

It knows the genesis file, the topics' contents and the record formats. It sends what cannot be read, what was never
signed, what others signed for another cluster or configuration, what the line itself said before, and what is too
large; and the forgeries that would do most harm if anyone believed them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from infra import genesis
from infra.settings import Settings
from memquorum import topics
from memquorum.core import ids
from memquorum.core.experience.reward import REACH
from memquorum.core.experience.trial import Judged, Statistics
from memquorum.core.identity import messages
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal import hash_chain
from memquorum.core.policy import PPM
from memquorum.core.records import (
    AccessAccepted,
    BallotCast,
    ClockTicked,
    Commit,
    Crossing,
    DecayCrossed,
    Destroyed,
    EpisodeAccepted,
    EpisodeScored,
    IntakeRefused,
    JournalAppended,
    JournalEntry,
    JournalHead,
    Misbehaved,
    NominationProposed,
    Prepare,
    PrePrepare,
    Proposal,
    RehearsalMade,
    Signed,
    Standing,
    Ticked,
    TrialMade,
)
from memquorum.schema_files import load_codec
from workers.kafka import loop

INTERNAL = tuple(topic for topic in topics.ALL if topic not in topics.OUTSIDE)
SIGNED = {
    topics.NOMINATIONS: NominationProposed, topics.BALLOTS: BallotCast, topics.PRE_PREPARES: PrePrepare,
    topics.PREPARES: Prepare, topics.COMMITS: Commit, topics.HEADS: JournalHead,
    topics.EVIDENCE: Misbehaved, topics.REHEARSED: RehearsalMade, topics.TRIALS: TrialMade,
}  # fmt: skip
_SERVICES = {
    NominationProposed: "service:nomination", JournalHead: "service:journal", RehearsalMade: "service:rehearsal",
    TrialMade: "service:verifier-1",
}  # fmt: skip
# A time that nobody comes back from.
DOOM = 4_102_444_800_000
LIE = "what nobody refused"
_REPLAYED_MOST = 100

Headers = tuple[tuple[str, bytes], ...]


class Forgery(Struct, frozen=True):
    """A record for an internal partition. `large`: the broker must turn it away."""

    kind: str
    topic: str
    partition: int
    value: bytes | None
    headers: Headers = ()
    large: bool = False


class Seen(Struct, frozen=True):
    """A record that the stranger has read, with its partition."""

    topic: str
    partition: int
    value: bytes
    headers: Headers


def read(running: Settings) -> list[Seen]:
    """Everything on the internal topics."""
    shards = genesis.read(running).shards
    reader, found = loop.consumer(running.bootstrap), []
    places = [(topic, shard) for topic in INTERNAL for shard in range(shards)]
    left = {place: end for place, end in loop.ends(reader, iter(places)).items() if end > 0}
    loop.assign(reader, dict.fromkeys(places))
    while left:
        for message in loop.records(reader, 5_000, 5):
            place = loop.place(message)
            if place in left and loop.offset(message) + 1 >= left[place]:
                del left[place]
            headers = tuple((n, v) for n, v in loop.header_items(message) if isinstance(v, bytes))
            found.append(Seen(*place, message.value() or b"", headers))
    reader.close()
    return found


def forgeries(running: Settings, seed: int) -> list[Forgery]:
    """All of it, shuffled."""
    made, seen, dice = genesis.read(running), read(running), Random(seed)
    found = [
        *_noise(dice, made.shards),
        *_unsigned(made, seen),
        *_foreign(running, made),
        *_harmful(made, seen),
        *_repeated(dice, made.shards, seen),
    ]
    dice.shuffle(found)
    return found


def _noise(dice: Random, shards: int) -> Iterator[Forgery]:
    codec = load_codec()
    entry = codec.encode(ClockTicked("t", 1))
    values: list[tuple[str, bytes | None]] = [
        ("tombstone", None), ("empty", b""), ("one byte", b"\xc3"), ("noise", dice.randbytes(200)),
        ("truncated", entry[:-1]), ("noise after a fingerprint", entry[:10] + b"\xff" * 40),
        ("array without end", codec.encode(Destroyed(()))[:10] + b"\xfe\xff\xff\xff\x0f" + b"\0" * 20),
        ("of another topic", codec.encode(Destroyed(("x",)))), ("megabytes", b"\xc3\x01" + bytes(3_000_000)),
    ]  # fmt: skip
    for topic, (kind, value) in itertools.product(INTERNAL, values):
        if kind == "megabytes" and topic in (topics.ACCEPTED, topics.REFUSED, topics.ASKED):  # which take 2 MiB at most
            continue
        yield Forgery(kind, topic, dice.randrange(shards), value)
    for topic in INTERNAL:
        yield Forgery("oversized", topic, 0, bytes(9_000_000), large=True)


def _said(made: Genesis, kind: type, shard: int, member: int, **changes: Any) -> Any:
    """A body that would fit: the next epoch, the next sequence."""
    common = {"cluster": made.cluster, "config": made.config, "shard": shard}
    slot = {**common, "view": 0, "seq": 1, "member": member}
    fields: dict[type, dict[str, Any]] = {
        NominationProposed: {
            **common, "epoch": 1, "as_of": DOOM, "accepted_offset": 0, "trigger": "interval",
            "proposals": (Proposal((ids.memory_id("flood-0", "e1"),), "flood-0", "forget", "decayed", 0, 0, 1),),
        },
        BallotCast: {
            **common, "epoch": 1, "member": member, "nomination": bytes(32), "terms": bytes(16),
        },
        PrePrepare: {**slot, "epoch": 1, "nomination": b"n", "ballots": (b"b",) * 4},
        Prepare: {**slot, "digest": bytes(32)},
        Commit: {**slot, "digest": bytes(32)},
        Misbehaved: {**common, "member": member, "accused": 0, "rule": "equivocation", "originals": (b"a", b"b")},
        RehearsalMade: {
            **common, "memory_id": ids.memory_id("flood-0", "e1"), "namespace": "flood-0", "verdict": "contested",
            "witness": "", "memory_seq": 1, "previous": 0, "as_of": DOOM, "accepted_offset": 10**9,
        },
        TrialMade: {
            **common, "memory_id": ids.memory_id("flood-0", "e1"), "namespace": "flood-0", "verifier": "verifier-1",
            "statistics": _tried(made, ids.memory_id("flood-0", "e1")),
        },
        JournalHead: {**common, "seq": 10**9, "hash": bytes(32), "as_of": DOOM},
    }  # fmt: skip
    return kind(**(fields[kind] | changes))


def _tried(made: Genesis, memory_id: str) -> bytes:
    """Statistics by which a memory helped wherever that can be."""
    policy = made.policy.experience
    gained = PPM * policy.runs
    judged = tuple(Judged(ids.memory_id("flood-0", f"t{at}"), 0, gained, 0, 0, 0, 0) for at in range(3))
    return Statistics(memory_id, bytes(32), bytes(32), REACH, policy.digest, 1, policy.runs, judged).data


def _signer(kind: type, member: int) -> str:
    return _SERVICES.get(kind, f"member:{member}")


def _unsigned(made: Genesis, seen: list[Seen]) -> Iterator[Forgery]:
    """Bodies that fit under signatures that do not: none, a stranger's own, another message's."""
    codec, own = load_codec(), bytes(range(32))
    borrowed = {s.topic: codec.decode_as(Signed, s.value) for s in seen if s.topic in SIGNED}
    for (topic, kind), shard, member in itertools.product(SIGNED.items(), range(made.shards), range(made.n)):
        body, signer = codec.encode(_said(made, kind, shard, member)), _signer(kind, member)
        yield Forgery("plain body", topic, shard, body)
        yield Forgery("unsigned", topic, shard, codec.encode(Signed(signer, b"", body)))
        yield Forgery("zeros", topic, shard, codec.encode(Signed(signer, bytes(64), body)))
        forged = messages.sign(made.cluster, signer, own, body)
        yield Forgery("forged", topic, shard, codec.encode(forged))
        yield Forgery("a stranger's name", topic, shard, codec.encode(replace(forged, signer="member:99")))
        if topic in borrowed:
            moved = replace(borrowed[topic], body=body)
            yield Forgery("another message's signature", topic, shard, codec.encode(moved))


def _foreign(running: Settings, made: Genesis) -> Iterator[Forgery]:
    """Signed by the cluster's own keys, but for another cluster or configuration, or in another role."""
    codec = load_codec()
    seeds = {f"member:{i}": f"member-{i}" for i in range(made.n)} | {
        f"service:{name}": f"service-{name}" for name in made.services
    }

    def signed(signer: str, cluster: bytes, body: Any) -> bytes:
        seed = genesis.secret(running.keys_dir / f"{seeds[signer]}.key")
        return codec.encode(messages.sign(cluster, signer, seed, codec.encode(body)))

    for (topic, kind), shard in itertools.product(SIGNED.items(), range(made.shards)):
        for member in range(made.n):
            signer = _signer(kind, member)
            elsewhere = _said(replace(made, cluster=b"x" * 32), kind, shard, member)
            yield Forgery("of another cluster", topic, shard, signed(signer, b"x" * 32, elsewhere))
            yield Forgery(
                "signed for another cluster", topic, shard, signed(signer, b"x" * 32, _said(made, kind, shard, member))
            )
            if kind is not JournalHead:
                later = _said(replace(made, config=1), kind, shard, member)
                yield Forgery("of another configuration", topic, shard, signed(signer, made.cluster, later))
            other = "service:journal" if kind is not JournalHead else "member:0"
            yield Forgery(
                "in another's name", topic, shard, signed(other, made.cluster, _said(made, kind, shard, member))
            )


def _harmful(made: Genesis, seen: list[Seen]) -> Iterator[Forgery]:
    """Yields the most harmful records for unsigned topics, in the form that the fleet writes."""
    codec = load_codec()
    decoded = [(s, codec.decode(s.value)) for s in seen if s.topic in (topics.ACCEPTED, topics.JOURNAL)]
    for shard in range(made.shards):
        accepted = [(s, r) for s, r in decoded if s.topic == topics.ACCEPTED and s.partition == shard]
        episodes = [r for _, r in accepted if isinstance(r, EpisodeAccepted)]
        last = [s for s, _ in decoded if s.topic == topics.JOURNAL and s.partition == shard][-1]
        borrowed = accepted[-1][0].headers
        tick = codec.encode(ClockTicked(f"doom-{shard}", DOOM))
        yield Forgery("tick", topics.ACCEPTED, shard, tick)
        yield Forgery("tick with another record's stamp", topics.ACCEPTED, shard, tick, borrowed)
        target = episodes[0]
        access = AccessAccepted(f"touch-{shard}", (target.memory_id,), target.namespace, "x", DOOM)
        yield Forgery("access", topics.ACCEPTED, shard, codec.encode(access))
        yield Forgery("episode", topics.ACCEPTED, shard, codec.encode(replace(target, event_id=f"new-{shard}")))
        # Scores come in order: one for a far offset says that all before it were passed over.
        for ahead in (1, 2, 50, 10**9):
            score = EpisodeScored(
                "e", target.memory_id, target.namespace, target.agent, len(accepted) + ahead, 1, "below_threshold", 0,
                False, "forged",
            )  # fmt: skip
            yield Forgery("score of what is to come", topics.SCORED, shard, codec.encode(score))
        letter = IntakeRefused(topics.EPISODES, shard, 10**9, "bad_json", LIE, 1, ids.memory_id("x", "y"), b"s" * 40)
        yield Forgery("letter", topics.REFUSED, shard, codec.encode(letter))
        doomed = tuple(Crossing(e.memory_id, 0, 0) for e in episodes[:200])
        crossed = DecayCrossed(shard, DOOM, 0, 10**9, doomed)
        yield Forgery("everything crossed", topics.CROSSED, shard, codec.encode(crossed))
        yield from _entries(shard, codec.decode_as(JournalAppended, last.value), [e.memory_id for e in episodes[:200]])


def _entries(shard: int, last: JournalAppended, doomed: list[str]) -> Iterator[Forgery]:
    """Journal entries that follow the last one by every rule but the stamp: hashes need no key."""
    codec = load_codec()
    before = codec.decode_as(JournalEntry, last.entry)
    details: dict[str, Any] = {"ticked": Ticked(DOOM, Standing(0, 0, 0, 0)), "destroyed": Destroyed(tuple(doomed))}
    for effect, detail in details.items():
        entry = codec.encode(
            replace(before, seq=before.seq + 1, as_of=DOOM, effect=effect, event_id="doom", detail=codec.encode(detail))
        )
        forged = JournalAppended(entry, last.hash, hash_chain.entry_hash(last.hash, entry))
        yield Forgery(f"entry '{effect}'", topics.JOURNAL, shard, codec.encode(forged))


def _repeated(dice: Random, shards: int, seen: list[Seen]) -> Iterator[Forgery]:
    """Yields records of the fleet again: in their partition, and in another shard's."""
    for topic in INTERNAL:
        found = [s for s in seen if s.topic == topic]
        for s in dice.sample(found, min(len(found), _REPLAYED_MOST)):
            yield Forgery("repeated", topic, s.partition, s.value, s.headers)
            yield Forgery("repeated elsewhere", topic, (s.partition + 1) % shards, s.value, s.headers)
