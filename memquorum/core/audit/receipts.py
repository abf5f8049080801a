"""Receipts: the proof of an erasure to a reader who trusts only the genesis file (SPEC D, DESIGN 15).

A receipt is a JSON object of two halves. `proof` holds the signed messages as they are: the journal's entries of the
erasure, the signed head of the journal right behind them, the decision of the members that the order is genuine and
stands at its stated place, and, where the members changed meanwhile, the decisions that led to them. The other half
repeats their content in plain values; `verify` computes these again and refuses a receipt with other values. So a
receipt can be kept as a file, sent, and checked without a server, a store or a key.

A receipt proves the order, its author and its time, that q members read the order at its place in the history, and that
the journal service signed the list of destroyed memories and the time until which remains may be in files. No signature
can prove that the keys are gone: `verify` of the whole store and a search for known texts show it
(docs/use/erasing.md).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.certificate import BadCertificate, Checked, check_decision, decider, follow
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, open_any, unsigned
from memquorum.core.journal.anew import ANEW
from memquorum.core.journal.hash_chain import entry_hash
from memquorum.core.orders import aged
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import ERASURE
from memquorum.core.records import (
    Erased,
    ErasedEpisode,
    ErasureOrdered,
    JournalAppended,
    JournalEntry,
    JournalHead,
    OrderFound,
    Signed,
)
from memquorum.core.vote import asking
from memquorum.core.vote.kinds import KINDS

FORMAT = "memquorum/receipt/1"
BYTES_MAX = 64 * 1024 * 1024

Decision = tuple[bytes, Sequence[bytes]]
"""A signed pre-prepare and the signed commits on it."""


class BadReceipt(ValueError):
    """Raised for a receipt that proves nothing, or claims more than it proves. The text names the part and what is
    wrong with it."""


class OtherCluster(BadReceipt):
    """Raised for a receipt of another cluster than the genesis file's, which cannot tell whether it is sound."""


class Proof(Struct, frozen=True):
    """The signed messages of a receipt. `decision`: None while the members have not decided.

    `configurations`: the decisions that led from the genesis file to the members who took it, in order; without a
    decision, to the members in force now. The head's configuration is one of them.
    """

    entries: tuple[JournalAppended, ...]
    head: bytes
    decision: Decision | None = None
    configurations: tuple[Decision, ...] = ()


class Proven(Struct, frozen=True):
    """The content of a valid proof."""

    signed: Signed
    order: ErasureOrdered
    shard: int
    seqs: tuple[int, int]
    offset: int
    accepted_at: int
    residue_until: int
    head: JournalHead
    episodes: tuple[ErasedEpisode, ...]
    checked: Checked | None
    """The decision; None before it is taken."""


def make(codec: Codec, genesis: Genesis, proof: Proof) -> dict[str, Any]:
    """Builds the receipt, as values for JSON. Raises BadReceipt where the proof is not valid."""
    return {"format": FORMAT, **_told(genesis, check(codec, genesis, proof)), "proof": _plain(proof)}


def verify(codec: Codec, genesis: Genesis, data: bytes) -> Proven:
    """Verifies a receipt's bytes. Raises BadReceipt."""
    if len(data) > BYTES_MAX:
        raise BadReceipt(f"{len(data)} bytes, and a receipt has at most {BYTES_MAX}")
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise BadReceipt("not JSON") from None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise BadReceipt(f"not a receipt of the format {FORMAT!r}")
    found = check(codec, genesis, _proof(said.get("proof")))
    for name, value in _told(genesis, found).items():
        if said.get(name) != value:
            raise BadReceipt(f"{name}: the value differs from the proof's")
    return found


def check(codec: Codec, genesis: Genesis, proof: Proof) -> Proven:
    """Checks the signed messages. `genesis`: the genesis file's. Raises BadReceipt, OtherCluster before any check."""
    _same_cluster(codec, genesis, proof)
    entries, details = _chain(codec, proof.entries)
    first, detail = entries[0], details[0]
    head = _head(codec, genesis, proof, entries[-1])
    try:
        signed, order = ERASURE.opened(codec, genesis, detail.order)
    except BadOrder as error:
        raise BadReceipt(f"order: {error}") from None
    if (first.namespace, first.event_id) != (order.namespace, order.order_id):
        raise BadReceipt("entries: they name another order than the one that they hold")
    if order.rule is not None:
        _check_rule(codec, genesis, proof, order, detail.accepted_at)
    found = OrderFound(detail.order, detail.accepted_at, first.source_offset)
    return Proven(
        signed=signed,
        order=order,
        shard=first.shard,
        seqs=(first.seq, entries[-1].seq),
        offset=first.source_offset,
        accepted_at=detail.accepted_at,
        residue_until=detail.residue_until,
        head=head,
        episodes=tuple(episode for each in details for episode in each.episodes),
        checked=None if proof.decision is None else _decision(codec, genesis, proof, found),
    )


