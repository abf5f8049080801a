-- The database `memory`. Everything here can be rebuilt from the topics and the vault's keys.
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
    published_seq      bigint  NOT NULL DEFAULT 0, -- journal entries known to be in the topic
    alive              bigint  NOT NULL DEFAULT 0, -- memories that have strength
    unattested         bigint  NOT NULL DEFAULT 0, -- erasures that the members have not attested yet
    asked_at           bigint  NOT NULL DEFAULT 0, -- the time of the last request to restore
    contested_at       bigint  NOT NULL DEFAULT 0, -- the time of the last contradiction that no epoch has had before it
    weighed_to         bigint  NOT NULL DEFAULT 0  -- accepted offset before which all uses of experience are counted
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
    outcome   text   NOT NULL, -- stored, reinforced, below_threshold, unreadable, failed, erased, cleared, empty, contested, accessed
    memory_id uuid   NOT NULL, -- what it became, or what it reinforced or touched
    seq       bigint NOT NULL, -- journal sequence
    agent     text,            -- of an episode, what an order to erase may name
    subject   text,
    source    text,
    session   text,
    type      text,
    occurred  bigint,
    PRIMARY KEY (namespace, event_id)
);
-- What an agent said last, in one session or in all: its episodic buffer, which is a question and no table.
CREATE INDEX event_agent ON event (namespace, agent, seq) WHERE outcome IN ('stored', 'reinforced');
CREATE INDEX event_session ON event (namespace, agent, session, seq)
    WHERE outcome IN ('stored', 'reinforced') AND session IS NOT NULL;

CREATE TABLE memory (
    id          uuid    PRIMARY KEY,
    shard       integer NOT NULL,
    namespace   text    NOT NULL,
    agent       text    NOT NULL,
    subject     text    NOT NULL,
    event_id    text    NOT NULL,
    tier        text    NOT NULL CHECK (tier IN ('short-term', 'long-term', 'sealed', 'superseded', 'draft', 'finished', 'gone')),
    created     bigint  NOT NULL,
    characters  integer NOT NULL,
    commitment  bytea   NOT NULL,
    encoder     text    NOT NULL,
    early       boolean NOT NULL,
    confidence_ppm integer,   -- consolidated confidence, once promoted
    changed     bigint  NOT NULL, -- when the tier last changed
    sealed_until bigint,     -- when the key of a sealed memory, or of a summary that waits for its vote, is destroyed
    seq         bigint  NOT NULL, -- journal sequence of its last change of tier
    -- What holds for its use, its sources' counted in: names joined by commas. NULL: for any purpose; '': for none.
    type            text    NOT NULL DEFAULT 'episodic' CHECK (type IN ('episodic', 'semantic', 'social', 'task')),
    sensitivity_ppm integer NOT NULL DEFAULT 0,
    purposes        text,
    jurisdictions   text    NOT NULL DEFAULT '', -- whose law it is under
    made_by         text,   -- of a summary, who made it
    renews          uuid,   -- of a summary, the erased one in whose place it was made
    general_of      uuid,   -- of a general form, the memory that it was made of
    told_by         uuid,   -- of what rests sealed because a summary says what is to be kept of it: that summary
    asks_after      bigint, -- of a sealed one: a use after this time that comes late asks for it back; NULL once one has
    -- What its episode said of itself, carried as it was said.
    session         text,
    role            text,
    source          text, -- where the content comes from
    explicit        boolean NOT NULL DEFAULT false,
    -- HMACs under the namespace's key: of path and key, and of path and attributes. These stand beside the content.
    slot            text,
    label           text
);
-- What a search that names no purpose and asks for no experience must keep out.
CREATE INDEX memory_bound ON memory (namespace) WHERE purposes IS NOT NULL OR general_of IS NOT NULL;
CREATE INDEX memory_general ON memory (general_of) WHERE general_of IS NOT NULL;
CREATE INDEX memory_slot ON memory (namespace, slot) WHERE slot IS NOT NULL AND tier IN ('short-term', 'long-term');
CREATE INDEX memory_slot_ever ON memory (namespace, slot) WHERE slot IS NOT NULL;
CREATE INDEX memory_alive ON memory (namespace, tier);
-- Page by page in the order of time.
CREATE INDEX memory_listed ON memory (namespace, created, id);
-- What is older than a rule lets it be, whatever else there is.
CREATE INDEX memory_old ON memory (namespace, type, created) WHERE tier <> 'gone' AND made_by IS NULL;
CREATE INDEX memory_shard_seq ON memory (shard, seq);
CREATE INDEX memory_sealed ON memory (shard, sealed_until) WHERE tier IN ('sealed', 'draft');
-- Summaries that wait for their vote.
CREATE INDEX memory_draft ON memory (shard) WHERE tier = 'draft';
CREATE INDEX memory_renews ON memory (renews) WHERE renews IS NOT NULL;
-- Summaries that are alive: those that say the same become one.
CREATE INDEX memory_summary ON memory (shard) WHERE made_by IS NOT NULL AND tier = 'short-term';
-- What was said before and after a memory in its session.
CREATE INDEX memory_session ON memory (namespace, session, created, id) WHERE tier IN ('short-term', 'long-term');
-- Of which sessions a summary may be made.
CREATE INDEX memory_session_short ON memory (shard, namespace, agent, session, created)
    WHERE tier = 'short-term' AND session IS NOT NULL AND made_by IS NULL AND NOT explicit;

