"""What every row is given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from memquorum.core.policy import Policy
from tests.benchmarks.forgetting import command
from tests.benchmarks.forgetting.said import Said
from tests.benchmarks.kept import Row
from tests.benchmarks.right import trees
from tests.benchmarks.right.trees import Told

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
        """How likely each act of each meeting is to be kept, by trees of the other teams."""
        return trees.scores(self.told)

    def some(self, items: list[Item], least: int = 50) -> list[Item]:
        """All of them, or the first few of a quick run."""
        return items[:least] if self.quick else items


Measure = Callable[[Material], Row]
