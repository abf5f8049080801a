"""Ends sessions, records their outcome as finished tasks, and reads their summaries."""

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
from memquorum.client.printed import Session
from memquorum.client.values import Receipt
from memquorum.core.api.answers import Ended, Page, Published
from memquorum.core.experience import ended
from memquorum.core.intake import FOUND_MAX

_SESSIONS_MOST = 64


class Came(TypedDict, total=False):
    """The outcome of a session, which makes a finished task of it. `outcome`: succeeded, failed, or unknown, as judged
    by `by` (this agent); `goal`: the task's goal; `inputs`, `outputs`: of the task; `tools`: a summary of each tool
    call; `retrieved`: memories given to it beside those that its `context` gave."""

    outcome: str | None
    goal: str | None
    inputs: str | None
    outputs: str | None
    tools: Sequence[str]
    retrieved: Sequence[str]
    by: str | None


class Ending(Finishing):
    """The client's methods for the end of a session."""

    _given_in: OrderedDict[str, dict[str, None]]
    """The memories that contexts gave, by session; the session asked for most recently comes last."""
    _said_in: OrderedDict[str, Receipt]
    """The last receipt of each session that this client published in; the most recent session comes last."""

    async def end_session(
        self, session: str, *, everyone: bool = False, wait: bool = False, timeout: float = 30.0, after: After = None,
        **came: Unpack[Came],
    ) -> Ended:  # fmt: skip
        """Ends this agent's part of a session, or with `everyone` that of every agent of the namespace: its remaining
        episodes are summarized, and members vote on the summaries. Without it a session is over when nothing has
        happened in it for 15 minutes, as the policy says. `session` returns the resulting summaries.

        With an `outcome` the session also becomes a finished task: its goal is the first message of a `user` unless
        `goal` is given, and it names the memories that `context` gave this client for it. One session is one task, and
        its first outcome stands.

        `after`: another client's write, by its receipt or token, that must be seen before anything is published.
        Without it the goal is looked up once the service has seen what this client added to the session. Raises NotYet
        if that write is not seen in time; nothing was published then.

        Returns once Kafka has confirmed it, with `wait` once the task is kept. Raises Invalid, Unreachable, NotAllowed.
        """
        wire.path_id(session, "session")
        if after is not None:
            with suppress(NotFound):  # of the session there may be nothing all the same
                await self.session(session, after=after)
        task = await self._task_of(session, everyone, came, None if after else self._said_in.get(session))
        if task is not None:
            self._finished(task)  # is checked before anything is sent
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
        """Returns the state of a session by agent: its summaries, which of them wait for their vote and until when, and
        why others are not made. Raises NotFound if the namespace has no memory of this session."""
        path = f"/sessions/{wire.path_id(self.namespace)}/{wire.path_id(session, 'session')}"
        return await self._get(Session, path, **wire.after(after))

    async def _task_of(
        self, session: str, everyone: bool, came: Mapping[str, Any], after: After
    ) -> dict[str, Any] | None:
        """The finished task that a session's outcome makes, or None without an outcome."""
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
            "goal": goal, "outcome": outcome, "by": by,
            "retrieved": ended.given_memories(named, noted, asked, FOUND_MAX),
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
        """Notes the last receipt of a session; keeps 64 sessions."""
        session = episode.get("session")
        if isinstance(session, str):
            self._said_in[session] = receipt
            self._said_in.move_to_end(session)
            if len(self._said_in) > _SESSIONS_MOST:
                self._said_in.popitem(last=False)

    def _gave(self, session: str, memory_ids: Iterable[str]) -> None:
        """Notes the memories that a context gave for a session; keeps 64 sessions with 1,000 memories each."""
        given = self._given_in.setdefault(session, {})
        self._given_in.move_to_end(session)
        for memory_id in memory_ids:
            if len(given) < FOUND_MAX:
                given[memory_id] = None
        while len(self._given_in) > _SESSIONS_MOST:
            self._given_in.popitem(last=False)