-- The one place where content is in the clear. A forgotten memory has no row here and none in embedding.
CREATE TABLE content (
    memory_id uuid PRIMARY KEY REFERENCES memory,
    body      text NOT NULL,
    namespace text NOT NULL, -- the memory's, so that row security need not ask for it
    named     text[],        -- its links to names, each as the kind, a blank, the name; NULL: none
    key       text,          -- what it is filed under: NULL where that is not said
    path      text COLLATE "C",
    attributes jsonb,
    -- What full text looks for: the words without their endings, in the row of the text, so that they go with it. There
    -- is no index on them: GIN keeps the words of rows that are gone until it is built anew (infra/decisions/0025).
    words     tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.english', body)) STORED
);
-- What is filed under a key, and below a path.
CREATE INDEX content_key ON content (namespace, key, path) WHERE key IS NOT NULL;
CREATE INDEX content_path ON content (namespace, path) WHERE path IS NOT NULL;
-- Where a name may stand that an order erases.
CREATE INDEX content_named ON content (namespace) WHERE named IS NOT NULL;

CREATE TABLE embedding (
    memory_id uuid PRIMARY KEY REFERENCES memory,
    namespace text NOT NULL,
    vector    halfvec NOT NULL,
    encoder   text NOT NULL -- the memory's, so that a search reads this table alone until it has found
);
CREATE INDEX embedding_namespace ON embedding (namespace, encoder);

-- A summary says many things, and one vector of all of them is near to none: so each of its sentences has one too.
CREATE TABLE sentence (
    memory_id uuid    NOT NULL REFERENCES memory,
    place     integer NOT NULL, -- which of the summary's sentences, in the order of its text, from 0
    namespace text    NOT NULL,
    vector    halfvec NOT NULL,
    encoder   text    NOT NULL, -- the memory's
    PRIMARY KEY (memory_id, place)
);
CREATE INDEX sentence_namespace ON sentence (namespace, encoder);

-- A sample that the planner keeps of a column is a copy that outlives the row.
ALTER TABLE content ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN words SET STATISTICS 0,
    ALTER COLUMN named SET STATISTICS 0, ALTER COLUMN key SET STATISTICS 0, ALTER COLUMN path SET STATISTICS 0,
    ALTER COLUMN attributes SET STATISTICS 0;
ALTER TABLE embedding ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE sentence ALTER COLUMN vector SET STATISTICS 0;

-- What changes often, apart from the vectors. The row goes when the memory is forgotten.
CREATE TABLE strength (
    memory_id    uuid    PRIMARY KEY REFERENCES memory,
    shard        integer NOT NULL,
    tier         text    NOT NULL,
    salience_ppm integer NOT NULL,
    created      bigint  NOT NULL,
    last_access  bigint  NOT NULL,
    touched      bigint  NOT NULL, -- accepted offset of the last episode or access that touched it
    accesses     integer NOT NULL DEFAULT 0,
    reinforced   integer NOT NULL DEFAULT 0,
    kept         jsonb   NOT NULL DEFAULT '{}', -- by kind of proposal, how often in a row it was kept
    rest         jsonb   NOT NULL DEFAULT '{}', -- by kind, the first epoch that may propose it again
    replays      integer NOT NULL DEFAULT 0,    -- how often a rehearsal found it to hold
    doubts       integer NOT NULL DEFAULT 0,    -- how often in a row the last rehearsals did not
    rehearsed    bigint  NOT NULL DEFAULT 0,    -- when it was last rehearsed; 0: never
    fades        boolean NOT NULL DEFAULT true  -- whether triage goes by its decay score
);
CREATE INDEX strength_unused ON strength (shard, tier, last_access, memory_id);
-- By grades: memories whose decay scores fall alike (core/triage).
CREATE INDEX strength_fading ON strength (shard, (salience_ppm / 10000), replays, last_access, memory_id)
    WHERE tier = 'short-term' AND fades;
CREATE INDEX strength_doubted ON strength (shard, salience_ppm, memory_id) WHERE doubts > 0;
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

-- A decided epoch with its certificate, and below it what it meant for each memory and who voted what. All three come in
-- one transaction and are never changed, so rows of one do not refer to the other by constraint.
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
    nomination  bytea   NOT NULL,   -- digest of what was nominated
    accepted_offset bigint NOT NULL, -- how far that had read the accepted stream
    PRIMARY KEY (shard, epoch),
    UNIQUE (shard, seq)
);

CREATE TABLE outcome (
    shard     integer NOT NULL,
    epoch     bigint  NOT NULL,
    position  integer NOT NULL,
    memory_id uuid    NOT NULL,
    kind      text    NOT NULL,
    outcome   text    NOT NULL, -- the kind's word where it was done (forgotten, promoted, …), else kept or voided
    reason    text    NOT NULL,
    yes       integer NOT NULL, -- ballots for the proposal
    weight_ppm bigint NOT NULL, -- their weight times reliability, millionths
    needed_ppm bigint NOT NULL, -- the weighted quorum, millionths, rounded up
    as_of     bigint NOT NULL,  -- of which time the nomination spoke
    namespace text,             -- the memory's; NULL where it is about no memory
    policy    text,             -- by which a budget's memories go, where it was proposed for that
    PRIMARY KEY (shard, epoch, position, memory_id) -- a proposal may name several
);
CREATE INDEX outcome_memory ON outcome (memory_id);
-- Page by page, the latest first; a namespace is of one shard.
CREATE INDEX outcome_listed ON outcome (namespace, epoch, position) WHERE namespace IS NOT NULL;

CREATE TABLE ballot (
    shard     integer NOT NULL,
    epoch     bigint  NOT NULL,
    position  integer NOT NULL,
    member    integer NOT NULL,
    yes       boolean NOT NULL,
    score_ppm integer NOT NULL,
    terms     bigint[] NOT NULL, -- in the order of the kind's names for them
    PRIMARY KEY (shard, epoch, position, member)
);

