r"""The days of an agent of FiFA: twenty sessions in ten days, four of each scenario type (MaRS 6.2).

A seed fixes the whole of it; every policy and budget sees the same. Each agent hears facts about subjects of its own,
some of which change later; is asked for them in the session and in later ones; has goals, which are reached if
everything that their steps need is found when they are due; is told sensitive facts, some of which are to be erased
later, on request or because their time is over; and is asked for them by their owners and by strangers. With
distractors three of four messages are never asked for: small talk, remarks, long passages, and facts in the very same
words about other subjects.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bench.fifa.wordings import (
    ARCHETYPES,
    FILLERS,
    PEOPLE,
    SCENARIOS,
    SECRETS,
    SOCIAL,
    TALK,
    Scenario,
    Secret,
    Slot,
    passages,
    remarks,
)
from memquorum.core.policy import PPM

AGENTS = 15
ROUNDS = 4
DISTRACTORS = 3
"""So many things said by the way come to each that is about something: 75 %."""
SAY, ASK, PRY, ERASE, OPEN, DUE, END = "say", "ask", "pry", "erase", "open", "due", "end"
"""The kinds of events: a message, a question of its owner or a colleague, a question of a stranger, an erasure, a goal
that is set, a goal that is due, the end of a session.
"""

_BEGAN = 1_700_000_000_000
_DAY = 86_400_000
_DAYS = 10
_LABELLED = 0.8
"""So much of what is sensitive says that it is: nobody labels everything."""
_SAID_AGAIN = 0.1
_DECLARED = 0.25
"""So many sensitive things are only to be kept for a time, and as many are asked to be erased."""
_HORIZON_ROUNDS = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that happens. `fact`: what it is about, empty where nobody asks for it; `sensitivity_ppm`: how
    sensitive it is; `labelled_ppm`: how sensitive it says that it is; `goal`: of a goal, the facts of its steps."""

    at: int
    kind: str
    session: int
    scenario: str
    text: str = ""
    fact: str = ""
    type: str = "episodic"
    sensitivity_ppm: int = 0
    labelled_ppm: int = 0
    social: bool = False
    goal: tuple[tuple[str, str], ...] = ()
    """(fact, question) of each step."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An agent's days, in order."""

    agent: str
    archetype: str
    turns: tuple[Turn, ...]


def streams(seed: int, *, distractors: bool, agents: int = AGENTS) -> list[Stream]:
    """The agents of one seed: as many of each archetype."""
    return [_Writer(seed, at, ARCHETYPES[at % len(ARCHETYPES)]).stream(distractors=distractors) for at in range(agents)]


