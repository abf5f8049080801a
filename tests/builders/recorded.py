"""Histories of a shard as a release records them: what later releases have to verify, and make the same rows of."""

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
    """A history: the genesis file, the values in the topics, and the rows that the journal makes, by table. A value is
    None where a transaction's marker stands."""

    genesis: bytes
    entries: list[bytes]
    heads: list[bytes]
    accepted: list[bytes | None]
    scored: list[bytes | None]
    rows: Rows

    def published(self, codec: Codec) -> Published:
        """The topics, without a database."""
        rules = Rules(codec, load(self.genesis))
        return Published(rules, self.entries, self.heads, {}, self.accepted, self.scored)


def _lively(codec: Codec) -> tuple[bytes, Shard]:
    """Stored, repeated, dropped, used, forgotten, promoted, kept, voided, destroyed."""
    file = genesis.make_bytes(policy=POLICY)
    return file, published.lively(Shard(codec, load(file)))


def _erased(codec: Codec) -> tuple[bytes, Shard]:
    """An order to erase, and a protection that held something back from it."""
    file = genesis.make_bytes(policy=erased.GENESIS.policy, **erasures.entitled(signed=()))
    shard = erased.filled(Shard(codec, load(file)))
    cluster = shard.rules.genesis.cluster
    shard.protect(protections.accepted(codec, "pin", D, cluster=cluster))
    shard.erase(erased.order(codec), erasures.among(erasures.NAMESPACE, erased.ALL), most=2)
    shard.episode("late", subject="ada")
    return file, shard


def _restored(codec: Codec) -> tuple[bytes, Shard]:
    """What was forgotten is asked for and comes back; memories are summed up."""
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
    """A is admitted, and used in tasks; of B a verifier lies; C is rejected; D members do not admit; feedback counts,
    and some does not."""
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
    """A and B are admitted and become one; what did harm sinks, is rolled back, and stands for nothing any more."""
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
    """The general form of A comes in, that of B is kept out; the one is used."""
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
    """A model finds statements of A overtaken, contradicts what rules found of B, and is asked again."""
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
    """A history as it is now."""
    file, shard = HISTORIES[name](codec)
    told = publish(shard)
    return Recorded(file, told.entries, told.heads, told.accepted, told.scored, rows(told))


def rows(told: Published, batch: int = 3) -> Rows:
    """The rows that the journal makes, by table, in the order of their keys; without the journal's own, which hold the
    entries once more."""
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
    """A history as a file."""

    def told(values: Iterable[bytes | None]) -> list[str | None]:
        return [None if value is None else base64.b64encode(value).decode() for value in values]

    body = {
        "genesis": one.genesis.decode(), "entries": told(one.entries), "heads": told(one.heads),
        "accepted": told(one.accepted), "scored": told(one.scored), "rows": one.rows,
    }  # fmt: skip
    return json.dumps(body, indent=1, sort_keys=True) + "\n"


def read(text: str) -> Recorded:
    """A history of a file."""
    body = json.loads(text)

    def told(name: str) -> list[Any]:
        return [None if value is None else base64.b64decode(value) for value in body[name]]

    return Recorded(
        body["genesis"].encode(), told("entries"), told("heads"), told("accepted"), told("scored"), body["rows"]
    )
