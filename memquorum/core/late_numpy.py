"""Holds NumPy, imported when it is first used: what only shows words of a module to people needs none of it.

So the command line starts sooner, and works over HTTP without NumPy (infra/decisions/0170).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Stands for the module `numpy`, and keeps each of its names after its first use."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()
