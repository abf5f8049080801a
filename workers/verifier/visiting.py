"""What a trial of a namespace's candidates is made of, as it stands at one moment of the store.

Of tasks the vectors are held, and the texts of those alone that some candidate is near to; what is read here is let go
with the moment, but for the vectors, which stay while there is more to try.
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
from memquorum.core.experience.uses import Said, told_ppm
from memquorum.core.experience.view import Experience, Held
from memquorum.core.kept import Kept
from memquorum.core.policy import ExperiencePolicy

_AT_ONCE = 8
# So many tasks, and characters of them.
_CONTEXTS, _CHARACTERS = 2_048, 16_000_000
_PLACES = 50_000


class Benches:
    """The vectors of tasks, by namespace: those that were asked for last, some 80 MB at most where no namespace has
    more than so many alone."""

    def __init__(self) -> None:
        self._of = OrderedDict[str, tuple[tuple[int, int], Bench]]()

    def of(self, look: TrialLook, namespace: str) -> Bench:
        """A namespace's tasks as they stand: what was read before counts where no task has come or gone since."""
        standing = look.standing(namespace)
        known = self._of.pop(namespace, None)
        if known is None or known[0] != standing:
            known = standing, Bench(look.places(namespace))
        self._of[namespace] = known
        while len(self._of) > 1 and sum(len(bench) for _, bench in self._of.values()) > _PLACES:
            self._of.popitem(last=False)
        return known[1]

    def clear(self) -> None:
        """Lets all of it go."""
        self._of.clear()


def since(near: Near, offset: int) -> Near:
    """Those of the tasks that stand at an accepted offset or behind it."""
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
        """`failures`: takes the tasks on whose text a rule fails, which judge nothing."""
        self._failures = failures
        self._look, self._bench, self.policy, self._reward = look, bench, policy, reward
        self._contexts = Kept[str, Context | None](_characters, _CHARACTERS, _CONTEXTS)
        self._said = dict[str, Mapping[str, Sequence[Said]]]()
        self._namespace = namespace
        self._experience: dict[tuple[int, str], Experience] = {}

    def near(self, candidates: Sequence[Held]) -> list[Near]:
        """Finds for each candidate the tasks that are near enough to it."""
        return self._bench.near(candidates, self.policy)

    def waits_for(self, accepted_offset: int, near: Near, rejections: int = 0) -> int | None:
        """The accepted offset behind which a decision has to speak; None where too few tasks can judge. `near`: those
        that may judge (`since`); `rejections`: how often the candidate was rejected."""
        least, inorder = least_of(self.policy.contexts_least, rejections), sorted(near, key=lambda one: one[1])
        if len(inorder) < least:
            return None
        places = dict(inorder)
        judges = islice(self._asking(name for name, _ in inorder), least)
        return behind(accepted_offset, (places[one.id] for one in judges), least)

    def case(self, candidate: Held, near: Near, at: Round) -> Case:
        """What a candidate is tried on as of a round: of the tasks the nearest that can judge."""
        there = (name for name, offset in near if offset < at.accepted_offset)
        judges = list(islice(self._asking(there), self.policy.contexts_most))
        told = self._told(judges, at.accepted_offset)
        return Case(candidate, judges, self._as_of(at.epoch, candidate), at.epoch, told)

    def _told(self, judges: Sequence[Context], before: int) -> dict[str, dict[str, int]]:
        """What agents had said before an accepted offset of what the tasks were given."""
        names = [one.id for one in judges if one.retrieved]
        if missing := [name for name in names if name not in self._said]:
            found = self._look.feedback(missing)
            self._said |= {name: found.get(name, {}) for name in missing}
        return {name: told for name in names if (told := told_ppm(self._said[name], before))}

    @cached_property
    def _admitted(self) -> list[Admitted]:
        """What is in experience, which most visits need not know: they try nothing."""
        return self._look.admitted(self._namespace)

    def _as_of(self, epoch: int, candidate: Held) -> Experience:
        """What had been admitted once an epoch was decided, of what still stands, with the weights of then; but what
        another one stood for by then that is alive."""
        key = epoch, candidate.encoder
        if key not in self._experience:
            there = (one for one in self._admitted if one.epoch <= epoch)
            held = [one.memory for one in there if one.united is None or one.united > epoch]
            self._experience[key] = Experience(candidate.encoder, candidate.dimensions, held)
        return self._experience[key]

    def _asking(self, names: Iterable[str]) -> Iterator[Context]:
        """Those of the tasks that can judge, in the order asked for; a few are read at a time."""
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
