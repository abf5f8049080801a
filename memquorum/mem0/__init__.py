"""Serves mem0's clients: its HTTP interface, which the retrieval service offers, and a class in place of its `Memory`.

1. `filters`: translates mem0's filters.
2. `calls`: implements its calls.
3. `wire`: its HTTP paths, as its own client requests them.
4. `store`: `Memory`, in place of mem0's own.

A memory added this way is an explicit write into a slot (path `mem0`, the id as its key), so an id stays the same when
its text is changed, and a delete hides it at once.
"""

from __future__ import annotations

from memquorum.mem0.store import Memory

__all__ = ["Memory"]
