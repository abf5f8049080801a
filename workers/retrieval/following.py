"""Follows the journal for people: cursors that tell a reader nothing of others, and a feed of what is new.

A cursor names an entry of a shard, whose numbers count the entries of all its namespaces. So it is sealed for one key
and one namespace. The seal's secret follows from the seed of the erasure service, so that a cursor stays good when the
service starts again; without that seed it is good while the process lives.

All who follow one namespace share one question to the store for each change of its shard.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import Counter, deque
from collections.abc import AsyncIterator
from typing import Protocol

import msgspec
from msgspec import Struct
from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

from db.reads import Reads
from memquorum.core.access import Caller, Sight
from memquorum.core.accounts.chronicle import Line
from memquorum.core.accounts.pages import Entries
from memquorum.core.api.answers import Fleet, TraceSpan
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.limits import Busy

OF_ONE = 8
"""The feeds that one key may have open at once."""
LASTS_S, HEARTBEAT_S = 600.0, 15.0
_GATHER_S = 0.1
_BATCH = 200


class Watch(Protocol):
    """Sees the processes of an installation. Both methods may take seconds, and are called in a thread."""

    def fleet(self) -> Fleet:
        """Returns the state of the processes."""

    def trace(self, memory_id: str) -> tuple[TraceSpan, ...]:
        """Returns the recorded steps of a memory."""


class Cursors:
    """Seals places in the journal for a key and a namespace, and opens them."""

    def __init__(self, seed: bytes | None) -> None:
        secret = (
            random(32) if seed is None else hashlib.blake2b(seed, digest_size=32, person=b"journal-cursor").digest()
        )
        self._box = SecretBox(secret)

    def seal(self, caller: Caller, namespace: str, seq: int) -> str:
        """Returns the cursor of an entry."""
        sealed = self._box.encrypt(msgspec.json.encode((caller.id, namespace, seq)))
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, caller: Caller, namespace: str, cursor: str) -> int:
        """Returns the entry that a cursor names. Raises BadRequest for one of another key, namespace or service."""
        try:
            sealed = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
            of, where, seq = msgspec.json.decode(self._box.decrypt(sealed), type=tuple[str | None, str, int])
        except (ValueError, CryptoError, msgspec.MsgspecError):
            of, where, seq = "", "", -1
        if (of, where) != (caller.id, namespace):
            detail = "no cursor of this key and namespace; leave it out to begin with the latest"
            raise BadRequest("bad_id", "cursor", detail)
        return seq


class _Followed(Struct):
    """A namespace that somebody follows: its latest entries, all of those after `since`, as they were at a turn of its
    shard."""

    shard: int
    since: int
    turn: int = -1
    readers: int = 0
    lines: deque[Line] = msgspec.field(default_factory=deque)


class Feed:
    """Wakes those who follow a namespace, and reads what is new there once for all of them."""

    def __init__(self, reads: Reads, lasts_s: float = LASTS_S) -> None:
        """`lasts_s`: how long one feed lasts; the reader comes again."""
        self._reads, self.lasts_s = reads, lasts_s
        self._of: Counter[str | None] = Counter()
        self._followed: dict[str, _Followed] = {}
        self._reading: dict[str, asyncio.Lock] = {}
        # By shard: how often it was heard of, and who waits for the next time.
        self._turns: Counter[int] = Counter()
        self._waiting: dict[int, set[asyncio.Future[None]]] = {}

    def heard(self, payload: str) -> None:
        """Takes a notification of the store: '<shard>:<seq>', or '' if some may have been missed."""
        shard = payload.partition(":")[0]
        moved = list(self._waiting.keys() | self._turns.keys()) if payload == "" else [int(shard)]
        for one in moved:
            self._turns[one] += 1
            for future in self._waiting.pop(one, ()):
                if not future.done():
                    future.set_result(None)

    def enter(self, caller: Caller) -> None:
        """Counts a feed of a key. Raises Busy where it has enough."""
        if caller.id is not None and self._of[caller.id] >= OF_ONE:
            raise Busy(True, f"this key follows {OF_ONE} feeds; close one of them, then try again")
        self._of[caller.id] += 1

    def leave(self, caller: Caller) -> None:
        """Counts a feed that ended."""
        self._of[caller.id] -= 1

    async def lines(self, sight: Sight, namespace: str, shard: int, after: int) -> AsyncIterator[list[Line]]:
        """Yields what is new about a namespace after an entry, the oldest first; an empty list now and then."""
        one = self._followed.setdefault(namespace, _Followed(shard, after))
        one.readers += 1
        try:
            while True:
                turn = self._turns[shard]
                found = await self._after(sight, namespace, one, after)
                yield found
                if found:
                    after = found[-1].seq
                    continue
                await self._moved(shard, turn)
        finally:
            one.readers -= 1
            if not one.readers:
                self._followed.pop(namespace, None)

    async def _moved(self, shard: int, turn: int) -> None:
        """Waits until a shard has moved since a turn, and a moment longer; or for the time of a heartbeat."""
        if self._turns[shard] == turn:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(shard, set()).add(future)
            try:
                await asyncio.wait_for(future, HEARTBEAT_S)
            except TimeoutError:
                return
            finally:
                self._waiting.get(shard, set()).discard(future)
        await asyncio.sleep(_GATHER_S)

    async def _after(self, sight: Sight, namespace: str, one: _Followed, after: int) -> list[Line]:
        async with self._reading.setdefault(namespace, asyncio.Lock()):
            turn = self._turns[one.shard]
            # What was read for others at this turn serves this one too, unless it begins earlier.
            if one.turn != turn or after < one.since:
                await self._read(sight, namespace, one, min(after, one.since) if one.turn < 0 else after, turn)
            return [line for line in one.lines if line.seq > after]

    async def _read(self, sight: Sight, namespace: str, one: _Followed, after: int, turn: int) -> None:
        """Reads what the store has after an entry, and keeps the latest of it."""
        known = one.lines[-1].seq if one.lines and after >= one.since else after
        found = await self._reads.journal(sight, Entries(namespace=namespace, shard=one.shard, limit=_BATCH), known)
        if known == after:
            one.lines.clear()
            one.since = after
        # The latest first; more than are told at once are left to the list.
        one.lines.extend(reversed(found[:_BATCH]))
        while len(one.lines) > _BATCH:
            one.since = one.lines.popleft().seq
        one.turn = turn