-- The audit views: the questions people ask, without joins.
CREATE VIEW audit_votes AS
SELECT o.memory_id, m.namespace, o.kind, o.outcome, o.reason, b.member, b.yes, (b.score_ppm / 1e6)::float8 AS score,
       (b.terms[array_position(k.terms, 'decay')] / 1e6)::float8 AS decay,
       ((b.terms[array_position(k.terms, 'rank')] + b.terms[array_position(k.terms, 'share')]) / 2e6)::float8
           AS relevance,
       b.terms, to_timestamp(d.as_of / 1000.0) AS at, o.shard, o.epoch
FROM ballot b
JOIN outcome o USING (shard, epoch, position)
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id
-- The names of every kind's terms, as core/vote/kinds has them.
LEFT JOIN (VALUES
    ('forget', ARRAY['decay', 'rank', 'share', 'last_access']),
    ('evict', ARRAY['before', 'beyond']),
    ('promote', ARRAY['bfs', 'grounded', 'consistency', 'uncertainty']),
    ('demote', ARRAY['decay', 'rank', 'share', 'last_access']),
    ('supersede', ARRAY['contradicts', 'corrects', 'challenger', 'incumbent', 'ground']),
    ('overrule', ARRAY['contradicts', 'corrects', 'challenger', 'incumbent', 'ground']),
    ('consolidate', ARRAY['faithful', 'covered', 'least']),
    ('merge', ARRAY['same', 'cosine']),
    ('admit', ARRAY['held', 'gain']),
    ('unite', ARRAY['same', 'cosine']),
    ('generalise', ARRAY['made', 'admitted']),
    ('configure', ARRAY['holds']),
    ('erase', ARRAY['holds']),
    ('restore', ARRAY['holds', 'decay', 'rank', 'share', 'last_access']),
    ('rollback', ARRAY['holds'])
) AS k (kind, terms) ON k.kind = o.kind;

CREATE VIEW audit_forgotten AS
SELECT o.memory_id, m.namespace, m.agent, m.subject, to_timestamp(m.created / 1000.0) AS made,
       to_timestamp(d.as_of / 1000.0) AS forgotten, o.yes AS ballots_for, o.weight_ppm / 1e6 AS weight,
       o.needed_ppm / 1e6 AS needed, m.tier, o.shard, o.epoch
FROM outcome o
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id
WHERE o.outcome = 'forgotten';

-- What votes have kept, of the memories that are alive: how often in a row, and from which epoch on that kind may propose
-- it again, or that it has to be used before. Neither: never. The number is FOR_GOOD of core/journal/resting.
CREATE VIEW audit_kept AS
SELECT s.memory_id, m.namespace, r.key AS kind, coalesce((s.kept ->> r.key)::integer, 0) AS kept,
       CASE WHEN r.value::bigint < 4503599627370496 THEN r.value::bigint END AS from_epoch,
       r.value::bigint > 4503599627370496 AS until_used, s.shard
FROM strength s
JOIN memory m ON m.id = s.memory_id
CROSS JOIN LATERAL jsonb_each_text(s.rest) AS r (key, value);

-- Who may do what. Roles without login, shared by all databases of the server: a login is granted one of them, and the
-- workers step down to it when they connect.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memquorum_owner', 'memquorum_writer', 'memquorum_reader', 'memquorum_accounts',
        'memquorum_keeper'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server made it, perhaps at this very moment
        END;
    END LOOP;
END
$$;

-- What was applied stays as it was applied: for everyone, the owner too.
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % refused: it is only ever appended to', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER journal_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

ALTER TABLE shard OWNER TO memquorum_owner;
ALTER TABLE cursor OWNER TO memquorum_owner;
ALTER TABLE event OWNER TO memquorum_owner;
ALTER TABLE memory OWNER TO memquorum_owner;
ALTER TABLE content OWNER TO memquorum_keeper;
ALTER TABLE embedding OWNER TO memquorum_keeper;
ALTER TABLE sentence OWNER TO memquorum_keeper;
ALTER TABLE strength OWNER TO memquorum_owner;
ALTER TABLE journal OWNER TO memquorum_owner;
ALTER TABLE decision OWNER TO memquorum_owner;
ALTER TABLE outcome OWNER TO memquorum_owner;
ALTER TABLE ballot OWNER TO memquorum_owner;
ALTER VIEW audit_votes OWNER TO memquorum_owner;
ALTER VIEW audit_forgotten OWNER TO memquorum_owner;
ALTER VIEW audit_kept OWNER TO memquorum_owner;
ALTER FUNCTION append_only() OWNER TO memquorum_owner;

-- A view asks with the rights of who reads it, so that row security on the tables will hold through it.
ALTER VIEW audit_votes SET (security_invoker = true);
ALTER VIEW audit_forgotten SET (security_invoker = true);
ALTER VIEW audit_kept SET (security_invoker = true);

-- Episodes that became no memory. Their content lies sealed in the accepted topic; the row stands until the grace time is
-- over and the commit worker has destroyed the key.
CREATE TABLE dropped (
    memory_id  uuid    PRIMARY KEY,
    shard      integer NOT NULL,
    namespace  text    NOT NULL,
    destroy_at bigint  NOT NULL -- when the key is destroyed
);
CREATE INDEX dropped_due ON dropped (shard, destroy_at, memory_id);

ALTER TABLE dropped OWNER TO memquorum_owner;

-- Row security. Who reads for a tenant sees the rows of that tenant's namespaces, whatever it asks: the retrieval service
-- steps down to `memquorum_tenant` and says in each transaction, by the setting `memquorum.namespaces`, whose rows it
-- may see: names and beginnings (`team-*`), with commas between them. Where nothing is said, nothing is seen. The
-- stages see everything: the reader by policies, the writer past them, for it writes by COPY, which knows no policies.
-- FORCE: whoever is granted the owner's role sees nothing either.
DO $$
BEGIN
    CREATE ROLE memquorum_tenant NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
