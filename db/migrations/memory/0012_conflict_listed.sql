-- People look at the contradictions of a namespace page by page, the last found first. Without it a page reads all of them.
CREATE INDEX conflict_listed ON conflict (namespace, seq);
