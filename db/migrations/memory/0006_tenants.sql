-- Row security. Who reads for a tenant sees the rows of that tenant's namespaces, whatever it asks: the retrieval service
-- steps down to `memquorum_tenant` and says in each transaction, by the setting `memquorum.namespaces`, whose rows it
-- may see: names and beginnings (`team-*`), with commas between them. Where nothing is said, nothing is seen. The
-- stages see everything: the reader by policies, the writer past them, for it writes by COPY, which knows no policies.
-- FORCE: whoever is granted the owner's role sees nothing either.
DO $$
BEGIN
    CREATE ROLE memquorum_tenant NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another database of this server made it, perhaps at this very moment
END
$$;
DO $$
BEGIN
    IF NOT (SELECT rolbypassrls FROM pg_roles WHERE rolname = 'memquorum_writer') THEN
        ALTER ROLE memquorum_writer BYPASSRLS;
    END IF;
EXCEPTION WHEN internal_error THEN
    NULL; -- another database's migration did it at this very moment
END
$$;

-- What is a tenant's by its memory alone asks for the memory, row by row; so what is read in bulk names its namespace.
ALTER TABLE content ADD COLUMN namespace text;
UPDATE content SET namespace = m.namespace FROM memory m WHERE m.id = memory_id;
ALTER TABLE content ALTER COLUMN namespace SET NOT NULL;

CREATE FUNCTION tenant_names() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT array(
        SELECT pattern FROM unnest(string_to_array(current_setting('memquorum.namespaces', true), ',')) AS pattern
        WHERE pattern NOT LIKE '%*'
    )
$$;
CREATE FUNCTION tenant_beginnings() RETURNS text[] LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT array(
        SELECT left(pattern, -1)
        FROM unnest(string_to_array(current_setting('memquorum.namespaces', true), ',')) AS pattern
        WHERE pattern LIKE '%*'
    )
$$;
ALTER FUNCTION tenant_names() OWNER TO memquorum_owner;
ALTER FUNCTION tenant_beginnings() OWNER TO memquorum_owner;

ALTER TABLE memory ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE content ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE strength ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE dropped ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE journal ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE decision ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE outcome ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE ballot ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY reader ON memory FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON content FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON embedding FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON strength FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON event FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON dropped FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON journal FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON decision FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON outcome FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY reader ON ballot FOR SELECT TO memquorum_reader USING (true);

-- The functions stand in subqueries so that they are called once for a question and not once for a row.
CREATE POLICY tenant ON memory FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON embedding FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON content FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON event FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON dropped FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
-- Entries without a namespace speak of several, or of none: ticks, decisions, destroyed keys.
CREATE POLICY tenant ON journal FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
-- What has no namespace of its own goes with what it belongs to; the policy of that one holds within the question.
CREATE POLICY tenant ON strength FOR SELECT TO memquorum_tenant USING (
    EXISTS (SELECT FROM memory m WHERE m.id = memory_id)
);
CREATE POLICY tenant ON outcome FOR SELECT TO memquorum_tenant USING (
    EXISTS (SELECT FROM memory m WHERE m.id = memory_id)
);
CREATE POLICY tenant ON ballot FOR SELECT TO memquorum_tenant USING (
    EXISTS (
        SELECT FROM outcome o WHERE o.shard = ballot.shard AND o.epoch = ballot.epoch AND o.position = ballot.position
    )
);
CREATE POLICY tenant ON decision FOR SELECT TO memquorum_tenant USING (
    EXISTS (SELECT FROM outcome o WHERE o.shard = decision.shard AND o.epoch = decision.epoch)
);