DO $$
BEGIN
    IF NOT (SELECT rolbypassrls FROM pg_roles WHERE rolname = 'memquorum_writer') THEN
        ALTER ROLE memquorum_writer BYPASSRLS;
    END IF;
EXCEPTION WHEN internal_error THEN
    NULL; -- another database's migration did it at this very moment
END
$$;

CREATE FUNCTION tenant_names() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT array(
        SELECT pattern FROM unnest(string_to_array(current_setting('memquorum.namespaces', true), ',')) AS pattern
        WHERE pattern NOT LIKE '%*'
    )
$$;
CREATE FUNCTION tenant_beginnings() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT array(
        SELECT left(pattern, -1)
        FROM unnest(string_to_array(current_setting('memquorum.namespaces', true), ',')) AS pattern
        WHERE pattern LIKE '%*'
    )
$$;
ALTER FUNCTION tenant_names() OWNER TO memquorum_owner;
ALTER FUNCTION tenant_beginnings() OWNER TO memquorum_owner;

ALTER TABLE memory ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE content ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE sentence ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE strength ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE dropped ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE journal ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE decision ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE outcome ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE ballot ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY reader ON memory FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON content FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON embedding FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON sentence FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON strength FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON event FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON dropped FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON journal FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON decision FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON outcome FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON ballot FOR SELECT TO memquorum_reader USING (true);

-- The functions stand in subqueries so that they are called once for a question and not once for a row.
CREATE POLICY tenant ON memory FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON embedding FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON sentence FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON content FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON event FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON dropped FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
-- Entries without a namespace speak of several, or of none: ticks, decisions, destroyed keys.
CREATE POLICY tenant ON journal FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
-- A row about no memory has no namespace, and is nobody's.
CREATE POLICY tenant ON outcome FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
-- What has no namespace of its own goes with what it belongs to; the policy of that one holds within the question.
CREATE POLICY tenant ON strength FOR SELECT TO memquorum_tenant USING (
    EXISTS (SELECT FROM memory m WHERE m.id = memory_id)
);
CREATE POLICY tenant ON ballot FOR SELECT TO memquorum_tenant USING (
    EXISTS (
        SELECT FROM outcome o WHERE o.shard = ballot.shard AND o.epoch = ballot.epoch AND o.position = ballot.position
    )
);
CREATE POLICY tenant ON decision FOR SELECT TO memquorum_tenant USING (
    EXISTS (SELECT FROM outcome o WHERE o.shard = decision.shard AND o.epoch = decision.epoch)
);

-- What an episode was made of; and (echo) the memory that it repeated. `child`: its own memory id, whatever it became.
CREATE TABLE provenance (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    child     uuid    NOT NULL,
    parent    uuid    NOT NULL,
    echo      boolean NOT NULL,
    follows   boolean NOT NULL, -- goes where the parent goes; what says the same and is a memory of its own does not
    agent     text    NOT NULL, -- who said the child
    merged    boolean NOT NULL, -- both are summaries, and the parent became one with the child by a vote
    PRIMARY KEY (namespace, parent, child)
);
CREATE INDEX provenance_child ON provenance (child);
CREATE INDEX provenance_merged ON provenance (parent) WHERE merged;

-- Memories that say otherwise than older ones. What became of either does not change that it was so.
CREATE TABLE conflict (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    newer     uuid    NOT NULL,
    older     uuid    NOT NULL,
    PRIMARY KEY (namespace, older, newer)
);
CREATE INDEX conflict_newer ON conflict (newer);
CREATE INDEX conflict_older ON conflict (older);
CREATE INDEX conflict_seq ON conflict (shard, seq);

-- What publishers say that memories are linked with, of what was there before them (core/linking). What became of either
-- does not change that it was so; links to names lie beside the content.
CREATE TABLE link (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    memory    uuid    NOT NULL,
    kind      text    NOT NULL, -- requires, isA, partOf, friendOf
    target    uuid    NOT NULL,
    PRIMARY KEY (namespace, memory, kind, target)
);
CREATE INDEX link_target ON link (target);
CREATE INDEX link_seq ON link (shard, seq);

-- The sentences of summaries: the characters from start to before finish of a source's content.
CREATE TABLE quote (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    summary   uuid    NOT NULL,
    place     integer NOT NULL, -- in the summary
    source    uuid    NOT NULL,
    start     bigint  NOT NULL,
    finish    bigint  NOT NULL,
    section   text    NOT NULL,
    said_at   bigint  NOT NULL, -- when the source was said
    sentence  integer,          -- of one that a model wrote: its number among those
    PRIMARY KEY (summary, place)
);
CREATE INDEX quote_source ON quote (source);
CREATE INDEX quote_seq ON quote (shard, seq);

-- The log of the roll-ups: which verbatim sentence came into which one, and which went. Places in memories, no content.
CREATE TABLE patch (
    shard           integer NOT NULL,
    seq             bigint  NOT NULL, -- journal sequence
    place           integer NOT NULL, -- among the patches of its entry
    namespace       text    NOT NULL,
    topic           uuid    NOT NULL, -- the roll-up; it tells nothing of its name
    op              text    NOT NULL, -- add, revise, supersede
    memory          uuid    NOT NULL,
    start           bigint  NOT NULL,
    finish          bigint  NOT NULL,
    name_start      bigint  NOT NULL, -- where the sentence names its thing
    name_finish     bigint  NOT NULL,
    section         text    NOT NULL,
    said_at         bigint  NOT NULL,
    replaces        uuid,             -- the memory whose sentence goes
    replaces_start  bigint  NOT NULL,
    replaces_finish bigint  NOT NULL,
    as_of           bigint  NOT NULL, -- the shard's time
    PRIMARY KEY (shard, seq, place)
);
CREATE INDEX patch_namespace ON patch (namespace, seq, place);

