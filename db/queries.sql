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
