"""All cells of FiFA, a seed at a time, on every core that there is."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.fifa.living import Life
from bench.fifa.measures import Measured, measured
from bench.fifa.prepared import Prepared
from bench.fifa.wordings import texts
from bench.fifa.world import AGENTS, streams
from bench.forgetting.vectors import Vectors
from memquorum.core.policy import FORGETTING, Policy
from memquorum.encoders.hashing import HashingEncoder

SHARES = (5, 10, 20, 40, 80)
"""Budgets in % of the tokens that an agent is ever told, each text once."""
PAPER = (2_000, 4_000, 8_000, 16_000, 32_000)
"""The paper's budgets, in tokens: they are looked at where an agent is told more than that on average."""

Cell = tuple[str, str]
"""(budget, policy)."""


@dataclass(frozen=True)
class Size:
    """The size of a run."""

    seeds: int = 30
    agents: int = AGENTS
    shares: tuple[int, ...] = SHARES
    paper: tuple[int, ...] = PAPER
    quick: bool = False

    @property
    def chosen(self) -> int:
        """So many seeds, the first ones, a policy is chosen on; on the others it is tested."""
        return max(1, self.seeds // 3)


QUICK = Size(seeds=2, agents=1, shares=(20,), paper=PAPER[:1], quick=True)


@dataclass(frozen=True)
class Asked:
    """One seed, with distractors or without, with votes or without."""

    seed: int
    distractors: bool
    votes: bool


_vectors: dict[str, NDArray[np.float32]] = {}


def _begin(matrix: NDArray[np.float32]) -> None:
    _vectors.update(zip(texts(), matrix, strict=True))


def one(asked: Asked, size: Size) -> dict[Cell, Measured]:
    """All budgets and policies of one seed."""
    policy = Policy()
    agents = [
        Prepared(stream, _vectors, policy)
        for stream in streams(asked.seed, distractors=asked.distractors, agents=size.agents)
    ]
    budgets = {f"{share} %": [agent.all_tokens * share // 100 for agent in agents] for share in size.shares}
    told = sum(agent.all_tokens for agent in agents) / len(agents)
    budgets |= {f"{tokens:,}": [tokens] * len(agents) for tokens in size.paper if tokens < told}
    seed = f"fifa/{asked.seed}".encode()
    return {
        (budget, name): measured(
            [Life(agent, name, tokens, votes=asked.votes, seed=seed).live()
             for agent, tokens in zip(agents, given, strict=True)]
        )
        for budget, given in budgets.items()
        for name in FORGETTING
    }  # fmt: skip


class Cells:
    """The results, by whether there are distractors and votes: a list of seeds, each cell → figures."""

    def __init__(self, size: Size, cache: Path) -> None:
        self.size, self.cache = size, cache
        self._found: dict[tuple[bool, bool], list[Mapping[Cell, Measured]]] = {}

    def of(self, *, distractors: bool, votes: bool) -> list[Mapping[Cell, Measured]]:
        """Each seed's cells; measured when first asked for."""
        key = distractors, votes
        if key not in self._found:
            asked = [Asked(seed, distractors, votes) for seed in range(self.size.seeds)]
            began = time.perf_counter()
            self._found[key] = self._all(asked)
            print(
                f"  {'with' if distractors else 'without'} distractors, {'with' if votes else 'without'} votes: "
                f"{self.size.seeds} seeds in {time.perf_counter() - began:.0f} s",
                flush=True,
            )
        return self._found[key]

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Returns the vectors of all texts."""
        if self.size.quick:
            return HashingEncoder().encode(texts())
        return Vectors(self.cache).of(texts())

    def _all(self, asked: Sequence[Asked]) -> list[Mapping[Cell, Measured]]:
        if self.size.quick:
            _begin(self.vectors)
            return [one(each, self.size) for each in asked]
        return list(self._beside(asked))

    def _beside(self, asked: Sequence[Asked]) -> Iterator[Mapping[Cell, Measured]]:
        processes = len(os.sched_getaffinity(0))
        # A process that is forked would have the encoder's threads half alive.
        spawning = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, spawning, _begin, (self.vectors,)) as pool:
            waiting = {pool.submit(one, each, self.size): each.seed for each in asked}
            found = dict[int, Mapping[Cell, Measured]]()
            for done in as_completed(waiting):
                found[waiting[done]] = done.result()
                print(f"\r  {len(found)} of {len(asked)} seeds ", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        return iter([found[each.seed] for each in asked])


def budgets(cells: Sequence[Mapping[Cell, Measured]]) -> list[str]:
    """The budgets that every seed has, in their order."""
    return [name for name in dict.fromkeys(name for name, _ in cells[0]) if all((name, "fifo") in one for one in cells)]