-- Episodes whose keys an order destroyed, by their own memory ids; `was` late: it came after the order that names it.
CREATE TABLE erased (
    memory_id uuid    PRIMARY KEY,
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    was       text    NOT NULL, -- short-term, long-term, sealed, draft, reinforced, dropped, late
    summary   text              -- of a summary, whether it is made anew of what is left (anew), or why not
);
CREATE INDEX erased_seq ON erased (shard, seq);

-- The orders to erase that were carried out: what occurred until `accepted_at` and is named by one comes in no more.
CREATE TABLE erasure (
    shard           integer NOT NULL,
    namespace       text    NOT NULL,
    order_id        uuid    NOT NULL,
    selector        text    NOT NULL, -- memory, subject, agent, source, namespace, age
    value           text    NOT NULL,
    signer          text    NOT NULL,
    ordered_by      text    NOT NULL,
    reference       text,
    ordered_at      bigint  NOT NULL,
    ordered         bytea   NOT NULL, -- as it was signed
    accepted_at     bigint  NOT NULL,
    accepted_offset bigint  NOT NULL,
    first_seq       bigint  NOT NULL, -- journal sequences of its entries
    last_seq        bigint  NOT NULL,
    memories        bigint  NOT NULL, -- how many went, and how many episodes with them
    episodes        bigint  NOT NULL,
    residue_until   bigint  NOT NULL,
    summaries       bigint  NOT NULL, -- how many of what went were summaries, and how many of these are made anew
    anew            bigint  NOT NULL,
    epoch           bigint,           -- in which the members attested it
    head            bytea,            -- signed head of the journal at last_seq; a rebuild has none
    PRIMARY KEY (shard, first_seq)
);
CREATE INDEX erasure_order ON erasure (order_id);

ALTER TABLE provenance OWNER TO memquorum_owner;
ALTER TABLE conflict OWNER TO memquorum_owner;
ALTER TABLE link OWNER TO memquorum_owner;
ALTER TABLE quote OWNER TO memquorum_owner;
ALTER TABLE patch OWNER TO memquorum_owner;
ALTER TABLE erased OWNER TO memquorum_owner;
ALTER TABLE erasure OWNER TO memquorum_owner;

ALTER TABLE provenance ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE conflict ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE link ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE quote ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE patch ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE erased ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE erasure ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON provenance FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON conflict FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON link FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON quote FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON patch FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON erased FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON erasure FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY tenant ON provenance FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON conflict FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON link FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON quote FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON patch FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON erased FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON erasure FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Whoever gave an order asks by its id what became of it: of all entries, these are not about orders.
CREATE INDEX journal_order ON journal (event_id) WHERE effect NOT IN ('stored', 'drafted', 'finished', 'reinforced', 'dropped', 'cleared', 'repeated', 'contradicted', 'assessed', 'unfounded', 'accessed', 'asked', 'ticked', 'decided',
    'destroyed', 'reencoded', 'rehearsed', 'tried', 'lapsed');

-- Orders that somebody gave, page by page, the latest first.
CREATE INDEX journal_given ON journal (namespace, seq) WHERE effect IN ('erased', 'withheld', 'protected', 'requested', 'declined');

-- Requests for memories that were forgotten stand in the journal; their decisions name them in the trigger.
CREATE INDEX journal_requested ON journal (shard, as_of) WHERE effect IN ('requested', 'asked');
CREATE INDEX decision_trigger ON decision (shard, trigger);

-- What the caps on forgetting count by: how many memories of a namespace are alive, and what decisions took of it.
CREATE TABLE living (
    shard     integer NOT NULL,
    namespace text    PRIMARY KEY,
    alive     bigint  NOT NULL
);

CREATE TABLE let_go (
    shard     integer NOT NULL,
    namespace text    NOT NULL,
    epoch     bigint  NOT NULL,
    as_of     bigint  NOT NULL, -- the shard's time when it was applied
    forgotten bigint  NOT NULL,
    held_back bigint  NOT NULL, -- what the votes let go and the cap kept
    PRIMARY KEY (namespace, epoch)
);

ALTER TABLE living OWNER TO memquorum_owner;
ALTER TABLE let_go OWNER TO memquorum_owner;

ALTER TABLE living ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE let_go ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON living FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON let_go FOR SELECT TO memquorum_reader USING (true);

-- Who counts: intake, for its limit of memories in all. It learns numbers, and nothing of any memory.
DO $$
BEGIN
    CREATE ROLE memquorum_counter NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
CREATE POLICY counter ON living FOR SELECT TO memquorum_counter USING (true);

-- Who rehearses: it learns what of a memory holds, and nothing of what it says.
DO $$
BEGIN
    CREATE ROLE memquorum_rehearser NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
CREATE POLICY rehearser ON memory FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY rehearser ON strength FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY rehearser ON conflict FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY rehearser ON provenance FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY rehearser ON decision FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY rehearser ON outcome FOR SELECT TO memquorum_rehearser USING (true);

-- Whoever asks for a memory to be forgotten is told when the caps leave nothing: counts of the namespaces in sight.
CREATE POLICY tenant ON living FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON let_go FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Memories whose text was, or was about to be, sent to a recipient to be summed up there; a row for each time.
CREATE TABLE disclosure (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    memory_id uuid    NOT NULL,
    recipient text    NOT NULL, -- a host
    sent_at   bigint  NOT NULL,
    PRIMARY KEY (shard, seq, memory_id)
);
CREATE INDEX disclosure_memory ON disclosure (memory_id);
ALTER TABLE disclosure OWNER TO memquorum_owner;
ALTER TABLE disclosure ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON disclosure FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON disclosure FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Tasks that are finished: how each ended, says whom, what it ran under and what it was given, best first. No content.
CREATE TABLE task (
    memory_id     uuid    PRIMARY KEY,
    shard         integer NOT NULL,
    seq           bigint  NOT NULL, -- journal sequence
    namespace     text    NOT NULL,
    outcome       text    NOT NULL, -- succeeded, failed, unknown
    said_by       text    NOT NULL, -- empty where it is unknown
    configuration bytea   NOT NULL, -- SHA-256
    seed          bigint  NOT NULL,
    retrieved     text[]  NOT NULL, -- ids of memories, best first
    accepted_offset bigint NOT NULL -- where its record stands in the accepted stream
);
CREATE INDEX task_listed ON task (namespace, seq); -- page by page, the latest first
CREATE INDEX task_seq ON task (shard, seq);
CREATE INDEX task_accepted ON task (shard, accepted_offset);

