"""The client: remember, search, explain, from any Python program.

    from memquorum.client import Memory

    with Memory(namespace="glasshouse", agent="planner") as memory:
        receipt = memory.add("Valve 3 sticks below 5 °C.", wait=True)
        for hit in memory.search("why did the valve not open?"):
            print(hit.score, hit.text)
        print("\\n".join(memory.explain(receipt.memory_id).lines))

`AsyncMemory` is the same with `async with` and `await`.
"""

from memquorum.client.errors import (
    Invalid,
    MemquorumError,
    NoOutcome,
    NotAllowed,
    NotConfigured,
    NotFound,
    NotYet,
    Unreachable,
)
from memquorum.client.memory import AsyncMemory
from memquorum.client.sync import Memory
from memquorum.client.values import Receipt
from memquorum.core.api.answers import (
    Answering,
    Around,
    Context,
    Erasure,
    Explained,
    Forget,
    Going,
    Hit,
    Leaving,
    LeftOut,
    Needed,
    Ordered,
    Pinned,
    Placed,
    Recalled,
    Restore,
    Restoring,
    Retrieved,
    Shown,
    Staying,
)

__all__ = [
    "Answering",
    "Around",
    "AsyncMemory",
    "Context",
    "Erasure",
    "Explained",
    "Forget",
    "Going",
    "Hit",
    "Invalid",
    "Leaving",
    "LeftOut",
    "Memory",
    "MemquorumError",
    "Needed",
    "NoOutcome",
    "NotAllowed",
    "NotConfigured",
    "NotFound",
    "NotYet",
    "Ordered",
    "Pinned",
    "Placed",
    "Recalled",
    "Receipt",
    "Restore",
    "Restoring",
    "Retrieved",
    "Shown",
    "Staying",
    "Unreachable",
]
