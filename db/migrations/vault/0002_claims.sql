-- Whose an event id is: SHA-256 of the agent that used it first, and of what kind of record that was (core/ids.claim). NULL for
-- what has no event id, and for what earlier releases made.
ALTER TABLE memory_key ADD COLUMN claim bytea;

-- A claim never changes either.
CREATE OR REPLACE FUNCTION key_only_destroyed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.wrapped IS NOT NULL OR (NEW.memory_id, NEW.namespace, NEW.subject, NEW.claim)
            IS DISTINCT FROM (OLD.memory_id, OLD.namespace, OLD.subject, OLD.claim) THEN
        RAISE EXCEPTION 'the key of memory % may only be destroyed', OLD.memory_id
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END
$$;
