"""The client: remember, search, explain, from any Python program.

    from memquorum.client import Memory

    with Memory(namespace="glasshouse", agent="planner") as memory:
        receipt = memory.add("Valve 3 sticks below 5 °C.", wait=True)
        for hit in memory.search("why did the valve not open?"):
            print(hit.score, hit.text)
        print(memory.explain(receipt.memory_id))

`AsyncMemory` is the same with `async with` and `await`.

Inside: `memory` publishes and reads, `ordering` is its part that orders, `filing` asks of slots and paths, `deciding`
what members decided, `overseeing` who keeps what and who votes, `finishing` says which tasks are finished and what
helped in them, `ending` that sessions are over and what they came to, `asking` is what is beside; `connections` are
those of each event loop; `sync` puts it on a loop of its own, `looping`; `within` is the client inside the service;
`entries` keeps what frameworks keep under keys, and `items` says how; `talk` cuts what is said in pieces; `settings`
finds the line, `signer` signs, `wire` writes and reads what crosses it; `values`, `receipts`, `errors` and `refusals`
are what comes back; `tail` follows the journal, `audit` verifies it, `traces` says where a program's spans go. The
commands: `command` has what they share, `publishing`, `sessions`, `reading`, `listing`, `decisions`, `lists`, `tasks`,
`rewards`, `rollups`, `orders`, `verifying` and `operating` declare them.
"""

from memquorum.client.errors import (
    Busy,
    Closed,
    Contested,
    Held,
    Invalid,
    MemquorumError,
    NoOutcome,
    NotAllowed,
    NotConfigured,
    NotFound,
    NotYet,
    Refused,
    Unreachable,
)
from memquorum.client.memory import AsyncMemory
from memquorum.client.sync import Memory
from memquorum.client.values import Receipt
from memquorum.core.api.answers import (
    Access,
    Answering,
    Around,
    Became,
    Context,
    Decision,
    Decisions,
    Epoch,
    Epochs,
    Erasure,
    Explained,
    Forget,
    Goal,
    Goals,
    Going,
    Hit,
    Holds,
    Leaving,
    LeftOut,
    Listed,
    Member,
    Members,
    Needed,
    Ordered,
    Orders,
    Page,
    Paths,
    Pinned,
    Pins,
    Placed,
    Protector,
    Recalled,
    Restore,
    Restoring,
    Retrieved,
    Rewarded,
    Rewards,
    Rollup,
    RollupPatch,
    Rollups,
    RollupSentence,
    RollupTopic,
    Shown,
    Staying,
)

__all__ = [
    "Access",
    "Answering",
    "Around",
    "AsyncMemory",
    "Became",
    "Busy",
    "Closed",
    "Contested",
    "Context",
    "Decision",
    "Decisions",
    "Epoch",
    "Epochs",
    "Erasure",
    "Explained",
    "Forget",
    "Goal",
    "Goals",
    "Going",
    "Held",
    "Hit",
    "Holds",
    "Invalid",
    "Leaving",
    "LeftOut",
    "Listed",
    "Member",
    "Members",
    "Memory",
    "MemquorumError",
    "Needed",
    "NoOutcome",
    "NotAllowed",
    "NotConfigured",
    "NotFound",
    "NotYet",
    "Ordered",
    "Orders",
    "Page",
    "Paths",
    "Pinned",
    "Pins",
    "Placed",
    "Protector",
    "Recalled",
    "Receipt",
    "Refused",
    "Restore",
    "Restoring",
    "Retrieved",
    "Rewarded",
    "Rewards",
    "Rollup",
    "RollupPatch",
    "RollupSentence",
    "RollupTopic",
    "Rollups",
    "Shown",
    "Staying",
    "Unreachable",
]
