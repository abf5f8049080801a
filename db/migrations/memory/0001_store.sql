-- The store: everything here but the vault's keys can be rebuilt from the topics.
-- Times are milliseconds since the epoch, scores millionths (_ppm).
CREATE EXTENSION IF NOT EXISTS vector;

-- Where a shard stands. The row is locked by whoever applies to the shard, so there is one writer at a time.
CREATE TABLE shard (
    shard              integer PRIMARY KEY,
    seq                bigint  NOT NULL DEFAULT 0,
    hash               bytea   NOT NULL,
    as_of              bigint  NOT NULL DEFAULT 0,
    interactions       bigint  NOT NULL DEFAULT 0, -- since the last epoch was decided
    last_epoch         bigint  NOT NULL DEFAULT 0,
    last_epoch_at      bigint  NOT NULL DEFAULT 0,
    decided_seq        bigint  NOT NULL DEFAULT 0, -- PBFT sequence
    published_seq      bigint  NOT NULL DEFAULT 0  -- journal entries known to be in the topic
);

-- The next offset to read of every source; moves in the transaction that applies the record.
CREATE TABLE cursor (
    shard       integer NOT NULL REFERENCES shard,
    topic       text    NOT NULL,
    next_offset bigint  NOT NULL,
    PRIMARY KEY (shard, topic)
);

-- The first outcome of every event id; a second record of the same id changes nothing.
CREATE TABLE event (
    namespace text   NOT NULL,
    event_id  text   NOT NULL,
    shard     integer NOT NULL,
    outcome   text   NOT NULL, -- stored, reinforced, below_threshold, unreadable, failed, erased, accessed
    memory_id uuid   NOT NULL, -- what it became, or what it reinforced or touched
    seq       bigint NOT NULL, -- journal sequence
    PRIMARY KEY (namespace, event_id)
);

CREATE TABLE memory (
    id          uuid    PRIMARY KEY,
    shard       integer NOT NULL,
    namespace   text    NOT NULL,
    agent       text    NOT NULL,
    subject     text    NOT NULL,
    session     text,
    role        text,
    event_id    text    NOT NULL,
    tier        text    NOT NULL CHECK (tier IN ('short-term', 'long-term', 'sealed', 'gone')),
    created     bigint  NOT NULL,
    characters  integer NOT NULL,
    commitment  bytea   NOT NULL,
    encoder     text    NOT NULL,
    early       boolean NOT NULL,
    confidence_ppm integer,   -- consolidated confidence, once promoted
    changed     bigint  NOT NULL, -- when the tier last changed
    sealed_until bigint,     -- when a sealed memory's key is destroyed
    seq         bigint  NOT NULL  -- journal sequence of its last change of tier
);
CREATE INDEX memory_alive ON memory (namespace, tier);
CREATE INDEX memory_shard_seq ON memory (shard, seq);
CREATE INDEX memory_sealed ON memory (shard, sealed_until) WHERE tier = 'sealed';

-- The one place where content is in the clear. A forgotten memory has no row here and none in embedding.
CREATE TABLE content (
    memory_id uuid PRIMARY KEY REFERENCES memory,
    body      text NOT NULL
);

CREATE TABLE embedding (
    memory_id uuid PRIMARY KEY REFERENCES memory,
    namespace text NOT NULL,
    vector    halfvec NOT NULL
);
CREATE INDEX embedding_namespace ON embedding (namespace);

-- What changes often, apart from the vectors. The row goes when the memory is forgotten.
CREATE TABLE strength (
    memory_id    uuid    PRIMARY KEY REFERENCES memory,
    shard        integer NOT NULL,
    tier         text    NOT NULL,
    salience_ppm integer NOT NULL,
    created      bigint  NOT NULL,
    last_access  bigint  NOT NULL,
    due_at       bigint  NOT NULL,
    touched      bigint  NOT NULL, -- accepted offset of the last episode or access that touched it
    accesses     integer NOT NULL DEFAULT 0,
    reinforced   integer NOT NULL DEFAULT 0,
    kept         jsonb   NOT NULL DEFAULT '{}', -- by kind of proposal, how often in a row it was kept
    rest         jsonb   NOT NULL DEFAULT '{}'  -- by kind, the first epoch that may propose it again
);
CREATE INDEX strength_due ON strength (shard, due_at, memory_id);
CREATE INDEX strength_promotable ON strength (shard, salience_ppm DESC, memory_id) WHERE tier = 'short-term';

