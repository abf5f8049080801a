"""The operator's `kafka export` and `kafka import`: copy the topics to a folder, and put them back
(docs/operate/backup.md)."""

from __future__ import annotations

from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path

from infra import genesis, kafkalogins, topic_files, webhook_command
from infra.operator_command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import option
from memquorum.core.showing.plurals import many
from workers.events import webhooks
from workers.kafka.loop import TopicUnreadable
from workers.upkeep import topic_copies
from workers.upkeep.topic_copies import CannotCopy

_FOLDER = option("folder", type=Path, metavar="FOLDER", help="the copy: a file for each partition, and a manifest")


@command(
    "kafka export",
    _FOLDER,
    kafka="admin",
    failed="the topics were not copied",
    failing=(CannotCopy, TopicUnreadable),
    example="kafka export copies/topics",
)
def export(settings: Settings, parsed: Namespace) -> int:
    """Copies the topics to a new folder while the installation runs.

    The copy holds no content in the clear: what intake has not let in yet is not in it. Returns 0.
    """
    settings.require("bootstrap")
    made = genesis.read(settings)
    counts = {topic.name: topic.count(made.shards) for topic in topic_files.declared()}
    # Each target of webhooks has a group of its own.
    groups = [group for _, group in kafkalogins.GROUPS if not group.endswith("*")]
    groups += [webhooks.GROUPS + target.name for target in webhook_command.targets(settings)]
    with terminal.console(stderr=True).status("copying") as line:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = topic_copies.write(
            settings.bootstrap, counts, groups, parsed.folder, lambda told: line.update(f"copying: {told}"),
            cluster=made.cluster.hex(), made=now,
        )  # fmt: skip
    size = sum(file.stat().st_size for file in parsed.folder.iterdir())
    print(f"wrote {parsed.folder}: {many(manifest.records, 'record')}, {size:,} bytes")
    if unread := manifest.unread("intake"):
        print(f"not in it: {many(unread, 'record')} that intake had not let in yet")
    return 0


@command(
    "kafka import",
    _FOLDER,
    kafka="admin",
    failed="the topics were not put back",
    failing=(CannotCopy, TopicUnreadable),
    example="kafka import copies/topics",
)
def put_back(settings: Settings, parsed: Namespace) -> int:
    """Puts a copy back into empty topics, each record at its old offset, before any process is started.

    A call that was interrupted is repeated: it goes on where it ended. Returns 0.
    """
    settings.require("bootstrap")
    manifest = topic_copies.read(parsed.folder, genesis.read(settings).cluster.hex())
    with terminal.console(stderr=True).status("putting back") as line:
        topic_copies.put_back(
            settings.bootstrap, manifest, parsed.folder, lambda told: line.update(f"putting back: {told}")
        )
    print(f"put back {many(manifest.records, 'record')} of {manifest.made}")
    print("next: `memquorum admin members begin`, then the vault, then the store")
    return 0
