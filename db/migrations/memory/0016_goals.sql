-- What an active goal needs is protected too, for each goal by itself.
ALTER TABLE protection DROP CONSTRAINT protection_kind_check;
ALTER TABLE protection ADD CONSTRAINT protection_kind_check CHECK (kind IN ('pin', 'hold') OR kind ^@ 'goal:');
CREATE INDEX protection_namespace ON protection (namespace, kind);
