-- A general form may stand for its family of lessons (decision 235). Then its own lesson names it as what stands for it,
-- which is no reason to give it nowhere.
CREATE OR REPLACE VIEW diffusing AS
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
          WHERE x.memory_id IN (a.merged_into, o.merged_into) AND x.memory_id <> m.id AND k.status = 'admitted');

ALTER VIEW diffusing SET (security_invoker = true);
