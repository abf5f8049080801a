"""AMI's meetings with what people kept of them, CC BY 4.0 (Carletta et al. 2005). They are not here.

A meeting is a namespace, an act of speech an episode, a speaker an agent with a member of its own. `keep`, `supports`
and the summaries are labels: nothing that decides sees them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.forgetting.measures import Flags
from bench.sets import AMI, records

ROLES = ("PM", "ME", "ID", "UI")
"""Project manager, marketing, industrial design, user interface: the first two plan, and weigh 1.5."""
BEGAN = 1_700_000_000_000
"""All meetings begin here, in milliseconds."""


@dataclass(frozen=True)
class Act:
    """Something said. `keep`, `supports`: labels."""

    speaker: str
    at: int
    end: int
    text: str
    keep: bool
    supports: tuple[str, ...]

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class Meeting:
    """`sentences`: of each decision or action that people wrote down and that acts support, those acts."""

    name: str
    series: str
    speakers: tuple[str, ...]
    acts: tuple[Act, ...]
    sentences: tuple[tuple[int, ...], ...]

    @cached_property
    def wanted(self) -> Flags:
        return np.array([act.keep for act in self.acts])

    @cached_property
    def words(self) -> NDArray[np.int64]:
        return np.array([act.words for act in self.acts])

    @property
    def over(self) -> int:
        """When it ends."""
        return max(act.end for act in self.acts)


def read(folder: Path) -> Iterator[Meeting]:
    """All of them. Speakers stand in the order of `ROLES`; where no roles are told, by name."""
    for found in records(folder, AMI, "acts"):
        acts = tuple(
            Act(
                act["spk"], BEGAN + round(1_000 * act["start"]), BEGAN + round(1_000 * act["end"]), act["text"],
                bool(act["keep"]), tuple(act["supports"]),
            )
            for act in found["acts"]
        )  # fmt: skip
        roles = {speaker: said["role"] for speaker, said in found["roles"].items()}
        there = sorted({act.speaker for act in acts})
        there.sort(key=lambda speaker: ROLES.index(roles[speaker]) if roles.get(speaker) in ROLES else len(ROLES))
        sentences = [
            tuple(at for at, act in enumerate(acts) if said["id"] in act.supports)
            for said in found["abstract"]
            if said["type"] in ("decisions", "actions")
        ]
        yield Meeting(found["meeting"], found["series"], tuple(there), acts, tuple(s for s in sentences if s))


def items(folder: Path) -> list[tuple[str, int, bool]]:
    """The 200: meeting, number of the act, whether people kept it."""
    return [(found["meeting"], found["i"], found["human"] == "keep") for found in records(folder, AMI, "human")]
