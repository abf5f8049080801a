-- Who may do what in the database `memory`. This is the one place that says so: it is carried out after the migrations,
-- each time, and takes back whatever else these roles were granted. Which login may step down to which role says
-- `db/database_logins.py`; which rows a role sees say the policies beside the tables. A new table goes in here with the rights of
-- every role that needs it; a test names one that is missing.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memquorum_writer', 'memquorum_reader', 'memquorum_accounts', 'memquorum_tenant',
        'memquorum_counter', 'memquorum_rehearser', 'memquorum_verifier'] LOOP
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', name);
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
END
$$;

-- The writer is the commit worker, and the rebuild. Logs are appended to; only state changes.
GRANT SELECT, INSERT, UPDATE ON shard, cursor, event, memory, erasure, living, admission TO memquorum_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON strength, protection TO memquorum_writer;
GRANT SELECT, INSERT, UPDATE ON profile_now TO memquorum_writer;
GRANT SELECT, INSERT, DELETE ON content, embedding, sentence, replaced, experience, dropped TO memquorum_writer;
-- A name that an order erases goes out of the links of what stays.
GRANT UPDATE (named) ON content TO memquorum_writer;
GRANT SELECT, INSERT ON journal, decision, outcome, ballot, provenance, quote, patch, conflict, link, erased, let_go,
    answered, reward, spent, used, disclosure, task, feedback, trial, weight, profile TO memquorum_writer;
GRANT SELECT ON audit_votes, audit_forgotten, audit_kept, audit_weights TO memquorum_writer;
-- It copies into tables of its session, and inserts from these.
DO $$
BEGIN
    EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO memquorum_writer', current_database());
END
$$;

-- The reader sees all and changes nothing: decay, nomination and salience; audits and the operator's questions.
GRANT SELECT ON shard, cursor, event, memory, content, embedding, sentence, replaced, strength, dropped, journal, decision, outcome, ballot,
    provenance, quote, patch, conflict, link, erased, erasure, living, let_go, protection, answered, reward, spent, used, disclosure,
    task, feedback, experience, trial, admission, weight, profile, profile_now, diffusing, contradiction, forgotten, audit_votes, audit_forgotten,
    audit_kept, audit_weights TO memquorum_reader;
-- To decode the journal takes no right: the schemas of records are no secret.
GRANT SELECT ON record_schema, audit_journal TO memquorum_reader;
GRANT SELECT ON record_schema, audit_journal TO memquorum_tenant;
GRANT SELECT ON audit_promotions, audit_supersessions, audit_marks, audit_restores, audit_erasures, audit_erased, audit_destructions,
    audit_consolidations, audit_orders, audit_uses, audit_members, audit_agreement, audit_footprint, audit_budgets, audit_triggers TO memquorum_reader;
-- Not audit_budgets and audit_triggers: they decode certificates, which speak of all tenants.
GRANT SELECT ON audit_promotions, audit_supersessions, audit_marks, audit_restores, audit_erasures, audit_erased, audit_destructions,
    audit_consolidations, audit_orders, audit_uses, audit_members, audit_agreement, audit_footprint TO memquorum_tenant;

-- The tenant is the retrieval service in nearly all that it asks: rows of the namespaces that it names, no others.
GRANT SELECT ON memory, content, embedding, sentence, replaced, strength, event, dropped, journal, outcome, ballot, provenance, quote, patch, conflict,
    link, erased, erasure, protection, reward, used, disclosure, task, feedback, experience, trial, admission, weight, contradiction, forgotten,
    audit_votes, audit_forgotten, audit_kept, audit_weights TO memquorum_tenant;
-- A certificate speaks of all memories of its epoch, of other tenants' too: so not its columns.
GRANT SELECT (shard, epoch, seq, view, config, as_of, trigger, journal_seq) ON decision TO memquorum_tenant;
-- What the caps count by, of the namespaces in sight: when something may be forgotten there again.
GRANT SELECT (namespace, alive) ON living TO memquorum_tenant;
GRANT SELECT (namespace, epoch, as_of, forgotten) ON let_go TO memquorum_tenant;
-- The profiles of subjects, and which memories they hide.
GRANT SELECT ON profile_now TO memquorum_tenant;
GRANT EXECUTE ON FUNCTION tenant_hidden(), profile_hides(bigint, text[]), profile_due(integer, bigint, integer) TO memquorum_tenant;
-- Which tasks may judge a memory in sight.
GRANT EXECUTE ON FUNCTION trial_judges(uuid) TO memquorum_tenant;
-- General forms whose publishers let them cross: the one thing that is seen of namespaces that are out of sight.
GRANT EXECUTE ON FUNCTION diffused(text, text, halfvec, float8, integer), diffused_one(text, uuid) TO memquorum_tenant;
-- The time is everybody's, and when members voted last. How much goes on in a shard is not.
GRANT SELECT (shard, as_of, last_epoch, last_epoch_at) ON shard TO memquorum_tenant;

