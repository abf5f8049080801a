"""Compares the contents in Postgres with the journal's commitments: this detects even a text of equal length.

It takes the vault's keys, one for each memory. Contents without a key are counted and not judged: a key may have been
destroyed since the snapshot. Vectors have no commitment; a rebuild shows those.
"""

from __future__ import annotations

import hmac
import itertools
import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memquorum.core import sealing
from memquorum.core.audit.findings import KEPT_PER_KIND, Finding, Kind
from memquorum.ports import Vault, VaultUnavailable

_LOG = logging.getLogger("memquorum.audit")
_AT_ONCE = 1_000

Body = tuple[int, str, bytes, str]
"""Shard, memory id, commitment, text."""


@dataclass(slots=True)
class Checked:
    """The result of the check. `checked`: counts by shard; `more`: findings of a shard beyond those that are kept
    whole.

    `keyless`: memories whose key is gone by now; `unchecked`: contents for which no key was given.
    """

    findings: list[Finding] = field(default_factory=list)
    more: Counter[int] = field(default_factory=Counter)
    checked: Counter[int] = field(default_factory=Counter)
    keyless: list[str] = field(default_factory=list)
    unchecked: int = 0


def check(bodies: Iterable[Body], vault: Vault | None) -> Checked:
    """Checks every content against its commitment. Without a vault, or from its failure on, nothing is checked."""
    found = Checked()
    for batch in _batches(bodies):
        if vault is not None:
            try:
                _judge(batch, vault.open([memory_id for _, memory_id, _, _ in batch]), found)
                continue
            except (VaultUnavailable, sealing.SealError) as error:
                _LOG.warning("contents are not checked: the vault does not give their keys (%s)", error)
                vault = None
        found.unchecked += len(batch)
    return found


def _batches(bodies: Iterable[Body]) -> Iterable[Sequence[Body]]:
    rest = iter(bodies)
    while batch := tuple(itertools.islice(rest, _AT_ONCE)):
        yield batch


def _judge(batch: Sequence[Body], keys: dict[str, bytes], found: Checked) -> None:
    for shard, memory_id, commitment, text in batch:
        key = keys.get(memory_id)
        if key is None:
            found.keyless.append(memory_id)
            continue
        found.checked[shard] += 1
        if hmac.compare_digest(sealing.commitment(key, text), commitment):
            continue
        if sum(finding.shard == shard for finding in found.findings) >= KEPT_PER_KIND:
            found.more[shard] += 1
            continue
        where = f"table content, memory_id {memory_id}"
        found.findings.append(Finding(Kind.CONTENT_ALTERED, shard, None, where, "the accepted text", "another one"))
