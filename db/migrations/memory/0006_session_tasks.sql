-- The finished task that a session was has an event id that names who published it, so that no other agent can use it up (core/ids;
-- decision 142). It is found by the digest of the session, with which the id ends; earlier releases put nothing else before that.
CREATE INDEX event_of_session ON event (namespace, (right(event_id, 64))) WHERE starts_with(event_id, 'memquorum/session/');

CREATE OR REPLACE FUNCTION trial_sessions(of_memory uuid) RETURNS text[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT ARRAY(
        SELECT DISTINCT e.memory_id::text
        FROM (
            SELECT of_memory AS id
            UNION SELECT p.parent FROM provenance p WHERE p.child = of_memory AND NOT p.merged
        ) said
        JOIN memory m ON m.id = said.id AND m.session IS NOT NULL
        CROSS JOIN LATERAL (VALUES (''), (m.agent)) AS part (agent)
        CROSS JOIN LATERAL (SELECT encode(sha256(convert_to(
            length(m.namespace) || ':' || m.namespace || length(part.agent) || ':' || part.agent || m.session, 'UTF8'
        )), 'hex') AS digest) AS session
        CROSS JOIN LATERAL (
            SELECT memory_id FROM event
            WHERE namespace = m.namespace AND event_id = 'session/' || session.digest
            UNION ALL
            SELECT memory_id FROM event
            WHERE namespace = m.namespace AND starts_with(event_id, 'memquorum/session/')
                AND right(event_id, 64) = session.digest
        ) AS e
        ORDER BY 1
    )
$$;
