"""The tables of a replica's view; what they are for, `db.view` says."""

from __future__ import annotations

# Raised when the tables change: a file of before is emptied, and filled again from the streams.
VERSION = 38
# Memories are stored in the order in which they were read, so those that are forgotten together are neighbours, and
# free whole pages. `place` holds the position, which never changes, negative for a sealed memory: an id without a
# memory was forgotten, and must not come back.
TABLES = """
CREATE TABLE IF NOT EXISTS shard (
    shard INTEGER PRIMARY KEY, seq INTEGER NOT NULL DEFAULT 1, epoch INTEGER NOT NULL DEFAULT 1,
    as_of INTEGER NOT NULL DEFAULT 0, decisions BLOB NOT NULL DEFAULT x'', stream BLOB,
    stable INTEGER NOT NULL DEFAULT 0, lived INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS reached (
    shard INTEGER PRIMARY KEY, seq INTEGER NOT NULL, epoch INTEGER NOT NULL, decisions BLOB NOT NULL,
    accepted_offset INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS proof (
    shard INTEGER, place INTEGER, message BLOB NOT NULL, PRIMARY KEY (shard, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS configuration (
    shard INTEGER, config INTEGER, place INTEGER, message BLOB NOT NULL,
    PRIMARY KEY (shard, config, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (
    shard INTEGER, seq INTEGER, members TEXT NOT NULL, PRIMARY KEY (shard, seq)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS position (
    topic TEXT, shard INTEGER, next_offset INTEGER NOT NULL, PRIMARY KEY (topic, shard)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stamped (
    topic TEXT, shard INTEGER, first_offset INTEGER NOT NULL, PRIMARY KEY (topic, shard)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS place (memory_id TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory (
    at INTEGER PRIMARY KEY, memory_id TEXT NOT NULL, namespace TEXT NOT NULL, agent TEXT NOT NULL,
    created INTEGER NOT NULL, last_access INTEGER NOT NULL, touched INTEGER NOT NULL, salience_ppm INTEGER NOT NULL,
    reinforced INTEGER NOT NULL, reward_ppm INTEGER, confidence_ppm INTEGER, uncertainty_ppm INTEGER,
    commitment BLOB NOT NULL, sealed_content BLOB NOT NULL, sealed_embedding BLOB, encoder TEXT NOT NULL,
    sealed_signed BLOB, witnessed INTEGER NOT NULL, reads INTEGER NOT NULL, sealed_counts BLOB, alike TEXT,
    accepted_offset INTEGER NOT NULL, role TEXT, said INTEGER NOT NULL, said_offset INTEGER NOT NULL,
    vouchers TEXT NOT NULL, subject TEXT NOT NULL, source TEXT, sensitivity_ppm INTEGER NOT NULL,
    purposes TEXT, jurisdictions TEXT NOT NULL, slot TEXT, label TEXT, supersedes TEXT, summary BLOB,
    linked INTEGER NOT NULL, rehearsed INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS recent (
    namespace TEXT, agent TEXT, accepted_offset INTEGER, memory_id TEXT NOT NULL,
    sealed_content BLOB NOT NULL, sealed_embedding BLOB NOT NULL, encoder TEXT NOT NULL, sealed_signed BLOB,
    occurred_at INTEGER NOT NULL, repeats INTEGER NOT NULL,
    PRIMARY KEY (namespace, agent, accepted_offset));
CREATE TABLE IF NOT EXISTS worth (
    namespace TEXT, alike TEXT, step INTEGER, texts INTEGER NOT NULL,
    PRIMARY KEY (namespace, alike, step)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS weight (
    namespace TEXT, memory_id TEXT, type TEXT NOT NULL, tokens INTEGER NOT NULL, tier TEXT NOT NULL, worth_ppm INTEGER,
    novelty_ppm INTEGER, needs TEXT NOT NULL, linked TEXT NOT NULL, slot TEXT,
    fades INTEGER NOT NULL, deadline INTEGER, over INTEGER NOT NULL, requires TEXT NOT NULL, part_of TEXT NOT NULL,
    PRIMARY KEY (namespace, memory_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS weight_dated ON weight (namespace) WHERE deadline IS NOT NULL;
CREATE INDEX IF NOT EXISTS weight_over ON weight (namespace) WHERE over;
CREATE TABLE IF NOT EXISTS gone (
    namespace TEXT, epoch INTEGER, as_of INTEGER NOT NULL, memories INTEGER NOT NULL,
    PRIMARY KEY (namespace, epoch)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS gone_as_of ON gone (as_of);
CREATE INDEX IF NOT EXISTS weight_slot ON weight (namespace, slot) WHERE slot IS NOT NULL;
CREATE INDEX IF NOT EXISTS recent_memory ON recent (memory_id);
CREATE TABLE IF NOT EXISTS anew (
    memory_id TEXT PRIMARY KEY, first TEXT NOT NULL, encoder TEXT NOT NULL, memory_seq INTEGER NOT NULL,
    sealed_embedding BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS forgotten (
    shard INTEGER, epoch INTEGER, accepted_offset INTEGER NOT NULL, memory_ids TEXT NOT NULL, until INTEGER NOT NULL,
    PRIMARY KEY (shard, epoch)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sealed (
    shard INTEGER, until INTEGER, epoch INTEGER, places TEXT NOT NULL,
    PRIMARY KEY (shard, until, epoch)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS back (
    memory_id TEXT PRIMARY KEY, shard INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS late (
    memory_id TEXT PRIMARY KEY, accepted_offset INTEGER NOT NULL, accessed_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ordered (
    shard INTEGER, digest BLOB, accepted_offset INTEGER NOT NULL, accepted_at INTEGER NOT NULL,
    PRIMARY KEY (shard, digest)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS ordered_place ON ordered (shard, accepted_offset);
CREATE TABLE IF NOT EXISTS answered (
    shard INTEGER, digest BLOB, accepted_offset INTEGER, accepted_at INTEGER,
    PRIMARY KEY (shard, digest, accepted_offset, accepted_at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS protected (
    memory_id TEXT, kind TEXT, order_id TEXT, shard INTEGER NOT NULL, namespace TEXT NOT NULL,
    of_operator INTEGER NOT NULL, used_at INTEGER, PRIMARY KEY (memory_id, kind, order_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS protected_used ON protected (shard, used_at) WHERE used_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS protected_namespace ON protected (namespace, kind);
CREATE TABLE IF NOT EXISTS task (
    memory_id TEXT PRIMARY KEY, namespace TEXT NOT NULL, accepted_offset INTEGER NOT NULL, agent TEXT NOT NULL,
    occurred_at INTEGER NOT NULL, outcome TEXT NOT NULL, said_by TEXT NOT NULL, configuration BLOB NOT NULL,
    seed INTEGER NOT NULL, encoder TEXT NOT NULL, sealed_content BLOB NOT NULL, sealed_embedding BLOB NOT NULL,
    sealed_signed BLOB, commitment BLOB NOT NULL, retrieved TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS task_accepted ON task (namespace, accepted_offset);
CREATE TABLE IF NOT EXISTS feedback (
    task TEXT, accepted_offset INTEGER, memory_id TEXT, agent TEXT NOT NULL, helped INTEGER NOT NULL,
    PRIMARY KEY (task, accepted_offset, memory_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS said (event TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS stood (
    shard INTEGER, epoch INTEGER, nomination BLOB NOT NULL, accepted_offset INTEGER NOT NULL,
    PRIMARY KEY (shard, epoch)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS admitted (
    namespace TEXT, memory_id TEXT, version INTEGER, epoch INTEGER NOT NULL, weight_ppm INTEGER NOT NULL,
    PRIMARY KEY (namespace, memory_id, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS general (
    namespace TEXT, memory_id TEXT, PRIMARY KEY (namespace, memory_id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS united (
    memory_id TEXT PRIMARY KEY, kept TEXT NOT NULL, epoch INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (memory_id TEXT PRIMARY KEY, epoch INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS made (parent TEXT, child TEXT, PRIMARY KEY (parent, child)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS made_child ON made (child);
CREATE TABLE IF NOT EXISTS stated (
    memory_id TEXT PRIMARY KEY, sensitivity_ppm INTEGER, purposes TEXT NOT NULL, jurisdiction TEXT,
    of_service INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tick (
    shard INTEGER, accepted_offset INTEGER, as_of INTEGER NOT NULL, stream BLOB NOT NULL,
    PRIMARY KEY (shard, accepted_offset)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS changed (memory_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alive (
    memory_id TEXT PRIMARY KEY, namespace TEXT NOT NULL, type INTEGER NOT NULL, tokens INTEGER NOT NULL,
    accepted_offset INTEGER NOT NULL, needs TEXT NOT NULL, linked TEXT NOT NULL, keyed INTEGER,
    counted INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS alive_accepted ON alive (namespace, accepted_offset);
CREATE INDEX IF NOT EXISTS alive_unsure ON alive (namespace) WHERE keyed IS NULL;
CREATE TABLE IF NOT EXISTS held (
    namespace TEXT, type INTEGER, memories INTEGER NOT NULL, tokens INTEGER NOT NULL,
    PRIMARY KEY (namespace, type)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tie (
    namespace TEXT, parent TEXT, child TEXT, needs INTEGER NOT NULL,
    PRIMARY KEY (namespace, parent, child)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS destroyed (only INTEGER PRIMARY KEY, number INTEGER NOT NULL, memory_id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS ranking (
    ranking INTEGER PRIMARY KEY, namespace TEXT, shard INTEGER, shards INTEGER, keys BLOB NOT NULL,
    before TEXT);
CREATE TABLE IF NOT EXISTS due (
    ranking INTEGER, line INTEGER, step INTEGER, value INTEGER, created INTEGER, memory_id TEXT,
    PRIMARY KEY (ranking, line, step, value, created, memory_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS due_memory ON due (memory_id);
"""
# Changes after which `db.view_holdings` counts and ranks a memory anew.
_CHANGES = (
    ("weight", "INSERT", "NEW"),
    ("weight", "UPDATE OF tier", "NEW"),
    ("weight", "DELETE", "OLD"),
    ("place", "UPDATE OF at", "NEW"),
    ("memory", "UPDATE OF at, last_access, touched, salience_ppm, reinforced, reads, sensitivity_ppm", "NEW"),
    ("protected", "INSERT", "NEW"),
    ("protected", "DELETE", "OLD"),
    ("back", "INSERT", "NEW"),
    ("back", "DELETE", "OLD"),
)
TRIGGERS = "".join(
    f"CREATE TRIGGER IF NOT EXISTS changed_{table}_{event.split()[0].lower()} AFTER {event} ON {table} "
    f"BEGIN INSERT OR IGNORE INTO changed VALUES ({row}.memory_id); END;\n"
    for table, event, row in _CHANGES
)