-- The audit log. `entry` holds the bytes that the chain hashes; the other columns repeat them for SQL, and verify compares.
CREATE TABLE journal (
    shard            integer NOT NULL,
    seq              bigint  NOT NULL,
    as_of            bigint  NOT NULL,
    effect           text    NOT NULL,
    event_id         text    NOT NULL,
    namespace        text,
    memory_id        uuid,
    source_topic     text    NOT NULL,
    source_partition integer NOT NULL,
    source_offset    bigint  NOT NULL,
    entry            bytea   NOT NULL,
    previous_hash    bytea   NOT NULL,
    hash             bytea   NOT NULL,
    PRIMARY KEY (shard, seq)
);
CREATE INDEX journal_memory ON journal (memory_id, seq) WHERE memory_id IS NOT NULL;

-- A decided epoch with its certificate, and below it what it meant for each memory and who voted what.
CREATE TABLE decision (
    shard       integer NOT NULL,
    epoch       bigint  NOT NULL,
    seq         bigint  NOT NULL,   -- PBFT sequence
    view        bigint  NOT NULL,
    config      integer NOT NULL,
    as_of       bigint  NOT NULL,
    trigger     text    NOT NULL,
    digest      bytea   NOT NULL,   -- of the proposal, whatever its view
    pre_prepare bytea   NOT NULL,
    commits     bytea[] NOT NULL,
    journal_seq bigint  NOT NULL,
    PRIMARY KEY (shard, epoch),
    UNIQUE (shard, seq)
);

CREATE TABLE outcome (
    shard     integer NOT NULL,
    epoch     bigint  NOT NULL,
    position  integer NOT NULL,
    memory_id uuid    NOT NULL,
    kind      text    NOT NULL,
    outcome   text    NOT NULL, -- forgotten, promoted, kept, voided
    reason    text    NOT NULL,
    yes       integer NOT NULL, -- ballots for the proposal
    weight_ppm bigint NOT NULL, -- their weight times reliability, millionths
    needed_ppm bigint NOT NULL, -- the weighted quorum, millionths, rounded up
    PRIMARY KEY (shard, epoch, position),
    FOREIGN KEY (shard, epoch) REFERENCES decision (shard, epoch)
);
CREATE INDEX outcome_memory ON outcome (memory_id);

CREATE TABLE ballot (
    shard     integer NOT NULL,
    epoch     bigint  NOT NULL,
    position  integer NOT NULL,
    member    integer NOT NULL,
    yes       boolean NOT NULL,
    score_ppm integer NOT NULL,
    terms     bigint[] NOT NULL, -- named by the kind: forget (decay, relevance, last_access), promote (bfs, grounded, consistency, uncertainty)
    PRIMARY KEY (shard, epoch, position, member),
    FOREIGN KEY (shard, epoch, position) REFERENCES outcome (shard, epoch, position)
);

-- The audit views: the questions people ask, without joins.
CREATE VIEW audit_votes AS
SELECT o.memory_id, m.namespace, o.kind, o.outcome, o.reason, b.member, b.yes, (b.score_ppm / 1e6)::float8 AS score,
       CASE WHEN o.kind = 'forget' THEN (b.terms[1] / 1e6)::float8 END AS decay,
       CASE WHEN o.kind = 'forget' THEN (b.terms[2] / 1e6)::float8 END AS relevance,
       b.terms, to_timestamp(d.as_of / 1000.0) AS at, o.shard, o.epoch
FROM ballot b
JOIN outcome o USING (shard, epoch, position)
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id;

CREATE VIEW audit_forgotten AS
SELECT o.memory_id, m.namespace, m.agent, m.subject, to_timestamp(m.created / 1000.0) AS made,
       to_timestamp(d.as_of / 1000.0) AS forgotten, o.yes AS ballots_for, o.weight_ppm / 1e6 AS weight,
       o.needed_ppm / 1e6 AS needed, m.tier, o.shard, o.epoch
FROM outcome o
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id
WHERE o.outcome = 'forgotten';
