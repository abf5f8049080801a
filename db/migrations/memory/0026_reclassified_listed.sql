-- The index of orders that somebody gave has orders to reclassify, too. The statement `orders_listed` says the effects in the same
-- words.
DROP INDEX journal_given;
CREATE INDEX journal_given ON journal (namespace, seq)
    WHERE effect IN ('erased', 'withheld', 'protected', 'profiled', 'reclassified', 'requested', 'declined');
-- By the entries of a memory's birth and of orders to reclassify it, such an order finds what the memory states.
CREATE INDEX journal_stated ON journal (memory_id, seq) WHERE effect IN ('stored', 'drafted', 'finished', 'reclassified');