-- What agents say of the memories that a task was given.
CREATE TABLE feedback (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    task      uuid    NOT NULL,
    memory_id uuid    NOT NULL,
    agent     text    NOT NULL,
    helped    boolean NOT NULL,
    given_at  bigint  NOT NULL,
    accepted_offset bigint NOT NULL,
    PRIMARY KEY (shard, seq, memory_id)
);
CREATE INDEX feedback_task ON feedback (task);
CREATE INDEX feedback_memory ON feedback (memory_id);
CREATE INDEX feedback_accepted ON feedback (shard, accepted_offset);

-- The texts of finished tasks in the clear, as one JSON text, and the vector of what was to be done: all that nobody finds
-- who searches. `digest`: of all that a trial of the task reads (core/experience/context.py). It would let a guess at the
-- texts be tried, so it goes with them, and is in no topic.
CREATE TABLE experience (
    memory_id uuid    PRIMARY KEY REFERENCES memory,
    namespace text    NOT NULL,
    body      text    NOT NULL,
    vector    halfvec NOT NULL,
    encoder   text    NOT NULL,
    digest    bytea   NOT NULL
);
CREATE INDEX experience_namespace ON experience (namespace, encoder);
ALTER TABLE experience ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN vector SET STATISTICS 0,
    ALTER COLUMN digest SET STATISTICS 0;

ALTER TABLE task OWNER TO memquorum_owner;
ALTER TABLE feedback OWNER TO memquorum_owner;
ALTER TABLE experience OWNER TO memquorum_keeper;
ALTER TABLE task ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE feedback ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE experience ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON task FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON feedback FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON experience FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON task FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON feedback FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON experience FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- What verifiers found when they tried memories on finished tasks: ids, sums and digests.
CREATE TABLE trial (
    shard      integer NOT NULL,
    seq        bigint  NOT NULL, -- journal sequence
    namespace  text    NOT NULL,
    memory_id  uuid    NOT NULL,
    position   bigint  NOT NULL, -- epoch of the decision as of which it was tried, and by which the verifier was drawn
    verifier   text    NOT NULL,
    digest     text    NOT NULL, -- of the statistics: verifiers agree that tell the same
    score_ppm  bigint  NOT NULL, -- S
    statistics bytea   NOT NULL, -- as core/experience/trial.py writes them
    made       bytea   NOT NULL, -- as the verifier signed it
    PRIMARY KEY (memory_id, position, verifier)
);
CREATE INDEX trial_seq ON trial (shard, seq);

-- Where memories stand on their way into experience. Of one that nobody has tried there is no row.
CREATE TABLE admission (
    memory_id  uuid    PRIMARY KEY,
    shard      integer NOT NULL,
    seq        bigint  NOT NULL, -- of the journal entry that changed it last
    namespace  text    NOT NULL,
    status     text    NOT NULL CHECK (status IN ('provisional', 'agreed', 'admitted', 'rejected', 'demoted', 'removed', 'left')),
    position   bigint  NOT NULL, -- epoch as of which it was tried last
    digest     text,             -- of the statistics that verifiers agree in
    score_ppm  bigint,           -- their S
    version    integer NOT NULL, -- of its weight; 0 without one
    weight_ppm integer,
    epoch      bigint  NOT NULL, -- of the vote on it; 0 without one
    after      bigint  NOT NULL, -- it is tried as of a decision after this epoch
    rejections integer NOT NULL, -- how often verifiers agreed that it helps too little
    rejected   bigint  NOT NULL, -- epoch as of which they did last; 0 where they never did
    judges     integer NOT NULL, -- how many tasks judged it then in all
    gained_ppm bigint  NOT NULL, -- the sum of what they found, each the S of its trial
    refusals   integer NOT NULL, -- how often members did not admit it
    since      bigint  NOT NULL, -- accepted offset: tasks before it do not move the weight
    gains      integer NOT NULL, -- in how many contexts it helped
    losses     integer NOT NULL, -- in how many it did harm
    merged_into uuid,            -- what stands for it in experience while that is alive: they say the same
    merged_at  bigint  NOT NULL, -- epoch from which on it does
    general    uuid              -- its general form, once members took one in
);
CREATE INDEX admission_namespace ON admission (namespace, status, seq);
CREATE INDEX admission_status ON admission (shard, status, seq);
CREATE INDEX admission_listed ON admission (namespace, seq, memory_id); -- page by page, what changed last first
CREATE INDEX admission_weighed ON admission (namespace) WHERE version > 0;

