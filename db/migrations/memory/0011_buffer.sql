-- The episodic buffer of an agent: what became of its newest episodes, of one session or of all. It is a question, and
-- keeps nothing of its own (infra/decisions/0028); these indexes lead to the newest without reading what is older. An
-- older store knows the sessions of memories, and not of what repeated them: rebuild such a store.
ALTER TABLE event ADD COLUMN session text;
-- Forced row security hides the rows from their owner as well, who may be the one that migrates.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE event NO FORCE ROW LEVEL SECURITY;
UPDATE event SET session = m.session FROM memory m
WHERE m.id = event.memory_id AND event.outcome = 'stored' AND m.session IS NOT NULL;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE event FORCE ROW LEVEL SECURITY;
CREATE INDEX event_agent ON event (namespace, agent, seq) WHERE outcome IN ('stored', 'reinforced');
CREATE INDEX event_session ON event (namespace, agent, session, seq)
    WHERE outcome IN ('stored', 'reinforced') AND session IS NOT NULL;
