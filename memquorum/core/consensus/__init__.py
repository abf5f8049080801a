"""PBFT without input or output. Modules, in reading order:

1. `transitions`: the phases in one table, and the rules that it cannot show; `events`: the inputs (events) and outputs
   (effects) of a replica;
2. `replica`: one member in one shard: the rules that take it from phase to phase;
3. `speech`: the messages that a member has to send, `silence`: when it may send; `voice` makes the messages, `slots`
   names their slots, `recollection` repeats messages that were signed before a start;
4. `checkpoints`: the progress of all members, in the hashes of `rolling`; `search` and `trail`: how a member that fell
   behind finds the messages that it missed; `reliability`: the share of decisions with a member's ballot;
5. `viewchange` and `views`: the proofs in requests for another primary, and the members that ask;
6. `gate`, `inbox` and `buffers`: which messages count, and the buffers for them;
7. `certificate`: the proof of an outcome (`core.vote` counts the ballots); `inforce`: the configuration by which a
   shard votes now, after all decisions;
8. `evidence`: the proof to others that a member lied.

The members and the bytes that a signature covers: `core.identity`; changes of the members: `core.orders.configuration`.
"""
