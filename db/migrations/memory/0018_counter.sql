-- Who counts: intake, for its limit of memories in all. It learns numbers, and nothing of any memory.
DO $$
BEGIN
    CREATE ROLE memquorum_counter NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
CREATE POLICY counter ON living FOR SELECT TO memquorum_counter USING (true);
