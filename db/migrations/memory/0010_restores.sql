-- Requests for memories that were forgotten stand in the journal; their decisions name them in the trigger.
CREATE INDEX journal_requested ON journal (shard, as_of) WHERE effect IN ('requested', 'asked');
CREATE INDEX journal_request ON journal (event_id) WHERE effect IN ('requested', 'declined');
CREATE INDEX decision_trigger ON decision (shard, trigger);
-- What a tick is journalled with: where nobody asks, nobody looks for requests.
ALTER TABLE shard ADD COLUMN asked_at bigint NOT NULL DEFAULT 0; -- the time of the last request to restore
