"""The operator's `members begin`: begins the sign-states of members anew, after the topics were put back.

A member without its sign-state is silent until the sequence in flight is decided without it. If more than f members
lost theirs, nothing is ever decided. After the topics were put back nothing is in flight: the logs of votes are empty,
and all that was decided stands in the journal. So a new sign-state may say that everything up to there is settled. If a
log of votes holds a record, others may have read what this member signed, and it is refused.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from db.signstate import SqliteSignState
from infra import genesis
from infra.operator_command import command
from infra.settings import Settings
from memquorum import topics
from memquorum.commands import option
from memquorum.core.avro import Codec
from memquorum.core.consensus.events import Kept
from memquorum.core.consensus.slots import view_slot
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import digest
from memquorum.schema_files import load_codec
from workers.audit import audited_configurations
from workers.kafka.loop import TopicUnreadable
from workers.kafka.partition import Partition
from workers.replica.catchup import decisions

VOTES = (
    *(topics.NOMINATIONS, topics.BALLOTS, topics.PRE_PREPARES, topics.PREPARES, topics.COMMITS),
    *(topics.VIEW_CHANGES, topics.CHECKPOINTS),
)
"""The logs of votes: a member that reads its own messages there knows that it has signed before."""


class CannotBegin(RuntimeError):
    """A sign-state was not begun; the message says why."""


def settled(bootstrap: str, codec: Codec, now: Sequence[Genesis]) -> dict[str, int]:
    """Returns the last decided sequence of each shard in each of its configurations, by their scopes in a sign-state.

    `now`: the configuration in force of each shard. Raises CannotBegin where a log of votes holds a record.
    """
    found = {}
    for shard, config in enumerate(now):
        for topic in VOTES:
            with closing(Partition(bootstrap, topic, shard)) as log:
                if log.low < log.end:
                    raise CannotBegin(
                        f"{log} holds records: sign-states are begun only after the topics were put back, and before "
                        "any process was started. A single member without its sign-state begins by itself"
                    )
        with closing(Partition(bootstrap, topics.JOURNAL, shard)) as journal:
            last = max((decided.seq for decided in decisions(codec, journal)), default=0)
        of: Genesis | None = config
        while of is not None:
            found[f"{of.config}/{shard}"] = last
            last, of = of.begins - 1, of.previous
    return found


def begin(folder: Path, cluster: bytes, member: int, through: Mapping[str, int]) -> Path:
    """Writes the sign-state of a member. `folder`: of its state; `through`: as of `settled`. Returns its file.

    Raises CannotBegin where there is one, and OSError.
    """
    file = folder / f"replica-{member}" / "signed.db"
    # Also those of its processes with a range of the shards.
    for there in (file, *file.parent.glob("*/signed.db")):
        if there.exists():
            raise CannotBegin(f"{there} exists: the sign-state of a member is never replaced")
    with SqliteSignState(file, cluster, member) as signed:
        signed.settle([], through)
        first = [view_slot(0, shard, 0, Kept.BEGAN) for shard in sorted({int(one.split("/")[1]) for one in through})]
        signed.claim([(slot, digest(slot.encode()), b"") for slot in first])
    return file


@command(
    "members begin",
    option("--member", type=int, help="its id (default: all whose keys are in the folder of keys)"),
    kafka="operator",
    failed="no sign-state was begun",
    failing=(CannotBegin, TopicUnreadable),
    example="members begin",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Begins the sign-states of members anew, after `kafka import` and before any process is started.

    It refuses to where a log of votes holds a record, or a sign-state exists. Returns 0.
    """
    settings.require("bootstrap")
    made, codec = genesis.read(settings), load_codec()
    through = settled(settings.bootstrap, codec, audited_configurations.read(settings.bootstrap, made, codec))
    ids = range(genesis.identities(settings, made))
    here = [one for one in ids if (settings.keys_dir / f"member-{one}.key").exists()]
    for member in here if parsed.member is None else [parsed.member]:
        print(f"began {begin(settings.state_dir, made.cluster, member, through)}")
    return 0
