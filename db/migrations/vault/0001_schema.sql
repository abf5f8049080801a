-- The vault: keys and nothing else, in a database and a backup of its own. Wrapped with AES-256-GCM by the key above.
CREATE TABLE subject_key (
    namespace text  NOT NULL,
    subject   text  NOT NULL,
    wrapped   bytea NOT NULL, -- by the master key
    PRIMARY KEY (namespace, subject)
);

-- A destroyed key keeps its row, without the key, so that no late record makes it again.
CREATE TABLE memory_key (
    memory_id    uuid  PRIMARY KEY,
    namespace    text  NOT NULL,
    subject      text  NOT NULL,
    wrapped      bytea,          -- by the subject's key; NULL once destroyed
    made_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (namespace, subject) REFERENCES subject_key (namespace, subject)
);
CREATE INDEX memory_key_of_letters ON memory_key (made_at) WHERE namespace = '!intake' AND wrapped IS NOT NULL;
CREATE INDEX memory_key_of_queries ON memory_key (subject) WHERE namespace = '!asked' AND wrapped IS NOT NULL;

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

-- Intake makes keys, and destroys those of its dead letters and of queries alone.
ALTER TABLE memory_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY reads ON memory_key FOR SELECT
    TO memquorum_vault, memquorum_keymaker, memquorum_keyreader, memquorum_keydestroyer USING (true);
CREATE POLICY makes ON memory_key FOR INSERT TO memquorum_vault, memquorum_keymaker WITH CHECK (true);
CREATE POLICY destroys ON memory_key FOR UPDATE TO memquorum_vault, memquorum_keydestroyer USING (true);
CREATE POLICY letters ON memory_key FOR UPDATE TO memquorum_keymaker USING (namespace IN ('!intake', '!asked'));

-- How far each shard's journal was followed: every key that it calls destroyed up to this entry is destroyed here. A
-- backup that is put back says less than the journal, and the commit worker destroys again what lies between.
CREATE TABLE destruction (
    shard integer PRIMARY KEY,
    seq   bigint  NOT NULL -- journal sequence
);
