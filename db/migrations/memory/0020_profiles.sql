-- The profiles of subjects (decision 213), each order as it was given. No list: what is never kept is in `profile_now` alone.
CREATE TABLE profile (
    shard         integer NOT NULL,
    seq           bigint  NOT NULL, -- journal sequence
    namespace     text    NOT NULL,
    subject       text    NOT NULL,
    order_id      uuid    NOT NULL,
    stores        boolean NOT NULL,
    private_until bigint,
    retention     text[]  NOT NULL, -- TYPE=DAYS
    consents      text[], -- PURPOSE=UNTIL; NULL: any purpose
    listed        boolean NOT NULL,
    accepted_at   bigint  NOT NULL,
    PRIMARY KEY (shard, seq)
);
ALTER TABLE profile OWNER TO memquorum_owner;
ALTER TABLE profile ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON profile FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY writer ON profile TO memquorum_writer USING (true) WITH CHECK (true);

-- The profile of each subject that is in force. An erasure of the subject takes the list, and leaves the rest.
CREATE TABLE profile_now (
    namespace     text    NOT NULL,
    subject       text    NOT NULL,
    shard         integer NOT NULL,
    seq           bigint  NOT NULL, -- journal sequence
    order_id      uuid    NOT NULL,
    stores        boolean NOT NULL,
    private_until bigint,
    retention     text[]  NOT NULL,
    consents      text[],
    entries       text[]  NOT NULL, -- what is never kept
    accepted_at   bigint  NOT NULL,
    PRIMARY KEY (namespace, subject)
);
-- A sample that the planner keeps of a column is a copy that outlives the row.
ALTER TABLE profile_now ALTER COLUMN entries SET STATISTICS 0;
ALTER TABLE profile_now OWNER TO memquorum_keeper;
ALTER TABLE profile_now ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON profile_now FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY counter ON profile_now FOR SELECT TO memquorum_counter USING (true);
CREATE POLICY writer ON profile_now TO memquorum_writer USING (true) WITH CHECK (true);
CREATE POLICY tenant ON profile_now FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Whether a profile hides the memories of its subject now, from a reader for the purpose `memquorum.purpose`: it is in private
-- mode, or it names the purposes that it consents to, and this is none of them or is over.
CREATE FUNCTION profile_hides(private_until bigint, consents text[]) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(private_until > moment.ms, false) OR consents IS NOT NULL AND NOT EXISTS (
        SELECT FROM unnest(consents) AS one
        WHERE split_part(one, '=', 1) = current_setting('memquorum.purpose', true)
          AND (split_part(one, '=', 2) = '0' OR split_part(one, '=', 2)::bigint > moment.ms)
    )
    FROM (SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint AS ms) AS moment
$$;
ALTER FUNCTION profile_hides(bigint, text[]) OWNER TO memquorum_owner;

-- The memories in sight that profiles hide: those of their subjects, and all that was made of these.
CREATE FUNCTION tenant_hidden() RETURNS SETOF uuid
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER ROWS 1 SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM profile_now p WHERE p.private_until IS NOT NULL OR p.consents IS NOT NULL) THEN
        RETURN;
    END IF;
    RETURN QUERY WITH RECURSIVE hidden (id) AS (
        SELECT m.id FROM profile_now p JOIN memory m ON m.namespace = p.namespace AND m.subject = p.subject
        WHERE (p.private_until IS NOT NULL OR p.consents IS NOT NULL) AND tenant_sees(p.namespace)
          AND profile_hides(p.private_until, p.consents)
        UNION
        SELECT v.child FROM hidden h JOIN memory m ON m.id = h.id
        JOIN provenance v ON v.namespace = m.namespace AND v.parent = h.id
    )
    SELECT hidden.id FROM hidden;
END
$$;
-- The memories that are older than the profile of their subject lets them be, at the time of a shard: `most` at most. What a
-- profile hides comes of age, too.
CREATE FUNCTION profile_due(of_shard integer, at_time bigint, most integer) RETURNS TABLE (namespace text, memory_id uuid)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.namespace, m.id
    FROM profile_now p
    CROSS JOIN LATERAL unnest(p.retention) AS rule
    JOIN memory m ON m.namespace = p.namespace AND m.subject = p.subject AND m.type = split_part(rule, '=', 1)
        AND m.created < at_time - split_part(rule, '=', 2)::bigint * 86400000 AND m.tier <> 'gone' AND m.made_by IS NULL
    WHERE p.shard = of_shard AND p.retention <> '{}' AND tenant_sees(p.namespace)
      AND NOT EXISTS (SELECT FROM protection h WHERE h.memory_id = m.id AND h.kind = 'hold')
    ORDER BY m.created, m.id
    LIMIT most
$$;
GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION tenant_hidden() OWNER TO memquorum_reader;
ALTER FUNCTION profile_due(integer, bigint, integer) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;

-- Beside the policies that say which namespaces a tenant sees. The set is found once for a statement, and is empty in one step
-- where no profile hides anything.
CREATE POLICY hidden ON memory AS RESTRICTIVE FOR SELECT TO memquorum_tenant USING (id NOT IN (SELECT tenant_hidden()));
CREATE INDEX memory_subject_hidden ON memory (namespace, subject);
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['content', 'embedding', 'sentence', 'replaced', 'experience', 'event', 'used', 'disclosure',
            'journal', 'outcome'] LOOP
        EXECUTE format('CREATE POLICY hidden ON %I AS RESTRICTIVE FOR SELECT TO memquorum_tenant
            USING (memory_id IS NULL OR memory_id NOT IN (SELECT tenant_hidden()))', name);
    END LOOP;
END
$$;

COMMENT ON TABLE profile IS 'A profile of a subject, as it was ordered.';
COMMENT ON TABLE profile_now IS 'The profile of each subject that is in force.';
DO $$
DECLARE
    it record;
BEGIN
    FOR it IN
        SELECT c.relname, a.attname, t.words FROM (VALUES
            ('shard', 'Shard.'), ('seq', 'Sequence of the entry in the journal.'), ('namespace', 'Namespace.'),
            ('subject', 'Person or thing whose profile it is.'), ('order_id', 'Id of the order.'),
            ('stores', 'Whether anything about the subject is stored.'),
            ('private_until', 'Until then nothing about the subject is stored or shown, in milliseconds.'),
            ('retention', 'After how many days memories of a type are erased, TYPE=DAYS.'),
            ('consents', 'Purposes that its memories may be read for, PURPOSE=UNTIL in milliseconds, 0: no end; NULL: any.'),
            ('listed', 'Whether it has a list of what is never kept.'),
            ('entries', 'Names and things that are never kept.'),
            ('accepted_at', 'When the order came in, in milliseconds.')
        ) AS t (attribute, words)
        JOIN pg_class c ON c.relname IN ('profile', 'profile_now')
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = t.attribute
        WHERE c.relnamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('COMMENT ON COLUMN %I.%I IS %L', it.relname, it.attname, it.words);
    END LOOP;
END
$$;
