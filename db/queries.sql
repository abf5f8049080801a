-- Every SQL statement that Python runs, by name. `-- :name x` starts a statement; the comment lines below it say what
-- it is for. Parameters are psycopg's: %(name)s. Migrations hold the DDL.

-- :name migration_table
-- The record of what was applied: made by the runner itself, so no migration holds it.
CREATE TABLE IF NOT EXISTS migration (
    name       text        PRIMARY KEY,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- :name migration_lock
-- One runner at a time on a database; let go with the session.
SELECT pg_advisory_lock(%(key)s)

-- :name migration_applied
-- What was applied, in order.
SELECT name, checksum FROM migration ORDER BY name

-- :name migration_insert
-- Notes a migration, in the transaction that applies it.
INSERT INTO migration (name, checksum) VALUES (%(name)s, %(checksum)s)

-- :name database_create
-- {name} is filled in as an identifier: databases cannot be parameters.
CREATE DATABASE {name}

-- :name vault_subjects
-- The wrapped keys of (namespace, subject) pairs.
SELECT k.namespace, k.subject, k.wrapped
FROM subject_key k
JOIN unnest(%(namespaces)s::text[], %(subjects)s::text[]) AS wanted (namespace, subject) USING (namespace, subject)

-- :name vault_subjects_insert
-- New subjects' keys; whoever comes second keeps the first one's. Ordered, so that two callers cannot deadlock.
INSERT INTO subject_key (namespace, subject, wrapped)
SELECT * FROM unnest(%(namespaces)s::text[], %(subjects)s::text[], %(wrapped)s::bytea[]) AS new (namespace, subject, wrapped)
ORDER BY namespace, subject
ON CONFLICT DO NOTHING

-- :name vault_keys_insert
-- New memories' keys; a key that is there, destroyed or not, stays as it is.
INSERT INTO memory_key (memory_id, namespace, subject, wrapped)
SELECT * FROM unnest(%(ids)s::uuid[], %(namespaces)s::text[], %(subjects)s::text[], %(wrapped)s::bytea[])
    AS new (memory_id, namespace, subject, wrapped)
ORDER BY memory_id
ON CONFLICT DO NOTHING

-- :name vault_keys
-- The keys that are not destroyed, each with its subject's, both wrapped.
SELECT m.memory_id::text, m.namespace, m.subject, m.wrapped, s.wrapped
FROM memory_key m
JOIN subject_key s USING (namespace, subject)
WHERE m.memory_id = ANY(%(ids)s::uuid[]) AND m.wrapped IS NOT NULL

-- :name vault_keys_destroy
-- The row stays without the key, so that no late record makes it again.
UPDATE memory_key SET wrapped = NULL WHERE memory_id = ANY(%(ids)s::uuid[]) AND wrapped IS NOT NULL
