-- The index of orders that somebody gave has profiles, too. The statement `orders_listed` says the effects in the same words.
DROP INDEX journal_given;
CREATE INDEX journal_given ON journal (namespace, seq)
    WHERE effect IN ('erased', 'withheld', 'protected', 'profiled', 'requested', 'declined');
