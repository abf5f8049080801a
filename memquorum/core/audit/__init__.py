"""The audit: checks a journal and its store without trust in who runs them. Read in this order:

1. `findings`: what can be found wrong;
2. `chain`: hashes, sequences and signed heads;
3. `history`: every entry against the entries before it, decisions against their certificates; of orders, each by
   its own rule: `erasures`, against all that they name, `protections` and `restores`; `applied`, patches of roll-ups
   and what a model said of pairs; `disclosed`, what left the house; `slots`, against what fills them; `rehearsals` and
   `admissions` to experience, against who signed them; `weights`, by what came of using it; `scores`, by which a
   budget nominates, with what draws cost; `overdue`, what a rule of retention should have erased;
4. `coverage`: the journal against the accepted stream;
5. `agreed`: journal and streams against what a quorum of members has signed;
6. `witness`: the store against the journal;
7. `verify`: all of it over one shard;
8. `rendering`: what was found, in words;
9. `receipts`: what proves an erasure to someone who has the genesis file alone.
"""
