"""Histories of a shard as a release records them: later releases have to verify them and make the same rows of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR, load
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import JournalRow
from memquorum.core.journal.tables import TABLES
from memquorum.core.orders.compare import SIGNER
from memquorum.core.records import Proposal, Restored
from tests.builders import comparisons, erased, erasures, genesis, protections, published, trials, votes
from tests.builders.published import POLICY, Published, publish
from tests.builders.shard import NAMESPACE, Shard, memory_id
from tests.builders.trials import agree, drawn, proposal, signed, statistics, tell

A, B, C, D = (memory_id(name) for name in "abcd")
Rows = dict[str, list[dict[str, Any]]]


class Recorded(Struct, frozen=True):
    """A history: the genesis file, the values in the topics, and the rows that the journal makes, by table.

    A value is None where a transaction's marker stands.
    """

    genesis: bytes
    entries: list[bytes]
    heads: list[bytes]
    accepted: list[bytes | None]
    scored: list[bytes | None]
    rows: Rows

    def published(self, codec: Codec) -> Published:
        """Returns the topics, without a database."""
        rules = Rules(codec, load(self.genesis))
        return Published(rules, self.entries, self.heads, {}, self.accepted, self.scored)


def _lively(codec: Codec) -> tuple[bytes, Shard]:
    """Records stored, repeated, dropped, used, forgotten, promoted, kept, voided and destroyed."""
    file = genesis.make_bytes(policy=POLICY)
    return file, published.lively(Shard(codec, load(file)))


def _erased(codec: Codec) -> tuple[bytes, Shard]:
    """Records an order to erase, and a protection against part of it."""
    file = genesis.make_bytes(policy=erased.GENESIS.policy, **erasures.entitled(signed=()))
    shard = erased.filled(Shard(codec, load(file)))
    cluster = shard.rules.genesis.cluster
    shard.protect(protections.accepted(codec, "pin", D, cluster=cluster))
    shard.erase(erased.order(codec), erasures.among(erasures.NAMESPACE, erased.ALL), most=2)
    shard.episode("late", subject="ada")
    return file, shard


def _restored(codec: Codec) -> tuple[bytes, Shard]:
    """Records a forgotten memory that is restored on request, and a summary."""
    file = genesis.make_bytes(policy=POLICY, **erasures.entitled())
    shard = Shard(codec, load(file))
    order = votes.restore(shard.rules.genesis, A)
    shard.tick(900)
    for name in "ab":
        shard.episode(name, 500)
    shard.access(A, 600)
    shard.tick(200_000)
    shard.decide([votes.proposal(A, "forget"), votes.proposal(B, "forget")])
    shard.ask(order, 200_100)
    shard.tick(200_200)
    shard.restore(order, Restored(A, 600_000, 1, 0, 1, 0))
    shard.episode("c", 200_250)
    shard.summary("sum", [A, C], 200_260)
    shard.tick(200_300)
    shard.consolidate(memory_id("sum"), [A, C])
    return file, shard


def _admitted(codec: Codec) -> tuple[bytes, Shard]:
    """Records A admitted and used in tasks, a lying verifier of B, C rejected, D not admitted by the members, and
    feedback, part of which counts.
    """
    file = genesis.make_bytes(policy=POLICY, **trials.entitled())
    shard = Shard(codec, load(file))
    rules = shard.rules
    for name in "abcd":
        shard.episode(name)
    shard.tick(1_000_000_000)
    shard.decide([votes.proposal(C, "promote")], votes.nobody)
    shard.decide([proposal(A, agree(shard, A))])
    for at, (who, helped) in enumerate(zip(drawn(shard, B, 1), (3, 0, 0), strict=True), 2):
        tell(shard, signed(codec, rules.genesis, statistics(rules.genesis, B, 1, helped), who), at)
    agree(shard, C, helped=0, offset=9)
    shard.decide([proposal(D, agree(shard, D, offset=20))], votes.nobody)
    for at, ended in enumerate(("succeeded", "failed", "succeeded")):
        shard.task(f"task-{at}", [A, B], ended)
    shard.feedback(memory_id("task-0"), [A])
    shard.feedback(memory_id("task-1"), [], [A])
    shard.feedback(memory_id("task-2"), [C])
    shard.tick(1_000_001_000)
    shard.decide([votes.proposal(D, "promote")])
    return file, shard


def _moved(codec: Codec) -> tuple[bytes, Shard]:
    """Records A and B admitted and merged, a harmful memory's weight lowered and rolled back, and its retirement."""
    file = genesis.make_bytes(policy=POLICY, **trials.entitled())
    shard = trials.experienced(codec, load(file), "ab", outside="c")
    order = votes.rollback(shard.rules.genesis, A, 1)
    shard.task("t", [A, B])
    shard.feedback(memory_id("t"), [], [A, B])
    shard.tick(1_000_000_001)
    shard.decide([Proposal((A, B), NAMESPACE, "unite", "twins", 0, 0, 0)])
    shard.ask(order, 1_000_000_001)
    shard.tick(1_000_000_002)
    shard.restore(order)
    shard.task("u", [A])
    shard.tick(2_000_000_000)
    shard.decide([votes.proposal(A, "forget")])
    return file, shard


