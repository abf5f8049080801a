"""Whether a journal is what it says it is, for someone who trusts nobody. Read in this order:

1. `findings`: what can be found wrong;
2. `chain`: hashes, sequences and signed heads;
3. `history`: every entry against the entries before it, decisions against their certificates;
4. `witness`: the journal against the topics and the store;
5. `verify`: all of it over one shard.
"""