-- The versions of memories' weights in experience.
CREATE TABLE weight (
    memory_id  uuid    NOT NULL,
    version    integer NOT NULL,
    shard      integer NOT NULL,
    seq        bigint  NOT NULL, -- journal sequence
    namespace  text    NOT NULL,
    epoch      bigint  NOT NULL, -- of the decision from which on it holds
    cause      text    NOT NULL CHECK (cause IN ('admitted', 'used', 'rolled back', 'merged', 'general')),
    weight_ppm integer NOT NULL,
    gains      integer NOT NULL, -- in how many contexts it had helped by then
    losses     integer NOT NULL, -- in how many it had done harm
    evidence   text    NOT NULL, -- what came with this version, JSON: [context, sum of gains in millionths, how many]
    PRIMARY KEY (memory_id, version)
);
CREATE INDEX weight_first ON weight (namespace, memory_id) WHERE version = 1;
CREATE INDEX weight_seq ON weight (shard, seq);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['trial', 'admission', 'weight'] LOOP
        EXECUTE format('ALTER TABLE %I OWNER TO memquorum_owner', name);
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY reader ON %I FOR SELECT TO memquorum_reader USING (true)', name);
        EXECUTE format('CREATE POLICY tenant ON %I FOR SELECT TO memquorum_tenant USING (
            namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[]))',
            name);
    END LOOP;
END
$$;

-- The versions of weights in experience, each with what it came of: `gained`, the mean of what its tasks say.
CREATE VIEW audit_weights AS
SELECT w.memory_id, w.namespace, m.agent, w.version, w.cause, (w.weight_ppm / 1e6)::float8 AS weight, w.gains, w.losses,
       jsonb_array_length(w.evidence::jsonb) AS tasks,
       (SELECT avg((e ->> 1)::float8 / (e ->> 2)::float8) / 1e6 FROM jsonb_array_elements(w.evidence::jsonb) e) AS gained,
       a.status, a.version = w.version AS holds, to_timestamp(d.as_of / 1000.0) AS at, w.shard, w.epoch
FROM weight w
JOIN admission a USING (memory_id)
JOIN memory m ON m.id = w.memory_id
JOIN decision d ON d.shard = w.shard AND d.epoch = w.epoch;
ALTER VIEW audit_weights OWNER TO memquorum_owner;
ALTER VIEW audit_weights SET (security_invoker = true);

-- What agents were given for what they did to the fleet's memory. It grows with the journal, an entry of which it names.
CREATE TABLE reward (
    shard      integer NOT NULL,
    seq        bigint  NOT NULL, -- journal sequence
    namespace  text    NOT NULL,
    agent      text    NOT NULL,
    memory_id  uuid    NOT NULL,
    kind       text    NOT NULL, -- used, promoted, repeated, refused
    amount_ppm integer NOT NULL,
    as_of      bigint  NOT NULL, -- the shard's time
    PRIMARY KEY (shard, seq, memory_id, kind)
);
CREATE INDEX reward_agent ON reward (namespace, agent, kind) INCLUDE (amount_ppm);

ALTER TABLE reward OWNER TO memquorum_owner;

ALTER TABLE reward ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON reward FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON reward FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- What decisions' draws among near-ties have cost the subjects of memories, in millionths of ε; it grows with the journal.
-- No subject is named here: a row names a memory of it, and is of the same subject when all else of that is erased.
CREATE TABLE spent (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    memory_id uuid    NOT NULL,
    spent_ppm bigint  NOT NULL,
    PRIMARY KEY (shard, seq, memory_id)
);
CREATE INDEX spent_namespace ON spent (namespace, memory_id) INCLUDE (spent_ppm);

ALTER TABLE spent OWNER TO memquorum_owner;

ALTER TABLE spent ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON spent FOR SELECT TO memquorum_reader USING (true);

-- Orders to protect a memory that stand. What protected once and does no more is in the journal.
CREATE TABLE protection (
    memory_id   uuid    NOT NULL,
    kind        text    NOT NULL CHECK (kind IN ('pin', 'hold') OR kind ^@ 'goal:'),
    shard       integer NOT NULL,
    seq         bigint  NOT NULL, -- journal sequence
    namespace   text    NOT NULL,
    order_id    uuid    NOT NULL,
    signer      text    NOT NULL,
    ordered_by  text    NOT NULL,
    reference   text,
    accepted_at bigint  NOT NULL,
    PRIMARY KEY (memory_id, kind)
);
CREATE INDEX protection_shard ON protection (shard, seq);
CREATE INDEX protection_namespace ON protection (namespace, kind, seq); -- page by page, the latest first

ALTER TABLE protection OWNER TO memquorum_owner;

ALTER TABLE protection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON protection FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY rehearser ON protection FOR SELECT TO memquorum_rehearser USING (true);
CREATE POLICY tenant ON protection FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Orders and requests that were answered, by the digest of their signed bytes: published again, they change nothing.
CREATE TABLE answered (
    shard     integer NOT NULL,
    digest    bytea   NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence of its first entry
    namespace text    NOT NULL,
    effect    text    NOT NULL, -- of that entry: erased, withheld, protected, requested, declined, patched
    PRIMARY KEY (shard, digest)
);
CREATE INDEX answered_seq ON answered (shard, seq);
CREATE INDEX answered_withheld ON answered (namespace, shard, seq) WHERE effect = 'withheld';

ALTER TABLE answered OWNER TO memquorum_owner;

ALTER TABLE answered ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON answered FOR SELECT TO memquorum_reader USING (true);

