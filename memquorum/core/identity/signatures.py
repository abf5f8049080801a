"""Signatures of agents on what they publish, in the optional header `signature` (DESIGN 5).

An agent with a key in the genesis file may sign; a namespace may accept only signed records. The signature covers the
received bytes, with the cluster and the topic before them: a record signed for one cluster is invalid in another.
"""

from __future__ import annotations

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from memquorum.core.identity.membership import Genesis
from memquorum.core.names import Fault

HEADER = "signature"

_DOMAIN = b"memquorum/published/1\0"


def sign(cluster: bytes, topic: str, seed: bytes, value: bytes) -> bytes:
    """Returns the header's 64 bytes. `cluster`: SHA-256 of the genesis file; `seed`: the agent's 32-byte Ed25519
    seed."""
    return SigningKey(seed).sign(_signed_bytes(cluster, topic, value)).signature


def fault(
    genesis: Genesis, topic: str, namespace: str, agent: str, *, value: bytes, signature: bytes | None
) -> Fault | None:
    """Returns what is wrong with the signature of a record of this agent in this namespace, or None.

    A signature that is not required is checked all the same where the agent has a key: it tells the agent from others
    that only use its name.
    """
    required, key = namespace in genesis.signed, genesis.agent_keys.get(agent)
    if signature is None:
        if not required:
            return None
        return Fault("unsigned", "this namespace only accepts signed records; send the header 'signature'")
    if key is None:
        if not required:
            return None
        return Fault("bad_signature", "the genesis file holds no key of this agent")
    try:
        VerifyKey(key).verify(_signed_bytes(genesis.cluster, topic, value), signature)
    except (BadSignatureError, ValueError):
        return Fault("bad_signature", "not this agent's signature of these bytes for this topic of this cluster")
    return None


def _signed_bytes(cluster: bytes, topic: str, value: bytes) -> bytes:
    # The topic's length keeps (topic, value) unambiguous; the cluster has a fixed length.
    name = topic.encode()
    return _DOMAIN + cluster + len(name).to_bytes(2, "big") + name + value
