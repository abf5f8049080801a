"""The memory behind mem0's clients: its wire, which the retrieval service serves, and a class in place of its `Memory`.

1. `filters`: which memories mem0's filters are about.
2. `calls`: what each of its calls does here.
3. `wire`: its paths, as its genuine client asks them.
4. `store`: `Memory`, in place of mem0's own.

What is added is an explicit write into a slot (path `mem0`, the id as its key), so an id stays the same when its text
is changed, and a delete hides at once.
"""

from __future__ import annotations

from memquorum.mem0.store import Memory

__all__ = ["Memory"]
