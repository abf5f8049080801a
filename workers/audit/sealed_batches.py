"""Yields sealed data in batches, each with the keys that the vault still has of it."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from memquorum.core import sealing
from memquorum.ports import Vault, VaultUnavailable

_LOG = logging.getLogger("memquorum.audit")
_AT_ONCE = 1_000
_T = TypeVar("_T")


def batches(
    vault: Vault, wanted: Iterator[_T], memory_id: Callable[[_T], str], what: str
) -> Iterator[tuple[Sequence[_T], dict[str, bytes]]]:
    """Yields batches and their keys by memory id; ends if the vault does not answer, and logs that `what` is not
    checked then."""
    while batch := list(itertools.islice(wanted, _AT_ONCE)):
        try:
            keys = vault.open([memory_id(one) for one in batch])
        except (VaultUnavailable, sealing.SealError) as error:
            _LOG.warning("%s are not checked: the vault does not give their keys (%s)", what, error)
            return
        yield batch, keys
