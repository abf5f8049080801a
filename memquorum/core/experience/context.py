"""A finished task as one self-contained record: the execution context of SEDM 3.2.1 (SCEC; SPEC E).

It holds all that a trial needs, except what agents say later about the memories given to the task (`uses`), and nothing
of the environment in which the task ran. Its fields: question and answer, summaries of the tools' answers, the
retrieved memories, a seed, a digest of the configuration, the outcome and who says so, and the vector of its goal. The
vector is carried because nothing is encoded again: an encoder's arithmetic differs from machine to machine, and bytes
that were sealed once do not.

`Context.data` is its one form as bytes, `digest` their SHA-256: two machines that have the same context have the same
digest, and a context of which any field differs has another one.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from memquorum.core.experience import oneform
from memquorum.core.experience.similarity import HALF_BYTES
from memquorum.core.experience.texts import FAILED, OUTCOMES, SUCCEEDED, UNKNOWN
from memquorum.core.late_numpy import np

__all__ = ["FAILED", "OUTCOMES", "SUCCEEDED", "UNKNOWN", "BadContext", "Context", "read"]

_MARK = b"memquorum/context/1\0"
_DIGEST_BYTES = 32
_SEED_MOST = 2**63


class BadContext(ValueError):
    """The bytes are no context, or not in the one form that a context has."""


class Context(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A finished task. Raises BadContext where a field cannot be one of a context.

    - `goal`: what was to be done, in words; `vector`: of it, with the inputs, by `encoder`, little-endian float16
    - `inputs`, `outputs`: what the task was given, and what it gave
    - `tools`: a summary of each call of a tool, in order, so that none has to be called again
    - `retrieved`: the ids of the memories that it was given, best first
    - `said_by`: who says how it ended; empty where nobody does
    - `configuration`: SHA-256 of what it ran under; `seed`: of whatever was drawn in it
    - `occurred_at`: when it ended, in milliseconds since the epoch
    """

    id: str
    namespace: str
    agent: str
    goal: str
    inputs: str
    outputs: str
    tools: tuple[str, ...]
    retrieved: tuple[str, ...]
    outcome: str
    said_by: str
    configuration: bytes
    seed: int
    encoder: str
    vector: bytes
    occurred_at: int

    def __post_init__(self) -> None:
        fault = _fault(self)
        if fault is not None:
            raise BadContext(fault)

    @property
    def data(self) -> bytes:
        """The context as bytes, always the same for the same context."""
        return oneform.written(_MARK, self)

    @property
    def digest(self) -> bytes:
        """SHA-256 of `data`, 32 bytes."""
        return hashlib.sha256(self.data).digest()


def read(data: bytes) -> Context:
    """The context that `Context.data` gave as bytes. Raises BadContext for all other bytes, those too that would read
    as a context and are not the ones that it has."""
    try:
        return oneform.read(_MARK, data, Context)
    except ValueError as error:
        raise BadContext(f"not a context: {error}") from None


def _fault(one: Context) -> str | None:
    """Returns why it is no valid context; None if it is."""
    if one.outcome not in OUTCOMES:
        return f"outcome: {one.outcome!r} is none; known: {', '.join(OUTCOMES)}"
    if (one.outcome == UNKNOWN) != (one.said_by == ""):
        return "said_by: an outcome has somebody who says so, and what is unknown nobody"
    if not one.id or not one.goal.strip():
        return "goal: a task has an id and a goal"
    if len(one.configuration) != _DIGEST_BYTES:
        return f"configuration: {len(one.configuration)} bytes; a SHA-256 has {_DIGEST_BYTES}"
    if not 0 <= one.seed < _SEED_MOST:
        return "seed: must lie in [0, 2^63)"
    return _fault_of(one.vector)


def _fault_of(vector: bytes) -> str | None:
    if not vector or len(vector) % HALF_BYTES:
        return f"vector: {len(vector)} bytes are no numbers of {HALF_BYTES} bytes each"
    numbers = np.frombuffer(vector, "<f2")
    if not np.isfinite(numbers).all() or not numbers.any():
        return "vector: must be finite numbers, and not all of them 0"
    return None
