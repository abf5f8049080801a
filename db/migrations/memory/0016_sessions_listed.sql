-- People look at the sessions of a namespace, the last one first: each stands at its last memory, which this finds whatever the
-- tier is. What was said in one session is found by it, too.
CREATE INDEX memory_of_session ON memory (namespace, session, said, said_offset) WHERE session IS NOT NULL;
