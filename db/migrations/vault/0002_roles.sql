-- Who may do what with keys: `db/rights/vault.sql`. None of these removes the row that says that a key was destroyed.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memquorum_vault', 'memquorum_keymaker', 'memquorum_keyreader',
        'memquorum_keydestroyer', 'memquorum_keeper'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL; -- another database of this server made it, perhaps at this very moment
        END;
    END LOOP;
END
$$;

-- A destroyed key stays destroyed, and a key never becomes another one.
CREATE FUNCTION key_only_destroyed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.wrapped IS NOT NULL OR (NEW.memory_id, NEW.namespace, NEW.subject)
            IS DISTINCT FROM (OLD.memory_id, OLD.namespace, OLD.subject) THEN
        RAISE EXCEPTION 'the key of memory % may only be destroyed', OLD.memory_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER memory_key_only_destroyed BEFORE UPDATE ON memory_key
    FOR EACH ROW EXECUTE FUNCTION key_only_destroyed();

-- Intake makes keys, and destroys those of its dead letters alone.
ALTER TABLE memory_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY reads ON memory_key FOR SELECT
    TO memquorum_vault, memquorum_keymaker, memquorum_keyreader, memquorum_keydestroyer USING (true);
CREATE POLICY makes ON memory_key FOR INSERT TO memquorum_vault, memquorum_keymaker WITH CHECK (true);
CREATE POLICY destroys ON memory_key FOR UPDATE TO memquorum_vault, memquorum_keydestroyer USING (true);
CREATE POLICY letters ON memory_key FOR UPDATE TO memquorum_keymaker USING (namespace = '!intake');
