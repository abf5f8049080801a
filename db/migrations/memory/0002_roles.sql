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
ALTER TABLE strength OWNER TO memquorum_owner;
ALTER TABLE journal OWNER TO memquorum_owner;
ALTER TABLE decision OWNER TO memquorum_owner;
ALTER TABLE outcome OWNER TO memquorum_owner;
ALTER TABLE ballot OWNER TO memquorum_owner;
ALTER VIEW audit_votes OWNER TO memquorum_owner;
ALTER VIEW audit_forgotten OWNER TO memquorum_owner;
ALTER FUNCTION append_only() OWNER TO memquorum_owner;

-- A view asks with the rights of who reads it, so that row security on the tables will hold through it.
ALTER VIEW audit_votes SET (security_invoker = true);
ALTER VIEW audit_forgotten SET (security_invoker = true);
