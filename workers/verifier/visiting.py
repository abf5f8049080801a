"""The data of trials in a namespace, at one moment of the store.

It holds the tasks' vectors, and only those texts that are near a candidate; all data end with the moment except the
vectors, which stay while there is more to try.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from memquorum.core.contained import Failures
from memquorum.core.experience.bench import Bench, Near
from memquorum.core.experience.context import Context
from memquorum.core.experience.ports import Admitted, TrialLook
from memquorum.core.experience.reward import Reward
from memquorum.core.experience.rounds import Round, behind, least_of
from memquorum.core.experience.trial import Case
from memquorum.core.experience.uses import UseFeedback, told_ppm
from memquorum.core.experience.view import Experience, Held
from memquorum.core.kept import Kept
from memquorum.core.policy import ExperiencePolicy

_AT_ONCE = 8
# The limits: a number of tasks, and characters of them.
_CONTEXTS, _CHARACTERS = 2_048, 16_000_000
_PLACES = 50_000


class Benches:
    """The vectors of tasks, by namespace: the most recently used, some 80 MB at most unless one namespace alone exceeds
    the limit."""

    def __init__(self) -> None:
        self._of = OrderedDict[str, tuple[tuple[int, int], Bench]]()

    def of(self, look: TrialLook, namespace: str) -> Bench:
        """Returns a namespace's tasks; uses the cached ones if no task was added or removed since."""
        standing = look.standing(namespace)
        known = self._of.pop(namespace, None)
        if known is None or known[0] != standing:
            known = standing, Bench(look.places(namespace))
        self._of[namespace] = known
        while len(self._of) > 1 and sum(len(bench) for _, bench in self._of.values()) > _PLACES:
            self._of.popitem(last=False)
        return known[1]

    def clear(self) -> None:
        """Clears the cache."""
        self._of.clear()


def since(near: Near, offset: int) -> Near:
    """The tasks at an accepted offset or after it."""
    return near if offset <= 0 else [one for one in near if one[1] >= offset]


def _characters(one: Context | None) -> int:
    """The length of a task's texts, in characters; 64 for a task that is not there."""
    return 64 if one is None else sum(map(len, (one.goal, one.inputs, one.outputs, *one.tools, *one.retrieved)))


class Visit:
    """A namespace at one moment."""

    def __init__(
        self,
        look: TrialLook,
        namespace: str,
        bench: Bench,
        policy: ExperiencePolicy,
        reward: Reward,
        *,
        failures: Failures,
    ) -> None:
        """`failures`: notes the tasks on whose text a rule fails, which then judge nothing."""
        self._failures = failures
        self._look, self._bench, self.policy, self._reward = look, bench, policy, reward
        self._contexts = Kept[str, Context | None](_characters, _CHARACTERS, _CONTEXTS)
        self._said = dict[str, Mapping[str, Sequence[UseFeedback]]]()
        self._namespace = namespace
        self._experience: dict[tuple[int, str], Experience] = {}

    def near(self, candidates: Sequence[Held]) -> list[Near]:
        """Returns for each candidate the tasks that are near enough to it."""
        return self._bench.near(candidates, self.policy)

    def waits_for(self, accepted_offset: int, near: Near, rejections: int = 0) -> int | None:
        """Returns the accepted offset after which a decision is needed; None if too few tasks can judge. `near`: those
        that may judge (`since`); `rejections`: of the candidate."""
        least, inorder = least_of(self.policy.contexts_least, rejections), sorted(near, key=lambda one: one[1])
        if len(inorder) < least:
            return None
        places = dict(inorder)
        judges = islice(self._asking(name for name, _ in inorder), least)
        return behind(accepted_offset, (places[one.id] for one in judges), least)

    def case(self, candidate: Held, near: Near, at: Round) -> Case:
        """The case of a candidate as of a round: it is tried on the nearest tasks that can judge."""
        there = (name for name, offset in near if offset < at.accepted_offset)
        judges = list(islice(self._asking(there), self.policy.contexts_most))
        told = self._told(judges, at.accepted_offset)
        return Case(candidate, judges, self._as_of(at.epoch, candidate), at.epoch, told)

    def _told(self, judges: Sequence[Context], before: int) -> dict[str, dict[str, int]]:
        """The feedback that agents gave on the tasks' memories before an accepted offset."""
        names = [one.id for one in judges if one.retrieved]
        if missing := [name for name in names if name not in self._said]:
            found = self._look.feedback(missing)
            self._said |= {name: found.get(name, {}) for name in missing}
        return {name: told for name in names if (told := told_ppm(self._said[name], before))}

    @cached_property
    def _admitted(self) -> list[Admitted]:
        """The memories in experience, loaded late, as most visits try nothing."""
        return self._look.admitted(self._namespace)

    def _as_of(self, epoch: int, candidate: Held) -> Experience:
        """The experience as of a decided epoch, of memories that still exist, with their weights of then; without those
        that were united with another live memory by then."""
        key = epoch, candidate.encoder
        if key not in self._experience:
            there = (one for one in self._admitted if one.epoch <= epoch)
            held = [one.memory for one in there if one.united is None or one.united > epoch]
            self._experience[key] = Experience(candidate.encoder, candidate.dimensions, held)
        return self._experience[key]

    def _asking(self, names: Iterable[str]) -> Iterator[Context]:
        """Yields those of the tasks that can judge, in the given order; reads a few at a time."""
        left = iter(names)
        while some := list(islice(left, _AT_ONCE)):
            known = {name: self._contexts[name] for name in some if name in self._contexts}
            missing = [name for name in some if name not in known]
            if missing:
                found = {one.id: one for one in self._look.contexts(missing)}
                known |= {name: found.get(name) for name in missing}
                self._contexts.update((name, known[name]) for name in missing)
            yield from (one for name in some if (one := known[name]) is not None and self._asks(one))

    def _asks(self, one: Context) -> bool:
        return self._failures.answer("reward", [one.id], False, self._reward.asks, one)
