"""Verifies the journal of the topics, and receipts of erasures without any server."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict
from rich.progress import Progress, SpinnerColumn, TextColumn

from memquorum import admin, terminal
from memquorum.client import operating, settings
from memquorum.client.command import GENESIS, command, in_json, opened
from memquorum.client.errors import Invalid, NotConfigured, NotInstalled
from memquorum.commands import FAILED, OK, flag, option
from memquorum.core.api.answers import JournalChecked
from memquorum.core.identity import membership
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.showing.plurals import many
from memquorum.kafka import MISSING, installed
from memquorum.schema_files import load_codec

if TYPE_CHECKING:
    from memquorum.core.audit.person_receipts import Person
    from memquorum.core.audit.receipts import Proven


@command(
    "verify",
    flag("--topics-only", "ask Kafka alone, not the operator's database too"),
    flag("--service", "ask the retrieval service, which checks less and has to be trusted"),
    GENESIS,
    example="memquorum verify --topics-only --genesis genesis.json",
    passes_on=True,
)
def _verify(parsed: argparse.Namespace) -> int:
    """Checks chain, certificates and signatures with the genesis file alone."""
    if parsed.service:
        return _by_service(parsed)
    if not parsed.topics_only and parsed.genesis is None and admin.has_server():
        return operating.passed_on(parsed)
    place = settings.find(kafka=parsed.kafka)
    genesis = place.need_genesis(parsed.genesis)
    return FAILED if run(place.need_kafka(), genesis, parsed.json) else OK


def _by_service(parsed: argparse.Namespace) -> int:
    """Has the service check the chain of each shard. Needs the right audit in all namespaces."""
    whole, shard, shards = True, 0, 1
    with opened(parsed) as memory:
        while shard < shards:
            parts = [memory.verify_journal(shard)]
            while parts[-1].next is not None:
                parts.append(memory.verify_journal(shard, cursor=parts[-1].next))
            whole = whole and all(one.whole for one in parts)
            print(in_json(parts[-1]) if parsed.json else chain_line(parts))
            shard, shards = shard + 1, parts[-1].shards
    if not parsed.json:
        print(_BY_SERVICE)
    return OK if whole else FAILED


_BY_SERVICE = (
    "Checked by the service, over its own store: hashes and the signed end. Without trust in either: "
    "`memquorum verify --topics-only`, and for everything `memquorum admin audit verify`."
)


def chain_line(parts: Sequence[JournalChecked]) -> str:
    """Tells in a sentence what the service found in a shard's journal."""
    last = parts[-1]
    signed = [one.head.seq for one in parts if one.head is not None and one.head.agrees]
    against = [one.head for one in parts if one.head is not None and one.head.agrees is False]
    if last.problem is not None:
        return f"shard {last.shard}: NOT WHOLE behind entry {last.last:,}: {last.problem}"
    if against:
        return f"shard {last.shard}: NOT WHOLE: {against[0].signed_by} signed another entry {against[0].seq:,}"
    by = f"signed up to entry {max(signed):,}" if signed else "no signed end is known"
    return f"shard {last.shard}: {many(last.last, 'entry')}, each follows the one before; {by}"


def run(kafka: str, genesis_file: Path, as_json: bool) -> int:
    """Audits the topics and prints the report; how many findings there are. Raises NotInstalled."""
    from memquorum.client import audit  # not at the top: it needs the extra `kafka`
    from memquorum.core.audit import rendering

    genesis = read_genesis(genesis_file)
    watched = terminal.console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=watched, transient=True, disable=not watched.is_terminal) as progress:
        task = progress.add_task("reading the journal")
        report = audit.verify(
            kafka,
            genesis,
            load_codec(),
            lambda shard, offset: progress.update(task, description=f"shard {shard}, entry {offset}"),
        )
    if as_json:
        print(json.dumps(rendering.plain(report)))
    else:
        console = terminal.console(soft_wrap=True)
        console.print(f"cluster {genesis.cluster.hex()[:16]}…")
        console.print("\n".join(rendering.lines(report)))
    return len(report.findings) + sum(shard.more for shard in report.shards)


@command(
    "receipt get",
    option("order_id", metavar="ORDER_ID", help="the erasure's id"),
    example="memquorum receipt get 11936ca0-73b1-4c8b-a836-cd85fc13cdfc",
)
def _get(parsed: argparse.Namespace) -> int:
    """Gets a receipt by its order."""
    with opened(parsed) as memory:
        print(json.dumps(memory.erasure_receipt(parsed.order_id), indent=None if parsed.json else 2))
    return OK


@command(
    "receipt verify",
    option("file", type=Path, metavar="FILE", help="the receipt's file, - for standard input"),
    flag("--journal", "compare a person's receipt with the journal in Kafka, too"),
    GENESIS,
    example="memquorum receipt verify receipt.json --genesis .memquorum/genesis.json",
)
def _verify_receipt(parsed: argparse.Namespace) -> int:
    """Verifies a receipt, of an erasure or of a person, with the genesis file alone."""
    place = settings.find(kafka=parsed.kafka)
    kafka = place.need_kafka() if parsed.journal else None
    return FAILED if verify_receipt(parsed.file, place.need_genesis(parsed.genesis), parsed.json, kafka) else OK


