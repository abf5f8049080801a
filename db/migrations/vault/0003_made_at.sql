-- When a key was made: dead letters' keys go by age. Older rows count from this migration on.
ALTER TABLE memory_key ADD COLUMN made_at timestamptz NOT NULL DEFAULT now();

CREATE INDEX memory_key_of_letters ON memory_key (made_at) WHERE namespace = '!intake' AND wrapped IS NOT NULL;
