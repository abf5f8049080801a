"""The kinds of proposals, each an object in its own file. A further one is a further file and a line in `KINDS`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memquorum.core.vote.kinds.forget import FORGET
from memquorum.core.vote.kinds.kind import Kind
from memquorum.core.vote.kinds.ordered import CONFIGURE, ERASE
from memquorum.core.vote.kinds.promote import PROMOTE
from memquorum.core.vote.kinds.restore import RESTORE

__all__ = ["CONFIGURE", "ERASE", "FORGET", "KINDS", "PROMOTE", "RESTORE"]

KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in (FORGET, PROMOTE, CONFIGURE, ERASE, RESTORE)})
"""Every kind by its name. Their order is that of a ballot's columns, and of the proposals of an epoch."""
