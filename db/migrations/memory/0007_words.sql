-- What full text looks for: the words of a text without their endings, in the row of the text, so that they go with it.
-- There is no index on them: GIN keeps the words of rows that are gone until it is built anew (infra/decisions/0025).
ALTER TABLE content ADD COLUMN words tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.english', body)) STORED;

-- A sample that the planner keeps of a column is a copy that outlives the row. What was sampled before goes now.
ALTER TABLE content ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE embedding ALTER COLUMN vector SET STATISTICS 0;
SELECT pg_clear_attribute_stats('public', 'content', 'body', false),
    pg_clear_attribute_stats('public', 'embedding', 'vector', false);

-- What was said before and after a memory in its session.
CREATE INDEX memory_session ON memory (namespace, session, created, id) WHERE tier IN ('short-term', 'long-term');
