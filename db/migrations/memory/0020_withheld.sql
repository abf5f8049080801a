-- Whoever ordered an erasure asks by the order's id whether it was withheld.
CREATE INDEX journal_withheld ON journal (event_id) WHERE effect = 'withheld';
