"""PBFT without input or output. Read in this order:

1. `transitions`: the phases in one table, the rules it cannot show, events and effects;
2. `replica`: one member in one shard: its rules, what it says and when;
3. `inbox` and `buffers`: which messages count, and what is held of them;
4. `certificate` and `tally`: what proves an outcome, and what ballots decide;
5. `membership` and `messages`: who votes with what weight, and what a signature covers.
"""
