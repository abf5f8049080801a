"""A small cluster with known keys, for tests of everything that signs."""

from __future__ import annotations

import hashlib
from typing import Any

from nacl.signing import SigningKey

from memquorum.core.identity.membership import Genesis, Member, dump, load
from memquorum.core.policy import Policy
from tests.builders.policies import by_the_paper

DEFAULT_WEIGHTS = (1500, 1500, 1000, 1000)


def seed_of(signer: str) -> bytes:
    """Returns the seed of 'member:N', 'service:NAME' or 'operator' in the test cluster."""
    return hashlib.sha256(b"test/" + signer.encode()).digest()


def public_key(signer: str) -> bytes:
    return bytes(SigningKey(seed_of(signer)).verify_key)


def make_bytes(
    n: int = 4, weights: tuple[int, ...] | None = None, shards: int = 4, policy: Policy | None = None, **changes: Any
) -> bytes:
    chosen = weights or (DEFAULT_WEIGHTS if n == 4 else (1000,) * n)
    members = tuple(
        Member(i, f"member-{i}", "execution", public_key(f"member:{i}"), weight) for i, weight in enumerate(chosen[:n])
    )
    services = {name: public_key(f"service:{name}") for name in ("nomination", "journal")}
    arguments: dict[str, Any] = {
        "shards": shards, "members": members, "services": services, "agents": {}, "policy": policy or by_the_paper(),
        "operator": public_key("operator"),
    }  # fmt: skip
    return dump(**(arguments | changes))


def make(n: int = 4, **changes: Any) -> Genesis:
    """Builds a genesis of n members whose keys are `seed_of('member:N')`."""
    return load(make_bytes(n, **changes))
