"""Scores an episode, and judges whether it is stored, reinforces a memory, or stays below the threshold.

SPEC B, Alg. 10 and section 4.2. Salience is a weighted mean of novelty, reward, confidence and rank(worth), or in its
place what was learned of use (`core.learning`), where the members decided so; novelty is 1 − the largest cosine to what
is *provably the same* (`core.reading.sameness`) in the agent's episodic buffer (what it lived through last, stored or
not) and among the namespace's memories. Another sign, number, emoji, letter or word is new, however near the vectors
are. Small talk ("ok thanks!", `core.reading.talk`) has no novelty: only an explicit reward stores it. An episode that
asks not to be remembered (`core.reading.unkept`) is not stored, unless the write is explicit. All in memory, without
I/O: the stage fills a `Neighbourhood` from the journal.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import denying
from memquorum.core.contained import Failures
from memquorum.core.exact import Digesting, Exact, digest
from memquorum.core.merging import Marks, merges, slots_differ
from memquorum.core.neighbourhood import ClaimCache, Look, Neighbourhood, Seen, Vector, halved
from memquorum.core.policy import PPM, SaliencePolicy
from memquorum.core.reading.agreement import ComparedText, gist, personal
from memquorum.core.reading.conflict import Claims, Doubts, Finding, between, comparable
from memquorum.core.reading.meant import meant, replaces
from memquorum.core.reading.outline import may_correct
from memquorum.core.reading.sameness import fingerprint
from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.unkept import asks_not_to_be_kept
from memquorum.core.records import Comparison
from memquorum.core.showing.quoting import repeats
from memquorum.core.summed import Summed

STORED, REINFORCED, BELOW_THRESHOLD = "stored", "reinforced", "below_threshold"
REMEMBERED = (STORED, REINFORCED)
"""The outcomes after which a memory holds what the episode said."""
CLEARED = "cleared"
"""The outcome of a write without content, which is not judged: the one who applies it says what it cleared."""
UNREADABLE, FAILED = "unreadable", "failed"
"""The outcomes without a judgement: the content could not be opened any more; or it could not be encoded or judged, and
may be tried again."""

# From this cosine on two texts may speak of one matter, and so many of the nearest are asked whether they contradict.
_RELATED, _HEARD_MAX = 0.5, 16
# A text that says it corrects another may name a different person or thing in few words: then little is alike.
_CORRECTED = 0.2
# The number of an agent's latest episodes that "I meant KX-89" may correct.
_MEANT_MAX = 8
# The number of the nearest memories that a model is asked about where no rule finds a contradiction.
_DOUBTED_MAX = 4
# The number of contradicted memories for which the denied statements are looked for.
_DENIED_MAX = 8


class Signals(Struct, frozen=True):
    """The signals that salience is made of, in millionths; None if an episode does not carry the signal.

    No episode carries SPEC B's fourth signal, access frequency (infra/decisions/0016).
    """

    novelty_ppm: int | None = None
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    rank_ppm: int | None = None
    """The rank of its worth among all accepted episodes (`core.worth`)."""
    learned_ppm: int | None = None
    """The likelihood that it is used (`core.learning`), which replaces the rank."""


class Judgement(Struct, frozen=True):
    """The judgement of an episode: its outcome, and the reasons. `reinforces`: the memory that it repeats; with the
    outcome `stored` the two may not be merged."""

    outcome: str
    salience_ppm: int
    early: bool
    signals: Signals
    reinforces: str | None = None
    contradicts: tuple[str, ...] = ()
    """The memories that it contradicts, the nearest first."""
    denies: tuple[Comparison, ...] = ()
    """The denied statements of these memories, as far as they can be found."""
    again: tuple[str, ...] = ()
    """Memories whose value it says once more, after one that it contradicts had denied that."""

    @property
    def unkept(self) -> bool:
        """Whether it asked not to be remembered: then nothing of it was weighed."""
        return self.outcome == BELOW_THRESHOLD and self.signals == Signals()


def salience_ppm(policy: SaliencePolicy, signals: Signals) -> int:
    """The weighted mean of the signals that are there (SPEC B, decision: the remaining weights are renormalised)."""
    return mean_ppm(
        (policy.novelty, signals.novelty_ppm),
        (policy.reward, signals.reward_ppm),
        (policy.confidence, signals.confidence_ppm),
        (policy.worth, signals.rank_ppm if signals.learned_ppm is None else signals.learned_ppm),
    )


def mean_ppm(*weighted: tuple[float, int | None]) -> int:
    """The mean of what is there of (weight, millionths), in millionths.

    Exact integer arithmetic, rounded half up. 0 if nothing with a weight is there.
    """
    present = [(round(weight * PPM), signal) for weight, signal in weighted if signal is not None]
    total = sum(weight for weight, _ in present)
    if total == 0:
        return 0
    return (2 * sum(weight * signal for weight, signal in present) + total) // (2 * total)


def novelty_ppm(nearest: float) -> int:
    """1 − the largest cosine, in [0, 1]: what points away from everything known is as new as can be."""
    return round((1.0 - min(max(nearest, 0.0), 1.0)) * PPM)


def gates_open(policy: SaliencePolicy, signals: Signals) -> bool:
    """conf ≥ θ_conf and u_ep ≤ θ_u, each asked only if the episode carries it."""
    confident = signals.confidence_ppm is None or signals.confidence_ppm >= round(policy.confidence_threshold * PPM)
    certain = signals.uncertainty_ppm is None or signals.uncertainty_ppm <= round(policy.uncertainty_threshold * PPM)
    return confident and certain


class Repeated(Struct, frozen=True):
    """The memory that an episode says again. `merges`: the two may become one (core/merging)."""

    memory_id: str
    merges: bool = True


def outcome_of(
    policy: SaliencePolicy, signals: Signals, repeats: Repeated | None, *, explicit: bool = False, empty: bool = False
) -> Judgement:
    """Decides what becomes of an episode. `repeats`: the memory that it repeats, if there is one.

    It is a proposal: the last word has `core.commit.applying.apply_episode`, in the shard as it is then; and what an
    order to erase keeps out the commit worker asks `journal.tombstones` (`workers.commit.commit_shard`).

    The gates come first (Alg. 10), then the repetition (Alg. 11: merge and reinforce), then the threshold: what repeats
    a memory has next to no novelty and would never reach it. An episode that repeats a memory it may not be merged with
    is stored beside it: otherwise it would be lost that it was said about another subject, or under stricter gates.

    `explicit`: an agent wants it remembered. Neither gate nor threshold keeps that out; it may still say again what a
    memory says. `empty`: it is small talk; then the rank of its words does not get it in, though a reward may.
    """
    salience = salience_ppm(policy, signals)
    if empty and signals.reward_ppm is None:
        salience = min(salience, max(0, round(policy.encode_threshold * PPM) - 1))
    early = salience >= round(policy.early_threshold * PPM)
    if explicit or gates_open(policy, signals):
        if repeats is not None:
            return Judgement(REINFORCED if repeats.merges else STORED, salience, early, signals, repeats.memory_id)
        if explicit or salience >= round(policy.encode_threshold * PPM):
            return Judgement(STORED, salience, early, signals)
    return Judgement(BELOW_THRESHOLD, salience, early, signals)


class EncodedEpisode(Struct, frozen=True):
    """An episode as salience sees it: opened and encoded. `vector`: shape (d,), any length but 0. `marks`: what it says
    of itself."""

    memory_id: str
    agent: str
    text: str
    vector: Vector
    signals: Signals
    marks: Marks
    explicit: bool = False
    learned: Callable[[int], int] | None = None
    """From its novelty, how likely it is to be used; None where nothing learned is in force."""


_UNMARKED = Marks("")
_AGREES = "agreement"


def _choose(known: list[tuple[float, str, Seen]], marks: Marks) -> Repeated | None:
    """Chooses the most similar memory into which an episode of these marks may be merged; else the most similar one,
    unmerged; None where there is none."""
    for _, memory_id, other in known:
        if merges(marks, other.marks):
            return Repeated(memory_id)
    return Repeated(known[0][1], merges=False) if known else None


class Denial(Struct, frozen=True):
    """The contradictions of an episode: its fields are those of the same names in a `Judgement`."""

    contradicts: tuple[str, ...] = ()
    denies: tuple[Comparison, ...] = ()
    again: tuple[str, ...] = ()


class _Heard(Struct, frozen=True):
    """A text that an episode is compared with: a memory, or a line of a summary. `near`: a cosine, or a share of words.
    `own`: whether the agent of the episode said it."""

    near: float
    memory_id: str
    text: str
    claims: Claims
    own: bool


def _doubted(episode: EncodedEpisode, said: Claims, heard: list[_Heard], doubts: Doubts) -> tuple[str, ...]:
    """The nearest that the episode contradicts by a model, of those that the rules leave open."""
    left = [
        (-one.near, one.memory_id, one.text)
        for one in heard
        if one.near > _RELATED and comparable(one.claims, said, same_agent=one.own)
    ]
    asked = sorted(left)[:_DOUBTED_MAX]
    return tuple(dict.fromkeys(memory_id for _, memory_id, text in asked if doubts(text, episode.text)))


def _contradictions(found: Mapping[str, Finding], own: Set[str]) -> tuple[str, ...]:
    """Chooses the contradicted memories that are about exactly the same matter. Others may be about something else:
    adds the nearest of them if there is no exact one, and the nearest of the agent's `own` if none of the chosen is its
    own."""
    chosen = [memory_id for memory_id, one in found.items() if one.exact] or list(found)[:1]
    if own.isdisjoint(chosen):
        chosen += [memory_id for memory_id in found if memory_id in own][:1]
    return tuple(chosen)


def _denial(
    failures: Failures,
    episode: EncodedEpisode,
    ids: tuple[str, ...],
    seen: Callable[[str], Seen | None],
    *,
    heard: Sequence[_Heard] = (),
    found: Set[str] = frozenset(),
) -> Denial:
    """Returns the numbers that an episode denies of the memories of these ids, and, if its agent said these, the other
    `heard` memories that it repeats. `found`: all that it contradicts."""
    denies, again = list[Comparison](), dict[str, None]()
    others = [one for one in heard if one.memory_id not in {*found, *ids}]
    for memory_id, known in ((i, seen(i)) for i in ids[:_DENIED_MAX]):
        if known is None:
            continue
        pair, own = (memory_id, episode.memory_id), known.agent == episode.agent
        numbers = failures.answer("denied", pair, (), denying.numbers, known.gist, episode.text, own=own)
        if numbers:
            denies.append(Comparison(memory_id, numbers))
        for one in others if own else ():
            said = one.text, known.gist, episode.text
            if failures.answer("again", (one.memory_id, *pair), False, denying.again, *said, own=one.own):
                again[one.memory_id] = None
    return Denial(ids, tuple(denies), tuple(again))


class Surroundings:
    """The memories of a namespace that its episodes are compared with, and an episodic buffer for each of its agents.

    `seq` is the journal sequence up to which the memories are known; None before the first look.
    """

    def __init__(
        self,
        policy: SaliencePolicy,
        dimensions: int,
        *,
        memories_max: int = 10_000,
        agents_max: int = 256,
        doubts: Doubts | None = None,
        exact: Digesting | None = None,
        failures: Failures | None = None,
    ) -> None:
        """`dimensions`: the encoder's. Beyond so many, the oldest memory goes, and the agent least lately active.
        `doubts`: a model, asked where the rules leave open whether an episode contradicts a memory. `exact`: under
        which key the namespace's texts are known again; None: `known` knows none. `failures`: takes what a rule fails
        on: what it reads then is like nothing else."""
        self._policy, self._doubts, self._exact, self._failures = policy, doubts, exact, failures or Failures()
        self._dimensions, self._agents_max = dimensions, agents_max
        self._buffers: OrderedDict[str, Neighbourhood] = OrderedDict()
        self.memories = Neighbourhood(dimensions, memories_max, None if exact is None else Exact(exact.cells))
        self.long_term = Neighbourhood(dimensions, memories_max, None if exact is None else Exact(exact.cells))
        self._summed = Summed()
        # The episodes that only repeat a memory: they stand in buffers, and are removed with it.
        self._echoes: dict[str, deque[str]] = {}
        self._claims = ClaimCache()
        self.seq: int | None = None

    def __len__(self) -> int:
        return len(self.memories) + len(self.long_term) + sum(len(buffer) for buffer in self._buffers.values())

    @property
    def size(self) -> int:
        """The size in memory, counted in vectors: long texts count as several."""
        return sum(around.size for around in self._all()) + len(self._summed) + len(self._claims)

    def arrived(self, memory_id: str, agent: str, vector: Vector, text: str, marks: Marks) -> None:
        """A memory is alive, says the journal. ValueError if another encoder made its vector."""
        if memory_id in self.memories:  # most are: they were judged here
            return
        self.long_term.remove(memory_id)
        self._add(self.memories, memory_id, halved(vector), text, self._read(memory_id, agent, text, marks))

    def summed(self, memory_id: str, text: str, agent: str = "") -> None:
        """A memory that arrived is a summary, so each of its sentences is known by itself. `agent`: who said all of
        them, if one did."""
        self._failures.answer("summary", [memory_id], None, self._summed.add, memory_id, text, agent)

    def promoted(self, memory_id: str, agent: str, vector: Vector, text: str, marks: Marks) -> None:
        """A memory is in long-term memory, says the journal. ValueError if another encoder made its vector."""
        self._add(self.long_term, memory_id, halved(vector), text, self._read(memory_id, agent, text, marks))

    def left(self, memory_id: str) -> None:
        """Removes a memory that has left its tier, by the journal. Its repetitions are removed as well: saying it again
        is then new."""
        for around in self._all():
            around.remove(memory_id)
        for echo in self._echoes.pop(memory_id, ()):
            for buffer in self._buffers.values():
                buffer.remove(echo)
        self._summed.remove(memory_id)
        self._claims.drop(memory_id)

    def recall(self, memory_id: str, agent: str, vector: Vector, text: str, signals: Signals) -> None:
        """Restores an episode that was judged before to its agent's buffer. ValueError for another length."""
        if gates_open(self._policy, signals):
            seen, (unit, length) = self._read(memory_id, agent, text, _UNMARKED), halved(vector)
            self._buffer(agent).add(memory_id, unit, seen, length=length)

    def judge(self, episode: EncodedEpisode) -> Judgement:
        """Judges an episode, which from now on counts among the surroundings of later ones.

        An episode seen before does not count among its own surroundings, so a second delivery is judged as new.
        """
        (vector, length), own = halved(episode.vector), [episode.memory_id]
        unkept = self._failures.answer("unkept", own, False, asks_not_to_be_kept, episode.text)
        if unkept and not episode.explicit:
            # Not weighed either, which is how `explain` knows why; and no neighbour of what comes.
            return Judgement(BELOW_THRESHOLD, 0, early=False, signals=Signals())
        seen = self._read(episode.memory_id, episode.agent, episode.text, episode.marks)
        buffer = self._buffer(episode.agent)
        remembered, promoted = (
            around.look(vector, without=episode.memory_id) for around in (self.memories, self.long_term)
        )
        lived = self._repeated(episode, seen, buffer.look(vector, without=episode.memory_id))
        known = sorted(
            [*self._repeated(episode, seen, remembered), *self._repeated(episode, seen, promoted)],
            key=lambda one: (-one[0], one[1]),
        )
        if not known:
            # Beside one that it may not become one with it would be stored, and bound to all that this says by that.
            told = ((i, self._seen(i)) for i in self._told_by(episode))
            known = [(1.0, i, one) for i, one in told if one is not None and merges(episode.marks, one.marks)]
        empty = self._failures.answer("fillers", own, False, says_nothing, episode.text)
        echoed = (
            not known and not episode.explicit and self._failures.answer("quoting", own, False, self._echoed, episode)
        )
        nearest = 1.0 if empty or echoed else max((cosine for cosine, *_ in (*lived, *known)), default=0.0)
        novelty = novelty_ppm(nearest)
        learned = episode.learned(novelty) if episode.learned else None
        signals = replace(episode.signals, novelty_ppm=novelty, learned_ppm=learned)
        again = _choose(known, episode.marks)
        judgement = outcome_of(self._policy, signals, again, explicit=episode.explicit, empty=empty)
        if echoed:
            # The episode gives back what was read: no new fact, no support, and not compared with later ones.
            below = min(judgement.salience_ppm, max(0, round(self._policy.encode_threshold * PPM) - 1))
            return Judgement(BELOW_THRESHOLD, below, early=False, signals=signals)
        if episode.explicit or gates_open(self._policy, signals):
            # A doubted episode is not known by that: said again with more confidence, it is as new as before.
            buffer.add(episode.memory_id, vector, seen, length=length)
        if judgement.outcome == REINFORCED and judgement.reinforces is not None:
            _note(self._echoes, self._buffers.values(), self._policy, judgement.reinforces, episode.memory_id)
        if judgement.outcome != STORED:
            return judgement
        denial = self._failures.answer("conflict", own, Denial(), self._contradicted, episode, remembered, promoted)
        self._add(self.memories, episode.memory_id, (vector, length), episode.text, seen)
        return replace(judgement, contradicts=denial.contradicts, denies=denial.denies, again=denial.again)

    def known(self, text: str) -> Vector | None:
        """Returns the vector of a text if a memory here has exactly this content (SPEC C); None: it must be encoded.

        The outcome is the same as if it had been encoded: an encoder is deterministic.
        """
        if self._exact is None:
            return None
        sought = digest(self._exact.key, text)
        found = self.memories.saying(sought)
        return self.long_term.saying(sought) if found is None else found

    def _seen(self, memory_id: str) -> Seen | None:
        return self.memories.seen(memory_id) or self.long_term.seen(memory_id)

    def astray(self) -> int:
        """Returns how many texts since the last call passed a filter and were not there."""
        return sum(around.exact.astray() for around in (self.memories, self.long_term) if around.exact is not None)

    def _add(self, around: Neighbourhood, memory_id: str, vector: tuple[Vector, float], text: str, seen: Seen) -> None:
        told = b"" if self._exact is None else digest(self._exact.key, text)
        around.add(memory_id, vector[0], seen, told, vector[1])

    def _contradicted(self, episode: EncodedEpisode, *looks: Look) -> Denial:
        """Returns the nearest memories of either tier that the episode contradicts; "I" of two agents are two persons.
        A text that only says what was meant contradicts the memory that it corrects."""
        corrected = self._corrected(episode)
        if corrected is not None:
            return _denial(self._failures, episode, (corrected,), self._seen)
        related = self._related(episode, looks, _CORRECTED if may_correct(episode.text) else _RELATED)
        lines = self._summed.near(ComparedText(episode.text))
        # Reading costs as much as all else that is asked of an episode: only where there is something to hold it to.
        said = self._claims.of(episode.memory_id, gist(episode.text)) if related or lines else None
        if said is None or not (said.statements or said.allows or said.outlines):
            return Denial()
        if not (said.cue or said.role):
            related = [one for one in related if one[0] >= _RELATED]
        near = [(cosine, i, other.gist, other.agent, partial(self._claims.of, i, other.gist))
                for cosine, i, other in related]  # fmt: skip
        near += [(share, line.memory_id, line.text, line.agent, partial(getattr, line, "claims"))
                 for share, line in lines]  # fmt: skip
        heard = list[_Heard]()
        for nearness, memory_id, text, agent, reads in near:
            # One whose text a rule fails on is no part of this.
            claims = self._failures.answer("claims", [memory_id], None, reads)
            if claims is not None:
                heard.append(_Heard(nearness, memory_id, text, claims, agent == episode.agent))
        found: dict[str, Finding] = {}
        for one in heard:
            pair = one.memory_id, episode.memory_id
            finding = self._failures.answer("conflict", pair, None, between, one.claims, said, same_agent=one.own)
            if finding is not None and (finding.exact or one.memory_id not in found):
                found[one.memory_id] = finding
        chosen = _contradictions(found, {one.memory_id for one in heard if one.own})
        if not found and self._doubts is not None:
            chosen = _doubted(episode, said, heard, self._doubts)
        return _denial(self._failures, episode, chosen, self._seen, heard=heard, found=found.keys())

    def _related(self, episode: EncodedEpisode, looks: Sequence[Look], least: float) -> list[tuple[float, str, Seen]]:
        return [one for look in looks for one in islice(self._whole(look, episode.marks, least), _HEARD_MAX)]

    def _whole(self, look: Look, marks: Marks, least: float) -> Iterator[tuple[float, str, Seen]]:
        """The near memories that fill no other slot, without summaries: those are compared line by line."""
        near = (one for one in look.alike(least) if one[1] not in self._summed)
        return (one for one in near if not slots_differ(marks, one[2].marks))

    def _corrected(self, episode: EncodedEpisode) -> str | None:
        """The memory of what the agent said last, stored or not, in which "I meant KX-89" has a value to replace."""
        values = meant(episode.text)
        if not values:
            return None
        said = (one for one in self._buffer(episode.agent).latest() if one[0] != episode.memory_id)

        def placed(one: tuple[str, Seen]) -> bool:
            return self._failures.answer("meant", [one[0], episode.memory_id], False, replaces, values, one[1].gist)

        found = next(filter(placed, islice(said, _MEANT_MAX)), None)
        if found is None or found[0] in self.memories or found[0] in self.long_term:
            return found and found[0]
        # It only said again what a memory says.
        around = (one for tier in (self.memories, self.long_term) for one in tier.latest())
        again = (i for i, seen in around if (seen.gist, seen.agent) == (found[1].gist, episode.agent))
        return next(again, None)

    def _repeated(self, episode: EncodedEpisode, seen: Seen, look: Look) -> list[tuple[float, str, Seen]]:
        """Returns the memories that say the same, the nearest first; "I" and "you" are different persons for another
        agent. If the rule fails on the text, none is the same."""
        found = look.same(seen.fingerprint, self._policy.duplicate_threshold)
        own = bool(found) and self._failures.answer(_AGREES, [episode.memory_id], True, personal, episode.text)
        return [one for one in found if one[2].agent == episode.agent] if own else found

    def _echoed(self, episode: EncodedEpisode) -> bool:
        """Whether an episode only gives back, line by line, what memories say: a prompt that is said again, or a memory
        behind a prefix."""
        lines = repeats(episode.text)
        return bool(lines) and all(
            any(self._known_as(one, line.framed, episode) for one in line.texts) for line in lines
        )

    def _known_as(self, text: str, framed: bool, episode: EncodedEpisode) -> bool:
        if framed and self._summed.has(text):
            return True
        told = fingerprint(text)
        found = [around.at(row)[1] for around in (self.memories, self.long_term) for row in around.same(told)]
        own = bool(found) and not framed and personal(text)
        return any(not own or one.agent == episode.agent for one in found)

    def _told_by(self, episode: EncodedEpisode) -> list[str]:
        """The summaries that say all that an episode says; none where the rule fails on its text."""
        saying = self._summed.saying
        return self._failures.answer(_AGREES, [episode.memory_id], [], saying, episode.text, episode.agent)

    def _read(self, memory_id: str, agent: str, text: str, marks: Marks) -> Seen:
        """Reads what later episodes are compared with. If a rule fails on the text, it is like no other."""
        flat = self._failures.answer("gist", [memory_id], text, gist, text)
        return Seen(agent, flat, marks, self._failures.answer(_AGREES, [memory_id], b"", fingerprint, text))

    def _all(self) -> tuple[Neighbourhood, ...]:
        return self.memories, self.long_term, *self._buffers.values()

    def _buffer(self, agent: str) -> Neighbourhood:
        """The agent's last `buffer_size` episodes that no gate turned away, stored or not: an episodic trace."""
        if agent in self._buffers:
            self._buffers.move_to_end(agent)
        else:
            self._buffers[agent] = Neighbourhood(self._dimensions, self._policy.buffer_size)
            if len(self._buffers) > self._agents_max:
                self._buffers.popitem(last=False)
        return self._buffers[agent]


def rest(surroundings: Surroundings) -> None:
    """Keeps surroundings in less memory until `wake`. Do not use them meanwhile; their size stays."""
    for around in surroundings._all():
        around.rest()


def wake(surroundings: Surroundings) -> None:
    """Makes surroundings that rest what they were before."""
    for around in surroundings._all():
        around.wake()


def _note(
    echoes: dict[str, deque[str]], buffers: Collection[Neighbourhood], policy: SaliencePolicy, memory_id: str, echo: str
) -> None:
    """Notes what goes with a memory. Only what a buffer holds goes with it, so the rest is forgotten in time: a memory
    may stay for ever."""
    echoes.setdefault(memory_id, deque(maxlen=policy.buffer_size)).append(echo)
    if len(echoes) > 2 * policy.buffer_size * len(buffers):
        for of in [of for of, said in echoes.items() if not any(one in held for one in said for held in buffers)]:
            del echoes[of]
