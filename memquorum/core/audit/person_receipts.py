"""Receipts of a person: what was stored, summed up, overtaken, forgotten and erased, and why, as a signed statement.

    report, page by page ─► Statement ─► part ─► one file ─► verify, with the genesis file
                                             └──────► Compared, with the journal's entries

`service:erasure` signs each page, so that the installation cannot deny it later. A signature does not make a statement
true. `Compared` tests it against the journal, whose chain and certificates the audit has verified: each event stands at
its entry, and no entry about the person is left out. A statement holds no content (`core.accounts.stating`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from memquorum.core import ids, names
from memquorum.core.accounts.explain import BORN
from memquorum.core.accounts.stating import FORMAT, StatedRecord
from memquorum.core.audit.receipts import BadReceipt, Decision, OtherCluster, plain_decision, read_decision
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, follow
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.naming import Names, matching
from memquorum.core.records import Decided, Erased, JournalEntry, Stored

SIGNER = "service:erasure"
BYTES_MAX = 64 * 1024 * 1024
_DOMAIN = b"memquorum/person-receipt/1\0"
_MOST_WRONG, _HEAD = 20, 100


class Statement(Struct, frozen=True, kw_only=True):
    """A page of a receipt. `ends`: the entry of the shard's journal up to which it tells; `records`: how many there are
    on all pages; `kept_back`: how many of this page the limits of reading keep back. `after`: the place behind which
    the page begins, None for the first one; `through`: where it ends, None for the last one."""

    cluster: str
    namespace: str
    shard: int
    selector: str
    value: str
    issued_at: int
    ends: int
    records: int
    kept_back: int
    after: tuple[int, str] | None
    through: tuple[int, str] | None
    each: tuple[StatedRecord, ...]


class Person(Struct, frozen=True):
    """The content of a valid receipt: its first page, and what all pages have together."""

    first: Statement
    kept_back: int
    each: tuple[StatedRecord, ...]


def part(genesis: Genesis, seed: bytes, statement: Statement, configured: Sequence[Decision]) -> dict[str, Any]:
    """Signs a page, as values for JSON. `seed`: of service:erasure; `configured`: the decisions that changed the
    configuration, in their order."""
    told = to_builtins(statement)
    signature = SigningKey(seed).sign(_signed(genesis, told)).signature
    return {
        "statement": told,
        "signature": base64.b64encode(signature).decode(),
        "configurations": [plain_decision(one) for one in configured],
    }


def is_one(data: bytes) -> bool:
    """Whether bytes are to be read as such a receipt, valid or not."""
    return FORMAT.encode() in data[:_HEAD]


def verify(codec: Codec, genesis: Genesis, data: bytes) -> Person:
    """Verifies a receipt's bytes: each page is signed, they follow each other, and none is missing. `genesis`: of the
    file. Raises BadReceipt, OtherCluster where the receipt is of another cluster."""
    if len(data) > BYTES_MAX:
        raise BadReceipt(f"{len(data)} bytes, and a receipt has at most {BYTES_MAX}")
    try:
        said = json.loads(data)
        parts = list(said["parts"]) if said["format"] == FORMAT else []
    except (ValueError, TypeError, KeyError, RecursionError):
        raise BadReceipt(f"not a receipt of the format {FORMAT!r}") from None
    if not parts:
        raise BadReceipt("parts: the list is empty")
    return _joined([_opened(codec, genesis, at, one) for at, one in enumerate(parts)])


def _signed(genesis: Genesis, told: Mapping[str, Any]) -> bytes:
    """Returns the bytes of a statement that are signed."""
    said = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return _DOMAIN + genesis.cluster + said.encode()


def _opened(codec: Codec, genesis: Genesis, at: int, one: Any) -> Statement:
    try:
        told, signature = one["statement"], base64.b64decode(one["signature"], validate=True)
        configured = [read_decision(decision) for decision in one["configurations"]]
        statement = convert(told, Statement)
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise BadReceipt(f"part {at}: it cannot be read ({error})") from None
    if statement.cluster != genesis.cluster.hex():
        raise OtherCluster(
            f"the receipt is of cluster {statement.cluster[:8]}…, this genesis file is of "
            f"{genesis.cluster.hex()[:8]}…: give --genesis of that cluster"
        )
    try:
        key = follow(codec, genesis, configured).key_of(SIGNER)
    except BadCertificate as error:
        raise BadReceipt(f"part {at}: configurations: {error}") from None
    if key is None:
        raise BadReceipt(f"part {at}: the genesis file names no {SIGNER}")
    try:
        VerifyKey(key).verify(_signed(genesis, told), signature)
    except (BadSignatureError, ValueError):
        raise BadReceipt(f"part {at}: the statement was changed: its signature is not {SIGNER}'s") from None
    return statement


def _joined(told: Sequence[Statement]) -> Person:
    """Joins the pages. Raises BadReceipt."""
    first, last = told[0], told[-1]
    for at, one in enumerate(told):
        if (one.namespace, one.shard, one.selector, one.value) != (
            first.namespace, first.shard, first.selector, first.value,
        ):  # fmt: skip
            raise BadReceipt(f"part {at}: it is about another person than the first one")
        if one.after != (told[at - 1].through if at else None) or (at and one.after is None):
            raise BadReceipt(f"part {at}: it does not follow the one before")
    if last.through is not None:
        raise BadReceipt(f"part {len(told)}: it is missing")
    each, kept_back = tuple(record for one in told for record in one.each), sum(one.kept_back for one in told)
    if len(each) + kept_back != last.records:
        raise BadReceipt(f"it has {len(each)} of {last.records} records: get it again, for some came meanwhile")
    return Person(first, kept_back, each)


class Compared:
    """A receipt beside the journal's entries of its shard, which are given one after the other (`take`)."""

    def __init__(self, person: Person) -> None:
        self.person, self.found = person, 0
        """`found`: the number of events that stand at their entries."""
        self.wrong: list[str] = []
        """The differences, in words."""
        self._read, self._missing = 0, set[str]()
        self._listed = {one.memory_id: one.own for one in person.each}
        self._claims: dict[int, list[tuple[str, str, str | None]]] = {}
        for record in person.each:
            for event in record.events:
                if event.journal_seq is not None:
                    claim = record.memory_id, event.what, event.entry
                    self._claims.setdefault(event.journal_seq, []).append(claim)

    def take(self, entry: JournalEntry, detail: object, digest: bytes) -> None:
        """Compares an entry. `detail`: its decoded detail, or None; `digest`: the hash of its link."""
        self._read = max(self._read, entry.seq)
        happened = set(_happened(entry, detail))
        for memory_id, what, stated in self._claims.pop(entry.seq, []):
            if (memory_id, what) not in happened or stated not in (None, digest.hex()):
                self._note(f"entry {entry.seq}: the journal does not say that {memory_id} was {what}")
            self.found += (memory_id, what) in happened
            happened.discard((memory_id, what))
        if entry.seq > self.person.first.ends:
            return
        for memory_id, what in sorted(happened):
            own = self._listed.get(memory_id)
            if own or (own is not None and what not in BORN):
                self._note(f"entry {entry.seq}: the receipt leaves out that {memory_id} was {what}")
        if isinstance(detail, Stored) and entry.namespace == self.person.first.namespace:
            own_id = ids.memory_id(entry.namespace, entry.event_id)
            if own_id not in self._listed and self._about(own_id, detail):
                self._missing.add(own_id)

    def finish(self) -> list[str]:
        """Ends the comparison; returns what differs."""
        if self._read < self.person.first.ends:
            self._note(f"the journal ends at entry {self._read}, and the receipt tells up to {self.person.first.ends}")
        for seq in sorted(self._claims):
            self._note(f"entry {seq}: it is not in the journal")
        if len(self._missing) > self.person.kept_back:
            some = ", ".join(sorted(self._missing)[:3])
            self._note(f"{len(self._missing)} records are left out, {self.person.kept_back} of them kept back: {some}")
        return self.wrong

    def _about(self, own_id: str, detail: Stored) -> bool:
        """Whether an episode is one that the receipt's selector names."""
        said = Names(own_id, detail.agent, detail.subject, detail.source, detail.type, detail.occurred_at)
        first = self.person.first
        return any(matching(first.selector, value)(said) for value in names.spellings(first.value))

    def _note(self, said: str) -> None:
        if len(self.wrong) < _MOST_WRONG:
            self.wrong.append(said)


def _happened(entry: JournalEntry, detail: object) -> Iterator[tuple[str, str]]:
    """Yields each memory that an entry is about, and what it did with that. A repetition is told by the record's own
    state, and not by an event."""
    if isinstance(detail, Stored) and entry.effect in BORN:
        yield ids.memory_id(entry.namespace or "", entry.event_id), entry.effect
    elif isinstance(detail, Decided):
        yield from ((one, result.outcome) for result in detail.results for one in result.memory_ids)
    elif isinstance(detail, Erased):
        yield from ((one.memory_id, "erased") for one in detail.episodes)
