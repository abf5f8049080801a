"""The commit worker's results of the decisions: read from Postgres and the vault, compared with the certificates."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

import psycopg

from memquorum.core.audit.findings import Kind
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, check_decision
from memquorum.core.identity.membership import Genesis
from memquorum.core.tiers import DRAFT, FINISHED
from tests.hostile.cellar import CAP, SPACES, UNFOUNDED
from tests.hostile.fleet import GRACE_MS, RunPlace
from tests.hostile.memories import LATE, Line
from tests.hostile.watch import Decision
from tests.support.waiting import PATIENCE_S
from workers.audit import auditor as audit

_FORGOTTEN = "forgotten"

Slot = tuple[int, int]


def settle(place: RunPlace, line: Line) -> str:
    """Waits until every epoch is applied; then lets the grace time pass, and waits until the keys are destroyed.

    Returns what is left undone after half a minute, or nothing.
    """
    epochs = {shard: len(made.epochs) for shard, made in line.made.items()}
    with psycopg.connect(place.memory_dsn, autocommit=True) as connection:

        def standing(what: str) -> dict[int, int]:
            return dict(connection.execute(f"SELECT shard, {what} FROM shard").fetchall())

        def sealed() -> int:
            row = connection.execute("SELECT count(*) FROM memory WHERE tier = 'sealed'").fetchone()
            return row[0] if row else 0

        if not _until(lambda: standing("last_epoch") == epochs):
            return f"the commit worker has applied epochs {standing('last_epoch')}, not {epochs}"
        line.tick(LATE + GRACE_MS)
        if not _until(lambda: set(standing("as_of").values()) == {LATE + GRACE_MS} and sealed() == 0):
            return f"{sealed()} memories whose time is over still have their keys"
        if not _until(lambda: standing("published_seq") == standing("seq")):
            return f"the journal is published up to {standing('published_seq')}, not {standing('seq')}"
    return ""


def _until(holds: Any) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def verify(place: RunPlace, genesis: Genesis, codec: Codec, line: Line) -> tuple[int, list[str]]:
    """The audit that an operator runs: how many journal entries it has judged, and what it finds beside the scores that
    do not follow. It has to find each of these, in the entry of its decision."""
    vault = place.vault()
    report = audit.verify(place.bootstrap, genesis, codec, place.memory_dsn, vault=vault)
    vault.close()
    with psycopg.connect(place.memory_dsn) as connection:
        entries = connection.execute("SELECT shard, journal_seq, epoch FROM decision").fetchall()
    epochs = {(shard, seq): epoch for shard, seq, epoch in entries}
    scores = [one for one in report.findings if one.kind is Kind.SCORE_WRONG]
    named = Counter((one.shard, epochs.get((one.shard, one.seq or 0))) for one in scores)
    lies = {
        (shard, epoch): len(made.epochs[epoch - 1].memories)
        for shard, made in line.made.items()
        for epoch, act in made.cellar.asked.items()
        if act == UNFOUNDED
    }
    wrong = [f"verify: {finding}" for finding in report.findings if finding.kind is not Kind.SCORE_WRONG]
    if named != lies:
        wrong.append(f"verify: scores do not follow in {dict(named)}, by shard and epoch, and they do not in {lies}")
    if report.unchecked:
        wrong.append(f"verify: {report.unchecked} contents have no key")
    return report.counts.entries, wrong


def check(
    place: RunPlace, genesis: Genesis, codec: Codec, line: Line, found: Mapping[Slot, Decision]
) -> tuple[dict[str, str], list[str]]:
    """Every memory's tier, and what is wrong: each that is gone has a certificate that convinces a stranger, each that
    is not has its content and its key.
    """
    with psycopg.connect(place.memory_dsn) as connection:
        tiers: dict[str, str] = dict(connection.execute("SELECT id::text, tier FROM memory").fetchall())
        bodies = {row[0] for row in connection.execute("SELECT memory_id::text FROM content")}
        vectors = {row[0] for row in connection.execute("SELECT memory_id::text FROM embedding")}
        decisions = connection.execute("SELECT shard, seq, digest, pre_prepare, commits FROM decision").fetchall()
        took: list[Any] = connection.execute(
            "SELECT shard, epoch, count(*) FROM outcome WHERE namespace LIKE %s AND outcome = %s GROUP BY 1, 2",
            (SPACES.replace("*", "%"), _FORGOTTEN),
        ).fetchall()
        capped = {row[0] for row in connection.execute("SELECT memory_id::text FROM outcome WHERE reason = 'cap'")}
    vault = place.vault()
    keys = set(vault.open(tiers))
    vault.close()
    gone = {memory_id for memory_id, tier in tiers.items() if tier == "gone"}
    forgotten, wrong = _certified(genesis, codec, decisions, found)
    wrong += _held("gone", gone, "forgotten by a certificate", forgotten - (capped - gone))
    wrong += [f"{count} memories go in epoch {epoch} of shard {shard}" for shard, epoch, count in took if count > CAP]
    alive = tiers.keys() - gone
    wrong += _held("alive", alive, "with its key", keys)
    # A finished task's text is in a table of its own, which no search reads; a draft that waits for its vote is
    # nowhere.
    found = {memory_id for memory_id in alive if tiers[memory_id] not in {FINISHED, DRAFT}}
    for what, held in (("content", bodies), ("embedding", vectors)):
        wrong += _held("alive", found, f"with its {what}", held)
    said = {memory_id for made in line.made.values() for epoch in made.epochs for memory_id in epoch.memories}
    wrong += [f"{memory_id} is gone and was never proposed" for memory_id in sorted(gone - said)]
    return {memory_id: tiers.get(memory_id, "missing") for memory_id in said}, wrong


def _certified(
    genesis: Genesis, codec: Codec, rows: Collection[Any], found: Mapping[Slot, Decision]
) -> tuple[set[str], list[str]]:
    """Returns the memories that the stored certificates forget; each is verified again, with at least q commits."""
    forgotten, wrong = set[str](), list[str]()
    for shard, seq, digest, pre_prepare, commits in rows:
        try:
            checked = check_decision(codec, genesis, bytes(pre_prepare), [bytes(data) for data in commits])
        except BadCertificate as error:
            wrong.append(f"shard {shard}, sequence {seq}: the stored certificate does not hold: {error}")
            continue
        if len(commits) < genesis.quorum:
            wrong.append(f"shard {shard}, sequence {seq}: {len(commits)} commits are stored")
        seen = found.get((shard, seq))
        if checked.digest != bytes(digest) or seen is None or seen.checked.digest != checked.digest:
            wrong.append(f"shard {shard}, sequence {seq}: the store holds another decision than the topics")
        forgotten |= {i for outcome in checked.outcomes if outcome.outcome == _FORGOTTEN for i in outcome.memory_ids}
    return forgotten, wrong


def _held(left: str, some: Collection[str], right: str, others: Collection[str]) -> list[str]:
    """Complaints where two sets differ."""
    more, less = set(some) - set(others), set(others) - set(some)
    told = [f"{len(more)} memories are {left} and not {right}, as {min(more)}"] if more else []
    return told + ([f"{len(less)} memories are {right} and not {left}, as {min(less)}"] if less else [])
