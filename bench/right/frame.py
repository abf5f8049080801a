"""The material of every row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bench.forgetting import command
from bench.forgetting.said import Said
from bench.kept import Row
from bench.right import trees
from bench.right.trees import Told
from memquorum.core.policy import Policy

Item = TypeVar("Item")


class Material(command.Material):
    """The folder of the sets (`data`), vectors of texts (`vectors`), AMI's meetings (`meetings`), read when asked for.
    `quick`: a row may take fewer items, to see that it works."""

    def __init__(self, data: Path, cache: Path, *, quick: bool = False) -> None:
        super().__init__(data, cache)
        self.quick = quick

    @cached_property
    def shipped(self) -> dict[str, Said]:
        """The meetings by name, as the policy that is shipped has them."""
        return self.heard(Policy())

    @cached_property
    def told(self) -> list[Told]:
        """The meetings as trees see them; what is sought are decisions and actions."""
        return [
            Told(one.series, tuple(act.text for act in one.acts), one.wanted, one.sentences) for one in self.meetings
        ]

    @cached_property
    def trees(self) -> list[trees.Floats]:
        """Returns the probability that each act of each meeting is kept, by trees of the other teams."""
        return trees.scores(self.told)

    def some(self, items: list[Item], least: int = 50) -> list[Item]:
        """All of them, or the first few of a quick run."""
        return items[:least] if self.quick else items


Measure = Callable[[Material], Row]
