-- How the task of a memory stands: until when it is to be done, and whether it is over. Budgets rank tasks by the one, and
-- members vote on the steps of a task by the other.
ALTER TABLE memory ADD COLUMN deadline bigint, ADD COLUMN over boolean NOT NULL DEFAULT false;
-- Tasks that are over: their steps may go.
CREATE INDEX memory_over ON memory (shard, said) WHERE over AND tier IN ('short-term', 'long-term');
COMMENT ON COLUMN memory.deadline IS 'Until when its task is to be done, in milliseconds; NULL: it is over, or has no such time.';
COMMENT ON COLUMN memory.over IS 'Whether its task is over.';