class _Writer:
    """Writes the days of one agent."""

    def __init__(self, seed: int, agent: int, archetype: str) -> None:
        self._agent, self._archetype = f"a{agent}", archetype
        self._random = random.Random(f"fifa/{seed}/{agent}")
        self._told: dict[str, tuple[Scenario, Slot, str, str]] = {}
        self._secrets: list[tuple[Secret, str, int]] = []
        self._subjects = {one.name: self._random.sample(one.subjects, len(one.subjects)) for one in SCENARIOS}
        self._people = self._random.sample(PEOPLE, len(PEOPLE))
        self._confided = 0
        self._due: list[tuple[int, Turn]] = []
        self._turns: list[Turn] = []
        self._at = _BEGAN
        self._session = 0

    def stream(self, *, distractors: bool) -> Stream:
        """The turns, their times among each other."""
        starts = self._starts()
        for number in range(ROUNDS):
            for scenario in self._random.sample(SCENARIOS, len(SCENARIOS)):
                self._at = starts[self._session]
                self._write(scenario, number)
                self._session += 1
        turns = sorted(self._turns, key=lambda turn: turn.at)
        return Stream(self._agent, self._archetype, tuple(self._distracted(turns) if distractors else turns))

    def _starts(self) -> list[int]:
        """When sessions begin: two a day at some hour, none before the last one is over."""
        count = ROUNDS * len(SCENARIOS)
        part = _DAYS * _DAY // count
        return [_BEGAN + at * part + self._random.randrange(part // 2) for at in range(count)]

    def _write(self, scenario: Scenario, number: int) -> None:
        """A session: what is new of a subject, what has changed, then questions; what is due at its end."""
        fresh = scenario.due == 0 or number < ROUNDS // 2
        said = list[Turn]()
        if fresh:
            subject = self._subjects[scenario.name][number]
            facts = [(self._fact(scenario, subject, slot), slot) for slot in scenario.slots]
            if scenario.goal is not None:
                steps = tuple((fact, slot.question.format(subject)) for fact, slot in facts)
                goal = self._turn(OPEN, scenario, scenario.goal.format(subject), type="task", goal=steps)
                self._put(goal, scenario)
                self._due.append((number + scenario.due, replace(goal, kind=DUE)))
            said += [self._tell(scenario, subject, slot, fact) for fact, slot in facts]
            self._random.shuffle(said)
        said += self._changes(scenario, self._subjects[scenario.name][number] if scenario.due == 0 else None)
        for turn in said:
            self._put(turn, scenario)
            if self._random.random() < _SAID_AGAIN:
                self._put(turn, scenario)
        self._sensitive(scenario, number)
        self._questions(scenario)
        for due, goal in [one for one in self._due if one[0] <= number and one[1].scenario == scenario.name]:
            self._put(replace(goal, session=self._session), scenario)
            self._due.remove((due, goal))
        self._put(self._turn(END, scenario), scenario)

    def _fact(self, scenario: Scenario, subject: str, slot: Slot) -> str:
        return f"{scenario.name}/{subject}/{slot.name}"

    def _tell(self, scenario: Scenario, subject: str, slot: Slot, fact: str) -> Turn:
        """The statement of a fact, with another value than it has."""
        known = self._told.get(fact)
        value = self._random.choice([one for one in slot.values if known is None or one != known[3]])
        self._told[fact] = scenario, slot, subject, value
        return self._turn(SAY, scenario, slot.statement.format(subject, value), fact=fact, type=scenario.type)

    def _changes(self, scenario: Scenario, only: str | None) -> Iterator[Turn]:
        """Yields changed values of facts that were told before; of one subject only, where one is named."""
        for fact, (told, slot, subject, _) in sorted(self._told.items(), key=lambda one: one[0]):
            told_now = told.name == scenario.name and (only is None or subject == only)
            before = any(turn.fact == fact and turn.session < self._session for turn in self._turns)
            if told_now and (before or only is not None) and self._random.random() * PPM < scenario.changes_ppm:
                yield self._tell(told, subject, slot, fact)

    def _sensitive(self, scenario: Scenario, number: int) -> None:
        """Somebody confides something; what was confided long ago is pried after, asked for, or to be erased."""
        if scenario.name == SOCIAL.name or self._random.random() < 0.3:
            secret = self._random.choice(SECRETS)
            person = self._people[self._confided % len(self._people)]
            self._confided += 1
            text = secret.statement.format(person, self._random.choice(secret.values))
            labelled = secret.sensitivity_ppm if self._random.random() < _LABELLED else 0
            told = self._turn(
                SAY, scenario, text, fact=f"secret/{person}/{secret.name}", type="social",
                sensitivity_ppm=secret.sensitivity_ppm, labelled_ppm=labelled,
            )  # fmt: skip
            self._put(told, scenario)
            self._secrets.append((secret, person, number))
        for secret, person, since in list(self._secrets):
            fact = f"secret/{person}/{secret.name}"
            about = self._turn(
                ASK, scenario, secret.question.format(person), fact=fact, sensitivity_ppm=secret.sensitivity_ppm,
                social=True,
            )  # fmt: skip
            if since + _HORIZON_ROUNDS < number and self._random.random() < _DECLARED:
                self._put(replace(about, kind=ERASE, text=secret.pry.format(person)), scenario)
                self._secrets.remove((secret, person, since))
                # An agent that was told not to keep it is asked all the same.
                self._put(replace(about, kind=PRY, text=secret.pry.format(person)), scenario)
            elif since < number and self._random.random() < 0.15:
                self._put(replace(about, kind=PRY, text=secret.pry.format(person)), scenario)
            elif since < number and self._random.random() < 0.1:
                self._put(about, scenario)

    def _questions(self, scenario: Scenario) -> None:
        """Follow-up turns, about what was told in any session of this type; a reflection also looks back at others."""
        count = TALK[self._archetype][SCENARIOS.index(scenario)]
        own = [fact for fact, told in self._told.items() if told[0].name == scenario.name]
        everything = list(self._told)
        for at in range(count):
            looks_back = scenario is SCENARIOS[-1] and at % 2 == 1
            fact = self._random.choice(everything if looks_back or not own else own)
            _, slot, subject, _ = self._told[fact]
            self._put(
                self._turn(ASK, scenario, slot.question.format(subject), fact=fact,
                           social=self._told[fact][0] is SOCIAL),
                scenario,
            )  # fmt: skip

    def _turn(self, kind: str, scenario: Scenario, text: str = "", **more: object) -> Turn:
        return replace(Turn(0, kind, self._session, scenario.name, text), **more)  # type: ignore[arg-type]

    def _put(self, turn: Turn, scenario: Scenario) -> None:
        self._at += 1 + int(self._random.expovariate(1 / scenario.gap_ms))
        self._turns.append(replace(turn, at=self._at, session=self._session))

    def _distracted(self, turns: Sequence[Turn]) -> Iterator[Turn]:
        """The same with three things said by the way before each that is about something."""
        others = self._others()
        kinds = (FILLERS, remarks(), passages())
        before = turns[0].at - 1
        for turn in turns:
            if turn.kind in (SAY, OPEN):
                for at in range(DISTRACTORS):
                    when = before + (turn.at - before) * (at + 1) // (DISTRACTORS + 1)
                    if before + 3_600_000 < turn.at:  # a night lies between: they belong to the session that begins
                        when = turn.at - (DISTRACTORS - at) * 1_000
                    drawn = self._random.randrange(4)
                    said = (
                        self._random.choice(others)
                        if drawn == 3
                        else Turn(0, SAY, 0, turn.scenario, self._random.choice(kinds[drawn]))
                    )
                    yield replace(said, at=when, session=turn.session, scenario=turn.scenario)
            yield turn
            before = turn.at

    def _others(self) -> list[Turn]:
        """Facts about subjects that this agent is never asked for, in the same words and of the same types."""
        known = {(told[0].name, told[2]) for told in self._told.values()}
        return [
            Turn(0, SAY, 0, scenario.name, slot.statement.format(subject, value), type=scenario.type)
            for scenario in SCENARIOS
            for subject in scenario.subjects
            if (scenario.name, subject) not in known
            for slot in scenario.slots
            for value in slot.values
        ]
