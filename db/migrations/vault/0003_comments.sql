-- What every table, view and column is, in the catalogue, so that any tool for SQL tells it. `*` is the meaning of a name wherever
-- it stands; a line for a table's own column goes before it. A later table or column brings its comment in its own migration.
DO $$
DECLARE
    it record;
BEGIN
    FOR it IN
        WITH told (relation, attribute, words) AS (VALUES
        ('subject_key', NULL, 'A key for each subject of a namespace, under which the keys of its memories lie.'),
        ('memory_key', NULL, 'A key for each memory; the row stays when the key is destroyed.'),
        ('destruction', NULL, 'Up to which entry of the journal keys were destroyed.'),
        ('migration', NULL, 'The migrations that were applied.'),
        ('*', 'namespace', 'Namespace; one that begins with ! is not of agents.'),
        ('*', 'subject', 'Person or thing that it is about.'),
        ('*', 'wrapped', 'The key, encrypted; of a memory NULL once it is destroyed.'),
        ('*', 'memory_id', 'Id of the memory.'),
        ('*', 'made_at', 'When the key was made.'),
        ('*', 'claim', 'SHA-256 of namespace, agent and kind of the record that has the event id.'),
        ('*', 'shard', 'Shard.'),
        ('*', 'seq', 'Sequence of the entry in the journal.'),
        ('*', 'name', 'Name of the file.'),
        ('*', 'checksum', 'SHA-256 of the file.'),
        ('*', 'applied_at', 'When it was applied.')
        )
        SELECT c.relname, CASE c.relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END AS kind, NULL::name AS attname, t.words
        FROM pg_class c JOIN told t ON t.relation = c.relname AND t.attribute IS NULL
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
        UNION ALL
        SELECT c.relname, NULL, a.attname, coalesce(own.words, each.words)
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN told own ON own.relation = c.relname AND own.attribute = a.attname
        LEFT JOIN told each ON each.relation = '*' AND each.attribute = a.attname
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v')
    LOOP
        IF it.attname IS NULL THEN
            EXECUTE format('COMMENT ON %s %I IS %L', it.kind, it.relname, it.words);
        ELSE
            EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', it.relname, it.attname, it.words);
        END IF;
    END LOOP;
END
$$;