def _general(codec: Codec) -> tuple[bytes, Shard]:
    """Records the general form of A taken in and used, and that of B kept out."""
    file = genesis.make_bytes(policy=POLICY, **trials.entitled())
    shard = trials.experienced(codec, load(file), "ab", outside="c")
    for name, of in (("of-a", A), ("of-b", B)):
        shard.general(name, of)
    shard.tick(1_000_000_001)
    shard.generalise(memory_id("of-a"), A)
    shard.generalise(memory_id("of-b"), B, votes.nobody)
    shard.task("t", [memory_id("of-a"), B])
    shard.tick(1_000_000_002)
    shard.decide([votes.proposal(C, "forget")])
    return file, shard


def _compared(codec: Codec) -> tuple[bytes, Shard]:
    """Records a model that finds statements of A overtaken, contradicts the rules' findings about B, and is asked
    again.
    """
    file = genesis.make_bytes(policy=POLICY, agent_keys={CONSOLIDATOR: genesis.public_key(SIGNER)})
    shard, made = Shard(codec, load(file)), load(file)
    for name in "ab":
        shard.episode(name, 500)
    shard.episode("c", 600, contradicts=(B,))
    for older in (((A, (1, 3)), (B, ())), ((A, (2,)),)):
        shard.protect(comparisons.accepted(codec, made, comparisons.wanted(made, C, *older)))
    shard.tick(1_000)
    return file, shard


HISTORIES: Mapping[str, Callable[[Codec], tuple[bytes, Shard]]] = {
    "lively": _lively, "erased": _erased, "restored": _restored, "admitted": _admitted,
    "moved": _moved, "general": _general, "compared": _compared,
}  # fmt: skip


def recorded(codec: Codec, name: str) -> Recorded:
    """Records a history with the present code."""
    file, shard = HISTORIES[name](codec)
    told = publish(shard)
    return Recorded(file, told.entries, told.heads, told.accepted, told.scored, rows(told))


def rows(told: Published, batch: int = 3) -> Rows:
    """Returns the rows that the journal makes, by table, in the order of their keys; without the journal's own, which
    hold the entries again.
    """
    replay, held = Replay(told.rules, 0), {kind: dict[Any, Any]() for kind in TABLES}
    reads = [replay.read(data) for data in told.entries]
    for start in range(0, len(reads), batch):
        net = replay.take(reads[start : start + batch]).net
        for kind, of in held.items():
            for key in net.gone.get(kind, ()):
                of.pop(key, None)
            for row in (*net.new.get(kind, ()), *net.changed.get(kind, ())):
                key = TABLES[kind].key_of(row)
                of[key] = TABLES[kind].plus(of[key], row) if TABLES[kind].adds and key in of else row
    plain = {
        TABLES[kind].name: [_plain(TABLES[kind].columns, of[key]) for key in sorted(of, key=repr)]
        for kind, of in held.items()
        if kind is not JournalRow and of
    }
    found: Rows = json.loads(json.dumps(plain))
    return found


def _plain(columns: Iterable[str], row: Any) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(row, name)) for name in columns}


def written(one: Recorded) -> str:
    """Writes a history as a file."""

    def encoded(values: Iterable[bytes | None]) -> list[str | None]:
        return [None if value is None else base64.b64encode(value).decode() for value in values]

    body = {
        "genesis": one.genesis.decode(), "entries": encoded(one.entries), "heads": encoded(one.heads),
        "accepted": encoded(one.accepted), "scored": encoded(one.scored), "rows": one.rows,
    }  # fmt: skip
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Recorded:
    """Reads a history from a file."""
    body = json.loads(text)

    def decoded(name: str) -> list[Any]:
        return [None if value is None else base64.b64decode(value) for value in body[name]]

    return Recorded(
        body["genesis"].encode(),
        decoded("entries"),
        decoded("heads"),
        decoded("accepted"),
        decoded("scored"),
        body["rows"],
    )
