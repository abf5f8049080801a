"""The commands `receipt get` and `receipt verify` of a client."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import asdict

from memquorum.client.errors import Invalid
from memquorum.client.verifying import read_genesis
from memquorum.core.audit import receipts
from memquorum.core.audit.receipts import BadReceipt, Found
from memquorum.core.identity.membership import Genesis
from memquorum.core.retrieval.telling import moment
from memquorum.schema_files import load_codec


def verify(file: Path, genesis_file: Path, as_json: bool) -> int:
    """Checks a receipt, `-` for standard input, with the genesis file alone; how many things are wrong with it."""
    genesis = read_genesis(genesis_file)
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Invalid("unreadable", None, f"{file}: {error.strerror}") from None
    try:
        found = receipts.verify(load_codec(), genesis, data)
    except BadReceipt as error:
        print(json.dumps({"ok": False, "wrong": str(error)}) if as_json else f"{file}: NOT SOUND: {error}")
        return 1
    whole = found.checked is not None
    if as_json:
        print(json.dumps({"ok": whole, "order": asdict(found.order) | {"cluster": genesis.cluster.hex()}}))
    else:
        print("\n".join(lines(found, genesis)))
    return 0 if whole else 1


def lines(found: Found, genesis: Genesis) -> Iterator[str]:
    """What a receipt proves, in words."""
    order, memories = found.order, sum(episode.commitment is not None for episode in found.episodes)
    what = f"{order.selector} {order.value!r} in " if order.value else "everything in "
    reference = f", reference {order.reference}" if order.reference else ""
    yield f"Erasure {order.order_id} in cluster {genesis.cluster.hex()[:16]}…"
    yield f"  ordered   {moment(order.ordered_at)} by {order.ordered_by}, signed by {found.signed.signer}{reference}"
    yield f"  names     {what}namespace {order.namespace!r}"
    yield f"  erased    {moment(found.accepted_at)}: {memories:,} memories, {len(found.episodes):,} episodes in all"
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
