-- General forms that their publishers let cross to other namespaces (SPEC E, SEDM 3.4; decision 133). They stay where
-- they are: what another namespace is given of one is read there, so what is erased is gone everywhere at once.

CREATE INDEX memory_diffusing ON memory (id)
    WHERE general_of IS NOT NULL AND 'diffusion' = ANY (string_to_array(purposes, ','));
-- Which tasks were given a memory: by that it has a weight of its own in each namespace.
CREATE INDEX task_given ON task USING gin (retrieved);

-- Those that are given at home: not what another one stands for, nor the form of a lesson that turned out wrong or that
-- another one stands for; and nothing as sensitive as 0.5, whatever its publisher allows. With what may be read of them
-- elsewhere, and `namespace` for the functions below.
CREATE VIEW diffusing AS
    SELECT m.namespace, m.id, m.general_of, m.tier, m.created, m.type, m.sensitivity_ppm, m.purposes, m.jurisdictions,
        c.body, e.encoder, e.vector, a.weight_ppm
    FROM memory m
    JOIN admission a ON a.memory_id = m.id AND a.status = 'admitted'
    JOIN content c ON c.memory_id = m.id
    JOIN embedding e ON e.memory_id = m.id
    JOIN memory l ON l.id = m.general_of
    LEFT JOIN admission o ON o.memory_id = l.id
    WHERE m.general_of IS NOT NULL AND 'diffusion' = ANY (string_to_array(m.purposes, ','))
      AND m.tier IN ('short-term', 'long-term') AND m.sensitivity_ppm < 500000
      AND l.tier <> 'superseded' AND (o.status IS NULL OR o.status IN ('admitted', 'left'))
      AND NOT EXISTS (
          SELECT FROM strength x JOIN admission k USING (memory_id)
          WHERE x.memory_id IN (a.merged_into, o.merged_into) AND k.status = 'admitted');

ALTER VIEW diffusing OWNER TO memquorum_owner;
-- Who may not read all of that sees nothing of it: the functions ask as the reader.
ALTER VIEW diffusing SET (security_invoker = true);

-- The nearest of them, of other namespaces than the one that asks: no name of a namespace, a subject or an agent.
-- `nearness`: a cosine.
CREATE FUNCTION diffused(asking text, by_encoder text, to_vector halfvec, nearness float8, most integer)
RETURNS TABLE (
    id uuid, general_of uuid, tier text, created bigint, type text, sensitivity_ppm integer, purposes text,
    jurisdictions text, body text, vector halfvec, weight_ppm integer, distance float8
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT d.id, d.general_of, d.tier, d.created, d.type, d.sensitivity_ppm, d.purposes, d.jurisdictions, d.body,
        d.vector, d.weight_ppm, d.vector <=> to_vector AS distance
    FROM diffusing d
    WHERE d.namespace <> asking AND d.encoder = by_encoder AND d.vector <=> to_vector <= 1 - nearness
    ORDER BY distance, d.id
    LIMIT most
$$;

-- One of them, by its id.
CREATE FUNCTION diffused_one(asking text, of_memory uuid)
RETURNS TABLE (tier text, sensitivity_ppm integer, purposes text, jurisdictions text, weight_ppm integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT d.tier, d.sensitivity_ppm, d.purposes, d.jurisdictions, d.weight_ppm
    FROM diffusing d
    WHERE d.id = of_memory AND d.namespace <> asking
$$;
GRANT CREATE ON SCHEMA public TO memquorum_reader;
ALTER FUNCTION diffused(text, text, halfvec, float8, integer) OWNER TO memquorum_reader;
ALTER FUNCTION diffused_one(text, uuid) OWNER TO memquorum_reader;
REVOKE CREATE ON SCHEMA public FROM memquorum_reader;
REVOKE EXECUTE ON FUNCTION diffused(text, text, halfvec, float8, integer), diffused_one(text, uuid) FROM PUBLIC;