def _chain(codec: Codec, links: Sequence[JournalAppended]) -> tuple[list[JournalEntry], list[Erased]]:
    """Checks that the entries follow each other, are complete and are of one erasure. Returns them with their
    details."""
    if not links:
        raise BadReceipt("entries: the list is empty")
    entries, details = [], []
    for at, link in enumerate(links):
        if link.hash != entry_hash(link.previous_hash, link.entry):
            raise BadReceipt(f"entries: the hash of number {at} is wrong")
        if at and link.previous_hash != links[at - 1].hash:
            raise BadReceipt(f"entries: number {at} does not follow the one before")
        try:
            entry = codec.decode_as(JournalEntry, link.entry)
            detail = codec.decode_as(Erased, entry.detail)
        except DecodeError as error:
            raise BadReceipt(f"entries: number {at}: {error}") from None
        if entry.effect != "erased" or (detail.part, detail.parts) != (at, len(links)):
            raise BadReceipt(f"entries: number {at} is not part {at} of {len(links)} of an erasure")
        entries.append(entry)
        details.append(detail)
    if len({(e.shard, e.namespace, e.event_id, e.source_topic, e.source_offset) for e in entries}) > 1:
        raise BadReceipt("entries: they are of several erasures")
    if len({(d.order, d.accepted_at, d.residue_until) for d in details}) > 1:
        raise BadReceipt("entries: they are of several orders")
    return entries, details


def _check_rule(codec: Codec, genesis: Genesis, proof: Proof, order: ErasureOrdered, at: int) -> None:
    """Checks that an order which names a rule has the values of that rule, which members put in force. Raises
    BadReceipt."""
    try:
        named = follow(codec, genesis, proof.configurations).of(order.rule or 0)
    except BadCertificate as error:
        raise BadReceipt(f"configurations: {error}") from None
    if named is None or not aged.borne_out(named.policy, order.namespace, aged.read(order.value), at):
        raise BadReceipt(f"order: no rule of configuration {order.rule} says that")


def _same_cluster(codec: Codec, genesis: Genesis, proof: Proof) -> None:
    try:
        said = unsigned(codec, proof.head, JournalHead).cluster
    except BadMessage as error:
        raise BadReceipt(f"head: {error}") from None
    if said != genesis.cluster:
        raise OtherCluster(
            f"the receipt is of cluster {said.hex()[:8]}…, this genesis file is of {genesis.cluster.hex()[:8]}…: "
            "give --genesis of that cluster"
        )


def _head(codec: Codec, genesis: Genesis, proof: Proof, last: JournalEntry) -> JournalHead:
    try:
        head, _ = open_any(codec, follow(codec, genesis, proof.configurations), proof.head, JournalHead)
    except (BadCertificate, BadMessage) as error:
        raise BadReceipt(f"head: {error}") from None
    if (head.shard, head.seq, head.hash) != (last.shard, last.seq, proof.entries[-1].hash):
        raise BadReceipt("head: it is not of the last of these entries")
    return head


def _decision(codec: Codec, genesis: Genesis, proof: Proof, found: OrderFound) -> Checked:
    assert proof.decision is not None
    pre_prepare, commits = proof.decision
    try:
        members = decider(codec, follow(codec, genesis, proof.configurations), pre_prepare)
        checked = check_decision(codec, members, pre_prepare, commits)
        if asking.kind_of(checked.nomination) is not ERASURE:
            raise BadReceipt("decision: it is not about an erasure")
        shown, _ = asking.check(codec, members, checked.nomination)
    except (BadCertificate, BadOrder) as error:
        raise BadReceipt(f"decision: {error}") from None
    if shown != found:
        raise BadReceipt("decision: it is about another order, or another place of it")
    if not (checked.outcomes[0].decided and not KINDS[checked.outcomes[0].kind].about_memories):
        raise BadReceipt("decision: the members did not attest the order")
    return checked


