"""That a session is over, what it came to, and what comes of it."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypedDict, Unpack

from memquorum import topics
from memquorum.client import wire
from memquorum.client.errors import Invalid, NotAllowed, NotFound
from memquorum.client.finishing import After, Finishing
from memquorum.client.values import Receipt
from memquorum.core.api.answers import Ended, Page, Published, Session
from memquorum.core.experience import ended
from memquorum.core.intake import FOUND_MAX

_SESSIONS_MOST = 64


class Came(TypedDict, total=False):
    """What a session came to, which makes a finished task of it. `outcome`: succeeded, failed, or unknown, says `by`
    (this agent); `goal`: what was to be done; `inputs`, `outputs`: what it was given, and gave; `tools`: a summary of
    each call of one; `retrieved`: memories that it was given beside those that its `context` gave."""

    outcome: str | None
    goal: str | None
    inputs: str | None
    outputs: str | None
    tools: Sequence[str]
    retrieved: Sequence[str]
    by: str | None


class Ending(Finishing):
    """What a client can say and ask of the end of a session."""

    _given_in: OrderedDict[str, dict[str, None]]
    """What contexts gave for a session, by sessions, the one that was asked for last at the end."""
    _said_in: OrderedDict[str, Receipt]
    """What this client published of a session last, by sessions, the one that was spoken in last at the end."""

    async def end_session(
        self, session: str, *, everyone: bool = False, wait: bool = False, timeout: float = 30.0, after: After = None,
        **came: Unpack[Came],
    ) -> Ended:  # fmt: skip
        """Says that this agent's part of a session is over, or with `everyone` that of every agent of the namespace:
        what is left of it is summed up, and members vote on the summaries. Without it a session is over when nothing
        has happened in it for 15 minutes, as the policy says. `session` tells what comes of it.

        With an `outcome` it is a finished task, too: of what a `user` said first in it, where no `goal` is given, and
        with what `context` gave this client for it. One session is one task, and what is said of it first stands.

        `after`: a write of somebody else's that is seen before anything is published, by its receipt or token. Without
        it what was asked is looked for once what this client added to the session is seen. Raises NotYet where that is
        not in time: nothing was published then.

        Returns once Kafka has confirmed it, with `wait` once the task is kept. Raises Invalid, Unreachable, NotAllowed.
        """
        wire.path_id(session, "session")
        if after is not None:
            with suppress(NotFound):  # of the session there may be nothing all the same
                await self.session(session, after=after)
        task = await self._task_of(session, everyone, came, None if after else self._said_in.get(session))
        if task is not None:
            self._finished(task)  # is held against the wall before anything is sent
        event_id = str(uuid.uuid4())
        told = {"session": session, "namespace": self.namespace, "event_id": event_id}
        if not everyone:
            told["agent"] = self.agent
        data = wire.checked(topics.ENDS, told, signs=self._signs)[1]
        await self._send(topics.ENDS, "SessionEnded", [(self.namespace, event_id, data)])
        kept = None
        if task is not None:
            receipt = await self.finish_task(**task, wait=wait, timeout=timeout)
            named = receipt.namespace, receipt.event_id, receipt.memory_id
            kept = Published(*named, receipt.token, receipt.place)
        return Ended(self.namespace, session, event_id, told.get("agent"), kept)

    async def session(self, session: str, *, after: After = None) -> Session:
        """What comes of a session, by agents: its summaries, which of them wait for their vote and until when, and why
        others are not made. Raises NotFound where no memory of the namespace is of it."""
        path = f"/sessions/{wire.path_id(self.namespace)}/{wire.path_id(session, 'session')}"
        return await self._get(Session, path, **wire.after(after))

    async def _task_of(
        self, session: str, everyone: bool, came: Mapping[str, Any], after: After
    ) -> dict[str, Any] | None:
        """What a session that came to something says as a finished task."""
        said = {name: one for name, one in came.items() if one is not None and one != ()}
        by, outcome = said.pop("by", None), said.pop("outcome", None)
        if outcome is None:
            if said or by is not None:
                raise Invalid("missing_field", "outcome", ended.NO_OUTCOME)
            return None
        asked, goal = None, said.pop("goal", None)
        if goal is None:
            asked, goal = await self._first_ask(session, everyone, after)
        named, noted = wire.several("retrieved", said.pop("retrieved", ())), self._given_in.get(session, {})
        return said | {
            "goal": goal, "outcome": outcome, "by": by, "retrieved": ended.given(named, noted, asked, FOUND_MAX),
            "event_id": ended.event_id(self.agent, self.namespace, None if everyone else self.agent, session),
        }  # fmt: skip

    async def _first_ask(self, session: str, everyone: bool, after: After) -> tuple[str, str]:
        asked = {"namespace": self.namespace, "sessions": [session]} | ({} if everyone else {"agents": [self.agent]})
        try:
            page = await self._ask(Page, "POST", "/memories/list", json=asked, params=wire.after(after))
            found = ended.first_ask((one.memory_id, one.text, one.role) for one in page.memories)
        except NotAllowed:
            found = None
        if found is None:
            raise Invalid("missing_field", "goal", ended.NO_GOAL)
        return found

    def _spoke(self, episode: Mapping[str, Any], receipt: Receipt) -> None:
        """Notes what was published of a session; of 64 sessions."""
        session = episode.get("session")
        if isinstance(session, str):
            self._said_in[session] = receipt
            self._said_in.move_to_end(session)
            if len(self._said_in) > _SESSIONS_MOST:
                self._said_in.popitem(last=False)

    def _gave(self, session: str, memory_ids: Iterable[str]) -> None:
        """Notes what a context gave for a session; of 64 sessions, and 1,000 memories of each."""
        given = self._given_in.setdefault(session, {})
        self._given_in.move_to_end(session)
        for memory_id in memory_ids:
            if len(given) < FOUND_MAX:
                given[memory_id] = None
        while len(self._given_in) > _SESSIONS_MOST:
            self._given_in.popitem(last=False)