-- Namespaces of many memories are asked through indexes of their own, which `db/crowds.py` makes: near_… for vectors,
-- words_… for words (infra/decisions/0031). Row security lets no operator of full text into an index, for it might tell of
-- rows that are not to be seen. So these two look as the reader, in a namespace that the caller sees, and tell ids and
-- numbers alone; what they name, row security shows or does not.
CREATE FUNCTION tenant_sees(asked text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT asked = ANY (tenant_names()) OR asked ^@ ANY (tenant_beginnings())
$$;
ALTER FUNCTION tenant_sees(text) OWNER TO memquorum_owner;

-- How many memories of a namespace have each of the words.
CREATE FUNCTION word_holders(of_namespace text, asked text[]) RETURNS TABLE (word text, holders bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT tenant_sees(of_namespace) THEN
        RETURN;
    END IF;
    FOREACH word IN ARRAY asked LOOP
        -- The namespace stands in the text, so that the planner sees its index.
        EXECUTE format('SELECT count(*) FROM content WHERE namespace = %L AND words @@ $1', of_namespace)
            INTO holders USING word::tsquery;
        RETURN NEXT;
    END LOOP;
END
$$;

-- The memories whose words say most, of those that `sources` leads to, `looked` at most: the sum, over the words that a
-- memory has, of the word's weight times its `ts_rank` (0.61 for once, and 1 at most).
CREATE FUNCTION words_best(
    of_namespace text, sources text, asked text[], weights float8[], looked integer, depth integer
) RETURNS TABLE (id uuid, score numeric)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100 SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT tenant_sees(of_namespace) OR sources = '' THEN
        RETURN;
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT f.memory_id, round(sum(ts_rank(''{1,1,1,1}'', f.words, w.word) * w.weight)::numeric, 6) AS score
         FROM (SELECT memory_id, words FROM content WHERE namespace = %L AND words @@ $1 LIMIT $4) AS f
         JOIN unnest($2, $3) AS w (word, weight) ON f.words @@ w.word
         GROUP BY f.memory_id
         ORDER BY score DESC, f.memory_id
         LIMIT $5',
        of_namespace
    ) USING sources::tsquery, asked::tsquery[], weights, looked, depth;
END
$$;

GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION word_holders(text, text[]) OWNER TO memquorum_reader;
ALTER FUNCTION words_best(text, text, text[], float8[], integer, integer) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;
REVOKE EXECUTE ON FUNCTION word_holders(text, text[]), words_best(text, text, text[], float8[], integer, integer)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION word_holders(text, text[]), words_best(text, text, text[], float8[], integer, integer)
    TO memquorum_tenant;

-- What cleared slots: whoever asks what a memory gave way to reads the latest of its namespace.
CREATE INDEX journal_cleared ON journal (namespace, seq) WHERE effect = 'cleared';

-- What was withheld is listed, to be ordered again.
CREATE INDEX journal_withheld ON journal (event_id) WHERE effect = 'withheld';

-- Who verifies reads what memories and finished tasks say, as trials of one on the others need it, and changes nothing.
DO $$
BEGIN
    CREATE ROLE memquorum_verifier NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory', 'content', 'embedding', 'experience', 'task', 'trial', 'admission', 'weight',
        'provenance', 'journal', 'decision', 'outcome'] LOOP
        EXECUTE format('CREATE POLICY verifier ON %I FOR SELECT TO memquorum_verifier USING (true)', name);
    END LOOP;
END
$$;

-- Whether a memory was said to be otherwise than what was there: it contradicted that when it was stored, named it to take
-- its place, or fills a slot that was filled before. What becomes of the other one later, that is erased or comes back,
-- changes nothing, or who verifies before and who does after would ask different judges. Who verifies is told that alone,
-- and neither slots nor what stands in them.
CREATE FUNCTION trial_corrects(of_memory uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM conflict c WHERE c.newer = of_memory) OR EXISTS (
        SELECT FROM memory m
        JOIN memory o ON o.namespace = m.namespace AND o.slot = m.slot AND o.id <> m.id
        WHERE m.id = of_memory AND m.slot IS NOT NULL AND m.explicit AND o.explicit AND o.created <= m.created
          AND (SELECT min(j.seq) FROM journal j WHERE j.memory_id = o.id AND j.effect = 'stored')
              < (SELECT min(j.seq) FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored')
    )
$$;

-- The finished tasks that the session was in which a memory was said, or what it was made of: all of it, or its agent's part
-- (core/ids.py makes their event ids). Who verifies is told these ids, and no session.
CREATE FUNCTION trial_sessions(of_memory uuid) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT ARRAY(
        SELECT DISTINCT e.memory_id::text
        FROM (
            SELECT of_memory AS id
            UNION SELECT p.parent FROM provenance p WHERE p.child = of_memory AND NOT p.merged
        ) said
        JOIN memory m ON m.id = said.id AND m.session IS NOT NULL
        CROSS JOIN LATERAL (VALUES (''), (m.agent)) AS part (agent)
        JOIN event e ON e.namespace = m.namespace AND e.event_id = 'session/' || encode(sha256(convert_to(
            length(m.namespace) || ':' || m.namespace || length(part.agent) || ':' || part.agent || m.session, 'UTF8'
        )), 'hex')
        ORDER BY 1
    )
$$;

-- From which place in the accepted stream on tasks may judge a memory, and which of them was its own session, as verifiers
-- have it. The retrieval service asks it, of what it may see: decisions speak of other tenants' memories, too.
CREATE FUNCTION trial_judges(of_memory uuid, OUT since bigint, OUT own text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT greatest(d.accepted_offset, CASE WHEN trial_corrects(m.id) THEN j.source_offset END, 0), trial_sessions(m.id)
    FROM memory m
    LEFT JOIN admission a ON a.memory_id = m.id
    LEFT JOIN decision d ON d.shard = a.shard AND d.epoch = a.rejected
    LEFT JOIN LATERAL (
        SELECT source_offset FROM journal
        WHERE memory_id = m.id AND effect IN ('stored', 'drafted')
        ORDER BY seq LIMIT 1
    ) j ON true
    WHERE m.id = of_memory AND tenant_sees(m.namespace)
$$;
GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION trial_corrects(uuid) OWNER TO memquorum_reader;
ALTER FUNCTION trial_sessions(uuid) OWNER TO memquorum_reader;
ALTER FUNCTION trial_judges(uuid) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;
REVOKE EXECUTE ON FUNCTION trial_corrects(uuid), trial_sessions(uuid), trial_judges(uuid) FROM PUBLIC;
