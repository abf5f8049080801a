-- How many memories of a shard have strength: counting them at every tick would cost what is stored.
ALTER TABLE shard ADD COLUMN alive bigint NOT NULL DEFAULT 0;
UPDATE shard SET alive = (SELECT count(*) FROM strength WHERE strength.shard = shard.shard);