def verify_receipt(file: Path, genesis_file: Path, as_json: bool, kafka: str | None = None) -> int:
    """Verifies a receipt, `-` for standard input, with the genesis file alone; returns the number of errors. `kafka`:
    where a person's receipt is compared with the journal. Raises NotInstalled, and NotConfigured for the genesis file
    of another cluster."""
    if not installed():
        raise NotInstalled(MISSING)
    # Not at the top: they need the extra `kafka`.
    from memquorum.core.audit import person_receipts, receipts

    genesis = read_genesis(genesis_file)
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Invalid("unreadable", None, f"{file}: {error.strerror}") from None
    try:
        if person_receipts.is_one(data):
            person = person_receipts.verify(load_codec(), genesis, data)
            return _of_person(person, genesis, kafka, as_json)
        found = receipts.verify(load_codec(), genesis, data)
    except receipts.OtherCluster as error:
        raise NotConfigured(f"{file}: {error}") from None
    except receipts.BadReceipt as error:
        print(json.dumps({"ok": False, "wrong": str(error)}) if as_json else f"{file}: NOT SOUND: {error}")
        return 1
    whole = found.checked is not None
    if as_json:
        print(json.dumps({"ok": whole, "order": asdict(found.order) | {"cluster": genesis.cluster.hex()}}))
    else:
        print("\n".join(receipt_lines(found, genesis)))
    return 0 if whole else 1


def _of_person(person: Person, genesis: Genesis, kafka: str | None, as_json: bool) -> int:
    """Tells what a person's receipt says; returns the number of errors."""
    wrong, found = list[str](), 0
    if kafka is not None:
        from memquorum.client import audit
        from memquorum.core.audit.person_receipts import Compared

        compared = Compared(person)
        report, wrong = audit.compare(kafka, genesis, load_codec(), compared)
        found, faults = compared.found, len(report.findings) + report.more
        wrong = [*wrong, *([f"the audit of shard {report.shard} has {many(faults, 'finding')}"] if faults else [])]
    if as_json:
        about = asdict(person.first) | {"each": None, "records": person.first.records, "kept_back": person.kept_back}
        del about["each"], about["after"], about["through"]
        print(json.dumps({"ok": not wrong, "wrong": wrong, "compared": kafka is not None, "found": found, **about}))
    else:
        print("\n".join([*person_lines(person), *_beside_the_journal(wrong, found, compared=kafka is not None)]))
    return len(wrong)


def person_lines(person: Person) -> Iterator[str]:
    """Yields what a person's receipt says, in words."""
    from memquorum.core.accounts.telling import moment

    first = person.first
    yield f"All that was done with the records of {first.selector} {first.value!r} in namespace {first.namespace!r}"
    yield f"  issued    {moment(first.issued_at)}, up to entry {first.ends} of the journal of shard {first.shard}"
    yield f"  records   {len(person.each)} here, {person.kept_back} kept back by the limits of reading"
    for record in person.each:
        yield f"  {record.memory_id}  {record.state}" + ("" if record.own else f", made of {record.because}")
        for one in record.events:
            place = "" if one.journal_seq is None else f" (entry {one.journal_seq})"
            more = "".join(f" {name} {value}" for name, value in (("by", one.by), ("to", one.to)) if value)
            count = f" {one.times} times, last" if one.times else ""
            yield f"    {moment(one.at)}  {one.what}{count}{more}{place}" + (f": {one.why}" if one.why else "")
        for other, state in record.into:
            yield f"    went into {other} ({state})"


def _beside_the_journal(wrong: Sequence[str], found: int, *, compared: bool) -> Iterator[str]:
    yield "signed by service:erasure, complete, and unchanged"
    if not compared:
        yield "what it says was not compared with the journal: add --journal to do that"
        return
    yield from (f"NOT SO: {one}" for one in wrong)
    if not wrong:
        yield f"the journal, whose chain and votes hold, says the same: {many(found, 'entry')}, and none is left out"


def receipt_lines(found: Proven, genesis: Genesis) -> Iterator[str]:
    """Yields what a receipt proves, in words."""
    from memquorum.core.accounts.telling import moment
    from memquorum.core.audit.receipts import recipients
    from memquorum.core.journal.anew import WORDS

    order, memories = found.order, sum(episode.commitment is not None for episode in found.episodes)
    what = f"{order.selector} {order.value!r} in " if order.value else "everything in "
    reference = f", reference {order.reference}" if order.reference else ""
    yield f"Erasure {order.order_id} in cluster {genesis.cluster.hex()[:16]}…"
    yield f"  ordered   {moment(order.ordered_at)} by {order.ordered_by}, signed by {found.signed.signer}{reference}"
    yield f"  names     {what}namespace {order.namespace!r}"
    count = f"{many(memories, 'memory')}, {many(len(found.episodes), 'episode')} in all"
    yield f"  erased    {moment(found.accepted_at)}: {count}"
    fates = Counter(one.summary for one in found.episodes if one.summary is not None)
    for fate, number in sorted(fates.items()):
        yield f"            {number} of them {WORDS.get(fate, fate)}"
    for recipient in recipients(found.episodes):
        yield f"  sent      something of it to {recipient}, to a model there: tell them of the erasure"
    first, last = found.seqs
    entries = f"entry {first}" if first == last else f"entries {first} to {last}"
    yield f"  journal   {entries} of shard {found.shard}, head signed, hash {found.head.hash.hex()[:16]}…"
    if found.checked is None:
        yield "  attested  NOT YET: the members have not decided that the order is genuine"
        yield "its signatures hold, but only the journal service speaks for it: get it again later"
        return
    members = ", ".join(map(str, found.checked.outcomes[0].yes))
    yield (
        f"  attested  by members {members} in epoch {found.checked.body.epoch}: the order is genuine, and stands at "
        f"offset {found.offset} of what was accepted"
    )
    yield f"  remains   may lie in files, unreachable by any interface, until {moment(found.residue_until)}"
    yield "all signatures hold"


def read_genesis(file: Path) -> Genesis:
    """The genesis of a file. Raises NotConfigured."""
    try:
        return membership.load(file.read_bytes())
    except (OSError, GenesisError) as error:
        raise NotConfigured(f"{file}: {error}") from None
