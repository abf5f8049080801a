-- Whether a memory says on purpose that it takes another one's place, by the key of the same slot or by naming it: that is
-- voted on. What was inferred from the words is marked, and takes nothing (decision 135). Of what is here already, what
-- names another by its id is known by the journal alone: a rebuild tells it.
ALTER TABLE conflict ADD COLUMN stated boolean NOT NULL DEFAULT false;
UPDATE conflict c SET stated = true
FROM memory n, memory o
WHERE n.id = c.newer AND o.id = c.older AND n.explicit AND o.explicit AND n.namespace = o.namespace AND n.slot = o.slot;
CREATE INDEX conflict_stated ON conflict (shard, seq) WHERE stated;
