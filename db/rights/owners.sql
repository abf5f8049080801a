-- Before the migrations of `memory`. Who is no superuser may hand a table to a role only if that role may make tables in the
-- schema: memory.sql takes it back from the owner afterwards.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memquorum_owner', 'memquorum_keeper'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server made it, perhaps at this very moment
        END;
        EXECUTE format('GRANT CREATE ON SCHEMA public TO %I', name);
    END LOOP;
END
$$;
