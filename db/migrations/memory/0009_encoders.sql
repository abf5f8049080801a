-- The encoder stands beside its vector too, as the namespace does: a search then reads this table alone until it has found.
ALTER TABLE embedding ADD COLUMN encoder text;
-- Forced row security hides the rows from their owner as well, who may be the one that migrates.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding NO FORCE ROW LEVEL SECURITY;
UPDATE embedding e SET encoder = m.encoder FROM memory m WHERE m.id = e.memory_id;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding FORCE ROW LEVEL SECURITY;
ALTER TABLE embedding ALTER COLUMN encoder SET NOT NULL;
