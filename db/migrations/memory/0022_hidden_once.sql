-- What profiles hide is one value, found once where a statement names a table (decision 220): a set, as a subquery returns it,
-- is hashed each time, and a plan for it takes longer to make. The keys of an object are found by halving it, however many.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory', 'content', 'embedding', 'sentence', 'replaced', 'experience', 'event', 'used',
            'disclosure', 'journal', 'outcome'] LOOP
        EXECUTE format('DROP POLICY hidden ON %I', name);
    END LOOP;
END
$$;
DROP FUNCTION tenant_hidden();

-- The memories in sight that profiles hide, those of their subjects, and all that was made of these: an object with their ids as
-- keys. It is empty in one step where no profile hides anything.
CREATE FUNCTION tenant_hidden() RETURNS jsonb
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM profile_now p WHERE p.private_until IS NOT NULL OR p.consents IS NOT NULL) THEN
        RETURN '{}';
    END IF;
    RETURN (
        WITH RECURSIVE hidden (id) AS (
            SELECT m.id FROM profile_now p JOIN memory m ON m.namespace = p.namespace AND m.subject = p.subject
            WHERE (p.private_until IS NOT NULL OR p.consents IS NOT NULL) AND tenant_sees(p.namespace)
              AND profile_hides(p.private_until, p.consents)
            UNION
            SELECT v.child FROM hidden h JOIN memory m ON m.id = h.id
            JOIN provenance v ON v.namespace = m.namespace AND v.parent = h.id
        )
        SELECT coalesce(jsonb_object_agg(hidden.id, true), '{}') FROM hidden
    );
END
$$;
GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION tenant_hidden() OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;

CREATE POLICY hidden ON memory AS RESTRICTIVE FOR SELECT TO memquorum_tenant USING (NOT (SELECT tenant_hidden()) ? id::text);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['content', 'embedding', 'sentence', 'replaced', 'experience', 'event', 'used', 'disclosure',
            'journal', 'outcome'] LOOP
        EXECUTE format('CREATE POLICY hidden ON %I AS RESTRICTIVE FOR SELECT TO memquorum_tenant
            USING (memory_id IS NULL OR NOT (SELECT tenant_hidden()) ? memory_id::text)', name);
    END LOOP;
END
$$;

-- Which memories have sentences in roll-ups: a read asks it of what it found.
CREATE INDEX patch_memory ON patch (memory);