def _told(genesis: Genesis, found: Proven) -> dict[str, Any]:
    """Returns the plain values of a receipt."""
    order, memories = found.order, [e for e in found.episodes if e.commitment is not None]
    return {
        "cluster": genesis.cluster.hex(),
        "order": {
            "order_id": order.order_id,
            "namespace": order.namespace,
            "selector": order.selector,
            "value": order.value,
            "ordered_by": order.ordered_by,
            "signed_by": found.signed.signer,
            "ordered_at": order.ordered_at,
            "reference": order.reference,
            **({} if order.rule is None else {"rule": order.rule}),
        },
        "erased": {
            "at": found.accepted_at,
            "memories": len(memories),
            "episodes": len(found.episodes),
            "summaries": _summaries(found),
            "recipients": recipients(found.episodes),
            "each": [_episode(episode) for episode in found.episodes],
        },
        "residue_until": found.residue_until,
        "journal": {
            "shard": found.shard,
            "first_seq": found.seqs[0],
            "last_seq": found.seqs[1],
            "hash": found.head.hash.hex(),
            "configuration": found.head.config,
            "accepted_offset": found.offset,
        },
        "attested": None if found.checked is None else _attested(found.checked),
    }


def _episode(episode: ErasedEpisode) -> dict[str, Any]:
    commitment = None if episode.commitment is None else episode.commitment.hex()
    told: dict[str, Any] = {"memory_id": episode.memory_id, "was": episode.was, "commitment": commitment}
    if episode.recipients:
        told["sent_to"] = list(episode.recipients)
    return told if episode.summary is None else told | {"summary": episode.summary}


def recipients(episodes: Sequence[ErasedEpisode]) -> list[str]:
    """Returns the recipients of erased texts, whom the giver of the order has to inform."""
    return sorted({recipient for one in episodes for recipient in one.recipients})


def _summaries(found: Proven) -> dict[str, Any]:
    """Returns the number of erased summaries, the number of those to be made again from other sources, and the numbers
    of others by reason."""
    fates = Counter(one.summary for one in found.episodes if one.summary is not None)
    dropped = {why: count for why, count in sorted(fates.items()) if why != ANEW}
    return {"erased": sum(fates.values()), "anew": fates[ANEW], "dropped": dropped}


def _attested(checked: Checked) -> dict[str, Any]:
    return {
        "epoch": checked.body.epoch,
        "sequence": checked.body.seq,
        "view": checked.body.view,
        "configuration": checked.body.config,
        "as_of": checked.nomination.as_of,
        "for": list(checked.outcomes[0].yes),
        "ballots": [ballot.member for ballot in checked.ballots],
    }


# The proof as JSON: bytes in base64 ---------------------------------------------------------------------------------


def _plain(proof: Proof) -> dict[str, Any]:
    return {
        "entries": [
            {"entry": _text(link.entry), "previous_hash": _text(link.previous_hash), "hash": _text(link.hash)}
            for link in proof.entries
        ],
        "head": _text(proof.head),
        "decision": None if proof.decision is None else plain_decision(proof.decision),
        "configurations": [plain_decision(decision) for decision in proof.configurations],
    }


def plain_decision(decision: Decision) -> dict[str, Any]:
    """Returns a decision as values for JSON."""
    return {"pre_prepare": _text(decision[0]), "commits": [_text(commit) for commit in decision[1]]}


def _proof(said: Any) -> Proof:
    try:
        return Proof(
            entries=tuple(
                JournalAppended(_bytes(one["entry"]), _bytes(one["previous_hash"]), _bytes(one["hash"]))
                for one in said["entries"]
            ),
            head=_bytes(said["head"]),
            decision=None if said["decision"] is None else read_decision(said["decision"]),
            configurations=tuple(read_decision(one) for one in said["configurations"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError, binascii.Error) as error:
        raise BadReceipt(f"proof: it cannot be read ({type(error).__name__}: {error})") from None


def read_decision(said: Mapping[str, Any]) -> Decision:
    """Reads a decision from values of JSON. Raises ValueError, KeyError or TypeError."""
    return _bytes(said["pre_prepare"]), tuple(_bytes(commit) for commit in said["commits"])


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii"), validate=True)
