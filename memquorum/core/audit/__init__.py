"""The audit: checks a journal and its store without trust in the operator. Modules, in reading order:

1. `findings`: the kinds of findings;
2. `chain`: hashes, sequences and signed heads;
3. `history`: every entry against the entries before it, decisions against their certificates; orders by kind:
   `erasures`, against all memories that they name, `protections`, `reclassified` and `restores`; `applied`, patches of
   roll-ups and a model's comparisons of pairs; `disclosed`, texts sent to recipients outside; `slots`, against the
   memories in them; `rehearsals` and `admissions` to experience, against their signers; `weights`, by the results of
   uses; `scores`, by which a budget nominates, with the cost of draws; `overdue`, memories that a rule of retention
   should have erased;
4. `coverage`: the journal against the accepted stream;
5. `agreed`: journal and streams against the checkpoints that a quorum of members has signed;
6. `witness`: the store against the journal;
7. `verify`: all of it over one shard;
8. `rendering`: the findings in words;
9. `receipts`: the proof of an erasure to a reader who has only the genesis file; `person_receipts`: a signed
   statement of all that was done with the records of a person, and its comparison with the journal.
"""
