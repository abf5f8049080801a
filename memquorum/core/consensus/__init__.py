"""PBFT without input or output. Read in this order:

1. `transitions`: the phases in one table, and the rules that it cannot show; `events`: what a replica is told and
   asks;
2. `replica`: one member in one shard: the rules that take it from phase to phase;
3. `speech`: what it owes then, `silence` when it may; `voice` makes the messages, `slots` names them,
   `recollection` repeats what was signed before a start;
4. `checkpoints`: how far all have come, in the hashes of `rolling`; `search` and `trail`: how one that is left
   behind looks for what it missed; `reliability`: how often a member's ballot was there;
5. `viewchange` and `views`: what asks for another primary proves, and who asks;
6. `gate`, `inbox` and `buffers`: which messages count, and what is held of them;
7. `certificate`: what proves an outcome (what ballots decide: `core.vote`); `inforce`: by which configuration a shard
   votes now, after all that was decided;
8. `evidence`: what proves to others that a member lied.

Who votes, and what a signature covers: `core.identity`; how the members change: `core.orders.configuration`.
"""
