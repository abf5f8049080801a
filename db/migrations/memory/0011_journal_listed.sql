-- People look at the journal of a namespace page by page, the latest first. A shard's journal is everybody's, so a page of a
-- quiet namespace would read what all others did since.
CREATE INDEX journal_listed ON journal (namespace, seq) WHERE namespace IS NOT NULL;
CREATE INDEX decision_listed ON decision (shard, journal_seq);
