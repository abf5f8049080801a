-- The writer sees and changes every row by a policy of its own. Until now it had an attribute that a server of others lets
-- nobody give (decision 192). A role that has it keeps it: another installation of this server may need it still.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relrowsecurity
    LOOP
        EXECUTE format('CREATE POLICY writer ON %I TO memquorum_writer USING (true) WITH CHECK (true)', name);
    END LOOP;
END
$$;
