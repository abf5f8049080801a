"""What every row is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.benchmarks.forgetting import command
from tests.benchmarks.kept import Row

Item = TypeVar("Item")


class Material(command.Material):
    """The folder of the sets (`data`), vectors of texts (`vectors`), AMI's meetings (`meetings`), read when asked for.
    `quick`: a row may take fewer items, to see that it works."""

    def __init__(self, data: Path, cache: Path, *, quick: bool = False) -> None:
        super().__init__(data, cache)
        self.quick = quick

    def some(self, items: list[Item], least: int = 50) -> list[Item]:
        """All of them, or the first few of a quick run."""
        return items[:least] if self.quick else items


Measure = Callable[[Material], Row]