-- The retrieval service again, for its cache (ids, vectors, counts) and for certificates, which are not one tenant's.
-- It never sees content but as the tenant.
GRANT SELECT ON shard, memory, embedding, strength, journal, decision, outcome, erasure TO memquorum_accounts;

-- The counter is intake: how many memories a namespace has, and up to where that is counted. No memory, no content.
GRANT SELECT (namespace, alive) ON living TO memquorum_counter;
GRANT SELECT (shard, topic, next_offset) ON cursor TO memquorum_counter;

-- And what subjects keep out, since intake refuses it.
GRANT SELECT ON profile_now TO memquorum_counter;

-- The rehearser is the worker of that name: whether a memory is used, contradicted and borne out; no content, no vector,
-- and nobody's agent but to tell one from another. Decisions, for who they say may sign.
GRANT SELECT (id, shard, namespace, agent, source, made_by, general_of, tier, created, said, said_offset, seq)
    ON memory TO memquorum_rehearser;
GRANT SELECT ON strength, conflict, provenance TO memquorum_rehearser;
GRANT SELECT (memory_id) ON protection TO memquorum_rehearser;
GRANT SELECT (shard, as_of) ON shard TO memquorum_rehearser;
GRANT SELECT (shard, topic, next_offset) ON cursor TO memquorum_rehearser;
GRANT SELECT (shard, epoch, seq, config, trigger, pre_prepare, commits) ON decision TO memquorum_rehearser;
GRANT SELECT (shard, epoch, kind, outcome) ON outcome TO memquorum_rehearser;

-- The verifier is the worker of that name: what memories and finished tasks say, and by which decisions trials are made.
-- Nobody's subject, session or source, and of the journal no entry.
GRANT SELECT (id, shard, namespace, agent, general_of, tier, created, seq) ON memory TO memquorum_verifier;
GRANT SELECT (memory_id, namespace, body) ON content TO memquorum_verifier;
GRANT SELECT ON embedding, experience, task, trial, admission, weight TO memquorum_verifier;
GRANT SELECT (seq, task, memory_id, accepted_offset, agent, helped) ON feedback TO memquorum_verifier;
GRANT SELECT (namespace, child, parent, merged) ON provenance TO memquorum_verifier;
GRANT SELECT (memory_id, seq, effect, source_offset) ON journal TO memquorum_verifier;
GRANT EXECUTE ON FUNCTION trial_corrects(uuid), trial_sessions(uuid) TO memquorum_verifier;
GRANT SELECT (shard, last_epoch, seq) ON shard TO memquorum_verifier;
GRANT SELECT (shard, epoch, seq, config, trigger, pre_prepare, commits, nomination, accepted_offset) ON decision TO memquorum_verifier;
GRANT SELECT (shard, epoch, kind, outcome) ON outcome TO memquorum_verifier;

-- The keeper writes tables anew that held what was deleted, and makes the indexes of large namespaces: for these it owns
-- content and embedding, of which row security, forced upon owners too, shows it no row.
GRANT MAINTAIN ON content, embedding, sentence, replaced, experience TO memquorum_keeper;
GRANT CREATE ON SCHEMA public TO memquorum_keeper;
REVOKE CREATE ON SCHEMA public FROM memquorum_owner; -- it had it for the migrations alone
-- A server of others may give neither, as it drops its log itself: a sweep leaves that to it.
DO $$
BEGIN
    GRANT EXECUTE ON FUNCTION pg_switch_wal(), pg_ls_waldir() TO memquorum_keeper;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END
$$;
DO $$
BEGIN
    GRANT pg_checkpoint TO memquorum_keeper WITH INHERIT TRUE, SET FALSE;
EXCEPTION
    WHEN insufficient_privilege THEN
        NULL;
    WHEN unique_violation OR internal_error THEN
        NULL; -- another database's migration did it at this very moment
END
$$;
