-- What holds for a memory's use, its sources' counted in (core/facets.py): names joined by commas. The store of before knows
-- of nothing that was said, for nothing was.
ALTER TABLE memory
    ADD COLUMN type            text    NOT NULL DEFAULT 'episodic' CHECK (type IN ('episodic', 'semantic', 'social', 'task')),
    ADD COLUMN sensitivity_ppm integer NOT NULL DEFAULT 0,
    ADD COLUMN purposes        text, -- NULL: for any; '': for none
    ADD COLUMN jurisdictions   text    NOT NULL DEFAULT ''; -- whose law it is under

-- What a search that names no purpose must keep out.
CREATE INDEX memory_purposes ON memory (namespace) WHERE purposes IS NOT NULL;

-- What a memory was made of, asked of the memory; and what it repeated.
CREATE INDEX provenance_child ON provenance (child);
DROP INDEX provenance_echo;
