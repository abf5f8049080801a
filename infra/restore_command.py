"""The operator's `restore`: asks for memories back that were forgotten and rest sealed; the members vote on it."""

from __future__ import annotations

from argparse import Namespace

from msgspec.structs import replace

from db.queries import QUERIES
from infra.operator_command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.operator_orders import desk
from infra.settings import Settings
from memquorum.commands import REFERENCE, option
from memquorum.core.accounts import restoring
from memquorum.core.accounts.restoring import Resting
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import RestoreOrdered


@command(
    "memories restore",
    option("memory_ids", nargs="+", metavar="ID", help="memories that were forgotten"),
    NAMESPACE,
    ORDERED_BY,
    REFERENCE,
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no request be given",
    example="memories restore -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Asks to restore sealed memories, with the operator's key.

    It waits for the decision; exits with 1 unless all came back. Raises SettingsError for an invalid request,
    KeyFileError, and an error of OUT_OF_REACH if a server does not answer.
    """
    ids = tuple(dict.fromkeys(one.lower() for one in parsed.memory_ids))
    with desk(settings, parsed) as at:
        order = at.named(REQUEST, RestoreOrdered(b"", "", parsed.namespace, ids, "", 0, parsed.reference))
        with at.link.use() as connection:
            wanted = {"namespace": order.namespace, "ids": list(order.memory_ids)}
            rows = [Resting(*row) for row in connection.execute(QUERIES["restore_asked"], wanted)]
        found = restoring.standing(order.memory_ids, rows)
        sealed = tuple(one.memory_id for one in found if one.status == restoring.SEALED)
        for one in found:
            if one.memory_id not in sealed:
                print(f"  {one.memory_id}  {one.status}: {one.detail}")
        if not sealed:
            print("nothing to restore: nobody was asked")
            return 1
        return at.give(REQUEST, [replace(order, memory_ids=sealed)])
