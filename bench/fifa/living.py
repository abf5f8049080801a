r"""An agent that lives through its days with a memory of so many tokens, by the product's own core.

A message becomes a memory, and a repeated one a use of the memory that there is. A policy decides what is forgotten
(`core.budgets`). Without votes a memory is forgotten as soon as there is one too many. With votes epochs come at the
shipped policy's intervals; a memory that a policy names is forgotten if the members' rule is for it and the caps leave
room, and rests otherwise. Summaries are those of the default summariser, at the end of a session, and of groups of
episodes where a policy that reflects holds more than the budget (`core.consolidation.condensing`). A question is
answered with the nearest of what is there: sentences, those of summaries among them. Served sentences count as read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.fifa.prepared import Drafted, Prepared, name_of
from bench.fifa.voting import Members
from bench.fifa.wordings import SENSITIVE_PPM
from bench.fifa.world import ASK, DUE, END, ERASE, OPEN, PRY, SAY, Turn
from memquorum.core.budgets.items import CAPPED, NEEDED, RESTING, Item
from memquorum.core.budgets.ledger import Group, Ledger
from memquorum.core.budgets.rules import REFLECTS
from memquorum.core.budgets.weighing import ORDINARY
from memquorum.core.consolidation.condensing import SLICE
from memquorum.core.policy import PPM, Budget

SERVED = 5
"""So many sentences are served to a question."""
PROTECTED, CAP, OPEN_VOTE, OTHER = "protected", "cap", "open vote", "other"
REASONS = (CAP, PROTECTED, OPEN_VOTE, OTHER)
"""The reasons why tokens stay beyond a budget: the caps of an epoch or of a day leave no room; protected memories,
those that a vote has kept and those that others were made of are more than the budget; they came since the last epoch,
and the next one has not begun."""
SCORED = frozenset({"worth", "reflection", "hybrid"})
"""The policies that look at goals."""


@dataclass
class Counted:
    """The counts of one agent: tokens and turns."""

    asked: int = 0
    coherent: int = 0
    lost: int = 0
    contradicted: int = 0
    goals: list[tuple[int, bool]] = field(default_factory=list)
    """Each goal's weight, which is its number of steps, and whether it was reached."""
    eligible: int = 0
    emitted: int = 0
    correct: int = 0
    opportunities: int = 0
    violations: int = 0
    bare_violations: int = 0
    leaked: int = 0
    bare_leaked: int = 0
    leaking_turns: int = 0
    turns: int = 0
    served: int = 0
    summarised: int = 0
    gone: int = 0
    replaced: int = 0
    kept: int = 0
    held: int = 0
    """Tokens held, added up over turns."""
    over: Counter[str] = field(default_factory=Counter)
    """Tokens beyond the budget by the reason that holds them (`REASONS`), added up over turns."""


