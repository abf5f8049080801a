-- How far each shard's journal was followed: every key that it calls destroyed up to this entry is destroyed here. A
-- backup that is put back says less than the journal, and the commit worker destroys again what lies between.
CREATE TABLE destruction (
    shard integer PRIMARY KEY,
    seq   bigint  NOT NULL -- journal sequence
);
