"""The accounts that people read, in words: of one memory, of votes, orders and sessions. Read in this order:

1. `explain`: why a memory is here or gone, from its rows and certificates; `votes` reads the certificates. Its words:
   `account_words` has the outcome first; `fates` its past and future and what can be done; `plainly` votes and times;
   `telling` all numbers;
2. lists for people: `decisions`: the votes of a namespace; `undecided`: an epoch that members vote on now; `pages`: the
   others; `seats`: the members of a shard; `sessions`: the state of a session; `holding`: the conditions on a memory's
   use; `admitting`: a memory's admission to experience; `reporting`: all that concerns a person; `stating`: what
   a receipt of that says;
3. orders that are requested over HTTP: `erasing`, `forgetting`, `restoring`, `rolling_back`, `pinning`, `profiles`;
   `order_words`: the result of one;
4. the journal in words: `tail` a line an entry, `chronicle` the entries about a namespace in sentences,
   `changes` two times of it compared; `mirrored` an event an entry, for other people's tools.
"""
