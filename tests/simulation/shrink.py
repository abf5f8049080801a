"""Makes a failing simulation small: leaves out faults, liars and epochs as long as it still fails in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from tests.simulation.plan import CALM, Plan

Lies = tuple[tuple[int, tuple[str, ...]], ...]


class Reduction(Struct, frozen=True):
    """The parts of a drawn plan that are kept; None: all of it. Faults go by their place in the plan."""

    epochs: int | None = None
    faults: tuple[int, ...] | None = None
    liars: Lies | None = None
    calm: bool = False
    forkless: bool = False
    total: bool = False
    """True if no rule raises."""

    def of(self, plan: Plan) -> Plan:
        """Returns the plan with the rest left out."""
        return replace(
            plan,
            epochs=min(plan.epochs, self.epochs or plan.epochs),
            faults=plan.faults if self.faults is None else tuple(plan.faults[i] for i in self.faults),
            liars=plan.liars if self.liars is None else self.liars,
            network=CALM if self.calm else plan.network,
            forks=plan.forks and not self.forkless,
            raising=() if self.total else plan.raising,
        )

    def arguments(self) -> str:
        """Returns the reduction as arguments of the command."""
        words = []
        if self.epochs is not None:
            words.append(f"--only-epochs {self.epochs}")
        if self.faults is not None:
            words.append(f"--only-faults {','.join(map(str, self.faults)) or 'none'}")
        if self.liars is not None:
            told = ",".join(f"{member}:{'+'.join(names)}" for member, names in self.liars)
            words.append(f"--only-liars {told or 'none'}")
        words += ["--calm"] * self.calm + ["--no-forks"] * self.forkless
        words += ["--no-raising"] * self.total
        return " ".join(words)


def read_liars(text: str) -> Lies:
    """Reads the liars from what `arguments` writes."""
    if text == "none":
        return ()
    pairs = (part.partition(":") for part in text.split(","))
    return tuple((int(member), tuple(names.split("+"))) for member, _, names in pairs)


def shrink(plan: Plan, fails: Callable[[Plan], bool], most: int = 300) -> Reduction:
    """Returns the smallest reduction found within so many runs under which `fails` is still true."""
    best = Reduction(faults=tuple(range(len(plan.faults))), liars=plan.liars)
    left, again = most, True
    while again and left > 0:
        again = False
        for smaller in _smaller(best, plan):
            if left <= 0:
                break
            left -= 1
            if fails(smaller.of(plan)):
                best, again = smaller, True
                break
    return best


def _smaller(now: Reduction, plan: Plan) -> Iterator[Reduction]:
    """Yields the next steps to try, the boldest first."""
    epochs, faults, liars = now.epochs or plan.epochs, now.faults or (), now.liars or ()
    if epochs > 1:
        yield replace(now, epochs=1)
        yield replace(now, epochs=epochs - 1)
    if len(faults) > 1:
        half = len(faults) // 2
        yield replace(now, faults=())
        yield replace(now, faults=faults[:half])
        yield replace(now, faults=faults[half:])
    for i in range(len(faults)):
        yield replace(now, faults=faults[:i] + faults[i + 1 :])
    for i, (member, names) in enumerate(liars):
        yield replace(now, liars=liars[:i] + liars[i + 1 :])
        for name in names if len(names) > 1 else ():
            fewer = tuple(other for other in names if other != name)
            yield replace(now, liars=(*liars[:i], (member, fewer), *liars[i + 1 :]))
    if not now.calm:
        yield replace(now, calm=True)
    if plan.forks and not now.forkless:
        yield replace(now, forkless=True)
    if plan.raising and not now.total:
        yield replace(now, total=True)
