-- Who may do what in the database `vault`; see memory.sql beside this. Nobody deletes a row: it says that a key was
-- destroyed. Which rows: the policies beside the table.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memquorum_vault', 'memquorum_keymaker', 'memquorum_keyreader',
            'memquorum_keydestroyer'] LOOP
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', name);
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
END
$$;

-- All that the others may, for the operator's commands.
GRANT SELECT, INSERT ON subject_key TO memquorum_vault;
GRANT SELECT, INSERT, UPDATE (wrapped) ON memory_key TO memquorum_vault;
GRANT SELECT, INSERT, UPDATE ON destruction TO memquorum_vault;

-- Intake makes keys, reads back those that it made, and destroys those of old dead letters and queries.
GRANT SELECT, INSERT ON subject_key TO memquorum_keymaker;
GRANT SELECT, INSERT, UPDATE (wrapped) ON memory_key TO memquorum_keymaker;
GRANT SELECT ON destruction TO memquorum_keymaker;

-- Streams, replicas and audits open what was sealed, where the vault is not behind the journal.
GRANT SELECT ON subject_key, memory_key, destruction TO memquorum_keyreader;

-- The commit worker opens, and destroys.
GRANT SELECT ON subject_key TO memquorum_keydestroyer;
GRANT SELECT, UPDATE (wrapped) ON memory_key TO memquorum_keydestroyer;
GRANT SELECT, INSERT, UPDATE ON destruction TO memquorum_keydestroyer;

-- The keeper writes tables anew that held what was deleted; it may not read them.
GRANT MAINTAIN ON subject_key, memory_key TO memquorum_keeper;
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
