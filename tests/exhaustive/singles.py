"""Single messages in a random order, read by one member: what it says must be in its graph.

The graph reads votes by the quorum and knows one message for each meaning. Here every vote and every view change is
read by itself, some never, the member's own among them; view changes and certificates show whichever votes there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from memquorum.core.consensus import events as t
from memquorum.core.consensus.events import Message, Timer
from memquorum.core.records import Commit, Prepare
from tests.exhaustive.alphabet import DECIDED, LETTERS, VIEWS, N, Word
from tests.exhaustive.member import Member

Single = tuple[Word, t.Event]
"""A message as a word, for `Read.units`, and its event: (kind, member, view, letter), (kind, member, what)
or a unit.
"""


@dataclass
class ReadMessages:
    """The messages that a member has read so far."""

    member: Member
    words: set[Word] = field(default_factory=set)

    def units(self) -> frozenset[Word]:
        """The units that this amounts to."""
        alphabet, found = self.member.alphabet, {("timer",), ("grace",)}
        found |= {word for word in self.words if word[0] in ("pre-prepare", "new-view", "ballot")}
        for view in VIEWS:
            for letter in LETTERS:
                prepares = {w[1] for w in self.words if w[0] == "prepare" and w[2:] == (view, letter)} - {view}
                commits = {w[1] for w in self.words if w[0] == "commit" and w[2:] == (view, letter)}
                if len(prepares) >= alphabet.quorum - 1:
                    found.add(("prepares", view, letter))
                if len(commits) >= alphabet.quorum:
                    found.add(("commits", view, letter))
        found |= {("proof", int(w[-1][0]), w[-1][1]) for w in self.words if w[-1] in DECIDED}
        asks = {w[1]: w[2] for w in self.words if w[0] == "view-change"}
        if len(asks) >= alphabet.quorum:
            found |= {("view-changes", what) for what in self._openings(asks)}
        return frozenset(found)

    def _openings(self, asks: dict[int, str]) -> Iterable[str]:
        for left in sorted(asks) if len(asks) > self.member.alphabet.quorum else (None,):
            said = tuple((member, what) for member, what in sorted(asks.items()) if member != left)
            yield self.member.alphabet.together(said)


def pool(member: Member, letter: str) -> list[Single]:
    """Every single message of others; only `letter` is ever decided."""
    alphabet, me = member.alphabet, member.me
    others = [m for m in range(N) if m != me]
    found: list[Single] = [(("timer",), t.TimerFired(Timer.REQUEST, seq, 0)) for seq in (1, 2)]
    found.append((("grace",), t.TimerFired(Timer.BALLOT_GRACE, 1, 0)))
    if me < alphabet.views:
        found.append((("ballot",), t.Received(Message.BALLOT, alphabet.ballots[N - 1], 0)))
    for view in VIEWS:
        for each in LETTERS:
            if view != me:
                data = alphabet.pre_prepare(view, each)
                found.append((("pre-prepare", view, each), t.Received(Message.PRE_PREPARE, data, 0)))
            for other in others:
                data = alphabet.vote(Prepare, other, view, each)
                found.append((("prepare", other, view, each), t.Received(Message.PREPARE, data, 0)))
                if each == letter or other == others[0]:
                    data = alphabet.vote(Commit, other, view, each)
                    found.append((("commit", other, view, each), t.Received(Message.COMMIT, data, 0)))
    truths = [what for what in alphabet.meanings if what not in DECIDED or what[1] == letter]
    for what in truths:
        for other in others:
            data = alphabet.view_change(other, what)
            found.append((("view-change", other, what), t.Received(Message.VIEW_CHANGE, data, 0)))
        if me != 1:
            data = alphabet.new_view(alphabet.asking(what))
            found.append((("new-view", what), t.Received(Message.VIEW_CHANGE, data, 0)))
    return [single for single in found if single[0] not in alphabet.left_out]


def run(member: Member, seed: int) -> tuple[list[Word], list[frozenset[Word]]]:
    """Returns a member's words after a random order of random messages, and the units it had read at each word."""
    dice = Random(seed)
    everything = pool(member, dice.choice(LETTERS))
    todo = dice.sample(everything, dice.randint(8, len(everything)))
    replica, read = member.alphabet.start(member.me), ReadMessages(member)
    words: list[Word] = []
    there: list[frozenset[Word]] = []
    while todo:
        word, event = todo.pop()
        read.words |= _new(word, read.words)
        for effect in replica.handle(event):
            for said in member._heard(effect, frozenset(words)):
                words.append(said)
                there.append(read.units())
            if isinstance(effect, t.Send) and dice.random() < 0.8:
                # It reads its own message some time, if the instance has a word for it.
                own = _own(member, effect)
                if member.alphabet.proofs or own[0][-1] not in DECIDED:
                    todo.insert(dice.randint(0, len(todo)), own)
    return words, there


def _new(word: Word, known: set[Word]) -> set[Word]:
    """Returns the new word: only a member's first view change counts; the decisions that a later one proves
    count too.
    """
    first = word[0] != "view-change" or not any(w[:2] == word[:2] and w[0] == word[0] for w in known)
    return {word} if first else {("proof of", *word[1:])}


def _own(member: Member, effect: t.Send) -> Single:
    (*what, last) = member.alphabet.said(effect) or ("view above", None)
    event = t.Received(Message.VIEW_CHANGE if effect.message == Message.NEW_VIEW else effect.message, effect.data, 0)
    if what[0] in ("prepare", "commit", "view-change"):
        return (what[0], member.me, *what[1:], last), event
    return (*what, last), event


def followed(member: Member, words: list[Word], there: list[frozenset[Word]]) -> bool:
    """Whether the graph says the same, each word out of what had been read by then."""
    reached: list[set[int]] = [{0}, *(set() for _ in words)]
    for at, nodes in enumerate(reached):
        for node in nodes:
            for step in member.graph.steps[node]:
                end = at + len(step.says)
                if tuple(words[at:end]) == step.says and end <= len(words) and step.needs <= there[end - 1]:
                    reached[end].add(step.to)
    return bool(reached[-1])
