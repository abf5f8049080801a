"""PBFT without input or output. Read in this order:

1. `transitions`: the phases in one table, the rules it cannot show, events and effects;
2. `replica`: one member in one shard: the rules that take it from phase to phase;
3. `speech`: what it owes then; `voice` makes the messages, `slots` names them, `recollection` repeats those
   of before a start;
4. `viewchange` and `views`: what asks for another primary proves, and who asks;
5. `gate`, `inbox` and `buffers`: which messages count, and what is held of them;
6. `certificate` and `tally`: what proves an outcome, and what ballots decide;
7. `evidence`: what proves to others that a member lied;
8. `membership` and `messages`: who votes with what weight, and what a signature covers.
"""