class Life:
    """One agent under one policy and budget."""

    def __init__(self, prepared: Prepared, name: str, budget: int, *, votes: bool, seed: bytes = b"fifa") -> None:
        self._of, self._name, self._budget, self._votes = prepared, name, budget, votes
        self._policy = prepared.policy
        self._ledger = Ledger(name, self._policy.budget, seed)
        # Turn → the memory with its sentence; memory → its turns.
        self._holder: dict[int, str] = {}
        self._turns_of: dict[str, tuple[int, ...]] = {}
        self._memory_of: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._about: dict[str, list[int]] = {}
        self._drafts: dict[str, Drafted] = {}
        self._goals: dict[str, NDArray[np.float32]] = {}
        self._goal_memory: dict[str, str] = {}
        self._near: NDArray[np.float32] | None = None
        self._members = Members(self._ledger, self._policy, Budget("n", budget, name))
        # Since when the budget has been exceeded, and when summaries of groups were drafted last.
        self._since: int | None = None
        self._condensed_at: int | None = None
        # The tokens that the last epoch left beyond the budget, and why.
        self._left = OTHER, 0
        self.counted = Counted()

    def live(self) -> Counted:
        """All of its days."""
        does = {
            SAY: self._say, OPEN: self._open, ASK: self._ask, PRY: self._pry, ERASE: self._erase, DUE: self._due,
            END: self._end,
        }  # fmt: skip
        for at, turn in enumerate(self._of.stream.turns):
            does[turn.kind](at, turn)
            self.counted.turns += turn.kind in (SAY, OPEN, ASK, PRY)
            self.counted.held += self._ledger.tokens
            if self._votes:
                self._fit(turn.at)
            self._count_excess(turn.at)
        return self.counted

    def _count_excess(self, as_of: int) -> None:
        """Adds the tokens beyond the budget at a turn to the reasons that hold them."""
        over = self._ledger.tokens - self._budget
        if over <= 0:
            return
        fixed = sum(tokens for why, tokens in self._ledger.excess().items() if why != CAPPED)
        protected = min(over, max(0, fixed - self._budget))
        self.counted.over[PROTECTED] += protected
        over -= protected
        if not self._votes or not self._members.room(as_of):
            self.counted.over[CAP if self._votes else OTHER] += over
            return
        why, tokens = self._left
        left = min(over, tokens)
        self.counted.over[why] += left
        waits = not self._members.may(as_of) or not self._waited(as_of)
        self.counted.over[OPEN_VOTE if waits else OTHER] += over - left

    def _say(self, at: int, turn: Turn) -> None:
        if turn.fact:
            self._latest[turn.fact] = turn.text
            self._about.setdefault(turn.fact, []).append(at)
        before = self._memory_of.get(turn.text)
        if before is not None and before in self._holder:
            self._use(self._holder[before], turn.at)
            return
        memory_id = name_of(at)
        self._memory_of[turn.text] = at
        self._holder[at], self._turns_of[memory_id] = memory_id, (at,)
        self._put(
            Item(
                memory_id,
                turn.type,
                self._of.tokens[at],
                turn.at,
                turn.at,
                sensitivity_ppm=self._of.sensitivity[at],
                goals_ppm=self._to_goals((at,)),
                worth=self._of.worth[at],
                novelty_ppm=self._of.novelty[at],
            )
        )
        self._fit(turn.at)

    def _open(self, at: int, turn: Turn) -> None:
        """A goal is said and set: what says it is needed until it is due."""
        self._say(at, turn)
        said_at = self._memory_of[turn.text]
        memory_id = self._holder.get(said_at)
        if memory_id is not None:
            self._ledger.protect(memory_id, NEEDED)
            self._goal_memory[turn.text] = memory_id
        self._goals[turn.text] = self._of.near(turn.text)
        self._aim()

    def _due(self, at: int, turn: Turn) -> None:
        """Each step of a goal asks for what it needs; without one of them it is not reached."""
        found = [self._answer(fact, self._serve(question, turn.at)) for fact, question in turn.goal]
        self.counted.goals.append((len(found), all(text == self._latest[fact] for text, (fact, _) in
                                                   zip(found, turn.goal, strict=True))))  # fmt: skip
        self._goals.pop(turn.text, None)
        memory_id = self._goal_memory.pop(turn.text, None)
        if memory_id is not None:
            self._ledger.protect(memory_id, None)
        self._aim()
        self._fit(turn.at)

    def _ask(self, at: int, turn: Turn) -> None:
        answer, counted = self._answer(turn.fact, self._serve(turn.text, turn.at)), self.counted
        right = answer == self._latest[turn.fact]
        counted.asked += 1
        counted.coherent += right
        counted.lost += answer is None
        counted.contradicted += answer is not None and not right
        if turn.social:
            counted.eligible += 1
            counted.emitted += answer is not None
            counted.correct += right

    def _pry(self, at: int, turn: Turn) -> None:
        """A stranger asks: he is given nothing that says that it is sensitive. Beside it, what he would be given."""
        counted, turns = self.counted, self._of.stream.turns
        counted.opportunities += 1
        for gated in (True, False):
            given = self._find(turn.text, gated=gated)
            leaked = sum(self._of.tokens[one] for one in given if turns[one].sensitivity_ppm)
            told = any(turns[one].fact == turn.fact for one in given)
            if gated:
                counted.violations += told
                counted.leaked += leaked
                counted.leaking_turns += leaked > 0
            else:
                counted.bare_violations += told
                counted.bare_leaked += leaked

    def _erase(self, at: int, turn: Turn) -> None:
        """An order erases it, out of summaries too. It is broken where something of it is there afterwards."""
        for said in self._about.get(turn.fact, ()):
            memory_id = self._holder.pop(said, None)
            if memory_id is None:
                continue
            left = tuple(one for one in self._turns_of.pop(memory_id) if one != said)
            item = self._ledger.remove(memory_id)
            if item is not None and left:
                again = f"{memory_id}+"
                self._hold(again, left)
                self._put(replace(item, memory_id=again, tokens=max(1, item.tokens - self._of.tokens[said])))
        self.counted.opportunities += 1
        broken = any(said in self._holder for said in self._about.get(turn.fact, ()))
        self.counted.violations += broken
        self.counted.bare_violations += broken

    def _end(self, at: int, turn: Turn) -> None:
        """A session is over: the summariser makes its summaries."""
        if self._name in REFLECTS:
            session = [one for one, told in enumerate(self._of.stream.turns[:at]) if told.session == turn.session]
            mine = [one for one in session if self._holder.get(one) == name_of(one) and self._free(name_of(one))]
            mine = [one for one in mine if not self._disputed(one)]
            for draft in self._of.drafted(turn.session, mine):
                self._drafts[draft.group.summary] = draft
                self.counted.summarised += draft.read + draft.group.tokens
        self._fit(turn.at)

    def _disputed(self, at: int) -> bool:
        """Whether something that is there says otherwise: both are left as they are."""
        turns = self._of.stream.turns
        others = (one for one in self._about.get(turns[at].fact, ()) if one in self._holder)
        return any(turns[one].text != turns[at].text for one in others)

    def _free(self, memory_id: str) -> bool:
        item = self._ledger.get(memory_id)
        return item is not None and item.protected in (None, RESTING)

    def _serve(self, text: str, at: int) -> list[int]:
        """Returns the turns that are found for a text, and counts them as read."""
        found = self._find(text)
        self.counted.served += sum(self._of.tokens[one] for one in found)
        for memory_id in dict.fromkeys(self._holder[one] for one in found):
            self._use(memory_id, at)
        return found

    def _find(self, text: str, *, gated: bool = False) -> list[int]:
        found, sensitivity = list[int](), self._of.sensitivity
        for one in self._of.nearest(text):
            if one in self._holder and not (gated and sensitivity[one] >= SENSITIVE_PPM):
                found.append(one)
                if len(found) == SERVED:
                    break
        return found

    def _answer(self, fact: str, served: Sequence[int]) -> str | None:
        """Returns the agent's answer: the latest of the served statements about it."""
        own = [one for one in served if self._of.stream.turns[one].fact == fact]
        return self._of.stream.turns[max(own)].text if own else None

    def _use(self, memory_id: str, at: int) -> None:
        self._ledger.used(memory_id, at)
        self._members.used(memory_id)

    def _hold(self, memory_id: str, turns: tuple[int, ...]) -> None:
        self._turns_of[memory_id] = turns
        for one in turns:
            self._holder[one] = memory_id

    def _drop(self, memory_id: str) -> None:
        for one in self._turns_of.pop(memory_id):
            self._holder.pop(one, None)

    def _put(self, item: Item) -> None:
        self._ledger.put(item)

    def _to_goals(self, turns: Sequence[int]) -> int:
        """Returns how near sentences are to the nearest goal."""
        if self._name not in SCORED or self._near is None:
            return 0
        return max(0, round(PPM * float(max(self._near[self._of.row[one]] for one in turns))))

    def _aim(self) -> None:
        """The goals are others: what is near to them is, too."""
        if self._name not in SCORED:
            return
        self._near = np.max(list(self._goals.values()), axis=0) if self._goals else None
        for memory_id, turns in self._turns_of.items():
            item, goals = self._ledger.get(memory_id), self._to_goals(turns)
            if item is not None and item.goals_ppm != goals:
                self._ledger.put(replace(item, goals_ppm=goals))

    def _fit(self, as_of: int) -> None:
        """The budget is held."""
        if self._ledger.tokens <= self._budget:
            self._since, self._left = None, (OTHER, 0)
            return
        if self._since is None:
            self._since = as_of
            self._condense(as_of)
        if self._votes:
            if self._members.may(as_of) and self._waited(as_of):
                self._vote(as_of)
                self._condense(as_of)
            return
        plan = self._ledger.evict(self._budget, as_of, groups=[one.group for one in self._drafts.values()])
        for going in plan.goes:
            self._drop(going.memory_id)
        self.counted.gone += len(plan.goes)
        for group in plan.replaces:
            self._replace(group)
        self._forget_drafts()

    def _waited(self, as_of: int) -> bool:
        """Whether summaries had the time to come first, for a policy that reflects (`streams.budget_choice`)."""
        since = as_of if self._since is None else self._since
        return self._name not in REFLECTS or as_of - since >= self._policy.budget.every_ms

    def _condense(self, as_of: int) -> None:
        """The consolidator drafts summaries of groups of what is held beyond the budget, once after each epoch."""
        if self._name not in REFLECTS or self._ledger.tokens <= self._budget:
            return
        if self._condensed_at is not None and as_of - self._condensed_at < self._policy.budget.every_ms:
            return
        self._condensed_at = as_of
        free = [
            item
            for one in self._turns_of
            if self._free(one) and (item := self._ledger.get(one)) is not None and item.type == "episodic"
        ]
        free = [item for item in free if item.memory_id.isdigit() and not self._disputed(int(item.memory_id))]
        unused = sorted(free, key=lambda item: (item.last_access, item.memory_id))[:SLICE]
        for draft in self._of.condensed([int(item.memory_id) for item in unused]):
            if draft.group.summary not in self._drafts:
                self._drafts[draft.group.summary] = draft
                self.counted.summarised += draft.read + draft.group.tokens

    def _forget_drafts(self) -> None:
        """Drops drafts of summaries with forgotten sources: they cannot replace anything."""
        known = self._turns_of
        self._drafts = {
            name: one for name, one in self._drafts.items() if all(each in known for each in one.group.memory_ids)
        }

    def _replace(self, group: Group) -> None:
        """A summary takes the place of what it was made of, as old and as often used."""
        draft = self._drafts.pop(group.summary)
        sources = [self._of.stream.turns[int(one)] for one in group.memory_ids]
        for one in group.memory_ids:
            self._drop(one)
            self._ledger.remove(one)
        self._hold(group.summary, draft.quoted)
        at = max(one.at for one in sources)
        self._put(
            Item(
                group.summary,
                "episodic",
                group.tokens,
                at,
                at,
                sensitivity_ppm=group.sensitivity_ppm,
                goals_ppm=self._to_goals(draft.quoted),
                worth=group.tokens * ORDINARY,
            )
        )
        self.counted.replaced += len(group.memory_ids)

    def _vote(self, as_of: int) -> None:
        """Runs an epoch: the policy's nomination, and the members' votes.

        Members measure how far a summary that was made for want of room is from its sources. A summary of a session
        has no such gate: they judge it by its coverage.
        """
        most = self._members.begin(as_of)
        groups = [
            one.group if one.gated else replace(one.group, distortion_ppm=0)
            for one in self._drafts.values()
            if one.agreed
        ]
        plan = self._ledger.plan(self._budget, as_of, most=most, groups=groups)
        for group in plan.replaces:
            self._replace(group)
        named = [one.memory_id for one in plan.goes]
        gone = self._members.vote(named, self._turns_of, as_of)
        for each in gone:
            self._ledger.remove(each)
            self._drop(each)
        self.counted.gone += len(gone)
        self.counted.kept += len(named) - len(gone)
        self._left = CAP if len(named) == most else OTHER, max(0, self._ledger.tokens - self._budget)
        self._forget_drafts()
