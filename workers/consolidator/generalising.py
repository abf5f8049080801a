"""The general forms of what helps again and again in experience: published once each, to be voted on (SPEC E)."""

from __future__ import annotations

import hmac
import uuid
from collections.abc import Callable, Iterator

from memquorum.core.contained import Failures
from memquorum.core.experience.abstract import RULES, abstracted
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import EpisodeRecorded, Summary
from memquorum.core.vote.kinds.generalise import committed
from memquorum.ports import Generals, Promoted

ROLE = "general form"
_SESSION = "experience"
_AT_ONCE = 100
# Fixed for ever: who makes the same general form again publishes the same event.
_EVENTS = b"memquorum general forms"


class Generalising:
    """Looks through the experience of shards for what has earned a general form. Its position is in process memory:
    after a restart it looks again at all memories without a general form."""

    def __init__(
        self,
        generals: Generals,
        policy: Callable[[int], ExperiencePolicy],
        seed: bytes,
        failures: Failures | None = None,
    ) -> None:
        """`policy`: by which a shard's memories are promoted now; `seed`: of the consolidator. `failures`: takes the
        memories on which the rules fail: those have no general form."""
        self._failures = failures or Failures()
        self._generals, self._policy, self._seed = generals, policy, seed
        self._looked: dict[int, tuple[int, str]] = {}

    def found(self, shard: int) -> Iterator[EpisodeRecorded]:
        """The general forms of what was promoted in a shard since it was looked through last, or may have been
        published before without being accepted. A memory that names nothing, or has no content without its names, has
        none. Raises StoreUnavailable."""
        behind = self._looked.get(shard)
        while some := self._generals.promoted(shard, self._policy(shard), _AT_ONCE, behind):
            for one in some:
                text = self._failures.answer("general form", [one.memory_id], None, abstracted, one.text)
                if text is not None:
                    yield general(one, text, self._seed)
            behind = some[-1].seq, some[-1].memory_id
            self._looked[shard] = behind

    def forget(self, shard: int) -> None:
        """Restarts a shard from the beginning: another process may have gone on with it."""
        self._looked.pop(shard, None)

    def close(self) -> None:
        """Lets the connection go."""
        self._generals.close()


def general(of: Promoted, text: str, seed: bytes) -> EpisodeRecorded:
    """A general form, as the consolidator publishes it. It is as new as it is published: what it says was never said
    before.

    The id of its event follows from the memory and the consolidator's `seed`: who could foretell it would take it, and
    the general form would count as repeated."""
    return EpisodeRecorded(
        agent=CONSOLIDATOR,
        content=text,
        namespace=of.namespace,
        event_id=_event_id(of, seed),
        subject=of.subject,
        type=of.type,
        derives_from=(of.memory_id,),
        role=ROLE,
        summary=Summary(RULES, _SESSION, of.salience_ppm, committed(of.commitment), ()),
    )


def _event_id(of: Promoted, seed: bytes) -> str:
    key = hmac.digest(seed, _EVENTS, "sha256")
    named = "\0".join((of.namespace, RULES, of.memory_id)).encode()
    return str(uuid.UUID(bytes=hmac.digest(key, named, "sha256")[:16], version=4))
