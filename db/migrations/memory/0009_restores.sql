-- Requests for memories that were forgotten stand in the journal; their decisions name them in the trigger.
CREATE INDEX journal_requested ON journal (shard, as_of) WHERE effect = 'requested';
CREATE INDEX journal_request ON journal (namespace, event_id) WHERE effect IN ('requested', 'declined');
CREATE INDEX decision_trigger ON decision (shard, trigger);
