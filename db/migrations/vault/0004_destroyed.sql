-- The order in which the keys of agents' memories were destroyed: members of a vote read on from the last one that they know,
-- and so know of each memory in their view whether it has a key. NULL while there is a key, for what is not of agents, and for
-- what earlier releases destroyed.
ALTER TABLE memory_key ADD COLUMN destroyed bigint;
CREATE UNIQUE INDEX memory_key_destroyed ON memory_key (destroyed) WHERE destroyed IS NOT NULL;
COMMENT ON COLUMN memory_key.destroyed IS 'Number of its destruction, in their order; NULL while it exists, and of what is not of agents.';

-- One transaction at a time destroys, so that a number is never seen before a lower one.
CREATE FUNCTION key_destroyed_in_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('memory_key.destroyed'));
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_key_destroyed_in_turn BEFORE UPDATE ON memory_key
    FOR EACH STATEMENT EXECUTE FUNCTION key_destroyed_in_turn();

CREATE OR REPLACE FUNCTION key_only_destroyed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.wrapped IS NOT NULL OR (NEW.memory_id, NEW.namespace, NEW.subject, NEW.claim, NEW.destroyed)
            IS DISTINCT FROM (OLD.memory_id, OLD.namespace, OLD.subject, OLD.claim, OLD.destroyed) THEN
        RAISE EXCEPTION 'the key of memory % may only be destroyed', OLD.memory_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF OLD.wrapped IS NOT NULL AND NOT starts_with(NEW.namespace, '!') THEN
        NEW.destroyed := coalesce((SELECT max(destroyed) FROM memory_key), 0) + 1;
    END IF;
    RETURN NEW;
END
$$;
